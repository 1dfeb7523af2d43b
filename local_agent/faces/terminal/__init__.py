"""The pages of approvals on a terminal, and the typing of their codes."""
