"""``codex app-server`` as a coding model: a gate before every edit, and nothing else (R62).

`lockdown` says which model and writes its configuration, `program` finds the binary and starts it,
`gate` judges edits, `session` holds one turn and follows it, and `backend` keeps the program warm.
The program is not trusted: it is lent a scratch copy, may edit there what the gate lets it, and
runs nothing.
"""
