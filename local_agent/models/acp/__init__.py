"""Any agent of the Agent Client Protocol as a coding model, contained.  Experimental.

The protocol is no boundary: some agents ask before they write or run something, some do not.  What
holds is the sandbox that the program runs in (`local_agent.sandbox.bubblewrap`, handed in), the
scratch copy, and that the change is found by comparing.  The gate here judges what is asked.

`gate` judges what it asks for, `session` holds one turn and follows it, and `backend` says which
program is a model, starts it, and is the main flow of a turn.
"""
