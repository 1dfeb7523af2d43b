"""A WeCom on loopback, for the demo, for admins and for tests.

It stands apart: it imports no other module of the gateway, and nothing imports it but the command
line and tests.  Its cryptography is written independently, so that one bug cannot hide on both
sides (docs/adr/0027).
"""
