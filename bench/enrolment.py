"""Ten thousand machines in a gateway's store, without ten thousand pairings."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path
from typing import Final

from common.clock import Instant
from common.ids import new_uuid
from common.model.state import TaskState
from common.protocol.bodies import TaskBody
from common.signing import SigningKey
from gateway.base.identity import Seal, open_identity, sealer
from gateway.base.messages import FIRST_APP, Person
from gateway.store import Connection, agents, mailbox, members, tasks
from gateway.store.runner import open_admin
from gateway.store.tasks import Task

BATCH: Final = 500


def agent_id(number: int) -> str:
    """Return the name under which the agent of a number is enrolled."""
    return f"agent-{number:05}"


@cache
def agent_key(number: int) -> SigningKey:
    """Return the key of the agent of a number."""
    return SigningKey(number.to_bytes(4, "big") * 8)


def enrol(state: Path, count: int, asking: dict[str, int]) -> None:
    """Put machines, members and a first task for each machine into the store.

    Args:
        state: The folder of the gateway's store and keys.
        count: How many machines.
        asking: Members, each with the number of the one machine that works for them.
    """
    seal = sealer(open_identity(state).signing)
    at = Instant(time.time_ns() // 1_000_000, 0.0)
    with open_admin(state / "gateway.db") as store:
        for first in range(0, count, BATCH):
            store.write(_machines, seal, range(first, min(first + BATCH, count)), at=at)
        store.write(_members, asking, at=at)


def _machines(conn: Connection, seal: Seal, numbers: range, *, at: Instant) -> None:
    for number in numbers:
        name, owner = agent_id(number), f"owner-{number}"
        agents.enrol(
            conn, name, machine=f"m-{number}", public_key=agent_key(number).public, at_ms=at.wall_ms
        )
        members.add(conn, Person(FIRST_APP, owner), lang=None, at_ms=at.wall_ms)
        members.bind(conn, Person(FIRST_APP, owner), name, at_ms=at.wall_ms)
        _first_task(conn, seal, name, owner, at=at)


def _first_task(conn: Connection, seal: Seal, name: str, owner: str, *, at: Instant) -> None:
    task_id, short_id = new_uuid(), "T-0000"
    body = TaskBody(
        task_id=task_id,
        short_id=short_id,
        thread_id="bench",
        channel="wecom_app",
        claimed_user=owner,
        text="@dev test",
        lang="en",
        received_at=at.wall_ms,
    )
    envelope = mailbox.enqueue(
        conn,
        seal,
        "task",
        agent_id=name,
        task_id=task_id,
        body=body.to_dict(),
        at=at,
        life_s=3600,
    )
    task = Task(
        task_id=task_id,
        short_id=short_id,
        agent_id=name,
        app=FIRST_APP,
        user_id=owner,
        chat="",
        channel="wecom_app",
        text="@dev test",
        lang="en",
        state=TaskState.RECEIVED,
        envelope_sha256=envelope.sha256,
        created_at=at.wall_ms,
        updated_at=at.wall_ms,
        expires_at=envelope.header.exp * 1000,
    )
    tasks.create(conn, task)


def _members(conn: Connection, asking: dict[str, int], *, at: Instant) -> None:
    for member, number in asking.items():
        members.add(conn, Person(FIRST_APP, member), lang=None, at_ms=at.wall_ms)
        members.bind(conn, Person(FIRST_APP, member), agent_id(number), at_ms=at.wall_ms)
