"""Takes an applied change back."""
