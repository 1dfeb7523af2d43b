"""Playbooks: written steps that always run the same way."""
