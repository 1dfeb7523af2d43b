"""The one question that is asked about every message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from common.model.state import Reason, TaskState
from common.signing import SigningKey
from gateway.store import agents, inbound, mailbox, members, tasks
from gateway.store.members import Requester
from gateway.store.sqlite import SqliteConnection
from gateway.store.tasks import Change, Task
from tests.gateway_desk import transaction
from tests.people import someone

AT = 1_767_240_000_000


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[SqliteConnection]:
    with transaction(tmp_path) as conn:
        members.add(conn, someone("zhang"), lang="zh", at_ms=AT)
        for name in ("b", "a"):
            key = SigningKey.generate().public
            agents.enrol(conn, name, machine=f"dev-{name}", public_key=key, at_ms=AT)
        yield conn


def _requester(conn: SqliteConnection, user: str = "zhang", *, since: int = 0) -> Requester | None:
    return members.requester(conn, someone(user), since_ms=since, messages=3, queued=2)


def _found(conn: SqliteConnection, *, since: int = 0) -> Requester:
    requester = _requester(conn, since=since)
    assert requester is not None
    return requester


def test_whoever_is_not_on_the_list_is_nobody(conn: SqliteConnection) -> None:
    assert _requester(conn, "li") is None
    assert _requester(conn, "Zhang") is None


def test_a_member_without_a_machine_is_known(conn: SqliteConnection) -> None:
    assert _found(conn) == Requester(someone("zhang"), "zh", "member", (), None, 0, 0, {}, 0, None)


def test_machines_come_by_name_and_revoked_ones_not_at_all(conn: SqliteConnection) -> None:
    for name in ("a", "b"):
        members.bind(conn, someone("zhang"), name, at_ms=AT)
    members.choose(conn, someone("zhang"), "b")
    assert [agent.machine for agent in _found(conn).machines] == ["dev-a", "dev-b"]
    assert _found(conn).machines[1] == agents.find(conn, "b")
    agents.revoke(conn, "dev-b", at_ms=AT)
    assert [agent.machine for agent in _found(conn).machines] == ["dev-a"]
    assert _found(conn).chosen_agent_id == "b"


def test_messages_are_counted_by_person_and_time_up_to_the_limit(conn: SqliteConnection) -> None:
    for number, user in enumerate(["zhang", "zhang", "li", "zhang", "zhang"]):
        inbound.remember(
            conn,
            person=someone(user),
            created_s=AT // 1000,
            dedupe_key=str(number),
            replay_key=bytes([number]),
            at_ms=AT + number,
        )
    assert _found(conn, since=AT + 1).messages == 2
    assert _found(conn, since=AT).messages == 3
    assert _found(conn).messages == 3


def test_events_are_not_counted(conn: SqliteConnection) -> None:
    for number, is_event in enumerate((True, False, True)):
        inbound.remember(
            conn,
            person=someone("zhang"),
            created_s=AT // 1000,
            dedupe_key=str(number),
            replay_key=bytes([number]),
            at_ms=AT + number,
            is_event=is_event,
        )
    assert _found(conn).messages == 1


def test_tasks_are_counted_by_the_day(conn: SqliteConnection) -> None:
    counted = []
    for since in (AT, AT, AT + 1, AT):
        members.count_task(conn, someone("zhang"), since_ms=since)
        found = _found(conn)
        counted.append((found.asked_since_at, found.asked))
    assert counted == [(AT, 1), (AT, 2), (AT + 1, 1), (AT, 1)]


def test_messages_that_come_late_are_counted_unless_they_are_an_hour_late(
    conn: SqliteConnection,
) -> None:
    for seconds in (3599, 3600):
        inbound.remember(
            conn,
            person=someone("zhang"),
            created_s=AT // 1000 - seconds,
            dedupe_key=str(seconds),
            replay_key=bytes(1),
            at_ms=AT + 1,
        )
    assert _found(conn, since=AT).messages == 1


def test_open_tasks_and_queues_are_counted(conn: SqliteConnection) -> None:
    members.bind(conn, someone("zhang"), "a", at_ms=AT)
    where = ("a", "main", "zhang", "", "wecom_app")
    task = Task("t-1", "T-0001", *where, "x", "zh", TaskState.RECEIVED, "f", AT, AT, AT)
    tasks.create(conn, task)
    tasks.create(conn, replace(task, task_id="t-2", short_id="T-0002"))
    for number in range(3):
        conn.run(
            mailbox._ADD,
            agent_id="a",
            seq=number,
            jti=str(number),
            typ="task",
            task_id="t-1",
            frame=b"",
            expires_at=AT,
            away_epoch=None,
        )
    requester = _found(conn)
    assert (requester.open_tasks, requester.queued) == (2, {"a": 2})
    tasks.change(conn, "t-1", Change(TaskState.FAILED, Reason.FAILED), at_ms=AT)
    conn.run("UPDATE mailbox SET acked_at = 1 WHERE seq < 2")
    requester = _found(conn)
    assert (requester.open_tasks, requester.queued) == (1, {"a": 1})


def test_it_is_answered_from_indexes_of_what_is_open(conn: SqliteConnection) -> None:
    facts: dict[str, object] = {"app": "main", "user_id": "zhang", "messages": 3, "queued": 2}
    facts |= {"since": 0, "written_since": 0}
    plan = [row["detail"] for row in conn.all(f"EXPLAIN QUERY PLAN {members._REQUESTER}", **facts)]
    for index in ("inbound USING PRIMARY KEY", "ix_tasks_open", "ix_mailbox_unacked"):
        assert any(index in step for step in plan), plan
    tables = ("members", "bindings", "agents", "inbound", "tasks", "mailbox", "m", "b", "a", "q")
    assert not any(step.split()[:2] == ["SCAN", name] for step in plan for name in tables), plan
