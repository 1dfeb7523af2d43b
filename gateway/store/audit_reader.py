"""Reads the audit log for a check, beside a running server or without one.

Read-only, on one view of the file.  Values come as they lie there, of whatever type: whoever opened
the file with another program may have put anything into it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from common.audit import SignedHead
from common.errors import ConfigError, StoreError
from common.heads import KeptHead
from gateway.store.sqlite import connect, name_of
from gateway.store.upgrade import ensure_current

_ENTRIES = "SELECT seq, prev, body, hash FROM audit WHERE seq >= :since ORDER BY seq"
_ALL_ENTRIES = "SELECT seq, prev, body, hash FROM audit ORDER BY seq"
_SIGNED = "SELECT seq, hash, at, public_key, signature FROM signed_heads LIMIT 2"
_KEPT = """
    SELECT agent_id, seq, hash, own_seq, own_hash, public_key, frame, at FROM heads
    ORDER BY agent_id"""


class AuditReader:
    """One view of the log, until `read_audit` ends."""

    def __init__(self, driver: sqlite3.Connection) -> None:
        self._driver = driver
        self._cursors: list[sqlite3.Cursor] = []

    def close(self) -> None:
        """Let go of the file: whoever stopped midway would hold its lock with the cursor."""
        for cursor in self._cursors:
            cursor.close()

    def entries(self, since: int | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield ``(seq, prev, body, hash)`` by number; from ``since`` on, where that is given."""
        if since is None:
            return self._read(_ALL_ENTRIES)
        return self._read(_ENTRIES, {"since": since})

    def signed(self) -> list[SignedHead]:
        """Return the signed heads: one, when all is well."""
        return [SignedHead(*row) for row in self._read(_SIGNED)]

    def kept(self) -> Iterator[KeptHead]:
        """Yield the heads that agents signed."""
        for row in self._read(_KEPT):
            yield KeptHead(*row)

    def _read(self, sql: str, values: Mapping[str, int] | None = None) -> sqlite3.Cursor:
        cursor = self._driver.execute(sql, values or {})
        self._cursors.append(cursor)
        return cursor


@contextmanager
def read_audit(path: Path) -> Iterator[AuditReader]:
    """Open the store for reading.

    Raises:
        ConfigError: ``audit.none``, or as of `ensure_current`.
        StoreError: ``audit.unreadable``: the file is damaged.
    """
    if not path.is_file():
        raise ConfigError("audit.none", path=path)
    ensure_current(path)
    try:
        with closing(connect(path, read_only=True)) as driver:
            driver.row_factory = None
            driver.text_factory = _text
            driver.execute("BEGIN")
            reader = AuditReader(driver)
            try:
                yield reader
            finally:
                reader.close()
    except sqlite3.Error as error:
        raise StoreError("audit.unreadable", path=path, why=name_of(error)) from error


def _text(raw: bytes) -> str:
    # Whatever is no text must still come as something that is not bytes, to be found as wrong.
    return raw.decode("utf-8", "surrogateescape")
