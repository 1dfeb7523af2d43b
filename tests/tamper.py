"""Another program's hands in an audit log: every byte, every row, one change at a time."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

TABLES = ("audit", "heads", "signed_heads")
ENTRY = "INSERT INTO audit (seq, prev, body, hash) VALUES (?, ?, ?, ?)"


@dataclass(frozen=True)
class Change:
    """One change, as SQL."""

    what: str
    statements: tuple[tuple[str, tuple[Any, ...]], ...]


class Tampered:
    """A database that is put back before each change.

    Args:
        path: Closed by whoever wrote it; the product reads it there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._whole = path.with_name("whole.db")
        with closing(sqlite3.connect(path)) as db:
            for kind, name in db.execute("SELECT type, name FROM sqlite_master").fetchall():
                if kind == "trigger":
                    db.execute(f"DROP TRIGGER {name}")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            db.execute("PRAGMA journal_mode=DELETE")
        shutil.copy(path, self._whole)

    def apply(self, change: Change) -> bool:
        """Put the file back and change it; False where the schema itself does not let it be."""
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        shutil.copy(self._whole, self.path)
        with closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous=OFF")
            db.execute("PRAGMA ignore_check_constraints=ON")
            try:
                for sql, values in change.statements:
                    db.execute(sql, values)
            except sqlite3.IntegrityError:
                return False
        return True

    def unnoticed(self, changes: Iterator[Change], notices: Callable[[], bool]) -> list[str]:
        """Make each change, and return those that nobody noticed; some must have been possible."""
        tried = [(change.what, notices()) for change in changes if self.apply(change)]
        assert tried
        return [what for what, noticed in tried if not noticed]

    def rows(self, table: str) -> list[sqlite3.Row]:
        """Return the rows as they were written; their first column is their key."""
        with closing(sqlite3.connect(self._whole)) as db:
            db.row_factory = sqlite3.Row
            return db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()  # noqa: S608  our own tables

    def every_byte(self, table: str) -> Iterator[Change]:
        """Yield a change of each byte of each value."""
        for row in self.rows(table):
            for column in _columns(row):
                for at, value in _flipped(row[column]):
                    yield _set(table, row, column, value, f"byte {at}")

    def every_value(self, table: str) -> Iterator[Change]:
        """Yield each value as one that does not belong there."""
        strange = (None, 0, -1, 2**62, 1.5, "text", "\x00", b"", b"\x00", b"\xff" * 32, b"{" * 9000)
        for row in self.rows(table):
            for column in _columns(row):
                for value in strange:
                    if value != row[column]:
                        yield _set(table, row, column, value, repr(value)[:20])

    def every_type(self, table: str) -> Iterator[Change]:
        """Yield each blob as text of the same bytes: one byte of the file, in the row's header."""
        for row in self.rows(table):
            for column in _columns(row):
                if isinstance(row[column], bytes):
                    sql = f"UPDATE {table} SET {column} = CAST({column} AS TEXT) {_where(row)}"  # noqa: S608  our own tables
                    yield Change(f"{table} {row[0]} {column} as text", ((sql, (row[0],)),))

    def every_row(self, table: str) -> Iterator[Change]:
        """Yield the removal of each row, and of all."""
        for row in self.rows(table):
            sql = f"DELETE FROM {table} {_where(row)}"  # noqa: S608  our own tables
            yield Change(f"{table} without {row[0]}", ((sql, (row[0],)),))
        yield Change(f"{table} emptied", ((f"DELETE FROM {table}", ()),))  # noqa: S608  our own tables

    def every_cut(self) -> Iterator[Change]:
        """Yield the audit log without its end, at each length."""
        for row in self.rows("audit"):
            sql = "DELETE FROM audit WHERE seq >= ?"
            yield Change(f"cut before {row['seq']}", ((sql, (row["seq"],)),))

    def every_swap(self) -> Iterator[Change]:
        """Yield each entry in the place of the one before it."""
        rows = self.rows("audit")
        for one, other in pairwise(rows):
            for columns in (("body",), ("body", "hash"), ("prev", "body", "hash")):
                yield _swapped(one, other, columns)

    def every_insertion(self, forge: Callable[[bytes, bytes], bytes]) -> Iterator[Change]:
        """Yield an entry with a right hash before the first, and after the last.

        Args:
            forge: The hash of an entry, from the hash before it and its body.
        """
        rows, body = self.rows("audit"), b'{"at":1,"event":"forged","facts":{}}'
        for seq, prev in ((0, bytes(32)), (-7, bytes(32)), (rows[-1]["seq"] + 1, rows[-1]["hash"])):
            yield Change(f"inserted {seq}", ((ENTRY, (seq, prev, body, forge(prev, body))),))

    def rewritten(self, forge: Callable[[bytes, bytes], bytes]) -> Iterator[Change]:
        """Yield the whole chain written anew from each entry on, every hash right again."""
        rows = self.rows("audit")
        for start in range(len(rows)):
            prev, steps = rows[start]["prev"], []
            for row in rows[start:]:
                body = row["body"].replace(b'"event":"', b'"event":"not-')
                found = forge(prev, body)
                sql = "UPDATE audit SET prev = ?, body = ?, hash = ? WHERE seq = ?"
                steps.append((sql, (prev, body, found, row["seq"])))
                prev = found
            yield Change(f"written anew from {rows[start]['seq']}", tuple(steps))


def _columns(row: sqlite3.Row) -> list[str]:
    return [*row.keys()]


def _where(row: sqlite3.Row) -> str:
    return f"WHERE {_columns(row)[0]} = ?"


def _set(table: str, row: sqlite3.Row, column: str, value: object, what: str) -> Change:
    sql = f"UPDATE {table} SET {column} = ? {_where(row)}"  # noqa: S608  our own tables
    return Change(f"{table} {row[0]} {column}: {what}", ((sql, (value, row[0])),))


def _swapped(one: sqlite3.Row, other: sqlite3.Row, columns: tuple[str, ...]) -> Change:
    sets = ", ".join(f"{column} = ?" for column in columns)
    sql = f"UPDATE audit SET {sets} WHERE seq = ?"  # noqa: S608  our own tables
    return Change(
        f"{columns} of {one['seq']} and its next swapped",
        (
            (sql, (*(other[column] for column in columns), one["seq"])),
            (sql, (*(one[column] for column in columns), other["seq"])),
        ),
    )


def _flipped(value: object) -> Iterator[tuple[int, object]]:
    if isinstance(value, bytes):
        for at, byte in enumerate(value):
            yield at, value[:at] + bytes([byte ^ 1 << at % 8]) + value[at + 1 :]
    elif isinstance(value, str):
        for at, char in enumerate(value):
            yield at, value[:at] + chr(ord(char) ^ 1) + value[at + 1 :]
    elif isinstance(value, int):
        for at in range(8):
            raw = value ^ 1 << 8 * at
            yield at, raw
