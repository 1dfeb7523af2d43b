"""Whether the journal's file is whole, and what it means when SQLite refuses.

What is written on top of damage makes a repair harder, so the file is looked at before anything is
written.  A large one takes longer than anybody wants to wait for a start: what is left after a
moment is looked through beside the work.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import quote

from common.clock import SystemClock
from common.errors import CodexBridgeError, ConfigError, StoreError

START_SECONDS: Final = 0.15  # some 100 MB from memory, 5 MB from a slow disk

_STEPS: Final = 1000  # of SQLite between two looks at the clock: a fraction of a millisecond
_OPENING: Final = {
    "SQLITE_CORRUPT": "config.journal-damaged",
    "SQLITE_NOTADB": "config.journal-damaged",
    "SQLITE_FULL": "config.journal-full",
    "SQLITE_IOERR_SHMSIZE": "config.journal-full",
    "SQLITE_CANTOPEN": "config.journal-denied",
    "SQLITE_PERM": "config.journal-denied",
    "SQLITE_READONLY": "config.journal-denied",
}
_WORKING: Final = {
    "SQLITE_CORRUPT": "store.damaged",
    "SQLITE_NOTADB": "store.damaged",
    "SQLITE_FULL": "store.full",
    "SQLITE_IOERR_SHMSIZE": "store.full",
}


def check_opened(connection: sqlite3.Connection, path: Path) -> bool:
    """Look through a file that was just opened, for `START_SECONDS` at most.

    Returns:
        Whether all of it was seen.

    Raises:
        ConfigError: ``config.journal-damaged``.
    """
    now = SystemClock().now
    until = now().mono + START_SECONDS
    return _look(connection, path, lambda: now().mono > until)


def look_through(path: Path, is_stopped: Callable[[], bool]) -> None:
    """Look through the whole file beside whoever works with it; ends early when it is to stop.

    Raises:
        ConfigError: ``config.journal-damaged``.
    """
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
        try:
            _look(connection, path, is_stopped)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise not_opened(error, path) from error


def not_opened(error: sqlite3.Error, path: Path) -> CodexBridgeError:
    """Return what to tell when a file cannot be opened."""
    name = _name(error)
    code = _known(_OPENING, name)
    return ConfigError(code, path=path, why=name) if code else not_done(error)


def not_done(error: sqlite3.Error) -> StoreError:
    """Return what to tell when a change was refused; it was rolled back."""
    name = _name(error)
    return StoreError(_known(_WORKING, name) or "store.failed", why=name)


def _look(connection: sqlite3.Connection, path: Path, is_stopped: Callable[[], bool]) -> bool:
    connection.set_progress_handler(is_stopped, _STEPS)
    try:
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError as error:
        if _name(error) != "SQLITE_INTERRUPT":
            raise
        return False
    finally:
        connection.set_progress_handler(None, 0)
    if found != "ok":
        # The first line names the database, the next the tree and its page.
        raise ConfigError("config.journal-damaged", path=path, why=found.splitlines()[-1][:200])
    return True


def _known(table: dict[str, str], name: str) -> str | None:
    # An extended code begins with its plain one: SQLITE_CORRUPT_INDEX.
    return next((code for start, code in table.items() if name.startswith(start)), None)


def _name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", type(error).__name__))
