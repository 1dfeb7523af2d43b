"""A new SQLite file: ours alone, and whole from its first moment.

SQLite would make a file as the umask says, of no bytes at first.  One of no bytes is then always
one that somebody has emptied, and is not taken for new.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

_HEADER_BYTES = 100  # of every SQLite file (https://www.sqlite.org/fileformat.html)


def make_database(path: Path) -> None:
    """Make a database of no tables, in WAL mode, with mode 0600, where there is none.

    Raises:
        OSError: the folder is not there, or takes no file.
        sqlite3.Error: the disk is full.
    """
    if path.is_symlink() or path.exists():
        return
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    os.close(os.open(fresh, flags, 0o600))
    with closing(sqlite3.connect(fresh)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    os.rename(fresh, path)  # noqa: PTH104  # the caller has the lock; nothing is replaced


def is_emptied(path: Path) -> bool:
    """Tell whether somebody has emptied the file; SQLite takes one of one byte for new as well."""
    return path.exists() and path.stat().st_size < _HEADER_BYTES
