"""What an agent reports of a task: it moves along the table of states (R18), and ends.

Only its own agent may speak of a task, and ends it only with the hash of the very envelope that
asked for it.
"""

from __future__ import annotations

import hmac
from datetime import tzinfo
from typing import Any, Final

from common.clock import Instant
from common.errors import AuthError, StateError
from common.model.state import FINAL, Reason, TaskState, may_follow, next_state
from common.protocol.envelope import EventBody, ResultBody
from gateway.base.identity import Seal
from gateway.flow import notices, replies, withdrawal
from gateway.flow.replies import Speaker
from gateway.store import Connection, audit, members, outbox, tasks
from gateway.store.tasks import Change, Task

APPROVALS: Final = 50  # told of one task; beyond it its machine is broken or hostile
# Until it is said that an approved task runs: most have ended by then, and an agent tells sooner
# how those get on that take longer.
RUNNING_MS: Final = 90_000
# What can take minutes; lines about it are passed on while it does.
_LONG: Final = frozenset({TaskState.PROPOSING, TaskState.EXECUTING})


class TaskReports:
    """Takes in reports, inside the caller's transaction.

    Args:
        seal: Signs a cancel for a task that turns out to be alive.
        zone: Time zone of the hours that are told.
    """

    def __init__(self, *, seal: Seal, zone: tzinfo) -> None:
        self._seal = seal
        self._zone = zone

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
        if task.presumed or told is not current or _waits_anew(task, event):
            self._change(conn, task, event, at=at)
        elif event.message:
            tasks.note_progress(conn, task.task_id, event.message, at_ms=at.wall_ms)
            if told in _LONG:
                line = self._speaker(task, at).progress(
                    task, notices.machine_of(conn, task), event.message
                )
                notices.tell_progress(conn, task, jti, line, at=at)

    def _change(self, conn: Connection, task: Task, event: EventBody, *, at: Instant) -> None:
        state, waiting = TaskState(event.state), _waiting(event)
        if waiting and tasks.times_in(conn, task.task_id, state) >= APPROVALS:
            raise StateError("task.too-many-approvals", limit=APPROVALS)
        change = Change(
            state,
            message=event.message,
            seal_code=waiting["seal_code"] if waiting else None,
            waiting_until=waiting["expires_at"] if waiting else None,
        )
        tasks.change(conn, task.task_id, change, at_ms=at.wall_ms)
        outbox.drop_progress(conn, task.task_id, at_ms=at.wall_ms, told=waiting is not None)
        if task.presumed and task.cancel_asked_at is not None:
            # Taken in after all, when we had given it up: its member still wants it stopped.
            withdrawal.send_cancel(conn, self._seal, task, at=at)
        speaker, machine = self._speaker(task, at), notices.machine_of(conn, task)
        if waiting:
            code, until_ms = waiting["seal_code"], waiting["expires_at"]
            text = speaker.waiting(task, machine, event.message, code=code, until_ms=until_ms)
            notices.tell(conn, task, f"waiting:{task.task_id}:{code}", text, at=at)
        elif state is TaskState.EXECUTING:
            text = speaker.say(replies.RUNNING, id=task.short_id, machine=machine)
            key = f"running:{task.task_id}"
            notices.tell_progress(conn, task, key, text, at=at, after_ms=RUNNING_MS)

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
        speaker, machine = self._speaker(task, at), notices.machine_of(conn, task)
        if reason is Reason.CANCELLED and not members.serves(conn, task.user_id, agent_id):
            text = speaker.unbound(task, machine, result.summary)
        else:
            text = speaker.final(task, machine, reason, result.summary)
        notices.tell(conn, task, f"final:{task.task_id}", text, at=at)

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
