"""Commits and pushes, exactly as sealed."""
