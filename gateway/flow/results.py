"""THE main flow of what an agent says of its tasks, back to the chat; one transaction each.

An agent speaks only of tasks that went to it, ends one only with the hash of the very envelope that
asked for it, and moves it only along the table of states (R18).  Anything else is audited, passes
no further, and is acknowledged all the same: sending it again would not mend it.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import replace
from datetime import tzinfo
from typing import Any, Final

from structlog.typing import FilteringBoundLogger

from common.clock import Clock, Instant
from common.errors import AuthError, CodexBridgeError, ProtocolError, StateError
from common.model.state import FINAL, Reason, TaskState, may_follow, next_state
from common.protocol.envelope import (
    Envelope,
    EventBody,
    HeadBody,
    RekeyBody,
    ResultBody,
    announced_key,
)
from common.sentences import Lang
from gateway.base.identity import Seal
from gateway.flow import cards, replies, withdrawal
from gateway.flow.countersigning import Countersigner
from gateway.flow.outbox import machine_of, tell, tell_progress
from gateway.flow.people import notify_approvers, notify_cancelled
from gateway.flow.replies import Speaker
from gateway.link import Taken
from gateway.store import Connection, Store, agents, audit, members, outbox, tasks
from gateway.store.tasks import Change, Task

REFUSALS: Final = 50  # audited of one machine in ten minutes
REKEYS: Final = 10  # of one machine in ten minutes; an honest one rotates once in that time
# What is asked for again, as at each save of a file, is told after a minute more each time: longer
# than one burst of saves, and short against the hours that it waits.
AGAIN_MS: Final = 60_000
AGAIN_MOST: Final = 30
APPROVALS: Final = 50  # told of one task; beyond it its machine is broken or hostile
# Until it is said that an approved task runs: most have ended by then, and an agent tells sooner
# how those get on that take longer.
RUNNING_MS: Final = 90_000
# What can take minutes; lines about it are passed on while it does.
_LONG: Final = frozenset({TaskState.PROPOSING, TaskState.EXECUTING})


class Results:
    """Takes in what agents say.

    Args:
        store: Where everything happens, at once or not at all.
        seal: Signs a cancel for a task that turns out to be alive.
        clock: Tells the moment.
        zone: Time zone of the hours that are told.
        lang: Of approvers who have none set.
        wake_outbox: Hint that there is something to say.
        countersigner: Keeps and answers the heads of their audit logs.
        log: For what is refused.
    """

    def __init__(
        self,
        store: Store,
        *,
        seal: Seal,
        clock: Clock,
        zone: tzinfo,
        lang: Lang,
        wake_outbox: Callable[[], None],
        countersigner: Countersigner,
        log: FilteringBoundLogger,
    ) -> None:
        self._store = store
        self._reports = TaskReports(seal=seal, zone=zone, lang=lang)
        self._clock = clock
        self._wake_outbox = wake_outbox
        self._countersigner = countersigner
        self._log = log
        self._refusals = audit.Allowance(REFUSALS)
        self._rekeys = audit.Allowance(REKEYS)

    async def received(self, agent_id: str, *, epoch: int, envelope: Envelope) -> Taken:
        """Store what a verified envelope says.

        Where a task is on its way is nothing that anybody waits for: it goes to the disk with what
        comes next, and its agent keeps it until it is there.

        Returns:
            As `gateway.link.Deliveries.received`.

        Raises:
            StoreError: nothing was changed.
        """
        content = envelope.content
        synced = not isinstance(content, EventBody) or content.waiting is not None
        write = self._store.write if synced else self._store.write_unsynced
        stored = await write(
            self._take, agent_id, epoch=epoch, envelope=envelope, at=self._clock.now()
        )
        self._wake_outbox()
        if not stored:
            return "stale"
        return "synced" if synced else "unsynced"

    def _take(
        self, conn: Connection, agent_id: str, *, epoch: int, envelope: Envelope, at: Instant
    ) -> bool:
        """THE main flow out, one call per arrow; what is to be said waits in the outbox then."""
        seq = envelope.header.seq
        match agents.advance(conn, agent_id, epoch=epoch, seq=seq, at_ms=at.wall_ms):
            case "stale":
                return False
            case "duplicate":
                return True
        try:
            self._dispatch(conn, agent_id, envelope, at=at)
        # Raised before anything was written, so the number moves on and the refusal is recorded.
        except (AuthError, StateError, ProtocolError) as refusal:
            self._refuse(conn, agent_id, envelope, refusal, at=at)
        return True

    def _dispatch(
        self, conn: Connection, agent_id: str, envelope: Envelope, *, at: Instant
    ) -> None:
        if envelope.expired:
            raise AuthError("result.expired")  # agents sign anew what has waited that long
        match envelope.content:
            case EventBody() as event:
                self._reports.on_event(conn, agent_id, event, jti=envelope.header.jti, at=at)
            case ResultBody() as result:
                self._reports.on_result(conn, agent_id, result, at=at)
            case HeadBody() as head:
                self._countersigner.take(conn, agent_id, envelope, head, at=at)
            case RekeyBody():
                self._on_rekey(conn, agent_id, envelope, at=at)
            case _:
                raise AuthError("result.unexpected", typ=envelope.header.typ)

    def _on_rekey(
        self, conn: Connection, agent_id: str, envelope: Envelope, *, at: Instant
    ) -> None:
        new = announced_key(envelope)
        if self._rekeys.take(agent_id, at.wall_ms) < 1:
            raise AuthError("result.rekeyed-too-often")
        agents.rekey(conn, agent_id, new)
        audit.append(
            conn,
            "agent.rekeyed",
            at.wall_ms,
            agent=agent_id,
            old=envelope.header.kid,
            new=new.key_id,
            public_key=new.raw.hex(),
            envelope=envelope.sha256,
        )

    def _refuse(
        self,
        conn: Connection,
        agent_id: str,
        envelope: Envelope,
        refusal: CodexBridgeError,
        *,
        at: Instant,
    ) -> None:
        left = self._refusals.take(agent_id, at.wall_ms)
        if left < 0:
            return
        facts = {"agent": agent_id, "code": refusal.code, "envelope": envelope.sha256}
        # The last one says that from here on they are no longer counted.
        event = "result.refused" if left else "result.refused-too-often"
        audit.append(conn, event, at.wall_ms, **facts)
        self._log.warning(event, **facts)


class TaskReports:
    """Takes in reports, inside the caller's transaction.

    Args:
        seal: Signs a cancel for a task that turns out to be alive.
        zone: Time zone of the hours that are told.
        lang: Of approvers who have none set.
    """

    def __init__(self, *, seal: Seal, zone: tzinfo, lang: Lang) -> None:
        self._seal = seal
        self._zone = zone
        self._lang = lang

    def on_event(
        self, conn: Connection, agent_id: str, event: EventBody, *, jti: str, at: Instant
    ) -> None:
        """Move a task along, and tell its member what matters.

        Raises:
            AuthError: ``result.foreign-task``.
            StateError: ``task.illegal-transition`` or ``task.too-many-approvals``.
        """
        task = _own_task(conn, agent_id, event.task_id)
        current, told = _current(conn, task), TaskState(event.state)
        if told in FINAL:
            return  # an end counts only as a result, which names the envelope
        if not may_follow(current, told):
            raise StateError("task.illegal-transition", current=current.value, wanted=told.value)
        is_new = task.presumed or told is not current or _waits_anew(task, event)
        if is_new:
            self._change(conn, task, event, at=at)
        elif event.message:
            tasks.note_progress(conn, task.task_id, event.message, at_ms=at.wall_ms)
        # PROPOSING itself says nothing: with words it is a later event, sent in place of the first.
        if event.message and told in _LONG and (not is_new or told is TaskState.PROPOSING):
            said = (task, machine_of(conn, task), event.message)
            line = self._speaker(task, at).progress(*said, at_ms=min(event.at, at.wall_ms))
            tell_progress(conn, task, jti, line, at=at)

    def _change(self, conn: Connection, task: Task, event: EventBody, *, at: Instant) -> None:
        state, waiting = TaskState(event.state), _waiting(event)
        times = tasks.times_in(conn, task.task_id, state) if waiting else 0
        again = task.state is state and times > 0
        if times >= APPROVALS:
            raise StateError("task.too-many-approvals", limit=APPROVALS)
        change = Change(
            state,
            message=event.message,
            seal_code=waiting["seal_code"] if waiting else None,
            waiting_until=waiting["expires_at"] if waiting else None,
        )
        tasks.change(conn, task.task_id, change, at_ms=at.wall_ms)
        told = None if again else waiting is not None
        outbox.drop_progress(conn, task.task_id, at_ms=at.wall_ms, told=told)
        if task.presumed and task.cancel_asked_at is not None:
            # Taken in after all, when we had given it up: its member still wants it stopped.
            withdrawal.send_cancel(conn, self._seal, task, at=at)
        speaker, machine = self._speaker(task, at), machine_of(conn, task)
        if waiting:
            code, until_ms = waiting["seal_code"], waiting["expires_at"]
            said = (speaker, task, machine, event.message)
            text = Speaker.waiting(*said, code=code, until_ms=until_ms)
            after_ms = min(times, AGAIN_MOST) * AGAIN_MS if again else 0
            due_at = cards.overtake(conn, task, machine, at=at, after_ms=after_ms)
            card = cards.waiting(*said, code=code, until_ms=until_ms)
            key = f"waiting:{task.task_id}:{code}"
            tell(conn, task, key, text, at=at, card=card, due_at=due_at)
            to_others = replace(speaker, lang=self._lang)
            notify_approvers(conn, task, machine, to_others, code=code, until_ms=until_ms)
        elif state is TaskState.EXECUTING:
            text = speaker.say(replies.RUNNING, id=task.short_id, machine=machine)
            key = f"running:{task.task_id}"
            tell_progress(conn, task, key, text, at=at, after_ms=RUNNING_MS)

    def on_result(
        self, conn: Connection, agent_id: str, result: ResultBody, *, at: Instant
    ) -> None:
        """End a task, and tell its member how.

        Raises:
            AuthError: ``result.foreign-task`` or ``result.wrong-envelope``.
            StateError: ``task.illegal-transition``.
        """
        task = _own_task(conn, agent_id, result.task_id)
        if not hmac.compare_digest(task.envelope_sha256.encode(), result.task_sha256.encode()):
            raise AuthError("result.wrong-envelope", task=task.task_id)
        state = next_state(_current(conn, task), TaskState(result.state))
        reason = Reason(result.reason)
        change = Change(state, reason=reason, message=result.summary)
        tasks.change(conn, task.task_id, change, at_ms=at.wall_ms)
        audit.append(
            conn, "task.ended", at.wall_ms, task=task.task_id, agent=agent_id, reason=reason.value
        )
        outbox.drop_progress(conn, task.task_id, at_ms=at.wall_ms, told=True)
        speaker, machine = self._speaker(task, at), machine_of(conn, task)
        cards.end(conn, task, machine, reason, at=at)
        if reason is Reason.CANCELLED:
            notify_cancelled(conn, task, machine, replace(speaker, lang=self._lang))
        if reason is Reason.CANCELLED and not members.serves(conn, task.person, agent_id):
            texts = [speaker.unbound(task, machine, result.summary)]
        else:
            texts = speaker.final(task, machine, reason, result.summary)
        for number, text in enumerate(texts):
            tell(conn, task, f"final:{task.task_id}" + f":{number}" * bool(number), text, at=at)

    def _speaker(self, task: Task, at: Instant) -> Speaker:
        return Speaker(task.lang, self._zone, at.wall_ms)


def _own_task(conn: Connection, agent_id: str, task_id: str) -> Task:
    task = tasks.find(conn, task_id)
    if task is None or task.agent_id != agent_id:
        raise AuthError("result.foreign-task", task=task_id)
    return task


def _current(conn: Connection, task: Task) -> TaskState:
    # What the gateway only presumed gives way to what the agent signed.
    return tasks.last_open_state(conn, task.task_id) if task.presumed else task.state


def _waiting(event: EventBody) -> dict[str, Any] | None:
    return event.waiting if event.state == TaskState.WAITING_APPROVAL else None


def _waits_anew(task: Task, event: EventBody) -> bool:
    """Tell apart a new approval from one that is told again, as after a restart of the agent."""
    waiting = _waiting(event)
    return waiting is not None and waiting["seal_code"] != task.seal_code
