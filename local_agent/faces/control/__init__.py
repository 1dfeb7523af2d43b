"""The 0600 Unix socket between the command line and the running agent."""
