"""What the gateway sent: journaled first, acknowledged afterwards, accepted once (R17, P3).

`Inbox.accept` is one transaction: number, message id, task or cancel, events and reports.  When it
returns, the message may be acknowledged; until then it comes again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, cast

from common.clock import Clock
from common.errors import InputError, LocalProtocolError, RemoteProtocolError
from common.ids import minted_by, parse_short_id
from common.model.state import Reason, TaskState, final_of
from common.protocol.bodies import CancelBody, TaskBody
from common.protocol.envelope import Envelope
from common.sentences import Lang, Sentence, say
from local_agent import replies
from local_agent.store.audit_log import AuditLog
from local_agent.store.database import Database
from local_agent.store.endings import write_ending
from local_agent.store.outbox import Peer
from local_agent.store.tasks import Tasks
from local_agent.store.wishes import TaskSource

Accepted = Literal["new", "duplicate", "refused", "expired", "cancel", "noted"]

_KEEP_MS: Final = 30 * 86_400_000  # far beyond the life of any envelope; numbers guard for ever


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A task as its envelope describes it."""

    task_id: str
    short_id: str
    channel: str
    claimed_user: str
    thread_id: str
    text: str
    lang: Lang
    envelope_sha256: str
    gateway_key_id: str
    source: TaskSource = "wecom"
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class _Ending:
    """The step that ends a task on arrival."""

    task_id: str
    at_ms: int
    reason: Reason
    summary: str
    events: tuple[Mapping[str, Any], ...]
    reports: tuple[tuple[str, Mapping[str, Any]], ...]
    expected: TaskState = TaskState.RECEIVED
    state: TaskState = TaskState.REJECTED
    intent_json: str | None = None
    proposal_json: str | None = None
    ending_json: str | None = None


class Inbox:
    """Counts what one gateway sent, and turns it into tasks."""

    def __init__(
        self, db: Database, clock: Clock, *, peer: Peer | None, tasks: Tasks, audit: AuditLog
    ) -> None:
        self._db = db
        self._clock = clock
        self._peer = peer
        self._tasks = tasks
        self._audit = audit

    def last_seq(self) -> int:
        """Return the highest number taken from this gateway; 0 before the first."""
        row = self._db.one("SELECT received_seq FROM peers WHERE peer = ?", self._name)
        return int(row[0]) if row else 0

    def accept(self, envelope: Envelope) -> Accepted:
        """Take one verified envelope of type task, cancel or tombstone.

        Returns:
            ``new``: a task to begin.  ``refused`` or ``expired``: a task that was recorded and
            ended, its result on the way back.  ``cancel``: its task is to be cancelled, which the
            row remembers.  ``noted``: nothing to do.  ``duplicate``: known, nothing was changed
            but the count.

        Raises:
            RemoteProtocolError: ``sequence-gap``: the link let something through that it must not.
            StoreError: nothing was written; do not acknowledge.
        """
        header = envelope.header
        with self._db.transaction():
            last = self.last_seq()
            if header.seq <= last:
                return "duplicate"
            if header.seq > last + 1:
                raise RemoteProtocolError("sequence-gap", expected=last + 1, seq=header.seq)
            fresh = self._note(envelope)
            if not fresh:
                self._audit.append("inbox.repeated-id", seq=header.seq, jti=header.jti)
                return "duplicate"
            content = envelope.content
            if isinstance(content, TaskBody):
                return self._accept_task(envelope, content)
            if isinstance(content, CancelBody):
                return self._accept_cancel(envelope, content)
            self._audit.append("inbox.tombstone", seq=header.seq, task_id=envelope.body["task_id"])
            return "noted"

    def prune(self) -> int:
        """Forget message ids that are long past any envelope's life; return how many."""
        return self._db.run(
            "DELETE FROM inbox WHERE received_at < ?", self._clock.now().wall_ms - _KEEP_MS
        )

    @property
    def _name(self) -> str:
        if self._peer is None:
            raise LocalProtocolError("inbox.unpaired")
        return self._peer.name

    def _note(self, envelope: Envelope) -> bool:
        """Count the number, and return False when the message id was seen before."""
        header = envelope.header
        self._db.run(
            "INSERT INTO peers (peer, received_seq) VALUES (?, ?)"
            " ON CONFLICT (peer) DO UPDATE SET received_seq = excluded.received_seq",
            self._name,
            header.seq,
        )
        return bool(
            self._db.run(
                "INSERT INTO inbox (peer, seq, jti, typ, task_id, envelope_sha256, received_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (peer, jti) DO NOTHING",
                self._name,
                header.seq,
                header.jti,
                header.typ,
                envelope.body.get("task_id", ""),
                envelope.sha256,
                self._clock.now().wall_ms,
            )
        )

    def _accept_task(self, envelope: Envelope, body: TaskBody) -> Accepted:
        if self._tasks.find(body.task_id) is not None:
            self._audit.append("inbox.task-again", task_id=body.task_id, seq=envelope.header.seq)
            return "duplicate"
        now = self._clock.now().wall_ms
        arrival = _arrival(envelope, body)
        nameable = _is_gateways(body.short_id) and self._tasks.name_is_free(body.short_id, now)
        self._tasks.create(arrival, now, named=nameable)
        if not nameable:
            self._end(arrival, now, Reason.REFUSED, replies.SHORT_ID_REFUSED)
            return "refused"
        if envelope.expired:
            self._end(arrival, now, Reason.EXPIRED, replies.EXPIRED_ON_ARRIVAL)
            return "expired"
        return "new"

    def _accept_cancel(self, envelope: Envelope, body: CancelBody) -> Accepted:
        task = self._tasks.find(body.task_id)
        # A gateway takes back what it brought itself, in time, and nothing else.
        mine = task is not None and task.gateway_key_id == envelope.header.kid
        done = mine and not envelope.expired and self._tasks.request_cancel(body.task_id)
        self._audit.append(
            "inbox.cancel",
            task_id=body.task_id,
            claimed_user=body.claimed_user,
            taken=done,
        )
        return "cancel" if done else "noted"

    def _end(self, task: _Arrival, at_ms: int, reason: Reason, sentence: Sentence) -> None:
        state, status = final_of(reason)
        summary = say(sentence, task.lang, short_id=task.short_id)
        of_task = {"threadId": task.thread_id, "taskId": task.task_id}
        self._tasks.change(
            _Ending(
                task_id=task.task_id,
                at_ms=at_ms,
                reason=reason,
                summary=summary,
                ending_json=write_ending(partial(say, sentence, short_id=task.short_id)),
                events=(
                    {"type": "task_state", **of_task, "state": state.value, "message": summary},
                    {"type": "task_end", **of_task, "status": status, "reason": reason.value},
                ),
                reports=(
                    (
                        "result",
                        {
                            "task_id": task.task_id,
                            "task_sha256": task.envelope_sha256,
                            "state": state.value,
                            "reason": reason.value,
                            "summary": summary,
                            "at": at_ms,
                        },
                    ),
                ),
            )
        )


def _arrival(envelope: Envelope, body: TaskBody) -> _Arrival:
    return _Arrival(
        task_id=body.task_id,
        short_id=body.short_id,
        channel=body.channel,
        claimed_user=body.claimed_user,
        thread_id=body.thread_id,
        text=body.text,
        lang=cast("Lang", body.lang),
        envelope_sha256=envelope.sha256,
        gateway_key_id=envelope.header.kid,
    )


def _is_gateways(short_id: str) -> bool:
    """Tell whether a gateway may mint it: its half of the alphabet, in the stored form."""
    try:
        return parse_short_id(short_id) == short_id and minted_by(short_id) == "gateway"
    except InputError:
        return False
