"""Runs a command, exactly as sealed."""
