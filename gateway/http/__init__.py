"""The gateway's own HTTP faces: agents, pairing, health, and the bounds around all of them."""
