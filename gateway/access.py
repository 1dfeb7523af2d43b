"""Who may ask, how often, and which machine works for them; asked of the store at every message.

So a member who was just added is let in, and one who was just removed is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from common.errors import AuthError, InputError
from common.sentences import Lang
from gateway.store import agents, inbound, members, tasks
from gateway.store.agents import Agent
from gateway.store.port import Connection

MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one member may ask for.

    Attributes:
        messages_per_minute: Beyond it messages are answered once and not looked at.
        open_tasks: Unfinished tasks at one time.
    """

    messages_per_minute: int = 20
    open_tasks: int = 20


@dataclass(frozen=True, slots=True)
class Visitor:
    """A member, as the store knows them at this moment.

    Attributes:
        lang: The language set for them; None to answer in the language of the message.
        machines: The agents that work for them, by name of the machine.
    """

    user_id: str
    lang: Lang | None
    machines: tuple[Agent, ...]


def admit(conn: Connection, user_id: str) -> Visitor:
    """Let a member in.

    Raises:
        AuthError: ``access.stranger``.
    """
    member = members.look_up(conn, user_id)
    if member is None:
        raise AuthError("access.stranger", user=user_id)
    return Visitor(user_id, member.lang, agents.of_member(conn, user_id))


def check_pace(conn: Connection, visitor: Visitor, *, at_ms: int, limits: Limits) -> None:
    """Return when the member has not written too much within the last minute.

    Raises:
        InputError: ``access.too-fast``.
    """
    allowed = limits.messages_per_minute
    # The message in hand is counted already.
    came = inbound.recent(conn, visitor.user_id, since_ms=at_ms - MINUTE_MS, limit=allowed + 1)
    if came > allowed:
        raise InputError("access.too-fast", limit=allowed)


def check_room(conn: Connection, visitor: Visitor, *, limits: Limits) -> None:
    """Return when the member may have one more task.

    Raises:
        InputError: ``access.too-many-tasks``.
    """
    count = tasks.count_open(conn, visitor.user_id)
    if count >= limits.open_tasks:
        raise InputError("access.too-many-tasks", count=count)


def machine_for(visitor: Visitor) -> Agent:
    """Return the one machine that works for a member.

    Raises:
        InputError: ``access.no-machine`` or ``access.which-machine``.
    """
    if not visitor.machines:
        raise InputError("access.no-machine", user=visitor.user_id)
    if len(visitor.machines) > 1:
        names = ", ".join(agent.machine for agent in visitor.machines)
        raise InputError("access.which-machine", machines=names)
    return visitor.machines[0]
