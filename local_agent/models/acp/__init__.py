"""Any agent of the Agent Client Protocol as a coding model, contained.  Experimental.

The protocol is no boundary: some agents ask before they write or run something, some do not.  What
holds is the sandbox that the program runs in (`local_agent.sandbox.bubblewrap`, handed in), the
scratch copy, and that the change is found by comparing.  The gate here judges what is asked.

`contained` says which program and starts it, `gate` judges what it asks for, `listening` follows
one turn, `session` holds it and `backend` is the whole in one screen.
"""
