"""Where people meet the agent: terminal, window, and the control socket under both."""
