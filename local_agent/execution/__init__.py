"""Executes what was approved, exactly.  Takes a Grant; decides nothing."""
