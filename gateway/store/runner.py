"""Runs store functions on SQLite: one writing thread with group commit, one reading thread.

Many callbacks at once become one commit of up to 256 operations; one which fails spoils none of the
others.  A caller hears of success only after the commit is on the disk.  Checkpoints run in a third
thread, off everybody's way.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

from common.audit_reader import AuditReader, one_view
from common.errors import ConfigError, StoreError
from gateway.store import Connection, audit
from gateway.store.lane import Fault, Job, Lane
from gateway.store.sqlite import (
    ServerLock,
    SqliteConnection,
    check_whole,
    connect,
    ensure_current,
    failed,
    is_full,
)

P = ParamSpec("P")
T = TypeVar("T")

GROUP = 256  # operations in one commit
READS = 16  # handed over with one wake-up of the loop; each has a view of its own
CHECKPOINT_SECONDS = 1.0
WAL_LIMIT_BYTES = 32 * 1024 * 1024  # beyond it writers are held up until the log starts anew …
RESTART_MS = 100  # … or for so long, when a reader is in the way
_KEPT_HEADS: Final = """
    SELECT agent_id, seq, hash, own_seq, own_hash, public_key, frame, at FROM heads
    ORDER BY agent_id"""


def commit_group(driver: sqlite3.Connection, jobs: list[Job]) -> None:
    """Run a group in one transaction; when the commit fails, every one of them fails.

    It is on the disk afterwards, and all that was committed before it, if any of them must be.
    Savepoints cost a tenth of everything and are needed only where an operation fails, which is
    rare: then the group is run anew with each operation in a savepoint of its own.
    """
    synced = any(job.synced for job in jobs)
    try:
        driver.execute("PRAGMA synchronous=FULL" if synced else "PRAGMA synchronous=NORMAL")
        if not _all_at_once(driver, jobs):
            _each_apart(driver, jobs)
        driver.execute("COMMIT")
    except sqlite3.Error as error:
        if driver.in_transaction:
            driver.execute("ROLLBACK")
        for job in jobs:
            job.error = error


def _all_at_once(driver: sqlite3.Connection, jobs: list[Job]) -> bool:
    """Run the group; when one fails, undo what it and those before it did, and return False."""
    conn = SqliteConnection(driver)
    driver.execute("BEGIN IMMEDIATE")
    if all(job.attempt(conn) for job in jobs):
        return True
    if driver.in_transaction:  # a full disk or an I/O error has ended it already
        driver.execute("ROLLBACK")
    return False


def _each_apart(driver: sqlite3.Connection, jobs: list[Job]) -> None:
    conn = SqliteConnection(driver)
    driver.execute("BEGIN IMMEDIATE")
    for job in jobs:
        driver.execute("SAVEPOINT operation")
        if not job.attempt(conn):
            _undo(driver, job)
        driver.execute("RELEASE operation")


def _undo(driver: sqlite3.Connection, job: Job) -> None:
    # A full disk or an I/O error ends the whole transaction, savepoints and all.
    if isinstance(job.error, sqlite3.Error) and not driver.in_transaction:
        raise job.error
    driver.execute("ROLLBACK TO operation")


def read_each(driver: sqlite3.Connection, jobs: list[Job]) -> None:
    """Run each read on a view of its own."""
    conn = SqliteConnection(driver)
    for job in jobs:
        try:
            driver.execute("BEGIN")
            job.attempt(conn)
            driver.execute("COMMIT")
        except sqlite3.Error as error:
            job.error = error
            if driver.in_transaction:
                driver.execute("ROLLBACK")


class _Checkpointer:
    """Moves what was committed from the log into the database, about once a second."""

    def __init__(self, path: Path, fault: Fault) -> None:
        self._driver = connect(path)
        # Writers may have to wait with it for a reader that holds an old view: not for seconds.
        self._driver.execute(f"PRAGMA busy_timeout={RESTART_MS}")
        self._fault = fault
        self._dirty = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="store-checkpoint", daemon=True)
        self._thread.start()

    def note(self) -> None:
        """Say that something was committed."""
        self._dirty.set()

    def close(self) -> None:
        self._stop.set()
        self._dirty.set()
        self._thread.join()
        self._driver.close()

    def _run(self) -> None:
        try:
            while self._dirty.wait() and not self._stop.wait(CHECKPOINT_SECONDS):
                self._dirty.clear()
                if not checkpoint(self._driver):
                    self._dirty.set()  # a reader was in the way; the next round does it
        except BaseException as error:  # noqa: BLE001 — without it the log would fill the disk
            self._fault.meet(error)


def checkpoint(driver: sqlite3.Connection, *, limit: int = WAL_LIMIT_BYTES) -> bool:
    """Move the log into the database; False when something is left, because a reader needs it.

    Holds nobody up unless the log has grown beyond ``limit`` bytes, as it does when the writer
    never rests.  Then writers wait while the little that has come meanwhile is moved.
    """
    try:
        size, whole = _move(driver, "PASSIVE")
        if size > limit:
            _move(driver, "PASSIVE")
            # The file keeps its size: to write over it costs less than to let it grow again.
            _, whole = _move(driver, "RESTART")
    except sqlite3.Error:
        return False
    return whole


def _move(driver: sqlite3.Connection, mode: str) -> tuple[int, bool]:
    """Checkpoint once; return how many bytes of pages the log holds, and whether all were moved."""
    busy, frames, moved = driver.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    page = driver.execute("PRAGMA page_size").fetchone()[0]
    return int(frames) * int(page), not busy and frames == moved


class SqliteRunner:
    """The `gateway.store.Store` of one process on one file.

    Attributes:
        is_full: Whether the last change found no room on the disk.
    """

    def __init__(self, path: Path, lock: ServerLock) -> None:
        self.is_full = False
        self._lock = lock
        self._log = path.with_name(f"{path.name}-wal")
        self._is_synced = True  # changed by the writing thread alone
        self._fault = fault = Fault()
        self._checkpointer = _Checkpointer(path, fault)
        self._writer = Lane(
            "store-write", connect(path), group=GROUP, serve=self._commit, fault=fault
        )
        self._reader = Lane(
            "store-read", connect(path, read_only=True), group=READS, serve=read_each, fault=fault
        )

    async def until_broken(self) -> None:
        """Wait for a fault of the store's own threads, after which nothing is served any more.

        Raises:
            Exception: that fault; it never returns.
        """
        await self._fault.wait()

    async def write(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``fn`` in a durable transaction; returns after the commit.

        Raises:
            StoreError: ``store.busy``, ``store.closed`` or ``store.failed``: nothing was changed;
                or ``store.broken``: the server stops, and only a restart shows what was done.
        """
        result: T = await self._writer.submit(lambda conn: fn(conn, *args, **kwargs))
        return result

    async def write_unsynced(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``fn`` in a transaction that the next durable one makes durable with it.

        Raises:
            StoreError: as `write`.
        """
        result: T = await self._writer.submit(lambda conn: fn(conn, *args, **kwargs), synced=False)
        return result

    async def sync(self) -> None:
        """Make durable what `write_unsynced` has written.

        Raises:
            StoreError: as `write`.
        """
        if not self._is_synced:
            await self._writer.submit(lambda _: None)

    async def read(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``fn`` on one consistent view that it cannot change.

        Raises:
            StoreError: as `write`; also when ``fn`` tries to change something.
        """
        result: T = await self._reader.submit(lambda conn: fn(conn, *args, **kwargs))
        return result

    async def close(self) -> None:
        """Finish what was submitted, then let go of the file."""
        await asyncio.to_thread(self._close)

    def _commit(self, driver: sqlite3.Connection, jobs: list[Job]) -> None:
        before, was_synced = driver.total_changes, self._is_synced
        synced = any(job.synced for job in jobs)
        self._is_synced = was_synced and synced  # before anybody can see what is written
        commit_group(driver, jobs)
        if driver.total_changes == before:
            self._is_synced = was_synced
            if synced:
                self._sync_for(jobs)
        elif synced:
            self._is_synced = not any(isinstance(job.error, sqlite3.Error) for job in jobs)
        if any(is_full(job.error) for job in jobs):
            self.is_full = True
        elif self.is_full:  # what wrote nothing shows nothing
            self.is_full = driver.total_changes == before
        self._checkpointer.note()

    def _sync_for(self, jobs: list[Job]) -> None:
        # A transaction that writes nothing flushes nothing, and what it found may not be flushed.
        try:
            self._sync()
        except StoreError as error:
            for job in jobs:
                job.error = error

    def _sync(self) -> None:
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

    def _close(self) -> None:
        self._reader.close()
        self._writer.close()
        self._checkpointer.close()
        self._lock.release()


class AdminStore:
    """The store as an admin's command uses it: at once, in this thread, beside a running server."""

    def __init__(self, driver: sqlite3.Connection) -> None:
        self._driver = driver

    def write(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``fn`` in a durable transaction.

        Raises:
            StoreError: nothing was changed.
        """
        return self._whole("BEGIN IMMEDIATE", lambda conn: fn(conn, *args, **kwargs))

    def read(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``fn`` on one consistent view.

        Raises:
            StoreError: the view could not be had.
        """
        return self._whole("BEGIN", lambda conn: fn(conn, *args, **kwargs))

    def _whole(self, begin: str, call: Callable[[Connection], T]) -> T:
        try:
            self._driver.execute(begin)
            result = call(SqliteConnection(self._driver))
            self._driver.execute("COMMIT")
            return result
        except sqlite3.Error as error:
            raise failed(error) from error
        finally:
            if self._driver.in_transaction:
                self._driver.execute("ROLLBACK")


def open_store(path: Path) -> SqliteRunner:
    """Open the store as the one server on it, creating or migrating it first.  Blocks.

    A damaged one is refused: what is written on top of it makes a later repair harder.

    Raises:
        ConfigError: ``config.store-in-use``, ``config.store-newer``, ``config.store-foreign``,
            ``config.store-damaged``, ``config.store-full`` or ``config.store-denied``.
        AuthError: ``audit.broken`` (seq): the newest entries of the audit log do not hold.
    """
    lock = ServerLock(path)
    try:
        ensure_current(path, lock=lock)
        check_whole(path)
        with open_admin(path) as store:
            store.read(audit.check_newest)
        return SqliteRunner(path, lock)
    except BaseException:
        lock.release()
        raise


@contextmanager
def open_admin(path: Path) -> Iterator[AdminStore]:
    """Open the store for one command of an admin; a server may be running on it.  Blocks.

    Raises:
        ConfigError: as `open_store`; ``config.store-in-use`` only when it would have to be migrated
            under a running server.
    """
    ensure_current(path)
    driver = connect(path)
    try:
        yield AdminStore(driver)
    finally:
        driver.close()


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
    with one_view(partial(connect, path, read_only=True), path, kept=_KEPT_HEADS) as log:
        yield log
