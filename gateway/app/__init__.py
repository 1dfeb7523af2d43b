"""The assembly of the gateway, and how one process serves."""
