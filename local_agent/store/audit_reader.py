"""Reads the audit log past the journal: for a check, beside a running agent or without one.

Read-only, on one view of the file.  Values come as they lie there, of whatever type: whoever opened
the file with another program may have put anything into it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from common.audit import SignedHead
from common.errors import ConfigError, StoreError
from common.heads import KeptHead
from local_agent.store.database import newest_version


class AuditReader:
    """One view of the log, until `read_audit` ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._cursors: list[sqlite3.Cursor] = []

    def close(self) -> None:
        """Let go of the file: whoever stopped midway would hold its lock with the cursor."""
        for cursor in self._cursors:
            cursor.close()

    def entries(self, since: int | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield ``(seq, prev, body, hash)`` by number; from ``since`` on, where that is given."""
        sql = "SELECT seq, prev, body, hash FROM audit"
        if since is None:
            return self._read(f"{sql} ORDER BY seq")
        return self._read(f"{sql} WHERE seq >= :since ORDER BY seq", {"since": since})

    def signed(self) -> list[SignedHead]:
        """Return the signed heads: one, when all is well."""
        sql = "SELECT seq, hash, at, public_key, signature FROM signed_heads LIMIT 2"
        return [SignedHead(*row) for row in self._read(sql)]

    def kept(self) -> Iterator[KeptHead]:
        """Yield the heads that gateways signed."""
        for row in self._read(
            "SELECT peer, seq, hash, own_seq, own_hash, public_key, frame, at FROM heads"
        ):
            yield KeptHead(*row)

    def _read(self, sql: str, values: Mapping[str, int] | None = None) -> sqlite3.Cursor:
        cursor = self._connection.execute(sql, values or {})
        self._cursors.append(cursor)
        return cursor


@contextmanager
def read_audit(path: Path) -> Iterator[AuditReader]:
    """Open the journal for reading.

    Raises:
        ConfigError: ``audit.none``, ``config.store-newer`` or ``audit.store-older``.
        StoreError: ``audit.unreadable``: the file is damaged.
    """
    if not path.is_file():
        raise ConfigError("audit.none", path=path)
    try:
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
            connection.text_factory = _text
            connection.execute("BEGIN")
            reader = AuditReader(connection)
            try:
                _check_version(connection, path)
                yield reader
            finally:
                reader.close()
    except sqlite3.Error as error:
        raise StoreError("audit.unreadable", path=path, why=type(error).__name__) from error


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    found, known = connection.execute("PRAGMA user_version").fetchone()[0], newest_version()
    if found > known:
        raise ConfigError("config.store-newer", path=path, found=found, known=known)
    if found < known:
        raise ConfigError("audit.store-older", path=path)


def _text(raw: bytes) -> str:
    # Whatever is no text must still come as something that is not bytes, to be found as wrong.
    return raw.decode("utf-8", "surrogateescape")
