"""What the system's own failures mean to the admin of a gateway.

The tree of errors is `common.errors`; the sentences for people are in `error_texts`.
"""

from __future__ import annotations

import errno
from typing import Final

from common.errors import ConfigError

_LISTEN: Final = {
    errno.EADDRINUSE: "config.port-in-use",
    errno.EACCES: "config.port-forbidden",
    errno.EADDRNOTAVAIL: "config.no-such-address",
}


def cannot_listen(error: OSError, *, host: str, port: int) -> ConfigError:
    """Return what an admin must know about a socket that could not be opened."""
    code = _LISTEN.get(error.errno or 0, "config.cannot-listen")
    return ConfigError(code, host=host, port=port, why=error.strerror or "")
