"""Locks of files, which end with their process, even by kill -9.  Standard library only."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from common.errors import ConfigError


def open_lock(path: Path, *, shared: bool = False, create: bool = True) -> int | None:
    """Take a lock and return its descriptor, or None where another process has it.

    Args:
        path: A file that stays; others cannot open it, so they cannot hold it either.
        shared: Several may have it at once, and nobody has it alone.
        create: False for a look alone, at a file that is there.

    Raises:
        ConfigError: ``config.no-locks`` (path, why): this file system gives none.
        OSError: the file cannot be opened.
    """
    how = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY
    descriptor = os.open(path, how | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            return None
        raise ConfigError("config.no-locks", path=path.parent, why=error.strerror) from None
    return descriptor
