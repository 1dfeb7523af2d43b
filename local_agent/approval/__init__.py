"""Where a person's decision enters: the gate.  Who shows a question: `local_agent.faces`."""
