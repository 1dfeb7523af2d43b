"""Brings a store to the schema of this version, once, before anything uses it.

Alembic and SQLAlchemy are imported only when there is something to do: on every other start one
plain query tells that there is not.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from common.errors import ConfigError
from common.private_database import is_emptied
from gateway.store.sqlite import ServerLock, connect, create_private, damaged

HEAD: Final = "0003"  # the newest revision under migrations/versions; a test compares
SCRIPTS: Final = Path(__file__).with_name("migrations")


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
