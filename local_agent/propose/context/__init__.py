"""What a proposal may look at, and how much of it."""
