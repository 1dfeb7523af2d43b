"""From words to an intent.  Nothing here proposes or executes."""
