"""THE gate: every decision of a person enters here, and nothing runs but through here (P1, R1).

    request ─▶ pending ─▶ decide ─▶ approved ─▶ take_grant ─▶ Grant ─▶ execution
                  └────▶ rejected, expired, superseded

- Only an `Entrance` approves, and it asks for the digest that was shown and the typed code.  It is
  made for one approver; no caller says who decides.  That of ``dry-run``, for files of answers,
  takes no code, and decides on nothing but changes of a dry run's own copy (ADR 34).
- Only `Gate.take_grant` mints a Grant: once, within a minute, after the intent is durable.  Of
  several operations under one question it mints one for each, in their order.
- Whatever fails on the way, an exception ends it and nothing runs (R4).

Showing, arming and typing are the approvers' matter (`faces`); what is risky is told by
`local_agent.safety.authority`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from common.assertion import check_assertion
from common.clock import Clock, Instant
from common.errors import (
    AuthError,
    InputError,
    LocalProtocolError,
    RemoteProtocolError,
    StateError,
)
from common.model.state import Reason
from common.seal import Seal
from common.signing import APPROVAL, SigningKey, VerifyKey
from common.strict_json import canonical
from common.text import clip_bytes
from local_agent.actions.registry import ACTIONS
from local_agent.flow.approvals import (
    APPROVERS,
    CHOICES,
    Approver,
    Choice,
    Decision,
    Notice,
    PendingApproval,
    Shown,
    decision_of,
    question,
)
from local_agent.flow.gate_checks import Checks, Deadlines, Limits, PausedError
from local_agent.flow.gate_steps import (
    admit,
    decide,
    expire_due,
    expire_seen,
    find,
    take_up,
    wish_of,
)
from local_agent.safety.authority import before_operation
from local_agent.safety.decision import Statement
from local_agent.safety.dry_run import check_dry_run
from local_agent.safety.grant import Grant, _mint
from local_agent.safety.risk import Circumstances
from local_agent.store.approvals import START_WITHIN_MS, StoredApproval
from local_agent.store.journal import Journal, JournalThread

MAX_WAIT_MS: Final = 72 * 3_600_000  # an approval waits at most 72 hours
STAMP_MS: Final = 600_000  # how much a clock that goes back while no agent runs may win, at most
REASON_BYTES: Final = 500


class Entrance:
    """Where the decisions of one approver enter; what is recorded names that one.

    Made by `Gate.entrance` where the agent is assembled, for the face that verifies who decides,
    and handed to that face alone.
    """

    def __init__(self, gate: Gate, approver: Approver) -> None:
        self._gate = gate
        self._approver = approver

    async def decide(
        self,
        name: str,
        digest: str,
        *,
        decision: Choice,
        typed: str = "",
        reason: str | None = None,
        assertion: Mapping[str, Any] | None = None,
    ) -> None:
        """Take a person's decision.

        Args:
            name: An approval id, or the short ID of its task.
            digest: The digest that was shown to the person (R23).
            decision: ``approve`` or ``reject``.
            typed: What the person typed: the first group of the code, both for high risk.  A
                rejection needs none, nor does a passkey, nor a click in the window on what is of
                normal risk.
            reason: What the person says about it; goes to the chat.
            assertion: What the passkey signed (`common.assertion`), and nobody else gives.

        Raises:
            InputError: ``approval.decision`` (a passkey never rejects),
                ``approval.digest-mismatch``, ``approval.code-mismatch``, ``approval.paused``; it
                still waits.
            StateError: ``approval.unknown``, ``approval.not-pending``, ``approval.expired``,
                ``approval.blocked``.
            StateError: ``approval.not-dry-run``: it is for a person to decide.
            AuthError: ``approval.changed``; ``passkey.refused``: it signed another digest.
        """
        await self._gate._decide(  # noqa: SLF001 - the one way in; it is private for all others
            name,
            digest,
            decision=decision,
            approver=self._approver,
            typed=typed,
            reason=reason,
            assertion=assertion,
        )


class Gate:
    """Where approvals are asked for, decided and used.

    Args:
        db: The journal's thread.
        clock: For expiry, by both of its clocks: whichever says "too late" first is believed.
        key: Gives this machine's present key, which signs each decision.
        limits: Bounds against flooding.
        listeners: Told of each `Notice` on the event loop; they must not block or raise.
        dry_runs: Gives the real path of the folder where copies for dry runs lie, and blocks; None
            where there are none, and then no file of answers decides on anything.
    """

    def __init__(
        self,
        db: JournalThread,
        *,
        clock: Clock,
        key: Callable[[], SigningKey],
        limits: Limits | None = None,
        listeners: Sequence[Callable[[Notice], None]] = (),
        dry_runs: Callable[[], Path] | None = None,
    ) -> None:
        self._db = db
        self._clock = clock
        self._key = key
        self._limits = limits or Limits()
        self._listeners = list(listeners)
        self._dry_runs = dry_runs
        self._deadlines = Deadlines(clock)
        self._checks = Checks(self._deadlines, self._limits)
        self._ended: dict[str, asyncio.Event] = {}
        self._between = Deadlines(clock)  # of what was begun and has further parts
        # Of what was approved and not begun to its last part.
        self._signed_by: dict[str, VerifyKey] = {}
        self._recording: set[asyncio.Future[None]] = set()
        self._stamped_ms = clock.now().wall_ms

    async def start(self) -> None:
        """Take up what was left: what waits goes on waiting, what was approved expires (R22)."""
        now = self._clock.now()
        waiting, at_ms = await self._db.run(take_up, self._journal, now.wall_ms)
        for stored in waiting:
            at = replace(now, wall_ms=at_ms)
            self._deadlines.begin(stored.approval_id, stored.expires_at, at)

    async def run(self) -> None:
        """Let approvals expire in time, for ever.  One task of the application."""
        while True:
            await self.tick()
            await self._deadlines.reached()

    async def tick(self) -> None:
        """Expire what is due by now, and wake whoever waits for what has ended."""
        now = self._clock.now()
        known = self._deadlines.known()
        late = {one for one in known if self._deadlines.is_late(one, now)}
        expired, live = await self._db.run(expire_due, self._journal, late, now.wall_ms)
        if live and abs(now.wall_ms - self._stamped_ms) >= STAMP_MS:
            await self._db.run(self._journal.audit.stamp)
            self._stamped_ms = now.wall_ms
        for stored in expired:
            self._end(stored.approval_id)
            self._tell(Notice("expired", stored.approval_id, stored.task_id))
        # A task that ends withdraws its approval without asking here.
        for approval_id in known - live:
            self._end(approval_id)

    async def request(self, seal: Seal, *, around: Circumstances) -> PendingApproval:
        """Ask the person; an older question of the same task no longer stands (R23).

        Args:
            seal: What is to be done.
            around: What else its risk depends on: the workspace's own test command and policy, and
                what the sealed diff says.

        Raises:
            RefusedError: policy forbids it, whoever would approve.
            FloodedError: ``approval.too-many``.
            LocalProtocolError: ``approval.times``: it would wait too long, or lies in the past.
        """
        now = self._clock.now()
        if not seal.created_at <= now.wall_ms < seal.expires_at <= seal.created_at + MAX_WAIT_MS:
            raise LocalProtocolError("approval.times", approval_id=seal.approval_id)
        wish = await asyncio.to_thread(wish_of, seal, around)
        superseded = await self._db.run(admit, self._journal, wish, self._limits)
        for approval_id in superseded:
            self._end(approval_id)
            self._tell(Notice("superseded", approval_id, seal.task_id))
        self._deadlines.begin(wish.approval_id, wish.expires_at, now)
        self._tell(Notice("requested", wish.approval_id, wish.task_id))
        return question(wish)

    async def pending(self) -> list[PendingApproval]:
        """Return what waits for the person, oldest first.

        One that was tampered with is left out: it cannot be approved, and `show` says why.
        """
        now = self._clock.now()
        stored = await self._db.run(self._journal.approvals.pending)
        live = [one for one in stored if not self._checks.is_late(one, now)]
        if len(live) < len(stored):
            await self.tick()
        return [asked for one in live if (asked := _untouched(one)) is not None]

    async def show(self, name: str) -> Shown:
        """Return one approval with everything to be shown.

        Args:
            name: An approval id, or the short ID of its task.

        Raises:
            StateError: ``approval.unknown``, ``task.unknown``.
            AuthError: ``approval.changed``: the stored bytes were tampered with.
        """
        stored = await self._db.run(find, self._journal, name)
        now = self._clock.now()
        waits = stored.state == "pending" and not self._checks.is_late(stored, now)
        if stored.state == "pending" and not waits:
            await self.tick()
        return Shown(
            approval=question(stored),
            state="expired" if stored.state == "pending" and not waits else stored.state,
            left_ms=stored.expires_at - now.wall_ms if waits else 0,
            blocked=self._checks.blocked,
            approver=stored.approver,
            decision_reason=stored.decision_reason,
        )

    def entrance(self, approver: Approver) -> Entrance:
        """Return where the decisions of an approver enter.

        Raises:
            InputError: ``approval.decision``: there is no such approver.
        """
        if approver not in APPROVERS:
            raise InputError("approval.decision")
        return Entrance(self, approver)

    async def _decide(
        self,
        name: str,
        digest: str,
        *,
        decision: Choice,
        approver: Approver,
        typed: str,
        reason: str | None,
        assertion: Mapping[str, Any] | None,
    ) -> None:
        """Take a person's decision; as `Entrance.decide`."""
        by_passkey = approver == "passkey"
        if decision not in CHOICES or (by_passkey and decision != "approve"):
            raise InputError("approval.decision")
        if by_passkey is (assertion is None):
            raise InputError("approval.decision")
        stored = await self._db.run(find, self._journal, name)
        now = self._clock.now()
        try:
            self._checks.waits(stored, digest, now)
        except StateError:
            await self.tick()  # what was seen to be late is so for ever
            raise
        if approver == "dry-run":
            await asyncio.to_thread(self._check_dry_run, stored)
        if assertion is not None:
            check_assertion(assertion, stored.digest)
        if decision == "approve":
            await self._check_approval(stored, typed, now, approver)
        said = reason and clip_bytes(reason, REASON_BYTES)
        signed = None if assertion is None else canonical(assertion)
        recording = asyncio.ensure_future(self._record(stored, decision, approver, said, signed))
        self._recording.add(recording)
        recording.add_done_callback(self._recording.discard)
        # Decided is decided, even when the approver's connection ends at this very moment.
        await asyncio.shield(recording)

    async def wait(self, approval_id: str) -> Decision:
        """Return how an approval ended, once it has; also after a restart.

        Raises:
            StateError: ``approval.unknown``.
        """
        while True:
            ended = self._ended.setdefault(approval_id, asyncio.Event())
            try:
                stored = await self._db.run(self._journal.approvals.get, approval_id)
            except StateError:
                self._ended.pop(approval_id, None)
                raise
            if (decision := decision_of(stored)) is not None:
                self._ended.pop(approval_id, None)
                return decision
            await ended.wait()

    async def withdraw(self, task_id: str) -> None:
        """Take back what a task asks, or was granted and has not used."""
        for approval_id in await self._db.run(self._journal.approvals.withdraw, task_id):
            self._end(approval_id)
            self._tell(Notice("superseded", approval_id, task_id))
        await self.tick()

    async def take_grant(self, approval_id: str, digest: str, *, part: int = 0) -> Grant:
        """Use an approval up and return the one Grant for it, or for a part of it.

        The intent is on disk when this returns (R59).  After a crash it stays without an outcome,
        and is reported as unknown, never begun again (P3).

        Args:
            approval_id: Which approval.
            digest: The digest that was decided on.
            part: Which of the operations that it covers, from 0; each after the first within a
                minute of `end_part` for the one before it, in this very process.

        Raises:
            StateError: ``approval.not-approved``, ``approval.task-over``.
            AuthError: ``approval.changed``, ``approval.unsigned``.
            StoreError: nothing was written; nothing may run.
        """
        deadlines = self._between if part else self._deadlines
        if deadlines.is_late(approval_id, self._clock.now()):
            await self.tick()
            raise StateError("approval.not-approved", approval_id=approval_id)
        # The key may have been rotated since; what another process decided is by none of ours.
        by = self._signed_by.get(approval_id) or self._key().public
        try:
            raw = await self._db.run(self._consume, approval_id, digest, by, part)
        except StateError:
            await self.tick()
            raise
        self._end(approval_id)
        self._between.forget(approval_id)
        grant = _mint(raw, ACTIONS, part)
        if not grant.is_last:
            self._signed_by[approval_id] = by
        if not part:
            self._tell(Notice("consumed", approval_id, grant.task_id))
        return grant

    async def end_part(self, grant: Grant) -> None:
        """Record that a part completed; the one after it may be begun within a minute.

        How the last one ended, or one that did not complete, is recorded with the end of its task.

        Raises:
            StateError: ``effect.not-open``: its end is known.
            StoreError: nothing was written.
        """
        close = self._journal.effects.close_effect
        await self._db.run(close, grant.approval_id, Reason.COMPLETED.value, part=grant.part)
        now = self._clock.now()
        self._between.begin(grant.approval_id, now.wall_ms + START_WITHIN_MS, now)

    def block(self, why: str) -> AbstractContextManager[None]:
        """Accept no approval meanwhile: an unsandboxed command could press the keys itself."""
        return self._checks.block(why)

    @property
    def times_blocked(self) -> int:
        """How often approvals were blocked until now: a window that was open then was exposed."""
        return self._checks.times_blocked

    def listen(self, listener: Callable[[Notice], None]) -> None:
        """Tell one more of each `Notice`; it must not block or raise."""
        self._listeners.append(listener)

    @property
    def _journal(self) -> Journal:
        return self._db.journal

    def _consume(self, approval_id: str, shown: str, by: VerifyKey, part: int) -> bytes:
        # The time is read here, on the journal's thread, where it is spent.
        at_ms = self._clock.now().wall_ms
        try:
            return before_operation(
                self._journal,
                approval_id,
                shown=shown,
                at_ms=at_ms,
                by=by,
                known=ACTIONS,
                part=part,
            )
        except StateError as error:
            if error.code == "approval.not-approved":
                expire_seen(self._journal, approval_id, at_ms)
            raise

    def _check_dry_run(self, stored: StoredApproval) -> None:
        """Return when a file of answers may decide on this.  Blocking."""
        if self._dry_runs is None:
            raise StateError("approval.not-dry-run", why="place")
        check_dry_run(question(stored).seal, self._dry_runs(), ACTIONS)

    async def _check_approval(
        self, stored: StoredApproval, typed: str, now: Instant, by: Approver
    ) -> None:
        try:
            self._checks.typed(stored, typed, now, by=by)
        except PausedError:
            note = self._journal.audit.append
            await self._db.run(note, "approval.wrong-codes", approval_id=stored.approval_id)
            raise

    async def _record(
        self,
        stored: StoredApproval,
        choice: Choice,
        approver: Approver,
        reason: str | None,
        assertion: bytes | None,
    ) -> None:
        now = self._clock.now()
        words = Statement(
            stored.approval_id,
            stored.digest,
            choice,
            approver,
            reason,
            at_ms=now.wall_ms,
            risk=stored.risk,
            assertion=assertion,
        )
        key = self._key()
        signature = key.sign(APPROVAL, words.raw)
        state = await self._db.run(decide, self._journal, stored, words, signature, by=key.public)
        self._end(stored.approval_id)
        if choice == "approve":
            self._signed_by[stored.approval_id] = key.public
            self._deadlines.begin(stored.approval_id, now.wall_ms + START_WITHIN_MS, now)
        self._tell(Notice(state, stored.approval_id, stored.task_id))

    def _end(self, approval_id: str) -> None:
        """Forget what is counted for it, and wake whoever waits."""
        self._deadlines.forget(approval_id)
        self._checks.forget(approval_id)
        self._signed_by.pop(approval_id, None)
        if ended := self._ended.pop(approval_id, None):
            ended.set()

    def _tell(self, notice: Notice) -> None:
        for listener in self._listeners:
            listener(notice)


def _untouched(stored: StoredApproval) -> PendingApproval | None:
    try:
        return question(stored)
    except (AuthError, RemoteProtocolError):
        return None
