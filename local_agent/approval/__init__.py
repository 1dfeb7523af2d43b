"""Where a person's decision enters: the gate, and the ways to ask for one (`dialogs`)."""
