"""Several steps of a playbook under one question, each an operation of another action."""
