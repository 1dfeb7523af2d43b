"""The one thread that uses the journal, so that the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from common.clock import Clock
from common.signing import SigningKey
from local_agent.store.health import not_done
from local_agent.store.journal import Journal
from local_agent.store.outbox import News, Peer

SOON_S: Final = 0.05  # within which what nobody waits for leaves, with what comes meanwhile

_P = ParamSpec("_P")
_R = TypeVar("_R")


class JournalThread:
    """Runs callables on the journal's thread, in the order they were given.

    ``await db.run(db.journal.tasks.get, task_id)``, or any function of one's own that uses several
    parts within ``db.journal.transaction()``.

    Attributes:
        on_report: Called on the loop after anything that left a report for the gateway; a moment
            later where nobody waits for it.
    """

    def __init__(self, journal: Journal, executor: ThreadPoolExecutor) -> None:
        self.journal = journal
        self._executor = executor
        self.on_report: Callable[[], None] = lambda: None
        self._soon: asyncio.TimerHandle | None = None

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        clock: Clock,
        key: Callable[[], SigningKey],
        peer: Peer | None = None,
    ) -> JournalThread:
        """Open the journal on a thread of its own.

        Raises:
            ConfigError: see `Journal`.
            AuthError: ``audit.broken``.
            StoreError: ``store.failed``.
        """
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")
        try:
            journal = await _on(executor, partial(Journal, path, clock=clock, key=key, peer=peer))
        except BaseException:
            executor.shutdown(wait=False)
            raise
        return cls(journal, executor)

    async def run(self, fn: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Return what ``fn`` returns.

        A caller that is cancelled does not know whether it ran; the journal does.

        Raises:
            StoreError: ``store.full``, ``store.damaged``, ``store.failed``: SQLite refused; the
                transaction was rolled back.
            Exception: whatever ``fn`` raises.
        """
        call = partial(fn, *args, **kwargs)
        return await _on(self._executor, partial(self._attended, call, asyncio.get_running_loop()))

    async def close(self) -> None:
        """Finish what was given, close the file and end the thread."""
        await _on(self._executor, self.journal.close)
        await asyncio.to_thread(self._executor.shutdown)

    def _attended(self, call: Callable[[], _R], loop: asyncio.AbstractEventLoop) -> _R:
        try:
            return call()
        finally:
            # From here and not from whoever waits: they may have been cancelled meanwhile.
            if news := self.journal.outbox.take_news():
                loop.call_soon_threadsafe(self._report, news)

    def _report(self, news: News) -> None:
        if news == "now":
            self.on_report()
        elif self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(SOON_S, self._report_soon)

    def _report_soon(self) -> None:
        self._soon = None
        self.on_report()


async def _on(executor: ThreadPoolExecutor, call: Callable[[], _R]) -> _R:
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, call)
    except sqlite3.Error as error:
        raise not_done(error) from error
