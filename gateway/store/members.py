"""Store functions of the allow-list: who may write, and which machines work for them.

`requester` is one statement, because it is asked for each message that comes in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, Literal, TypeAlias, get_args

from common.errors import InputError
from common.sentences import Lang
from gateway.base.messages import GROUP, USER_ID, Person
from gateway.store import Connection, as_record, audit, outbox
from gateway.store.agents import Agent

NOTIFIED: Final = 20  # approvers of one machine at most
NO_GROUP: Final = "-"  # taken for a group, it takes somebody out of theirs

# Each may do what those before it may, and more.  None of them approves anything.
Role: TypeAlias = Literal["member", "approver", "admin"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

_FIND = "SELECT lang FROM members WHERE app = :app AND user_id = :user_id"
_ADD = """
    INSERT INTO members (app, user_id, lang, role, group_name, added_at)
    VALUES (:app, :user_id, :lang, :role, NULLIF(:group, '-'), :at)
    ON CONFLICT (app, user_id) DO NOTHING"""
_SET = """
    UPDATE members SET lang = COALESCE(:lang, lang), role = COALESCE(:role, role),
    group_name = NULLIF(COALESCE(:group, group_name), '-')
    WHERE app = :app AND user_id = :user_id"""
_OF_GROUP = "SELECT user_id FROM members WHERE app = :app AND group_name = :name ORDER BY user_id"
_REMOVE = "DELETE FROM members WHERE app = :app AND user_id = :user_id"
_WELCOME = """
    UPDATE members SET welcomed_at = :at
    WHERE app = :app AND user_id = :user_id AND welcomed_at IS NULL RETURNING lang"""
_COUNT = "SELECT COUNT(*) AS found FROM members"
_LIST = """
    SELECT m.app, m.user_id, m.lang, m.role, m.group_name, m.added_at, a.machine FROM members m
    LEFT JOIN bindings b ON b.app = m.app AND b.user_id = m.user_id
    LEFT JOIN agents a ON a.agent_id = b.agent_id
    ORDER BY m.app, m.user_id, a.machine"""
_BIND = """
    INSERT INTO bindings (app, user_id, agent_id) VALUES (:app, :user_id, :agent_id)
    ON CONFLICT DO NOTHING"""
_THEIRS = "app = :app AND user_id = :user_id"
_UNBIND = f"DELETE FROM bindings WHERE {_THEIRS} AND agent_id = :agent_id"  # noqa: S608  # our own names
_UNBIND_MEMBER = f"DELETE FROM bindings WHERE {_THEIRS}"  # noqa: S608  # our own names
_BINDINGS = "SELECT agent_id, app, user_id FROM bindings ORDER BY agent_id, app, user_id"
_SERVES = f"SELECT 1 AS one FROM bindings WHERE {_THEIRS} AND agent_id = :agent_id"  # noqa: S608  # our own names
_CHOOSE = f"UPDATE members SET chosen_agent_id = :agent_id WHERE {_THEIRS}"  # noqa: S608  # our own names
_ADMINS = "SELECT app, user_id FROM members WHERE role <> 'member' AND role = 'admin'"
_APPROVERS = """
    SELECT m.user_id, m.lang FROM members m
    JOIN bindings b ON b.app = m.app AND b.user_id = m.user_id AND b.agent_id = :agent_id
    WHERE m.role <> 'member' AND m.app = :app AND m.user_id <> :user_id
    ORDER BY m.user_id LIMIT :limit"""
_COUNT_TASK = f"""
    UPDATE members SET asked_since_at = :since,
    asked = CASE WHEN asked_since_at = :since THEN asked + 1 ELSE 1 END
    WHERE {_THEIRS}"""  # noqa: S608  # our own names
# How long WeCom may take to deliver a message that still counts, in seconds: what is older need not
# be looked through at every message.
_DELIVERY_S: Final = 3600
_REQUESTER = """
    SELECT m.lang, m.role, m.group_name, m.chosen_agent_id, m.asked, m.asked_since_at, a.*,
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM inbound
        WHERE app = :app AND user_id = :user_id AND created_s > :written_since
        AND received_at > :since AND is_event = 0
        ORDER BY created_s DESC LIMIT :messages
    ) AS recent) AS messages,
    (SELECT COUNT(*) FROM tasks
        WHERE user_id = :user_id AND app = :app AND reason IS NULL) AS open_tasks,
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM mailbox q WHERE q.agent_id = a.agent_id AND q.acked_at IS NULL LIMIT :queued
    ) AS waiting) AS queued
    FROM members m LEFT JOIN bindings b ON b.app = m.app AND b.user_id = m.user_id
    LEFT JOIN agents a ON a.agent_id = b.agent_id AND a.revoked_at IS NULL
    WHERE m.app = :app AND m.user_id = :user_id"""


@dataclass(frozen=True, slots=True)
class Member:
    """One person on the allow-list.

    Attributes:
        app: Name of the app that they write to.
        user_id: Exactly as the channel delivers it.
        lang: Language to answer in; None to answer in the language of the message.
        role: What they may do besides asking.
        added_at: Milliseconds since the epoch.
        machines: Names of the machines that work for this member.
        group: What an admin calls them and others by, if anything.
    """

    app: str
    user_id: str
    lang: Lang | None
    role: Role
    added_at: int
    machines: tuple[str, ...]
    group: str | None = None

    @property
    def person(self) -> Person:
        """Who it is."""
        return Person(self.app, self.user_id)


@dataclass(frozen=True, slots=True)
class Speech:
    """That somebody is a member, and the language set for them, if any."""

    lang: Lang | None


@dataclass(frozen=True, slots=True)
class Requester:
    """A member, as the store knows them at this moment.

    Attributes:
        person: Who it is.
        lang: The language set for them; None to answer in the language of the message.
        role: What they may do besides asking, as far as the store says.
        machines: The agents that work for them, by name of the machine.
        chosen_agent_id: The one that they chose, which may not be among them any more.
        messages: How many came from them lately.
        open_tasks: How many tasks of theirs have not ended.
        queued: How many frames wait for each of their agents, whoever asked for them.
        asked: How many tasks they asked for since ``asked_since_at``, where there is a limit.
        asked_since_at: Beginning of the day of which that is; None before the first.
        group: What an admin calls them and others by, if anything.
    """

    person: Person
    lang: Lang | None
    role: Role
    machines: tuple[Agent, ...]
    chosen_agent_id: str | None
    messages: int
    open_tasks: int
    queued: Mapping[str, int]
    asked: int
    asked_since_at: int | None
    group: str | None = None


def look_up(conn: Connection, person: Person) -> Speech | None:
    """Return what is set for a member; None for everyone else."""
    row = conn.one(_FIND, app=person.app, user_id=person.user)
    return Speech(row["lang"]) if row else None


def welcome(conn: Connection, person: Person, *, at_ms: int) -> Speech | None:
    """Note that a member was shown what can be asked for; None where they were already."""
    row = conn.one(_WELCOME, app=person.app, user_id=person.user, at=at_ms)
    return Speech(row["lang"]) if row else None


def add(
    conn: Connection,
    person: Person,
    *,
    lang: Lang | None,
    at_ms: int,
    role: Role | None = None,
    group: str | None = None,
) -> bool:
    """Put a person on the allow-list; tells whether they are new there.

    What is given of a member who is there already is changed.

    Raises:
        InputError: ``member.invalid`` (user): nobody can be called that; ``member.invalid-group``
            (group).
    """
    user_id = person.user
    if not re.fullmatch(USER_ID, user_id, re.ASCII):
        raise InputError("member.invalid", user=user_id[:64])
    _check_group(group)
    facts = {"app": person.app, "user": user_id, "lang": lang, "role": role, "group": group}
    given = {"app": person.app, "user_id": user_id, "lang": lang, "group": group}
    new = conn.run(_ADD, **given, role=role or ROLES[0], at=at_ms) == 1
    if not new:
        conn.run(_SET, **given, role=role)
    audit.append(conn, "member.added", at_ms, **facts, new=new)
    return new


def change(
    conn: Connection,
    person: Person,
    *,
    at_ms: int,
    lang: Lang | None = None,
    role: Role | None = None,
    group: str | None = None,
) -> bool:
    """Set what is given of a member; False, and nothing changed, for everyone else.

    Raises:
        InputError: ``member.invalid-group`` (group).
    """
    _check_group(group)
    if not conn.run(_SET, app=person.app, user_id=person.user, lang=lang, role=role, group=group):
        return False
    facts = {"app": person.app, "user": person.user, "lang": lang, "role": role, "group": group}
    audit.append(conn, "member.changed", at_ms, **facts)
    return True


def _check_group(name: str | None) -> None:
    if name not in (None, NO_GROUP) and not re.fullmatch(GROUP, name or ""):
        raise InputError("member.invalid-group", group=(name or "")[:32])


def of_group(conn: Connection, app: str, name: str) -> list[Person]:
    """Return who is in a group of an app, by name."""
    return [Person(app, row["user_id"]) for row in conn.all(_OF_GROUP, app=app, name=name)]


def remove(conn: Connection, person: Person, *, at_ms: int) -> bool:
    """Take a person off the allow-list, with their machines and what was still to be told them."""
    if not conn.run(_REMOVE, app=person.app, user_id=person.user):
        return False
    conn.run(_UNBIND_MEMBER, app=person.app, user_id=person.user)
    outbox.drop(conn, person, at_ms=at_ms)
    audit.append(conn, "member.removed", at_ms, app=person.app, user=person.user)
    return True


def count(conn: Connection) -> int:
    """Return how many members there are; a server without any must not start (P8)."""
    row = conn.one(_COUNT)
    return int(row["found"]) if row else 0


def everyone(conn: Connection) -> list[Member]:
    """Return all members, by app and by name."""
    found: dict[Person, Member] = {}
    for row in conn.all(_LIST):
        person, machine = Person(row["app"], row["user_id"]), row["machine"]
        before = found[person].machines if person in found else ()
        machines = (*before, machine) if machine is not None else before
        found[person] = Member(
            *(person.app, person.user, row["lang"], row["role"], row["added_at"], machines),
            group=row["group_name"],
        )
    return list(found.values())


def admins(conn: Connection) -> list[Person]:
    """Return whoever has that role."""
    return [Person(row["app"], row["user_id"]) for row in conn.all(_ADMINS)]


def approvers(
    conn: Connection, agent_id: str, *, beside: Person
) -> list[tuple[Person, Lang | None]]:
    """Return who is told of what waits on a machine that works for them, and in which language.

    Args:
        conn: A transaction.
        agent_id: The machine.
        beside: Who asked; the others are of the same app.
    """
    rows = conn.all(
        _APPROVERS, agent_id=agent_id, app=beside.app, user_id=beside.user, limit=NOTIFIED
    )
    return [(Person(beside.app, row["user_id"]), row["lang"]) for row in rows]


def count_task(conn: Connection, person: Person, *, since_ms: int) -> None:
    """Count one more task of a member.

    Args:
        conn: A writing transaction.
        person: Who asked for it.
        since_ms: When this day began; what was counted on another one counts no more.
    """
    conn.run(_COUNT_TASK, app=person.app, user_id=person.user, since=since_ms)


def bind(conn: Connection, person: Person, agent_id: str, *, at_ms: int) -> bool:
    """Let a machine work for a member; False when it does already.

    Raises:
        InputError: ``member.unknown``.
    """
    if look_up(conn, person) is None:
        raise InputError("member.unknown", user=str(person))
    if not conn.run(_BIND, app=person.app, user_id=person.user, agent_id=agent_id):
        return False
    audit.append(conn, "member.bound", at_ms, app=person.app, user=person.user, agent=agent_id)
    return True


def unbind(conn: Connection, person: Person, agent_id: str, *, at_ms: int) -> bool:
    """Let a machine no longer work for a member; False when it does not."""
    if not conn.run(_UNBIND, app=person.app, user_id=person.user, agent_id=agent_id):
        return False
    audit.append(conn, "member.unbound", at_ms, app=person.app, user=person.user, agent=agent_id)
    return True


def serves(conn: Connection, person: Person, agent_id: str) -> bool:
    """Tell whether a machine works for a member."""
    found = conn.one(_SERVES, app=person.app, user_id=person.user, agent_id=agent_id)
    return found is not None


def choose(conn: Connection, person: Person, agent_id: str | None) -> None:
    """Keep which of their machines a member chose; None to forget it."""
    conn.run(_CHOOSE, app=person.app, user_id=person.user, agent_id=agent_id)


def by_machine(conn: Connection) -> dict[str, list[Person]]:
    """Return the members that each agent works for, by app and by name."""
    found: dict[str, list[Person]] = {}
    for row in conn.all(_BINDINGS):
        found.setdefault(row["agent_id"], []).append(Person(row["app"], row["user_id"]))
    return found


def requester(
    conn: Connection, person: Person, *, since_ms: int, messages: int, queued: int
) -> Requester | None:
    """Return a member; None for everyone else.

    Args:
        conn: A transaction.
        person: Who writes.
        since_ms: Messages that came later are counted.
        messages: Count so many at most.
        queued: Count so many frames of one agent at most.
    """
    rows = conn.all(
        _REQUESTER,
        app=person.app,
        user_id=person.user,
        since=since_ms,
        written_since=since_ms // 1000 - _DELIVERY_S,
        messages=messages,
        queued=queued,
    )
    if not rows:
        return None
    # Sorted here: for the one row that there mostly is, a statement would sort as for a thousand.
    mine = sorted((row for row in rows if row["agent_id"] is not None), key=itemgetter("machine"))
    return Requester(
        person,
        rows[0]["lang"],
        rows[0]["role"],
        tuple(as_record(Agent, row) for row in mine),
        rows[0]["chosen_agent_id"],
        rows[0]["messages"],
        rows[0]["open_tasks"],
        {row["agent_id"]: row["queued"] for row in mine},
        rows[0]["asked"],
        rows[0]["asked_since_at"],
        rows[0]["group_name"],
    )
