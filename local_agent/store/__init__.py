"""What the agent remembers: the journal (SQLite) and the blobs beside it.  No decisions here."""
