"""What this machine forgets, and when: words of tasks and runs that ended long ago, old files.

Approvals, effects and the audit log stay for ever: they say what was done here and who allowed it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol

from common.clock import Clock
from common.errors import StoreError
from local_agent.store.blobs import Blobs
from local_agent.store.journal import JournalThread
from local_agent.store.tasks import NAME_FREE_AFTER_MS

KEPT_MS: Final = NAME_FREE_AFTER_MS  # as long as a short ID leads to its task: 90 days
ROUND_SECONDS: Final = 3600.0
BATCH: Final = 200  # tasks in one transaction, so that nobody waits for the journal

_DAY_MS: Final = 86_400_000
KEPT_COPIES: Final = 10  # of the newest dry runs; those that still go on are kept as well
COPIES_KEPT_MS: Final = 30 * _DAY_MS


class Log(Protocol):
    """What retention needs of a logger."""

    def info(self, event: str, *args: Any, **facts: Any) -> Any:
        """Record something ordinary."""
        ...

    def error(self, event: str, *args: Any, **facts: Any) -> Any:
        """Record a failure."""
        ...


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What one round removed."""

    tasks: int
    blobs: int
    copies: int
    files: int


class Copies(Protocol):
    """The copies in which dry runs act (`local_agent.workspace.dry_runs`)."""

    def prune(self, keep: Collection[str], *, now_s: float) -> int:
        """Remove all but the copies for these runs; return how many went.  Blocking."""
        ...


ForgetFiles = Callable[[Sequence[tuple[str, str]], float], int]


class Retention:
    """Keeps the disk from filling.

    Args:
        db: The journal's thread.
        blobs: The blobs beside it.
        copies: The copies for dry runs.
        forget_files: Removes the files of runs, each with its client, and backups that are older
            than a moment in seconds; returns how many.  Blocking.
        clock: Tells the moment.
        log: Told of each round that removed something, or failed.
    """

    def __init__(
        self,
        db: JournalThread,
        blobs: Blobs,
        copies: Copies,
        forget_files: ForgetFiles,
        *,
        clock: Clock,
        log: Log,
    ) -> None:
        self._forget_files = forget_files
        self._db = db
        self._blobs = blobs
        self._copies = copies
        self._clock = clock
        self._log = log

    async def run(self) -> None:
        """Do a round at once and then every hour, until cancelled."""
        while True:
            try:
                done = await self.round()
            except (StoreError, OSError) as error:
                self._log.error("retention.failed", why=type(error).__name__)
            else:
                if any(asdict(done).values()):
                    self._log.info("retention.forgot", **asdict(done))
            await asyncio.sleep(ROUND_SECONDS)

    async def round(self) -> Forgotten:
        """Forget everything that is old enough.

        Raises:
            StoreError: the journal refused; the next round goes on from there.
            OSError: a blob could not be removed.
        """
        now_ms = self._clock.now().wall_ms
        before_ms = now_ms - KEPT_MS
        journal, tasks = self._db.journal, 0
        await self._db.run(journal.inbox.prune)
        while found := await self._db.run(journal.tasks.forget, before_ms=before_ms, limit=BATCH):
            tasks += found
        # A day later, so that no task that is still shown leads to a log that is gone.
        before_s = (before_ms - _DAY_MS) / 1000
        blobs = await asyncio.to_thread(self._blobs.prune, before_s=before_s)
        runs = await self._db.run(journal.runs.forget, before_ms)
        files = await asyncio.to_thread(self._forget_files, runs, before_s)
        keep = await self._db.run(
            journal.runs.keeping_copies, newest=KEPT_COPIES, since_ms=now_ms - COPIES_KEPT_MS
        )
        copies = await asyncio.to_thread(self._copies.prune, keep, now_s=now_ms / 1000)
        return Forgotten(tasks, blobs, copies, files)
