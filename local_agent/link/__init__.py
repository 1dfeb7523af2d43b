"""The agent's end of the link: how the machine was paired, and the client that dials out."""
