"""What the gateway does for a member inside the intake transaction: show, choose, stop, hand over.

`hand_over` makes a task of whatever is for the machine.  Nothing here executes anything, and
nothing here can approve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from common import dsl
from common.clock import Instant
from common.dsl import Command, Directed, FreeText, NotAddressed
from common.errors import InputError
from common.ids import new_uuid
from common.model.state import TaskState
from common.protocol.bodies import TASK_TEXT_BYTES
from common.protocol.envelope import Envelope, TaskBody
from common.text import clip_bytes
from gateway.base.identity import Seal
from gateway.base.messages import FIRST_APP, InboundMessage
from gateway.flow import access, people, replies, withdrawal
from gateway.flow.access import IntakePolicy
from gateway.flow.cards import CANCEL
from gateway.flow.outbox import machine_of
from gateway.flow.replies import Speaker, as_list, with_words
from gateway.store import Connection, agents, audit, cards, mailbox, members, tasks
from gateway.store.agents import Agent
from gateway.store.members import Requester
from gateway.store.tasks import Task

SHOWN_TASKS: Final = 10


@dataclass(frozen=True, slots=True)
class MemberRequest:
    """One message of a member who was let in, and what it takes to act on it.

    Attributes:
        conn: The intake transaction.
        text: What was written.
        speaker: Speaks to the member.
        seal: Signs for the machine.
        machine: The one that this message names, if it names one.
    """

    conn: Connection
    message: InboundMessage
    text: str
    member: Requester
    speaker: Speaker
    at: Instant
    seal: Seal
    policy: IntakePolicy
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


def answer(request: MemberRequest) -> Answer:
    """Do what a message asks for, and return what is said to it.

    Raises:
        AuthError: ``access.not-admin``.
        InputError: ``intake.not-addressed``, or as of what it asks for; nothing was written.
    """
    said = dsl.parse(request.text, prefix=request.policy.prefix)
    if isinstance(said, Directed):
        # The name of the machine is not for the machine.
        agent = access.machine_named(request.member, said.machine)
        text = f"{request.policy.prefix} {said.text}"
        request, said = replace(request, machine=agent, text=text), said.said
    match said:
        case NotAddressed():
            raise InputError("intake.not-addressed")
        case FreeText(text=""):
            return without_request(request) if request.machine else show_help(request)
        case FreeText() if _nobody_listens(request) and dsl.asks_approval(said.text):
            return Answer(request.speaker.say(replies.APPROVE_THERE))
        case FreeText() if _nobody_listens(request) and (meant := dsl.mistyped(said.text)):
            # A machine that is there asks back itself: it may know a playbook of that name.
            if request.machine:
                meant = f"on {request.machine.machine} {meant}"
            facts = {"word": said.text, "meant": meant, "prefix": request.policy.prefix}
            return Answer(request.speaker.say(replies.MISTYPED, **facts))
        case FreeText():
            return hand_over(request)
        case Command():
            return _obey(request, said)


def _obey(request: MemberRequest, command: Command) -> Answer:
    match command.name:
        case "help":
            return show_help(request)
        case "on":
            return without_request(request)
        case "machines":
            return machines(request)
        case "use":
            return use(request, command)
        case "status":
            return status(request, command)
        case "cancel":
            return cancel(request, command)
        case "whoami":
            return Answer(people.whoami(request))
        case "lang":
            return Answer(people.speak(request, command.args))
        case "members":
            return Answer(people.list_members(request))
        case _:
            return hand_over(request, command)


def show_help(request: MemberRequest) -> Answer:
    """Show what can be asked for."""
    return Answer(dsl.help_text(request.speaker.lang, prefix=request.policy.prefix))


def hand_over(request: MemberRequest, command: Command | None = None) -> Answer:
    """Make a task for the member's machine; signed, numbered and queued in this transaction.

    Raises:
        InputError: ``access.no-machine``, ``access.which-machine``, ``access.machine-gone``,
            ``task.ambiguous``, ``access.too-many-tasks``, ``access.queue-full`` or
            ``access.day-is-spent``.
    """
    agent = _machine_of(request, command)
    member, policy, at_ms = request.member, request.policy, request.at.wall_ms
    access.check_room(member, limits=policy.limits)
    access.check_queue(member, agent, limits=policy.limits)
    if quota := access.check_quota(member, policy=policy, at_ms=at_ms):
        members.count_task(request.conn, member.person, since_ms=quota.since_ms)
    task_id = new_uuid()
    short_id = tasks.free_short_id(request.conn, agent.agent_id)
    # A command has its own form, in which nothing else has a place.
    quote = request.message.quote if command is None else ""
    body = _body(request, _with_quote(request.text, quote), task_id, short_id)
    envelope = mailbox.enqueue(
        request.conn,
        request.seal,
        "task",
        agent_id=agent.agent_id,
        task_id=task_id,
        body=body.to_dict(),
        at=request.at,
        life_s=request.policy.ttl_s,
    )
    task = Task(
        task_id=task_id,
        short_id=short_id,
        agent_id=agent.agent_id,
        app=request.message.app,
        user_id=request.message.user,
        chat=request.message.chat,
        channel=request.message.channel,
        text=request.text,
        lang=request.speaker.lang,
        state=TaskState.RECEIVED,
        envelope_sha256=envelope.sha256,
        created_at=request.at.wall_ms,
        updated_at=request.at.wall_ms,
        expires_at=envelope.header.exp * 1000,
    )
    tasks.create(request.conn, task)
    audit.append(
        request.conn,
        "task.accepted",
        request.at.wall_ms,
        task=task_id,
        app=task.app,
        user=task.user_id,
        agent=agent.agent_id,
        envelope=envelope.sha256,
    )
    told = request.speaker.accepted(task, agent, prefix=request.policy.prefix)
    return Answer(
        told, agent.agent_id, envelope, task_id if agent.connected_at is not None else None
    )


def cancel(request: MemberRequest, command: Command) -> Answer:
    """Stop a task of the member's own, or all: here while it cannot have been sent, else there.

    Raises:
        InputError: ``task.bad-id``, ``task.not-yours``, ``task.not-there`` or ``task.none-open``.
    """
    named = _named(request, command)
    found = [task for task in named if task.reason is None] or named[:1] or _open(request)
    if not found:
        raise InputError("task.none-open")
    if "all" in command.options:
        answers = [_cancel(request, task) for task in found]
        # Other machines than the first are told a little later.
        return replace(answers[0], text=as_list(one.text for one in answers))
    if len(found) > 1:
        which = replies.WHICH_MACHINE if named else replies.WHICH_TASK
        head = request.speaker.say(which, prefix=request.policy.prefix, id=found[0].short_id)
        rows = [_line(request, task) for task in found[:SHOWN_TASKS]]
        return Answer(as_list([head, *rows]))
    task = found[0]
    if task.reason is not None:
        return Answer(request.speaker.over(task, task.reason))
    return _cancel(request, task)


def _cancel(request: MemberRequest, task: Task) -> Answer:
    facts = {"id": task.short_id, "machine": machine_of(request.conn, task)}
    if withdrawal.cancel_unsent(request.conn, request.seal, task, at=request.at):
        return Answer(request.speaker.say(replies.CANCELLED_UNSENT, **facts))
    tasks.ask_cancel(request.conn, task.task_id, at_ms=request.at.wall_ms)
    agent = agents.find(request.conn, task.agent_id)
    if agent is None or not agent.online:
        # It is told when it connects: until then it would be one frame more every five minutes.
        return Answer(request.speaker.say(replies.CANCEL_WAITS, **facts))
    withdrawal.send_cancel(request.conn, request.seal, task, at=request.at)
    return Answer(request.speaker.say(replies.CANCEL_SENT, **facts), task.agent_id)


def press(request: MemberRequest) -> Answer:
    """Do what a button of a card is for: look at its task, or stop it; nothing else.

    Raises:
        InputError: ``card.not-yours``.
    """
    conn, click = request.conn, request.message.click
    task = tasks.find(conn, cards.task_of(conn, click.card_id) or "") if click else None
    # Whose task it is, is kept here: what a card says of itself decides nothing.
    if click is None or task is None or task.person != request.member.person:
        raise InputError("card.not-yours")
    if handle := request.message.reply:
        cards.give(conn, click.card_id, handle, at_ms=request.at.wall_ms)
    request = replace(request, speaker=replace(request.speaker, lang=task.lang))
    if click.key != CANCEL:
        return _status(request, task)
    if task.reason is not None:
        return Answer(request.speaker.over(task, task.reason))
    return _cancel(request, task)


def _status(request: MemberRequest, task: Task) -> Answer:
    line, said = _line(request, task), task.message or ""
    if said and task.state is TaskState.EXECUTING:
        said = request.speaker.as_of(task, said)
    return Answer(line if task.state is TaskState.PROPOSING else with_words(line, said))


def status(request: MemberRequest, command: Command) -> Answer:
    """Show the member's machines and unfinished tasks, or one task.

    Raises:
        InputError: ``task.bad-id``, ``task.not-yours`` or ``task.not-there``.
    """
    named = _named(request, command)
    if len(named) == 1:
        return _status(request, named[0])
    found = named or _open(request)[:SHOWN_TASKS]
    lines = [*([] if named else _machine_lines(request)), *(_line(request, task) for task in found)]
    if not found:
        lines.append(request.speaker.say(replies.REFUSALS["task.none-open"]))
    return Answer(as_list(lines))


def machines(request: MemberRequest) -> Answer:
    """Show the member's machines, which of them is chosen, and how to choose.

    Raises:
        InputError: ``access.no-machine``.
    """
    if not request.member.machines:
        raise InputError("access.no-machine", user=str(request.member.person))
    lines = _machine_lines(replace(request, machine=None))
    if len(request.member.machines) > 1:
        lines.append(request.speaker.say(replies.HOW_TO_CHOOSE, prefix=request.policy.prefix))
    return Answer(as_list(lines))


def without_request(request: MemberRequest) -> Answer:
    """Say what is missing after ``on``, with the member's machines and how to name one.

    Raises:
        InputError: ``access.no-machine``.
    """
    if not request.member.machines:
        raise InputError("access.no-machine", user=str(request.member.person))
    machine = (request.machine or request.member.machines[0]).machine
    head = request.speaker.say(replies.NO_REQUEST, prefix=request.policy.prefix, machine=machine)
    how = request.speaker.say(replies.HOW_TO_CHOOSE, prefix=request.policy.prefix)
    return Answer(as_list([head, *_machine_lines(replace(request, machine=None)), how]))


def use(request: MemberRequest, command: Command) -> Answer:
    """Send the member's messages to one machine from now on.

    Raises:
        InputError: ``access.no-machine``, ``access.unknown-machine`` or
            ``access.ambiguous-machine``.
    """
    if not command.args:
        return machines(request)
    agent = access.machine_named(request.member, command.args)
    person = request.member.person
    members.choose(request.conn, person, agent.agent_id)
    audit.append(
        request.conn,
        "member.chose",
        request.at.wall_ms,
        app=person.app,
        user=person.user,
        agent=agent.agent_id,
    )
    head = request.speaker.say(replies.NOW_CHOSEN, machine=agent.machine)
    return Answer(as_list([head, request.speaker.machine_line(agent)]))


def _nobody_listens(request: MemberRequest) -> bool:
    """Tell whether no machine that may be meant is there."""
    meant = (request.machine,) if request.machine else request.member.machines
    return all(agent.connected_at is None for agent in meant)


def _machine_lines(request: MemberRequest) -> list[str]:
    chosen = access.chosen_of(request.conn, request.member)
    lines = []
    for agent in (request.machine,) if request.machine else request.member.machines:
        line = request.speaker.machine_line(agent)
        several = len(request.member.machines) > 1
        lines.append(
            request.speaker.say(replies.CHOSEN, line=line) if several and agent == chosen else line
        )
    return lines


def _line(request: MemberRequest, task: Task) -> str:
    plain = [agent.agent_id for agent in request.member.machines] == [task.agent_id]
    agent = agents.find(request.conn, task.agent_id)
    machine = agent.machine if agent and not plain else None
    # What was not taken in is said to be queued.
    is_out = task.reason is None and task.state is not TaskState.RECEIVED
    away = agent if agent and is_out and not agent.online else None
    return request.speaker.task_line(task, machine=machine, away=away)


def _machine_of(request: MemberRequest, command: Command | None) -> Agent:
    if request.machine is not None:
        return request.machine
    if command is not None and command.task_id is not None:
        # A command about a task goes to the machine that has the task.
        found = tasks.named(request.conn, request.member.person, command.task_id)
        having = {task.agent_id for task in found if task.reason is None}
        having = having or {task.agent_id for task in found}
        meant = [agent for agent in request.member.machines if agent.agent_id in having]
        if len(meant) > 1:
            names = tuple(agent.machine for agent in meant)
            raise InputError("task.ambiguous", id=command.task_id, machines=names)
        if meant:
            return meant[0]
    return access.machine_for(request.conn, request.member)


def _open(request: MemberRequest) -> list[Task]:
    """Return the member's unfinished tasks, on the machine that was named if one was."""
    found = tasks.open_of(
        request.conn, request.member.person, limit=request.policy.limits.open_tasks
    )
    return _there(request, found)


def _there(request: MemberRequest, found: list[Task]) -> list[Task]:
    if request.machine is None:
        return found
    return [task for task in found if task.agent_id == request.machine.agent_id]


def _named(request: MemberRequest, command: Command) -> list[Task]:
    """Return the member's tasks of the ID that was typed, open ones first; none without an ID."""
    if command.args:
        raise InputError("task.bad-id", given=command.args[:32])
    if command.task_id is None:
        return []
    named = tasks.named(request.conn, request.member.person, command.task_id)
    if not named:
        raise InputError("task.not-yours", id=command.task_id)
    found = _there(request, named)
    if request.machine is not None and not found:
        raise InputError("task.not-there", id=command.task_id, machine=request.machine.machine)
    return sorted(found, key=lambda task: task.reason is not None)


def _thread_of(message: InboundMessage) -> str:
    # Machines know whose a task is by it.  The first app has the form that it had before; others
    # name their corp too, since the numbers of apps begin anew in every corp.
    bot = message.bot if message.app == FIRST_APP else f"{message.corp}/{message.bot}"
    # A group may be called what a member is called.
    chat = f"group/{message.chat}" if message.chat else message.user
    return f"{message.channel}:{bot}:{chat}"


def _body(request: MemberRequest, text: str, task_id: str, short_id: str) -> TaskBody:
    message = request.message
    return TaskBody(
        task_id=task_id,
        short_id=short_id,
        thread_id=_thread_of(message),
        channel=message.channel,
        claimed_user=str(message.conversation.person),
        text=text,
        lang=request.speaker.lang,
        received_at=request.at.wall_ms,
    )


def _with_quote(text: str, quote: str) -> str:
    """Return a request with what it is about below it, marked as quoted, where there is room."""
    lines = "\n".join(f"> {line}" for line in quote.splitlines())
    room = TASK_TEXT_BYTES - len(f"{text}\n\n".encode())
    return f"{text}\n\n{clip_bytes(lines, room)}" if lines and room > 0 else text
