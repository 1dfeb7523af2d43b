"""How a person is asked.  A dialog shows and asks; whether it counts is for the gate to say."""
