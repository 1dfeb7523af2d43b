"""Git in a workspace: what is there, what has changed, and the commit and push of it."""
