"""One SQLite file: opened private and alone, brought up to date, changed in transactions.

What the tables mean is told in ``migrations/*.sql`` and in the modules beside this one.

What is written on top of damage makes a repair harder, so the file is looked at before anything is
written.  A large one takes longer than anybody wants to wait for a start: what is left after a
moment is looked through beside the work.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from common.clock import SystemClock
from common.errors import CodexBridgeError, ConfigError, StoreError
from common.home import private_dir
from common.private_database import is_emptied, make_database
from local_agent.store.lock import take_lock

_WAIT_S = 30.0  # for who copies the file meanwhile
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    # An accepted task and a consumed approval must survive a power cut (P3).
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
)


class Database:
    """The connection of one process, used from one thread.

    Args:
        path: The file; its folder is made 0700, the file 0600.

    Raises:
        ConfigError: ``config.agent-running`` when another process has it open;
            ``config.store-newer`` when a newer release wrote it;
            ``config.not-private`` when its folder belongs to someone else;
            ``config.journal-damaged``, ``config.journal-full`` or ``config.journal-denied`` when
            SQLite refuses it.

    Attributes:
        is_whole: Whether the look at its start saw all of the file; `look_through` the rest.
    """

    def __init__(self, path: Path) -> None:
        private_dir(path.parent)
        self._lock = take_lock(path)
        try:
            _make(path)
            self._connection = sqlite3.connect(path, isolation_level=None, timeout=_WAIT_S)
            try:
                self.is_whole = self._prepare(path)
                self._migrate(path)
            except BaseException:
                self._connection.close()
                raise
        except BaseException:
            os.close(self._lock)
            raise
        self._depth = 0
        self._log = path.with_name(f"{path.name}-wal")
        self._is_synced = True

    def close(self) -> None:
        """Close the file and let another process have it."""
        self._connection.close()
        os.close(self._lock)

    @contextmanager
    def transaction(self, *, synced: bool = True) -> Iterator[None]:
        """Do everything inside or nothing; an inner one that fails undoes only itself.

        Args:
            synced: Whether it is on the disk when this ends.  Else it outlives the process, and a
                power cut only from the next transaction that is, or `sync`.  The outermost decides.
        """
        # IMMEDIATE: the first statement cannot find that somebody wrote since it read.
        name = f"level{self._depth}"
        before = self._connection.total_changes
        if not self._depth:
            self._begin(synced=synced)
        else:
            self._connection.execute(f"SAVEPOINT {name}")
        self._depth += 1
        try:
            yield
            # Inside the try: a COMMIT that fails must be rolled back as well.
            self._connection.execute(f"RELEASE {name}" if self._depth > 1 else "COMMIT")
            if self._depth == 1 and synced and self._connection.total_changes != before:
                self._is_synced = True  # a commit that writes flushes all that came before it
        except BaseException:
            self._undo(name)
            raise
        finally:
            self._depth -= 1
            if not self._depth and not synced:
                self._flush_commits(True)

    def _begin(self, *, synced: bool) -> None:
        # Set for each: one that was refused, and what put it back as well, leave nothing behind.
        self._is_synced = self._is_synced and synced
        self._flush_commits(synced)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            self._flush_commits(True)
            raise

    def _flush_commits(self, always: bool) -> None:
        self._connection.execute(f"PRAGMA synchronous = {'FULL' if always else 'NORMAL'}")

    def sync(self) -> None:
        """Have on the disk all that was committed.

        Raises:
            StoreError: ``store.failed``: the disk refused.
        """
        if self._is_synced:
            return
        try:
            log = os.open(self._log, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(log)
            finally:
                os.close(log)
        except OSError as error:
            raise StoreError("store.failed", why=errno.errorcode.get(error.errno or 0)) from error
        self._is_synced = True

    def run(self, sql: str, *values: Any, **named: Any) -> int:
        """Execute one statement and return how many rows it changed."""
        return self._connection.execute(sql, named or values).rowcount

    def one(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        """Return the first row, or None."""
        row: tuple[Any, ...] | None = self._connection.execute(sql, values).fetchone()
        return row

    def all(self, sql: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        """Return every row; bound the statement, not the result."""
        return self._connection.execute(sql, values).fetchall()

    def _undo(self, name: str) -> None:
        # SQLite itself rolls back on some errors (disk full); then there is nothing to undo.
        if not self._connection.in_transaction:
            return
        if self._depth > 1:
            self._connection.execute(f"ROLLBACK TO {name}")
            self._connection.execute(f"RELEASE {name}")
        else:
            self._connection.execute("ROLLBACK")

    def _prepare(self, path: Path) -> bool:
        try:
            for pragma in _PRAGMAS:
                self._connection.execute(pragma)
            return check_opened(self._connection, path)
        except sqlite3.Error as error:
            raise not_opened(error, path) from error

    def _migrate(self, path: Path) -> None:
        current: int = self._connection.execute("PRAGMA user_version").fetchone()[0]
        scripts = _scripts()
        if current > len(scripts):
            raise ConfigError("config.store-newer", path=path, found=current, known=len(scripts))
        if 0 < current < len(scripts):
            self._back_up(path.with_suffix(f".v{current}.bak"))
        for number, script in enumerate(scripts[current:], start=current + 1):
            self._apply(number, script)

    def _apply(self, number: int, script: str) -> None:
        try:
            self._connection.executescript(
                f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;"
            )
        except sqlite3.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _back_up(self, target: Path) -> None:
        target.unlink(missing_ok=True)
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        copy = sqlite3.connect(target)
        try:
            self._connection.backup(copy)
        finally:
            copy.close()


def _make(path: Path) -> None:
    if is_emptied(path):
        raise ConfigError("config.journal-damaged", path=path, why="empty")
    make_database(path)
    os.close(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC))
    path.chmod(0o600)  # -wal and -shm follow it


def newest_version() -> int:
    """Return the version of the schema that this release writes."""
    return len(_scripts())


def _scripts() -> list[str]:
    """Return the migrations in order; the n-th takes the schema from version n-1 to n."""
    folder = resources.files("local_agent.store") / "migrations"
    found = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".sql")),
        key=lambda item: item.name,
    )
    return [item.read_text(encoding="utf-8") for item in found]


# --- whether the file is whole, and what it means when SQLite refuses ------------------------

START_SECONDS: Final = 0.15  # some 100 MB from memory, 5 MB from a slow disk

_CHECK_STEPS: Final = 1000  # of SQLite between two looks at the clock: a fraction of a millisecond
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
    return _check_whole(connection, path, lambda: now().mono > until)


def look_through(path: Path, is_stopped: Callable[[], bool]) -> None:
    """Look through the whole file beside whoever works with it; ends early when it is to stop.

    Raises:
        ConfigError: ``config.journal-damaged``.
    """
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
        try:
            _check_whole(connection, path, is_stopped)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise not_opened(error, path) from error


def not_opened(error: sqlite3.Error, path: Path) -> CodexBridgeError:
    """Return what to tell when a file cannot be opened."""
    name = _error_name(error)
    code = _first_code(_OPENING, name)
    return ConfigError(code, path=path, why=name) if code else not_done(error)


def not_done(error: sqlite3.Error) -> StoreError:
    """Return what to tell when a change was refused; it was rolled back."""
    name = _error_name(error)
    return StoreError(_first_code(_WORKING, name) or "store.failed", why=name)


def _check_whole(
    connection: sqlite3.Connection, path: Path, is_stopped: Callable[[], bool]
) -> bool:
    connection.set_progress_handler(is_stopped, _CHECK_STEPS)
    try:
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError as error:
        if _error_name(error) != "SQLITE_INTERRUPT":
            raise
        return False
    finally:
        connection.set_progress_handler(None, 0)
    if found != "ok":
        # The first line names the database, the next the tree and its page.
        raise ConfigError("config.journal-damaged", path=path, why=found.splitlines()[-1][:200])
    return True


def _first_code(table: dict[str, str], name: str) -> str | None:
    # An extended code begins with its plain one: SQLITE_CORRUPT_INDEX.
    return next((code for start, code in table.items() if name.startswith(start)), None)


def _error_name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", type(error).__name__))
