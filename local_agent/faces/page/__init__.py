"""The local page: the same views as terminal and window, in the person's browser, on loopback.

It looks and asks.  No decision enters here but by a passkey (`passkeys`), which the person set up
in a terminal (docs/adr/0037).  `door` alone is loaded by an agent whose page nobody has opened.
"""
