"""Runs store functions on SQLite: one writing thread with group commit, one reading thread.

Many callbacks at once become one commit of up to 256 operations, each in a savepoint of its own, so
that one which fails spoils none of the others.  A caller hears of success only after the commit is
on the disk.  Checkpoints run in a third thread, off everybody's way.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from common.errors import StoreError
from gateway.store.port import Connection
from gateway.store.sqlite import ServerLock, SqliteConnection, connect, failed
from gateway.store.upgrade import ensure_current

P = ParamSpec("P")
T = TypeVar("T")

GROUP = 256  # operations in one commit
MAX_QUEUED = 4096  # operations that may wait; beyond it the callback answers 503
CHECKPOINT_SECONDS = 1.0
WAL_LIMIT_BYTES = 32 * 1024 * 1024  # beyond it writers are held up until the log starts anew


class _Job:
    """One operation and whoever waits for it."""

    __slots__ = ("call", "error", "future", "value")

    def __init__(self, call: Callable[[Connection], Any], future: asyncio.Future[Any]) -> None:
        self.call = call
        self.future = future
        self.value: Any = None
        self.error: Exception | None = None

    def attempt(self, conn: Connection) -> bool:
        """Run the operation, keep its outcome and tell whether it succeeded."""
        try:
            self.value = self.call(conn)
        except Exception as error:  # noqa: BLE001 — it belongs to whoever asked, not to this thread
            self.error = error
        return self.error is None

    def settle(self) -> None:
        """Hand the outcome over; runs on the caller's loop."""
        if self.future.done():  # the caller was cancelled; what was committed stays
            return
        if self.error is None:
            self.future.set_result(self.value)
        elif isinstance(self.error, sqlite3.Error):
            self.future.set_exception(failed(self.error))
        else:
            self.future.set_exception(self.error)


class _Lane:
    """One thread that serves one queue in groups, on one connection."""

    def __init__(
        self,
        name: str,
        driver: sqlite3.Connection,
        *,
        group: int,
        serve: Callable[[sqlite3.Connection, list[_Job]], None],
    ) -> None:
        self._driver = driver
        self._group = group
        self._serve = serve
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, call: Callable[[Connection], Any]) -> asyncio.Future[Any]:
        if self._closed:
            raise StoreError("store.closed")
        if self._jobs.qsize() >= MAX_QUEUED:
            raise StoreError("store.busy")
        job = _Job(call, asyncio.get_running_loop().create_future())
        self._jobs.put(job)
        return job.future

    def close(self) -> None:
        """Serve what was submitted, then end."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            self._thread.join()
            self._driver.close()

    def _run(self) -> None:
        while (jobs := self._take()) is not None:
            self._serve(self._driver, jobs)
            # One wake-up of the loop for the whole group.
            loops: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
            for job in jobs:
                loops.setdefault(job.future.get_loop(), []).append(job)
            for loop, its_jobs in loops.items():
                if not loop.is_closed():
                    loop.call_soon_threadsafe(_settle, its_jobs)

    def _take(self) -> list[_Job] | None:
        first = self._jobs.get()
        if first is None:
            return None
        jobs = [first]
        try:
            while len(jobs) < self._group and (job := self._jobs.get_nowait()) is not None:
                jobs.append(job)
            if len(jobs) < self._group:
                self._jobs.put(None)  # the end was taken; it is served in the next round
        except queue.Empty:
            pass
        return jobs


def _settle(jobs: list[_Job]) -> None:
    for job in jobs:
        job.settle()


def commit_group(driver: sqlite3.Connection, jobs: list[_Job]) -> None:
    """Run a group in one durable transaction; when the commit fails, every one of them fails."""
    conn = SqliteConnection(driver)
    try:
        driver.execute("BEGIN IMMEDIATE")
        for job in jobs:
            driver.execute("SAVEPOINT operation")
            if not job.attempt(conn):
                _undo(driver, job)
            driver.execute("RELEASE operation")
        driver.execute("COMMIT")
    except sqlite3.Error as error:
        if driver.in_transaction:
            driver.execute("ROLLBACK")
        for job in jobs:
            job.error = error


def _undo(driver: sqlite3.Connection, job: _Job) -> None:
    # A full disk or an I/O error ends the whole transaction, savepoints and all.
    if isinstance(job.error, sqlite3.Error) and not driver.in_transaction:
        raise job.error
    driver.execute("ROLLBACK TO operation")


def read_each(driver: sqlite3.Connection, jobs: list[_Job]) -> None:
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

    def __init__(self, path: Path) -> None:
        self._driver = connect(path)
        self._wal = path.with_name(f"{path.name}-wal")
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
        while self._dirty.wait() and not self._stop.wait(CHECKPOINT_SECONDS):
            self._dirty.clear()
            if not checkpoint(self._driver, self._wal):
                self._dirty.set()  # a reader was in the way; the next round does it


def checkpoint(driver: sqlite3.Connection, wal: Path, *, limit: int = WAL_LIMIT_BYTES) -> bool:
    """Move the log into the database; holds nobody up unless the log has grown beyond ``limit``."""
    try:
        driver.execute("PRAGMA wal_checkpoint(PASSIVE)")
        if wal.stat().st_size > limit:
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except (sqlite3.Error, OSError):
        return False
    return True


class SqliteRunner:
    """The `gateway.store.port.Store` of one process on one file."""

    def __init__(self, path: Path, lock: ServerLock) -> None:
        self._lock = lock
        self._checkpointer = _Checkpointer(path)
        self._writer = _Lane("store-write", connect(path), group=GROUP, serve=self._commit)
        self._reader = _Lane("store-read", connect(path, read_only=True), group=1, serve=read_each)

    async def write(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run ``fn`` in a durable transaction; returns after the commit.

        Raises:
            StoreError: ``store.busy``, ``store.closed`` or ``store.failed``; nothing was changed.
        """
        result: T = await self._writer.submit(lambda conn: fn(conn, *args, **kwargs))
        return result

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

    def _commit(self, driver: sqlite3.Connection, jobs: list[_Job]) -> None:
        commit_group(driver, jobs)
        self._checkpointer.note()

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

    Raises:
        ConfigError: ``config.store-in-use``, ``config.store-newer``, ``config.store-foreign`` or
            ``config.store-damaged``.
    """
    lock = ServerLock(path)
    try:
        ensure_current(path, lock=lock)
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
