"""What happens by the clock alone: queues that expire, machines that are gone, a clean start.

A task that its machine did not take in by its deadline is ended here and its member told; so is one
that its machine took in and has said nothing of for days.  Such an end is only presumed: the
machine may have lost the line before saying so, and then whatever it signs later stands
(`gateway.flow.results`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from typing import Final

from structlog.typing import FilteringBoundLogger

from common.audit_check import STARTED
from common.clock import Clock, Instant
from common.errors import AuthError, StoreError
from common.model.state import Reason, final_of
from common.protocol.envelope import SKEW_S
from gateway.base.identity import Seal
from gateway.flow import cards, offline, rotation
from gateway.flow.countersigning import Countersigner
from gateway.flow.outbox import machine_of, tell
from gateway.flow.replies import Speaker
from gateway.store import (
    Connection,
    Store,
    agents,
    audit,
    inbound,
    mailbox,
    outbox,
    pairings,
    tasks,
)
from gateway.store.tasks import Change, Task

ROUND_SECONDS: Final = 15.0
BATCH: Final = 100  # so that no round holds the store for long
DAY_MS: Final = 86_400_000
# An approval waits at most 72 hours, a command runs at most one, and twenty may be in its way.
SILENCE_MS: Final = 5 * DAY_MS
LISTEN_S: Final = 900.0  # after a start, for machines to come back and say what they kept
KEPT_MS: Final = 7 * DAY_MS  # dedupe keys, delivered frames, sent messages
TASKS_KEPT_MS: Final = 90 * DAY_MS  # then their short IDs are free again


@dataclass(frozen=True, slots=True)
class Round:
    """What one round ended, and whose mailbox holds tombstones."""

    ended: int
    agents: frozenset[str]


class Upkeep:
    """Keeps the store in order.

    Args:
        store: The store.
        seal: Signs tombstones.
        ring: The gateway's keys, of which those that nobody needs any more are dropped.
        countersigner: Signs the end of our audit log.
        clock: Tells the moment.
        zone: Time zone of the hours that are told.
        prefix: What commands begin with in the chat.
        wake_agent: Hint that an agent's mailbox holds something new.
        wake_outbox: Hint that there is something to say.
        log: For rounds that fail.
    """

    def __init__(
        self,
        store: Store,
        *,
        seal: Seal,
        ring: rotation.Ring,
        countersigner: Countersigner,
        clock: Clock,
        zone: tzinfo,
        prefix: str,
        wake_agent: Callable[[str], None],
        wake_outbox: Callable[[], None],
        log: FilteringBoundLogger,
    ) -> None:
        self._store = store
        self._seal = seal
        self._ring = ring
        self._countersigner = countersigner
        self._clock = clock
        self._zone = zone
        self._prefix = prefix
        self._wake_agent = wake_agent
        self._wake_outbox = wake_outbox
        self._log = log
        self._deaf_until = clock.now().mono + LISTEN_S
        self._settled_at = clock.now().mono + offline.SETTLE_S

    async def begin(self) -> None:
        """Set right what a crash left behind; call it once, before anybody can connect.

        Raises:
            StoreError: nothing was changed; do not serve.
            AuthError: ``audit.broken``: the log no longer holds what was signed; do not serve.
        """
        await self._store.write(self._begin, self._clock.now())

    async def end(self) -> None:
        """Sign the audit log as it stands; call it last, when nobody is served any more.

        A store that is broken by then is told of elsewhere; the next start signs.
        """
        try:
            await self._store.write(self._countersigner.sign, self._clock.now())
        except (StoreError, AuthError) as error:
            self._log.error("upkeep-failed", code=error.code)

    async def run(self) -> None:
        """Do a round every 15 seconds until cancelled."""
        while True:
            try:
                await self.round()
            except StoreError as error:
                self._log.error("upkeep-failed", code=error.code)
            await asyncio.sleep(ROUND_SECONDS)

    async def round(self) -> Round:
        """End what has expired, forget what is old.

        Raises:
            StoreError: nothing was changed; the next round does it.
        """
        at = self._clock.now()
        done = await self._store.write(self._expire, at)
        unneeded = await self._store.write(self._forget, at)
        if unneeded:
            await asyncio.to_thread(self._ring.drop, unneeded)
        for agent_id in done.agents:
            self._wake_agent(agent_id)
        if await self._tell_offline(at) or done.ended:
            self._wake_outbox()
        return done

    async def _tell_offline(self, at: Instant) -> int:
        # Nothing to tell is the usual case, and to find that out takes no turn of the writer.
        if at.mono < self._settled_at or not await self._store.read(offline.find, at):
            return 0
        return await self._store.write(
            offline.tell_members, at, zone=self._zone, prefix=self._prefix
        )

    def _forget(self, conn: Connection, at: Instant) -> tuple[str, ...]:
        _purge(conn, at)
        unneeded = rotation.retire(conn, self._ring, at_ms=at.wall_ms)
        self._countersigner.sign(conn, at)
        return unneeded

    def _begin(self, conn: Connection, at: Instant) -> None:
        agents.disconnect_all(conn, at_ms=at.wall_ms)
        outbox.recover(conn)
        self._countersigner.sign(conn, at)  # what was there before this start …
        audit.append(conn, STARTED, at.wall_ms)
        self._countersigner.sign(conn, at)  # … and the start itself

    def _expire(self, conn: Connection, at: Instant) -> Round:
        # An agent whose clock is behind takes a frame in for as long as the skew allows.
        entries = mailbox.expired(conn, before_ms=at.wall_ms - SKEW_S * 1000, limit=BATCH)
        ended = 0
        for entry in entries:
            mailbox.bury(conn, self._seal, entry, at=at)
            task = tasks.find(conn, entry.task_id) if entry.typ == "task" else None
            if task is not None and task.reason is None:
                reason = Reason.EXPIRED if task.cancel_asked_at is None else Reason.CANCELLED
                self._presume(conn, task, reason, partial(Speaker.unsent, reason=reason), at=at)
                ended += 1
        for task in tasks.orphans(conn, limit=BATCH):
            self._presume(conn, task, Reason.UNKNOWN, Speaker.orphaned, at=at)
            ended += 1
        ended += self._expire_silent(conn, at)
        return Round(ended, frozenset(entry.agent_id for entry in entries))

    def _expire_silent(self, conn: Connection, at: Instant) -> int:
        if at.mono < self._deaf_until:
            return 0
        silent = tasks.silent(conn, before_ms=at.wall_ms - SILENCE_MS, limit=BATCH)
        for task in silent:
            self._presume(conn, task, Reason.UNKNOWN, Speaker.silent, at=at)
        return len(silent)

    def _presume(
        self,
        conn: Connection,
        task: Task,
        reason: Reason,
        told: Callable[[Speaker, Task, str], str],
        *,
        at: Instant,
    ) -> None:
        presumed = Change(final_of(reason)[0], reason, presumed=True)
        tasks.change(conn, task.task_id, presumed, at_ms=at.wall_ms)
        audit.append(conn, "task.presumed", at.wall_ms, task=task.task_id, reason=reason.value)
        machine = machine_of(conn, task)
        cards.end(conn, task, machine, reason, at=at)
        text = told(Speaker(task.lang, self._zone, at.wall_ms), task, machine)
        # A task that turns out to be alive may fall silent again.
        key = f"presumed:{task.task_id}:{task.updated_at}"
        tell(conn, task, key, text, at=at)


def _purge(conn: Connection, at: Instant) -> None:
    now = at.wall_ms
    pairings.wipe_expired(conn, at_ms=now)
    pairings.purge(conn, before_ms=now - DAY_MS)
    inbound.purge(conn, before_ms=now - KEPT_MS)
    outbox.purge(conn, before_ms=now - KEPT_MS)
    mailbox.purge(conn, before_ms=now - KEPT_MS)
    tasks.purge(conn, before_ms=now - TASKS_KEPT_MS)
