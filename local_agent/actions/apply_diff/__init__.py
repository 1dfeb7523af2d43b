"""Applies a diff, exactly as sealed."""
