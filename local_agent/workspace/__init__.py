"""The folders a person has opened to tasks: which they are, and bounded, guarded reading."""
