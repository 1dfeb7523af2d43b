"""Reads an audit log where it lies, for a check: one view of a half's file, with its server or not.

Values come as they lie there, of whatever type: whoever opened the file with another program may
have put anything into it.  Which file that is, and that it is of this version, its half sees to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from common.audit import SignedHead
from common.audit_check import Checked, LogCheck
from common.errors import StoreError
from common.heads import KeptHead

_ALL_ENTRIES: Final = "SELECT seq, prev, body, hash FROM audit ORDER BY seq"
_ENTRIES: Final = "SELECT seq, prev, body, hash FROM audit WHERE seq >= :since ORDER BY seq"
_LAST: Final = 2**63 - 1  # the largest integer of SQLite
_SIGNED: Final = "SELECT seq, hash, at, public_key, signature FROM signed_heads LIMIT 2"


class AuditReader:
    """One view of the log, until `one_view` ends.

    Args:
        driver: In a transaction.
        kept: Statement that gives the kept heads, in the order of `KeptHead`.
    """

    def __init__(self, driver: sqlite3.Connection, *, kept: str) -> None:
        self._driver = driver
        self._kept = kept
        self._cursors: list[sqlite3.Cursor] = []

    def close(self) -> None:
        """Let go of the file: whoever stopped midway would hold its lock with the cursor."""
        for cursor in self._cursors:
            cursor.close()

    def version(self) -> int:
        """Return the number that the file bears as its version."""
        return int(self._read("PRAGMA user_version").fetchone()[0])

    def entries(self, since: int | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield ``(seq, prev, body, hash)`` by number; from ``since`` on, where that is given."""
        if since is None:
            return self._read(_ALL_ENTRIES)
        return self._read(_ENTRIES, {"since": min(max(since, 0), _LAST)})

    def signed(self) -> list[SignedHead]:
        """Return the signed heads: one, when all is well."""
        return [SignedHead(*row) for row in self._read(_SIGNED)]

    def kept(self) -> Iterator[KeptHead]:
        """Yield the heads that other halves signed."""
        for row in self._read(self._kept):
            yield KeptHead(*row)

    def check(self, *, keys: Container[bytes], to_the_end: bool) -> Checked:
        """Check the whole log; what the arguments mean, and what is raised, `LogCheck` tells."""
        check = LogCheck(keys=keys, to_the_end=to_the_end)
        for entry in self.entries():
            check.entry(entry)
        for signed in self.signed():
            check.signed(signed)
        for kept in self.kept():
            check.kept(kept)
        return check.finish()

    def _read(self, sql: str, values: Mapping[str, int] | None = None) -> sqlite3.Cursor:
        cursor = self._driver.execute(sql, values or {})
        self._cursors.append(cursor)
        return cursor


@contextmanager
def one_view(
    connect: Callable[[], sqlite3.Connection], path: Path, *, kept: str
) -> Iterator[AuditReader]:
    """Open a log for reading.

    Args:
        connect: Opens the file, read-only and with no transaction begun.
        path: Of the file.
        kept: Statement that gives the kept heads, in the order of `KeptHead`.

    Raises:
        StoreError: ``audit.unreadable`` (path, why): the file is damaged.
    """
    try:
        with closing(connect()) as driver:
            driver.row_factory = None
            driver.text_factory = _text
            driver.execute("BEGIN")
            with closing(AuditReader(driver, kept=kept)) as reader:
                yield reader
    except sqlite3.Error as error:
        why = getattr(error, "sqlite_errorname", type(error).__name__)
        raise StoreError("audit.unreadable", path=path, why=why) from error


def _text(raw: bytes) -> str:
    # Whatever is no text must still come as something that is not bytes, to be found as wrong.
    return raw.decode("utf-8", "surrogateescape")
