"""What may be done at all, and what is written down before it is done."""
