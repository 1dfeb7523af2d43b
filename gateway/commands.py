"""What the gateway does for a member inside the intake transaction: show, stop, hand over.

`hand_over` makes a task of whatever is for the machine.  Nothing here executes anything, and
nothing here can approve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from common.clock import Instant
from common.dsl import Command
from common.errors import InputError
from common.ids import new_uuid
from common.model.state import TaskState
from common.protocol.envelope import TaskBody
from gateway import access, replies
from gateway.access import Limits, Visitor
from gateway.store import agents, audit, mailbox, tasks
from gateway.store.agents import Agent
from gateway.store.mailbox import Seal
from gateway.store.port import Connection
from gateway.store.tasks import Task
from gateway.voice import Voice, as_list, with_words
from gateway.wecom.messages import InboundMessage

SHOWN_TASKS: Final = 10


@dataclass(frozen=True, slots=True)
class Order:
    """One message of a member who was let in, and what it takes to act on it.

    Attributes:
        conn: The intake transaction.
        text: What was written.
        voice: Speaks to the member.
        seal: Signs for the machine.
        ttl_s: How long a task may wait for its machine, in seconds.
    """

    conn: Connection
    message: InboundMessage
    text: str
    visitor: Visitor
    voice: Voice
    at: Instant
    seal: Seal
    limits: Limits
    ttl_s: int
    prefix: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to the member, and whose mailbox has something new."""

    text: str
    agent_id: str | None = None


def hand_over(order: Order, command: Command | None = None) -> Answer:
    """Make a task for the member's machine; signed, numbered and queued in this transaction.

    Raises:
        InputError: ``access.no-machine``, ``access.which-machine`` or ``access.too-many-tasks``.
    """
    agent = _machine_of(order, command)
    access.check_room(order.conn, order.visitor, limits=order.limits)
    task_id = new_uuid()
    short_id = tasks.free_short_id(order.conn, agent.agent_id)
    body = _body(order, task_id, short_id)
    envelope = mailbox.enqueue(
        order.conn,
        order.seal,
        "task",
        agent_id=agent.agent_id,
        task_id=task_id,
        body=body.to_dict(),
        at=order.at,
        life_s=order.ttl_s,
    )
    task = Task(
        task_id=task_id,
        short_id=short_id,
        agent_id=agent.agent_id,
        user_id=order.visitor.user_id,
        channel=order.message.channel,
        text=order.text,
        lang=order.voice.lang,
        state=TaskState.RECEIVED,
        envelope_sha256=envelope.sha256,
        created_at=order.at.wall_ms,
        updated_at=order.at.wall_ms,
        expires_at=envelope.header.exp * 1000,
    )
    tasks.create(order.conn, task)
    audit.append(
        order.conn,
        "task.accepted",
        order.at.wall_ms,
        task=task_id,
        user=task.user_id,
        agent=agent.agent_id,
        envelope=envelope.sha256,
    )
    return Answer(order.voice.accepted(task, agent), agent.agent_id)


def cancel(order: Order, command: Command) -> Answer:
    """Ask the machine to stop a task of the member's own.

    Raises:
        InputError: ``task.bad-id``, ``task.not-yours`` or ``task.none-open``.
    """
    found = _named(order, command) or tasks.open_of(
        order.conn, order.visitor.user_id, limit=SHOWN_TASKS
    )
    if not found:
        raise InputError("task.none-open")
    if command.task_id is None and len(found) > 1:
        which = order.voice.say(replies.WHICH_TASK, prefix=order.prefix)
        return Answer(as_list([which, *map(order.voice.task_line, found)]))
    task = found[0]
    if task.reason is not None:
        return Answer(order.voice.over(task, task.reason))
    tasks.ask_cancel(order.conn, task.task_id, at_ms=order.at.wall_ms)
    mailbox.enqueue_cancel(
        order.conn,
        order.seal,
        agent_id=task.agent_id,
        task_id=task.task_id,
        claimed_user=order.visitor.user_id,
        at=order.at,
    )
    agent = agents.find(order.conn, task.agent_id)
    online = agent is not None and agent.online
    sentence = replies.CANCEL_SENT if online else replies.CANCEL_WAITS
    machine = agent.machine if agent else ""
    return Answer(order.voice.say(sentence, id=task.short_id, machine=machine), task.agent_id)


def status(order: Order, command: Command) -> Answer:
    """Show the member's machines and unfinished tasks, or one task.

    Raises:
        InputError: ``task.bad-id`` or ``task.not-yours``.
    """
    voice = order.voice
    named = _named(order, command)
    if named:
        return Answer(with_words(_line(voice)(named[0]), named[0].message or ""))
    found = tasks.open_of(order.conn, order.visitor.user_id, limit=SHOWN_TASKS)
    lines = [*map(voice.machine_line, order.visitor.machines), *map(_line(voice), found)]
    if not found:
        lines.append(voice.say(replies.REFUSALS["task.none-open"]))
    return Answer(as_list(lines))


def _line(voice: Voice) -> Callable[[Task], str]:
    return lambda task: voice.task_line(task, stopping=task.cancel_asked_at is not None)


def _machine_of(order: Order, command: Command | None) -> Agent:
    # A command about a task goes to the machine that has the task.
    if command is not None and command.task_id is not None:
        for task in tasks.named(order.conn, order.visitor.user_id, command.task_id):
            for agent in order.visitor.machines:
                if agent.agent_id == task.agent_id:
                    return agent
    return access.machine_for(order.visitor)


def _named(order: Order, command: Command) -> list[Task]:
    """Return the member's tasks of the ID that was typed, open ones first; none without an ID."""
    if command.args:
        raise InputError("task.bad-id", given=command.args[:32])
    if command.task_id is None:
        return []
    found = tasks.named(order.conn, order.visitor.user_id, command.task_id)
    if not found:
        raise InputError("task.not-yours", id=command.task_id)
    return sorted(found, key=lambda task: task.reason is not None)


def _body(order: Order, task_id: str, short_id: str) -> TaskBody:
    message = order.message
    return TaskBody(
        task_id=task_id,
        short_id=short_id,
        thread_id=f"{message.channel}:{message.bot}:{message.user}",
        channel=message.channel,
        claimed_user=message.user,
        text=order.text,
        lang=order.voice.lang,
        received_at=order.at.wall_ms,
    )
