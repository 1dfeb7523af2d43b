"""The way to the machines: one session per connected agent, a hub over them, a mailbox below."""
