"""``codex app-server`` as a coding model: our own small client, and a gate before every edit (R62).

`config` says which model, `program` finds the binary, `lockdown` writes its configuration, `wire`
reads and writes its lines, `client` carries them, `gate` judges edits, `listening` follows one
turn, `session` holds it, and `backend` keeps the program warm.  The program is not trusted: it is
lent a scratch copy, may edit there what the gate lets it, and runs nothing.
"""
