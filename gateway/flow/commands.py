"""What the gateway does for a member inside the intake transaction: show, choose, stop, hand over.

`hand_over` makes a task of whatever is for the machine.  Nothing here executes anything, and
nothing here can approve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from common.clock import Instant
from common.dsl import Command, Directed
from common.errors import InputError
from common.ids import new_uuid
from common.model.state import TaskState
from common.protocol.envelope import Envelope, TaskBody
from gateway.base.identity import Seal
from gateway.base.messages import InboundMessage
from gateway.flow import access, replies, withdrawal
from gateway.flow.access import Limits
from gateway.flow.speaker import Voice, as_list, with_words
from gateway.store import agents, audit, mailbox, members, tasks
from gateway.store.agents import Agent
from gateway.store.port import Connection
from gateway.store.tasks import Task
from gateway.store.visitors import Visitor

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
        machine: The one that this message names, if it names one.
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
    machine: Agent | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to the member, whose mailbox has something new, and the task that it is.

    Attributes:
        receipt_of: Task of which this says no more than that it went to a machine that is there.
    """

    text: str
    agent_id: str | None = None
    envelope: Envelope | None = None
    receipt_of: str | None = None


def directed(order: Order, message: Directed) -> Order:
    """Return the order that a message for one machine is; the name is not for the machine.

    Raises:
        InputError: ``access.no-machine``, ``access.unknown-machine`` or
            ``access.ambiguous-machine``.
    """
    agent = access.machine_named(order.visitor, message.machine)
    return replace(order, machine=agent, text=f"{order.prefix} {message.text}")


def hand_over(order: Order, command: Command | None = None) -> Answer:
    """Make a task for the member's machine; signed, numbered and queued in this transaction.

    Raises:
        InputError: ``access.no-machine``, ``access.which-machine``, ``access.machine-gone``,
            ``task.ambiguous``, ``access.too-many-tasks`` or ``access.queue-full``.
    """
    agent = _machine_of(order, command)
    access.check_room(order.visitor, limits=order.limits)
    access.check_queue(order.visitor, agent, limits=order.limits)
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
    told = order.voice.accepted(task, agent, prefix=order.prefix)
    return Answer(
        told, agent.agent_id, envelope, task_id if agent.connected_at is not None else None
    )


def cancel(order: Order, command: Command) -> Answer:
    """Stop a task of the member's own: here while it cannot have been sent, else at its machine.

    Raises:
        InputError: ``task.bad-id``, ``task.not-yours``, ``task.not-there`` or ``task.none-open``.
    """
    named = _named(order, command)
    found = [task for task in named if task.reason is None] or named[:1] or _open(order)
    if not found:
        raise InputError("task.none-open")
    if len(found) > 1:
        which = replies.WHICH_MACHINE if named else replies.WHICH_TASK
        head = order.voice.say(which, prefix=order.prefix, id=found[0].short_id)
        return Answer(as_list([head, *(_line(order, task) for task in found)]))
    task = found[0]
    if task.reason is not None:
        return Answer(order.voice.over(task, task.reason))
    return _cancel(order, task)


def _cancel(order: Order, task: Task) -> Answer:
    facts = {"id": task.short_id, "machine": _machine_name(order, task)}
    if withdrawal.cancel_unsent(order.conn, order.seal, task, at=order.at):
        return Answer(order.voice.say(replies.CANCELLED_UNSENT, **facts))
    tasks.ask_cancel(order.conn, task.task_id, at_ms=order.at.wall_ms)
    agent = agents.find(order.conn, task.agent_id)
    if agent is None or not agent.online:
        # It is told when it connects: until then it would be one frame more every five minutes.
        return Answer(order.voice.say(replies.CANCEL_WAITS, **facts))
    mailbox.enqueue_cancel(
        order.conn,
        order.seal,
        agent_id=task.agent_id,
        task_id=task.task_id,
        claimed_user=order.visitor.user_id,
        at=order.at,
    )
    return Answer(order.voice.say(replies.CANCEL_SENT, **facts), task.agent_id)


def status(order: Order, command: Command) -> Answer:
    """Show the member's machines and unfinished tasks, or one task.

    Raises:
        InputError: ``task.bad-id``, ``task.not-yours`` or ``task.not-there``.
    """
    named = _named(order, command)
    if len(named) == 1:
        return Answer(with_words(_line(order, named[0]), named[0].message or ""))
    found = named or _open(order)
    lines = [*([] if named else _machine_lines(order)), *(_line(order, task) for task in found)]
    if not found:
        lines.append(order.voice.say(replies.REFUSALS["task.none-open"]))
    return Answer(as_list(lines))


def machines(order: Order) -> Answer:
    """Show the member's machines, which of them is chosen, and how to choose.

    Raises:
        InputError: ``access.no-machine``.
    """
    if not order.visitor.machines:
        raise InputError("access.no-machine", user=order.visitor.user_id)
    lines = _machine_lines(replace(order, machine=None))
    if len(order.visitor.machines) > 1:
        lines.append(order.voice.say(replies.HOW_TO_CHOOSE, prefix=order.prefix))
    return Answer(as_list(lines))


def without_request(order: Order) -> Answer:
    """Say what is missing after ``on``, with the member's machines and how to name one.

    Raises:
        InputError: ``access.no-machine``.
    """
    if not order.visitor.machines:
        raise InputError("access.no-machine", user=order.visitor.user_id)
    machine = (order.machine or order.visitor.machines[0]).machine
    head = order.voice.say(replies.NO_REQUEST, prefix=order.prefix, machine=machine)
    how = order.voice.say(replies.HOW_TO_CHOOSE, prefix=order.prefix)
    return Answer(as_list([head, *_machine_lines(replace(order, machine=None)), how]))


def use(order: Order, command: Command) -> Answer:
    """Send the member's messages to one machine from now on.

    Raises:
        InputError: ``access.no-machine``, ``access.unknown-machine`` or
            ``access.ambiguous-machine``.
    """
    if not command.args:
        return machines(order)
    agent = access.machine_named(order.visitor, command.args)
    user_id = order.visitor.user_id
    members.choose(order.conn, user_id, agent.agent_id)
    audit.append(order.conn, "member.chose", order.at.wall_ms, user=user_id, agent=agent.agent_id)
    head = order.voice.say(replies.NOW_CHOSEN, machine=agent.machine)
    return Answer(as_list([head, order.voice.machine_line(agent)]))


def _machine_lines(order: Order) -> list[str]:
    chosen = access.chosen_of(order.conn, order.visitor)
    lines = []
    for agent in (order.machine,) if order.machine else order.visitor.machines:
        line = order.voice.machine_line(agent)
        several = len(order.visitor.machines) > 1
        lines.append(
            order.voice.say(replies.CHOSEN, line=line) if several and agent == chosen else line
        )
    return lines


def _line(order: Order, task: Task) -> str:
    stopping = task.reason is None and task.cancel_asked_at is not None
    plain = [agent.agent_id for agent in order.visitor.machines] == [task.agent_id]
    machine = None if plain else _machine_name(order, task)
    return order.voice.task_line(task, stopping=stopping, machine=machine)


def _machine_name(order: Order, task: Task) -> str:
    agent = agents.find(order.conn, task.agent_id)
    return agent.machine if agent else ""


def _machine_of(order: Order, command: Command | None) -> Agent:
    if order.machine is not None:
        return order.machine
    if command is not None and command.task_id is not None:
        # A command about a task goes to the machine that has the task.
        found = tasks.named(order.conn, order.visitor.user_id, command.task_id)
        having = {task.agent_id for task in found if task.reason is None}
        having = having or {task.agent_id for task in found}
        meant = [agent for agent in order.visitor.machines if agent.agent_id in having]
        if len(meant) > 1:
            names = ", ".join(agent.machine for agent in meant)
            raise InputError("task.ambiguous", id=command.task_id, machines=names)
        if meant:
            return meant[0]
    return access.machine_for(order.conn, order.visitor)


def _open(order: Order) -> list[Task]:
    """Return the member's unfinished tasks, on the machine that was named if one was."""
    found = tasks.open_of(order.conn, order.visitor.user_id, limit=order.limits.open_tasks)
    return _there(order, found)[:SHOWN_TASKS]


def _there(order: Order, found: list[Task]) -> list[Task]:
    if order.machine is None:
        return found
    return [task for task in found if task.agent_id == order.machine.agent_id]


def _named(order: Order, command: Command) -> list[Task]:
    """Return the member's tasks of the ID that was typed, open ones first; none without an ID."""
    if command.args:
        raise InputError("task.bad-id", given=command.args[:32])
    if command.task_id is None:
        return []
    named = tasks.named(order.conn, order.visitor.user_id, command.task_id)
    if not named:
        raise InputError("task.not-yours", id=command.task_id)
    found = _there(order, named)
    if order.machine is not None and not found:
        raise InputError("task.not-there", id=command.task_id, machine=order.machine.machine)
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
