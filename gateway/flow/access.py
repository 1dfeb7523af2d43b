"""Who may ask, how often, and which machine works for them; asked of the store at every message.

So a member who was just added is let in, and one who was just removed is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NoReturn

from common.errors import AuthError, InputError
from gateway.store import agents, members, visitors
from gateway.store.agents import Agent
from gateway.store.port import Connection
from gateway.store.visitors import Visitor

MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one member may ask for.

    Attributes:
        messages_per_minute: Beyond it messages are answered once and not looked at.
        open_tasks: Unfinished tasks at one time.
        queue: Frames that may wait for one machine, whoever asked for them.
    """

    messages_per_minute: int = 20
    open_tasks: int = 20
    queue: int = 1_000


def admit(conn: Connection, user_id: str, *, at_ms: int, limits: Limits) -> Visitor:
    """Let a member in.

    Raises:
        AuthError: ``access.stranger``.
    """
    visitor = visitors.look_up(
        conn,
        user_id,
        since_ms=at_ms - MINUTE_MS,
        messages=limits.messages_per_minute + 1,
        queued=limits.queue,
    )
    if visitor is None:
        raise AuthError("access.stranger", user=user_id)
    return visitor


def check_pace(visitor: Visitor, *, limits: Limits) -> None:
    """Return when the member has not written too much within the last minute.

    Raises:
        InputError: ``access.too-fast``.
    """
    # The message in hand is counted already.
    if visitor.messages > limits.messages_per_minute:
        raise InputError("access.too-fast", limit=limits.messages_per_minute)


def check_room(visitor: Visitor, *, limits: Limits) -> None:
    """Return when the member may have one more task.

    Raises:
        InputError: ``access.too-many-tasks``.
    """
    if visitor.open_tasks >= limits.open_tasks:
        raise InputError("access.too-many-tasks", count=visitor.open_tasks)


def check_queue(visitor: Visitor, agent: Agent, *, limits: Limits) -> None:
    """Return when one more task may wait for a machine of the member's.

    Raises:
        InputError: ``access.queue-full``.
    """
    count = visitor.queued[agent.agent_id]
    if count >= limits.queue:
        raise InputError("access.queue-full", machine=agent.machine, count=count)


def machine_for(conn: Connection, visitor: Visitor) -> Agent:
    """Return the machine that a member chose, or else the only one that works for them.

    Raises:
        InputError: ``access.no-machine`` or ``access.which-machine``; ``access.machine-gone`` once,
            when the chosen one works for them no more: never silently another one.
    """
    if not visitor.machines:
        raise InputError("access.no-machine", user=visitor.user_id)
    if visitor.chosen_agent_id is not None:
        return chosen_of(conn, visitor) or _forget_choice(conn, visitor, visitor.chosen_agent_id)
    if len(visitor.machines) > 1:
        raise InputError("access.which-machine", machines=_names(visitor.machines))
    return visitor.machines[0]


def chosen_of(conn: Connection, visitor: Visitor) -> Agent | None:
    """Return the machine that a member chose, if it (still) works for them."""
    if visitor.chosen_agent_id is None:
        return None
    for agent in visitor.machines:
        if agent.agent_id == visitor.chosen_agent_id:
            return agent
    # Paired again, it has another key and the same name, and the name is what they chose.
    gone = agents.find(conn, visitor.chosen_agent_id)
    again = [agent for agent in visitor.machines if gone and agent.machine == gone.machine]
    return again[0] if again else None


def machine_named(visitor: Visitor, name: str) -> Agent:
    """Return the machine that a member means by a name, or by a beginning that only one has.

    Args:
        visitor: The member.
        name: Folded, as `common.dsl` returns it.

    Raises:
        InputError: ``access.no-machine``, ``access.unknown-machine`` or
            ``access.ambiguous-machine``.
    """
    if not visitor.machines:
        raise InputError("access.no-machine", user=visitor.user_id)
    meant = [agent for agent in visitor.machines if agent.machine.startswith(name)]
    exact = [agent for agent in meant if agent.machine == name]
    if len(exact or meant) > 1:
        raise InputError("access.ambiguous-machine", name=name, machines=_names(meant))
    if not meant:
        raise InputError("access.unknown-machine", name=name, machines=_names(visitor.machines))
    return (exact or meant)[0]


def _forget_choice(conn: Connection, visitor: Visitor, agent_id: str) -> NoReturn:
    # Kept although the message is refused, so that it is said once.
    members.choose(conn, visitor.user_id, None)
    gone = agents.find(conn, agent_id)
    name = gone.machine if gone else agent_id
    raise InputError("access.machine-gone", machine=name, machines=_names(visitor.machines))


def _names(machines: Iterable[Agent]) -> str:
    return ", ".join(agent.machine for agent in machines)
