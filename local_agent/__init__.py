"""The half with authority: it runs on the dev machine and executes only what was confirmed there."""
