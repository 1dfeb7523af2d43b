"""SQLite connections that name each transaction by what it writes, just before and after it.

Triggers in a connection's TEMP schema note which rows change, for every table that is there: so a
transaction is named by what it does, whoever wrote the code, and a savepoint that is rolled back
takes its notes with it.  Nothing of this reaches the file.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, cast

# Columns whose new value is told; of others, that they changed.
FACETS: Final = ("kind", "key", "typ", "state", "reason", "outcome", "place", "status", "carrying")
# Differs between two runs of the same story.
NOISE: Final = frozenset(
    {"updated_at", "last_seen_at", "received_at", "message", "due_at", "code", "attempts"}
)
CHANGES: Final = ("INSERT", "UPDATE", "DELETE")
SCRATCH: Final = "/table"
FLUSH: Final = "flush"  # the phase of what waits for the disk; counted, and no moment to die at

_TAG: Final = re.compile("[0-9a-f]{8,}|^[0-9a-f]{2}$")

Note = Callable[[str, str], None]  # event, phase


def watch(note: Note) -> None:
    """Make every connection that this process opens to a store a watched one."""
    Connection.note = staticmethod(note)
    fsync = os.fsync

    def flush(descriptor: int) -> None:
        fsync(descriptor)
        note(_TAG.sub("*", Path(f"/proc/self/fd/{descriptor}").readlink().name), FLUSH)

    vars(os)["fsync"] = flush
    plain = sqlite3.connect

    def connect(database: Any, *args: Any, **named: Any) -> Any:
        # A scratch copy's table proves nothing, and is not flushed.
        if os.fspath(database).endswith(SCRATCH):
            return plain(database, *args, **named)
        return plain(database, *args, factory=Connection, **named)

    vars(sqlite3)["connect"] = connect


class Cursor(sqlite3.Cursor):
    """Tells the beginning and the end of what is made durable through it."""

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        """Execute one statement; one that is a transaction by itself is given an inside."""
        connection = cast("Connection", self.connection)
        if sql.startswith("PRAGMA synchronous") and sql.endswith(("FULL", "NORMAL")):
            connection.is_synced = sql.endswith("FULL")
        if sql.lstrip().startswith(CHANGES) and not connection.in_transaction:
            connection.begin()
            super().execute(sql, parameters)
            connection.commit_watched()
        elif sql.startswith("BEGIN IMMEDIATE"):
            connection.begin()
        elif sql == "COMMIT":
            connection.commit_watched()
        else:
            super().execute(sql, parameters)
        return self


class Connection(sqlite3.Connection):
    """Notes what its transactions write."""

    note: Note
    is_synced = True
    _is_watched = False

    def cursor(self, factory: Any = Cursor) -> Any:
        """Return a watched cursor."""
        return super().cursor(factory)

    def execute(self, sql: str, parameters: Any = (), /) -> Cursor:
        """Execute one statement on a watched cursor."""
        cursor: Cursor = self.cursor()
        return cursor.execute(sql, parameters)

    def begin(self) -> None:
        """Begin a transaction in which every change is noted."""
        plain = self._plain()
        if not self._is_watched:
            self._is_watched = True
            for statement in triggers(plain):
                plain.execute(statement)
        plain.execute("BEGIN IMMEDIATE")

    def commit_watched(self) -> None:
        """Commit, with a word before and after it when anything was written."""
        event = self._noted()
        if event:
            self.note(event, "before-write")
        self._plain().execute("COMMIT")
        if event:
            self.note(event, "after-commit")
            if self.is_synced:
                self.note(event, FLUSH)

    def _noted(self) -> str:
        if not self._is_watched:
            return ""
        plain = self._plain()
        found = plain.execute("SELECT DISTINCT what FROM temp.noted").fetchall()
        plain.execute("DELETE FROM temp.noted")
        return " ".join(sorted(what for (what,) in found))

    def _plain(self) -> sqlite3.Cursor:
        plain = sqlite3.Cursor(self)
        plain.row_factory = None
        return plain


def triggers(cursor: sqlite3.Cursor) -> Iterator[str]:
    """Yield statements that make a connection note each change of each table of its schema."""
    yield "CREATE TEMP TABLE noted (what TEXT NOT NULL)"
    tables = cursor.execute(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    ).fetchall()
    for (table,) in tables:
        columns = [row[1] for row in cursor.execute(f"PRAGMA main.table_info({table})").fetchall()]
        for change, what in zip(
            CHANGES,
            (
                f"'{table}+' || {_inserted(table, columns)}",
                f"'{table}~' || {_updated(columns)}",
                f"'{table}-'",
            ),
            strict=True,
        ):
            yield (
                f"CREATE TEMP TRIGGER noted_{table}_{change} AFTER {change} ON main.{table}"  # noqa: S608  # names of our own schema
                f" BEGIN INSERT INTO noted VALUES ({what}); END"
            )


def _inserted(table: str, columns: Sequence[str]) -> str:
    if table == "audit":
        return "json_extract(CAST(NEW.body AS TEXT), '$.event')"
    facets = [f"COALESCE(':' || {_value(name)}, '')" for name in FACETS if name in columns]
    return f"substr({' || '.join(facets)}, 2)" if facets else "''"


def _updated(columns: Sequence[str]) -> str:
    def changed(name: str, told: str) -> str:
        return f"CASE WHEN OLD.{name} IS NOT NEW.{name} THEN {told} ELSE '' END"

    facets = [
        changed(name, f"COALESCE(',' || {_value(name)}, '')") for name in FACETS if name in columns
    ]
    others = [
        changed(name, f"',{name}'") for name in columns if name not in NOISE and name not in FACETS
    ]
    first, second = " || ".join(facets) or "''", " || ".join(others) or "''"
    return f"substr(COALESCE(NULLIF({first}, ''), {second}), 2)"


def _value(name: str) -> str:
    if name == "key":  # kind:id
        return "substr(NEW.key, 1, instr(NEW.key, ':') - 1)"
    return f"NEW.{name}"
