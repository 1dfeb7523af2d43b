"""Tells the chat an answer that a person released."""
