"""The shared language of both halves.  No I/O here but clock, home, settings, keystore and logs."""

PRODUCT = "codexbridge"
