"""Playbooks: steps that a person wrote down, read strictly, and run always in the same way."""
