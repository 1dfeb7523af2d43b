"""The journal: its parts over one connection, and the one thread that uses them.

tasks ─▶ approvals, effects, outbox ─▶ audit        inbox ─▶ tasks

On a thread of its own, so that the event loop never waits for a disk.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from common.clock import Clock
from common.signing import SigningKey
from local_agent.store.approvals import Approvals
from local_agent.store.audit_log import AuditLog
from local_agent.store.database import Database, not_done
from local_agent.store.disclosures import Disclosures
from local_agent.store.effects import Effects
from local_agent.store.heads import Heads
from local_agent.store.inbox import Inbox
from local_agent.store.outbox import News, Outbox, Peer
from local_agent.store.passkeys import Passkeys
from local_agent.store.peers import Peers
from local_agent.store.runs import Runs
from local_agent.store.statistics import Statistics
from local_agent.store.tasks import Tasks
from local_agent.store.turns import Turns


class Journal:
    """Everything the agent remembers, except blobs.

    Args:
        path: The SQLite file.
        clock: Stamps what the journal itself notes.
        key: Gives this machine's present key, which signs the end of the audit log.
        peer: The paired gateway, or None while there is none.

    Raises:
        ConfigError: see `Database`.
        AuthError: ``audit.broken``: the newest audit entries do not hold; the agent must not start.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        key: Callable[[], SigningKey],
        peer: Peer | None = None,
    ) -> None:
        self._db = Database(path)
        try:
            self.peers = Peers(self._db, peer.name if peer else None)
            if peer is not None:
                peer.on_open(self.peers.in_use())
            self.audit = AuditLog(self._db, clock, key)
            self.audit.verify_tail()
            self.audit.sign_end(is_ours=peer.holds if peer else _is_nobodys)
            self.outbox = Outbox(self._db, clock, peer, self.peers)
            self.heads = Heads(self._db, clock, peer=peer, outbox=self.outbox, audit=self.audit)
            self.effects = Effects(self._db, clock, self.audit)
            self.approvals = Approvals(self._db, self.audit)
            self.disclosures = Disclosures(self._db, self.audit)
            self.passkeys = Passkeys(self._db, self.audit)
            self.turns = Turns(self._db)
            self.runs = Runs(self._db)
            self.statistics = Statistics(self._db)
            self.tasks = Tasks(
                self._db,
                outbox=self.outbox,
                approvals=self.approvals,
                effects=self.effects,
                heads=self.heads,
                audit=self.audit,
            )
            self.inbox = Inbox(
                self._db,
                clock,
                peer=peer,
                tasks=self.tasks,
                peers=self.peers,
                outbox=self.outbox,
                heads=self.heads,
                audit=self.audit,
            )
        except BaseException:
            self._db.close()
            raise

    @property
    def is_whole(self) -> bool:
        """Whether the look at its start saw all of the file."""
        return self._db.is_whole

    def transaction(self) -> AbstractContextManager[None]:
        """Return a context in which several parts change together or not at all."""
        return self._db.transaction()

    def acked(self, seq: int) -> None:
        """Forget the reports up to ``seq``, which the gateway has.

        Raises:
            RemoteProtocolError: ``outbox.ack-unsent`` or ``outbox.ack-lost``.
        """
        self.outbox.acked(seq)
        self.heads.offer_owed()

    def close(self) -> None:
        """Close the file and let another process have it."""
        self._db.close()


def _is_nobodys(_public: bytes) -> bool:
    return False


# --- its thread ------------------------------------------------------------------------------

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
