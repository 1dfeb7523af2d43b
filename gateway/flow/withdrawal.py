"""Tasks taken back from their machine: by their member, or because they may not ask it any more.

What cannot have been sent is replaced by a tombstone and ended for good.  What may be on its way is
replaced too, in case it has not arrived, and its agent is told to stop it, in case it has; that end
is only presumed, so whatever the agent signs later stands (`results`).  What was delivered
is only asked to stop: how it ends is for the agent to say.

Each function is one step of the caller's transaction, so nothing that is taken back can be
delivered as a task by a connection that begins after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from common.clock import Instant
from common.model.state import Reason, final_of
from common.sentences import Sentence, say
from gateway.base.identity import Seal
from gateway.base.messages import Person
from gateway.flow.outbox import machine_of, tell
from gateway.store import Connection, agents, audit, mailbox, members, tasks
from gateway.store.agents import Agent
from gateway.store.mailbox import Undelivered
from gateway.store.tasks import Change, Task

MOST: Final = 1_000  # of one member at once; the rest is seen to when their machines connect

UNBOUND_UNSENT = Sentence(
    en="{id} – refused. {machine} no longer works for you. It never reached the machine, so "
    "nothing was done.",
    zh="{id} – 未受理。{machine} 已与你解绑。任务没有到达，没有执行任何操作。",
)
UNBOUND_IN_FLIGHT = Sentence(
    en="{id} – refused. {machine} no longer works for you. If it has arrived there, it is stopped "
    "and the chat then says what was done.",
    zh="{id} – 未受理。{machine} 已与你解绑。如已到达，会通知它停止并告知你结果。",
)
UNBOUND_DELIVERED = Sentence(
    en="{id}: {machine} no longer works for you and is being told to stop it. You will hear what "
    "was done.",
    zh="{id}：{machine} 已与你解绑，正在通知它停止。结果会告知你。",
)
UNSENT_REVOKED = Sentence(
    en="{id} – refused. The key of {machine} was revoked. It never reached the machine, so nothing "
    "was done.",
    zh="{id} – 未受理。任务到达前 {machine} 的密钥已吊销，没有执行任何操作。",
)


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What became of the open tasks.

    Attributes:
        ended: Taken back before their machine was known to have them.
        left: Their machine has them: it is told to stop them, or can be told nothing any more.
    """

    ended: int
    left: int


def cancel_unsent(conn: Connection, seal: Seal, task: Task, *, at: Instant) -> bool:
    """Cancel a task that cannot have been sent; False, and nothing changed, when it may have."""
    found = mailbox.undelivered(conn, task.task_id)
    if found is None or not found.unsent:
        return False
    mailbox.bury(conn, seal, found.entry, at=at)
    _end(conn, task, Reason.CANCELLED, found, at=at)
    return True


def send_cancel(conn: Connection, seal: Seal, task: Task, *, at: Instant) -> None:
    """Have the machine of a task told to stop it, unless it is being told already."""
    mailbox.enqueue_cancel(
        conn,
        seal,
        agent_id=task.agent_id,
        task_id=task.task_id,
        claimed_user=str(task.person),
        at=at,
    )


def remove_member(conn: Connection, seal: Seal, person: Person, *, at: Instant) -> Withdrawn | None:
    """Take a person off the allow-list, and their open tasks back; None when they are not on it."""
    if not members.remove(conn, person, at_ms=at.wall_ms):
        return None
    return _withdraw_all(conn, seal, tasks.open_of(conn, person, limit=MOST), at=at)


def unbind(
    conn: Connection, seal: Seal, person: Person, agent: Agent, *, at: Instant
) -> Withdrawn | None:
    """Let a machine no longer work for a member; None when it does not."""
    if not members.unbind(conn, person, agent.agent_id, at_ms=at.wall_ms):
        return None
    theirs = [task for task in tasks.open_on(conn, agent.agent_id) if task.person == person]
    return _withdraw_all(conn, seal, theirs, at=at)


def revoke(conn: Connection, seal: Seal, machine: str, *, at: Instant) -> Withdrawn | None:
    """Revoke the key of a machine and free its name (R14); None when no machine has the name.

    What it was never sent is refused.  Of the rest no word can come any more; `upkeep` ends
    it as unknown, and the server closes the machine's connection.
    """
    agent = agents.of_machine(conn, machine)
    if agent is None:
        return None
    agents.revoke(conn, machine, at_ms=at.wall_ms)
    audit.append(conn, "agent.revoked", at.wall_ms, agent=agent.agent_id, machine=machine)
    ended = left = 0
    for task in tasks.open_on(conn, agent.agent_id):
        found = mailbox.undelivered(conn, task.task_id)
        if found is None or not found.unsent:
            left += 1
            continue
        mailbox.bury(conn, seal, found.entry, at=at)
        _end(conn, task, Reason.REFUSED, found, at=at)
        _tell(conn, task, UNSENT_REVOKED, machine, at=at)
        ended += 1
    return Withdrawn(ended, left)


def recheck(conn: Connection, seal: Seal, agent_id: str, at: Instant) -> None:
    """Take back what is queued for an agent by people who may not ask it (any more).

    Called before a connection takes the agent over, in the same transaction.
    """
    _withdraw_all(conn, seal, tasks.unwelcome(conn, agent_id), at=at)


def _withdraw_all(conn: Connection, seal: Seal, found: list[Task], *, at: Instant) -> Withdrawn:
    ended = sum(_withdraw(conn, seal, task, at=at) for task in found)
    return Withdrawn(ended, len(found) - ended)


def _withdraw(conn: Connection, seal: Seal, task: Task, *, at: Instant) -> bool:
    """Take one task back, and tell its member; False when its machine has it."""
    found = mailbox.undelivered(conn, task.task_id)
    if found is not None:
        mailbox.bury(conn, seal, found.entry, at=at)
    if task.reason is not None:
        return True
    if found is None or not found.unsent:
        tasks.ask_cancel(conn, task.task_id, at_ms=at.wall_ms)
        send_cancel(conn, seal, task, at=at)
    if found is not None:
        _end(conn, task, Reason.REFUSED, found, at=at)
    _tell(conn, task, _told(found), machine_of(conn, task), at=at)
    return found is not None


def _told(found: Undelivered | None) -> Sentence:
    if found is None:
        return UNBOUND_DELIVERED
    return UNBOUND_UNSENT if found.unsent else UNBOUND_IN_FLIGHT


def _end(conn: Connection, task: Task, reason: Reason, found: Undelivered, *, at: Instant) -> None:
    change = Change(final_of(reason)[0], reason, presumed=not found.unsent)
    tasks.change(conn, task.task_id, change, at_ms=at.wall_ms)
    audit.append(
        conn,
        "task.withdrawn",
        at.wall_ms,
        task=task.task_id,
        agent=task.agent_id,
        reason=reason.value,
        unsent=found.unsent,
    )


def _tell(conn: Connection, task: Task, sentence: Sentence, machine: str, *, at: Instant) -> None:
    text = say(sentence, task.lang, id=task.short_id, machine=machine)
    tell(conn, task, f"withdrawn:{task.task_id}", text, at=at)
