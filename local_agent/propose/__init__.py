"""From an intent to a proposal: context, scratch copies, search, review, answers.

Nothing here can touch the workspace or approve."""
