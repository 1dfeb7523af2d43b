"""The half with authority: it runs on the dev machine and executes what was confirmed there."""
