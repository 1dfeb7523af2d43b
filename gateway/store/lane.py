"""A thread of the store: serves one queue of operations in groups, on one connection.

What an operation is and how a group is committed is told to it by `gateway.store.runner`.  A thread
that meets a fault of our own must not end in silence: everybody who waits is told, and the server
stops, so that a supervisor starts it anew.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, Final

from common.errors import StoreError
from gateway.store import Connection
from gateway.store.sqlite import failed

MAX_QUEUED: Final = 4096  # operations that may wait; beyond it the callback answers 503


class Job:
    """One operation and whoever waits for it.

    Attributes:
        synced: Whether it must be on the disk before anybody hears of its success.
    """

    __slots__ = ("call", "error", "future", "synced", "value")

    def __init__(
        self, call: Callable[[Connection], Any], future: asyncio.Future[Any], *, synced: bool = True
    ) -> None:
        self.call = call
        self.future = future
        self.synced = synced
        self.value: Any = None
        self.error: Exception | None = None

    def attempt(self, conn: Connection) -> bool:
        """Run the operation, keep its outcome and tell whether it succeeded."""
        self.error = None  # of an attempt that was undone
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


class Fault:
    """What broke the store, handed from one of its threads to the server's loop.

    Attributes:
        met: Whether the store is broken.  Asked before every operation, so it takes no lock.
    """

    def __init__(self) -> None:
        self.met = False
        self._future: concurrent.futures.Future[None] = concurrent.futures.Future()
        # From now on it cannot be cancelled: whoever stops waiting for it ends nothing.
        self._future.set_running_or_notify_cancel()
        self._lock = threading.Lock()

    def meet(self, error: BaseException) -> None:
        """Keep the first fault."""
        told = error if isinstance(error, Exception) else StoreError("store.broken")
        with self._lock:
            if not self.met:
                self.met = True
                self._future.set_exception(told)

    async def wait(self) -> None:
        """Wait for a fault and raise it."""
        await asyncio.wrap_future(self._future)


class Lane:
    """One thread that serves one queue in groups, on one connection."""

    def __init__(
        self,
        name: str,
        driver: sqlite3.Connection,
        *,
        group: int,
        serve: Callable[[sqlite3.Connection, list[Job]], None],
        fault: Fault,
    ) -> None:
        self._driver = driver
        self._fault = fault
        self._group = group
        self._serve = serve
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._closed = False
        self._dead = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(
        self, call: Callable[[Connection], Any], *, synced: bool = True
    ) -> asyncio.Future[Any]:
        """Queue an operation; what is returned ends with its outcome.

        Raises:
            StoreError: ``store.busy``, ``store.closed`` or ``store.broken``.
        """
        if self._closed:
            raise StoreError("store.closed")
        if self._fault.met:
            raise StoreError("store.broken")
        if self._jobs.qsize() >= MAX_QUEUED:
            raise StoreError("store.busy")
        job = Job(call, asyncio.get_running_loop().create_future(), synced=synced)
        self._jobs.put(job)
        if self._dead:  # asked after the put: whoever of the two comes second finds the job
            self._fail(self._left())
        return job.future

    def close(self) -> None:
        """Serve what was submitted, then end."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            self._thread.join()
            self._driver.close()

    def _run(self) -> None:
        jobs: list[Job] = []
        try:
            while (taken := self._take()) is not None:
                jobs = taken
                self._serve(self._driver, jobs)
                _hand_over(jobs)
                jobs = []
        except BaseException as error:  # noqa: BLE001 — a thread that died would be met with silence
            self._fault.meet(error)
            self._dead = True
            self._fail([*jobs, *self._left()])

    def _fail(self, jobs: list[Job]) -> None:
        for job in jobs:
            job.error = StoreError("store.broken")
        _hand_over(jobs)

    def _left(self) -> list[Job]:
        left = []
        try:
            while True:
                left.append(self._jobs.get_nowait())
        except queue.Empty:
            return [job for job in left if job is not None]

    def _take(self) -> list[Job] | None:
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


def _hand_over(jobs: list[Job]) -> None:
    """Hand outcomes to whoever waits; one wake-up of the loop for the whole group."""
    loops: dict[asyncio.AbstractEventLoop, list[Job]] = {}
    for job in jobs:
        loops.setdefault(job.future.get_loop(), []).append(job)
    for loop, its_jobs in loops.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, its_jobs)


def _settle(jobs: list[Job]) -> None:
    for job in jobs:
        job.settle()
