"""Who may ask, how often, and which machine works for them; asked of the store at every message.

So a member who was just added is let in, and one who was just removed is not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Final, NoReturn

from common.errors import AuthError, InputError
from common.sentences import Lang
from gateway.base.messages import Person
from gateway.store import Connection, agents, members
from gateway.store.agents import Agent
from gateway.store.members import Member, Requester, Role

MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one member may ask for.

    Attributes:
        messages_per_minute: Beyond it messages are answered once and not looked at.
        open_tasks: Unfinished tasks at one time.
        queue: Frames that may wait for one machine, whoever asked for them.
        tasks_per_day: Tasks from one midnight to the next; 0 for no limit.
    """

    messages_per_minute: int = 20
    open_tasks: int = 20
    queue: int = 1_000
    tasks_per_day: int = 0


@dataclass(frozen=True, slots=True)
class IntakePolicy:
    """What is taken in and how it is answered, from the settings.

    Attributes:
        prefix: What a message for a machine starts with.
        lang: The language of members who have none set and write no Chinese.
        zone: Time zone of the hours that are told.
        ttl_s: How long a task may wait for its machine, in seconds; at most a day.
        limits: How much one member may ask for.
        daily: Tasks a day in the apps that have a limit of their own.
        of_groups: Tasks a day of each member of the groups that have a limit of their own.
        admins: Whom the settings name, whatever role they have.
    """

    prefix: str
    lang: Lang
    zone: tzinfo
    ttl_s: int = 8 * 3600
    limits: Limits = Limits()
    daily: Mapping[str, int] = field(default_factory=dict)
    of_groups: Mapping[str, int] = field(default_factory=dict)
    admins: Collection[Person] = ()

    def role_of(self, member: Requester | Member) -> Role:
        """Return what a member may do besides asking."""
        return "admin" if member.person in self.admins else member.role

    def quota_of(self, member: Requester, *, at_ms: int) -> Quota | None:
        """Return what is left to a member of this day; None where there is no limit."""
        limit = self.daily.get(member.person.app, self.limits.tasks_per_day)
        limit = self.of_groups.get(member.group or "", limit)
        if not limit:
            return None
        midnight = datetime.fromtimestamp(at_ms / 1000, self.zone).replace(
            hour=0, minute=0, second=0, microsecond=0
        )
        since_ms, until_ms = (
            round(moment.timestamp() * 1000) for moment in (midnight, midnight + timedelta(days=1))
        )
        asked = member.asked if member.asked_since_at == since_ms else 0
        return Quota(limit, max(limit - asked, 0), since_ms, until_ms)


@dataclass(frozen=True, slots=True)
class Quota:
    """How many tasks a member may ask for on this day.

    Attributes:
        limit: On the whole day.
        left: Of these.
        since_ms: Its beginning, in milliseconds since the epoch.
        until_ms: That of the next day.
    """

    limit: int
    left: int
    since_ms: int
    until_ms: int


def admit(conn: Connection, person: Person, *, at_ms: int, limits: Limits) -> Requester:
    """Let a member in.

    Raises:
        AuthError: ``access.stranger``.
    """
    member = members.requester(
        conn,
        person,
        since_ms=at_ms - MINUTE_MS,
        messages=limits.messages_per_minute + 1,
        queued=limits.queue,
    )
    if member is None:
        raise AuthError("access.stranger", user=str(person))
    return member


def check_pace(member: Requester, *, limits: Limits) -> None:
    """Return when the member has not written too much within the last minute.

    Raises:
        InputError: ``access.too-fast``.
    """
    # The message in hand is counted already.
    if member.messages > limits.messages_per_minute:
        raise InputError("access.too-fast", limit=limits.messages_per_minute)


def check_room(member: Requester, *, limits: Limits) -> None:
    """Return when the member may have one more task.

    Raises:
        InputError: ``access.too-many-tasks``.
    """
    if member.open_tasks >= limits.open_tasks:
        raise InputError("access.too-many-tasks", count=member.open_tasks)


def check_quota(member: Requester, *, policy: IntakePolicy, at_ms: int) -> Quota | None:
    """Return what is left of a member's day before one more task; None where there is no limit.

    Raises:
        InputError: ``access.day-is-spent``.
    """
    quota = policy.quota_of(member, at_ms=at_ms)
    if quota is not None and not quota.left:
        raise InputError("access.day-is-spent", limit=quota.limit, until_ms=quota.until_ms)
    return quota


def check_queue(member: Requester, agent: Agent, *, limits: Limits) -> None:
    """Return when one more task may wait for a machine of the member's.

    Raises:
        InputError: ``access.queue-full``.
    """
    count = member.queued[agent.agent_id]
    if count >= limits.queue:
        facts = {"machine": agent.machine, "count": count, "links": int(agent.online)}
        raise InputError("access.queue-full", **facts)


def machine_for(conn: Connection, member: Requester) -> Agent:
    """Return the machine that a member chose, or else the only one that works for them.

    Raises:
        InputError: ``access.no-machine`` or ``access.which-machine``; ``access.machine-gone`` once,
            when the chosen one works for them no more: never silently another one.
    """
    if not member.machines:
        raise InputError("access.no-machine", user=str(member.person))
    if member.chosen_agent_id is not None:
        return chosen_of(conn, member) or _forget_choice(conn, member, member.chosen_agent_id)
    if len(member.machines) > 1:
        raise InputError("access.which-machine", machines=_names(member.machines))
    return member.machines[0]


def chosen_of(conn: Connection, member: Requester) -> Agent | None:
    """Return the machine that a member chose, if it (still) works for them."""
    if member.chosen_agent_id is None:
        return None
    for agent in member.machines:
        if agent.agent_id == member.chosen_agent_id:
            return agent
    # Paired again, it has another key and the same name, and the name is what they chose.
    gone = agents.find(conn, member.chosen_agent_id)
    again = [agent for agent in member.machines if gone and agent.machine == gone.machine]
    return again[0] if again else None


def machine_named(member: Requester, name: str) -> Agent:
    """Return the machine that a member means by a name, or by a beginning that only one has.

    Args:
        member: Who asks.
        name: Folded, as `common.dsl` returns it.

    Raises:
        InputError: ``access.no-machine``, ``access.unknown-machine`` or
            ``access.ambiguous-machine``.
    """
    if not member.machines:
        raise InputError("access.no-machine", user=str(member.person))
    meant = [agent for agent in member.machines if agent.machine.startswith(name)]
    exact = [agent for agent in meant if agent.machine == name]
    if len(exact or meant) > 1:
        raise InputError("access.ambiguous-machine", name=name, machines=_names(meant))
    if not meant:
        raise InputError("access.unknown-machine", name=name, machines=_names(member.machines))
    return (exact or meant)[0]


def _forget_choice(conn: Connection, member: Requester, agent_id: str) -> NoReturn:
    # Kept although the message is refused, so that it is said once.
    members.choose(conn, member.person, None)
    gone = agents.find(conn, agent_id)
    name = gone.machine if gone else agent_id
    raise InputError("access.machine-gone", machine=name, machines=_names(member.machines))


def _names(machines: Iterable[Agent]) -> tuple[str, ...]:
    return tuple(agent.machine for agent in machines)
