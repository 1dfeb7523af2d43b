"""SQLite as the gateway uses it: how a connection is opened, the one server's lock, the schema.

A store is brought to the schema of this version once, before anything uses it.  Alembic and
SQLAlchemy are imported only when there is something to do: on every other start one plain query
tells that there is not.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Final

from common.errors import ConfigError, StoreError
from common.home import private_dir
from common.locks import open_lock
from common.private_database import is_emptied, make_database
from gateway.store import Row

BUSY_SECONDS = 5.0  # how long to wait for another process, such as an admin's command
OLDEST = (3, 35, 0)  # the first SQLite with RETURNING
STATEMENTS = 256  # more than there are, so that each is compiled once on a connection
CACHE_KIB = 16 * 1024  # pages that are changed again and again; taken as they are needed

_NAME = re.compile(r":(\w+)")
_FULL = frozenset({"SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"})  # the latter: of the log's index
_NOT_OPENED = {
    "SQLITE_CANTOPEN": "config.store-denied",
    "SQLITE_PERM": "config.store-denied",
    "SQLITE_READONLY": "config.store-denied",
}
HEAD: Final = "0008"  # the newest revision under migrations/versions; a test compares
SCRIPTS: Final = Path(__file__).with_name("migrations")


class SqliteConnection:
    """A `gateway.store.Connection` on the standard library's driver."""

    __slots__ = ("driver",)

    def __init__(self, driver: sqlite3.Connection) -> None:
        self.driver = driver

    def run(self, sql: str, /, **params: object) -> int:
        """Execute and return the number of rows that were changed."""
        return self._execute(sql, params).rowcount

    def one(self, sql: str, /, **params: object) -> Row | None:
        """Execute and return the first row."""
        cursor = self._execute(sql, params)
        row: Row | None = cursor.fetchone()
        # An unfinished statement would keep its savepoint from being released.
        cursor.close()
        return row

    def all(self, sql: str, /, **params: object) -> list[Row]:
        """Execute and return every row."""
        return self._execute(sql, params).fetchall()

    def _execute(self, sql: str, params: Mapping[str, object]) -> sqlite3.Cursor:
        # Binding by name, the driver lets go of the interpreter's lock for each parameter, and has
        # to win it back from the thread that answers requests.
        text, in_order = _positional(sql)
        return self.driver.execute(text, in_order(params))


@lru_cache(maxsize=STATEMENTS)
def _positional(sql: str) -> tuple[str, Callable[[Mapping[str, object]], tuple[object, ...]]]:
    """Return the statement without names, and what puts the parameters in order.

    One that is named twice is given twice: from Python 3.14 on a number such as ``?1`` counts as a
    name, for which the driver takes no sequence.
    """
    text, names = _NAME.sub("?", sql), _NAME.findall(sql)
    if len(names) < 2:  # of which `itemgetter` makes no tuple
        return text, lambda params: tuple(params[name] for name in names)
    return text, itemgetter(*names)


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open one connection; transactions are begun and ended by the caller, in words.

    ``synchronous=FULL`` makes a commit durable before it returns.  Checkpoints are left to a thread
    of their own: inside a commit they would hold up a callback for 5 ms and more.

    Raises:
        ConfigError: ``config.sqlite-too-old``, or as of `damaged`.
    """
    if sqlite3.sqlite_version_info < OLDEST:
        raise ConfigError("config.sqlite-too-old", found=sqlite3.sqlite_version)
    try:
        driver = sqlite3.connect(
            path,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,  # opened here, then used by one thread only
            cached_statements=STATEMENTS,
        )
    except sqlite3.Error as error:
        raise damaged(path, error) from error
    try:
        driver.row_factory = sqlite3.Row
        driver.execute("PRAGMA journal_mode=WAL")
        driver.execute("PRAGMA synchronous=FULL")
        driver.execute("PRAGMA wal_autocheckpoint=0")
        driver.execute("PRAGMA foreign_keys=ON")
        driver.execute("PRAGMA trusted_schema=OFF")
        driver.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
        # What statements and savepoints keep to go back to: in a file it would be most writes.
        driver.execute("PRAGMA temp_store=MEMORY")
        if read_only:
            driver.execute("PRAGMA query_only=ON")
    except sqlite3.Error as error:
        driver.close()
        raise damaged(path, error) from error
    return driver


def check_whole(path: Path) -> None:
    """Look through the whole file, as far as that goes without comparing rows and indexes.  Blocks.

    Raises:
        ConfigError: ``config.store-damaged`` (path, why), or as of `damaged`.
    """
    driver = connect(path, read_only=True)
    try:
        found = str(driver.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        raise damaged(path, error) from error
    finally:
        driver.close()
    if found != "ok":
        raise ConfigError("config.store-damaged", path=path, why=found)


def damaged(path: Path, error: sqlite3.Error) -> ConfigError:
    """Return what to tell an admin when the file cannot be opened as a database.

    It is ``config.store-full`` or ``config.store-denied`` where the file itself may be whole, else
    ``config.store-damaged`` (path, why).
    """
    name = name_of(error)
    family = "_".join(name.split("_")[:2])
    code = _NOT_OPENED.get(family, "config.store-damaged")
    return ConfigError("config.store-full" if is_full(error) else code, path=path, why=name)


def failed(error: sqlite3.Error) -> StoreError:
    """Return the engine's error as ours; its text may quote values, so only its name goes along."""
    code = "store.full" if is_full(error) else "store.failed"
    return StoreError(code, why=name_of(error))


def is_full(error: BaseException | None) -> bool:
    """Tell whether the engine found no room on the disk."""
    return isinstance(error, sqlite3.Error) and name_of(error) in _FULL


def name_of(error: sqlite3.Error) -> str:
    """Return the engine's name for an error, such as ``SQLITE_FULL``."""
    return getattr(error, "sqlite_errorname", type(error).__name__)


def create_private(path: Path) -> None:
    """Make the file with mode 0600 where there is none; its journals inherit the mode."""
    private_dir(path.parent)
    make_database(path)
    os.close(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC))
    path.chmod(0o600)


class ServerLock:
    """The right to be the one server on a store, held beside it until it is closed.

    The kernel gives it back when the process dies, however it dies.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock.

        Raises:
            ConfigError: ``config.store-in-use``, ``config.no-locks``.
        """
        private_dir(path.parent)
        if (descriptor := open_lock(path.with_name(f"{path.name}.lock"))) is None:
            raise ConfigError("config.store-in-use", path=path)
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the right back."""
        os.close(self._descriptor)


def ensure_current(
    path: Path,
    *,
    lock: ServerLock | None = None,
    head: str = HEAD,
    scripts: Path = SCRIPTS,
) -> None:
    """Create the store, or migrate it after a backup, or find that nothing is to be done.

    Args:
        path: The database file.
        lock: The caller's own lock; without one it is taken for the time of the change, so that
            nothing is migrated under a running server.
        head: The newest revision.
        scripts: Where the migrations are.

    Raises:
        ConfigError: ``config.store-newer``, ``config.store-foreign``, ``config.store-damaged``,
            ``config.store-in-use``.
    """
    if stored_revision(path) == head:
        return
    held = lock or ServerLock(path)
    try:
        # Asked again: another command may have done it while we waited for nothing.
        if (found := stored_revision(path)) != head:
            _migrate(path, found, head=head, scripts=scripts)
    finally:
        if lock is None:
            held.release()


def stored_revision(path: Path) -> str | None:
    """Return the revision of the store, None when it is yet to be created.

    Raises:
        ConfigError: ``config.store-foreign`` or ``config.store-damaged``.
    """
    if not path.exists():
        return None
    if is_emptied(path):
        raise ConfigError("config.store-damaged", path=path, why="empty")
    driver = connect(path)
    try:
        names = {row[0] for row in driver.execute("SELECT name FROM sqlite_master")}
        if not names:
            return None
        if "alembic_version" not in names:
            raise ConfigError("config.store-foreign", path=path)
        row = driver.execute("SELECT version_num FROM alembic_version").fetchone()
        return None if row is None else str(row[0])
    except sqlite3.Error as error:
        raise damaged(path, error) from error
    finally:
        driver.close()


def _migrate(path: Path, found: str | None, *, head: str, scripts: Path) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise ConfigError("config.store-newer", path=path, revision=found)
    if found is None:
        create_private(path)
    else:
        _back_up(path, found)
    engine = create_engine("sqlite://", creator=lambda: connect(path), poolclass=NullPool)
    with engine.connect() as connection:
        # The driver begins nothing by itself, so the tables change together or not at all.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        config.attributes["connection"] = connection
        command.upgrade(config, head)
        connection.commit()
    engine.dispose()


def _back_up(path: Path, revision: str) -> None:
    """Copy the store beside itself, named by the revision that it holds."""
    beside = path.with_name(f"{path.name}.revision-{revision}.backup")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    os.close(os.open(beside, flags, 0o600))
    source, copy = connect(path), sqlite3.connect(beside)
    try:
        source.backup(copy)
    finally:
        copy.close()
        source.close()
