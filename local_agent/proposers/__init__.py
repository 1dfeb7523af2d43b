"""From an intent to a proposal.  Nothing here can touch the workspace or approve."""
