"""Store functions of tasks, mailbox, outbox and dedupe keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from common.clock import Instant
from common.errors import StoreError
from common.model.state import Reason, TaskState
from common.signing import SigningKey
from gateway.base.identity import sealer
from gateway.base.messages import FIRST_APP, SendOutcome
from gateway.store import agents, inbound, mailbox, members, outbox, tasks
from gateway.store.sqlite import SqliteConnection
from gateway.store.tasks import Change, Task
from tests.gateway_desk import transaction
from tests.people import alone, someone

AT = 1_767_240_000_000
NOW = Instant(AT, 1.0)
SENT = SendOutcome("sent", 0, "ok", 0.0, "wecom.sent")
BUSY = SendOutcome("retry", -1, "busy", 2.0, "wecom.busy")
LOST = SendOutcome("retry", None, "no answer", 5.0, "wecom.unreachable", maybe_sent=True)
GATEWAY_KEY = SigningKey.generate()
SEAL = sealer(lambda _: GATEWAY_KEY)
TASK = Task(
    task_id="t-1",
    short_id="T-7K3F",
    agent_id="a",
    app=FIRST_APP,
    user_id="zhang",
    chat="",
    channel="wecom_app",
    text="@dev test",
    lang="en",
    state=TaskState.RECEIVED,
    envelope_sha256="0" * 64,
    created_at=AT,
    updated_at=AT,
    expires_at=AT + 8 * 3_600_000,
)


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[SqliteConnection]:
    with transaction(tmp_path) as conn:
        members.add(conn, someone("zhang"), lang=None, at_ms=AT)
        key = SigningKey.generate().public
        agents.enrol(conn, "a", machine="dev-1", public_key=key, at_ms=AT)
        agents.connect(conn, "a", at_ms=AT)
        yield conn


def _mail(conn: SqliteConnection, task_id: str = "t-1", *, at: Instant = NOW) -> None:
    mailbox.enqueue_cancel(conn, SEAL, agent_id="a", task_id=task_id, claimed_user="zhang", at=at)


def _say(conn: SqliteConnection, key: str, *, user: str = "zhang", at: int = AT) -> bool:
    return outbox.put(conn, key, key, to=alone(user), at_ms=at)


def _progress(conn: SqliteConnection, key: str, at: int) -> None:
    outbox.put_progress(conn, key, key, to=alone("zhang"), task_id="t-1", at_ms=at)


def _due(conn: SqliteConnection, at: int = AT) -> list[str]:
    return [message.text for message in outbox.claim(conn, now_ms=at, limit=10).messages]


# -- tasks -----------------------------------------------------------------------------------


def test_a_short_id_is_unique_for_its_machine_and_grows_after_three_conflicts(
    conn: SqliteConnection,
) -> None:
    tasks.create(conn, TASK)
    asked: list[int] = []

    def mint(_minter: str, *, length: int) -> str:
        asked.append(length)
        return "T-7K3F" if length == 4 else "T-7K3FA"

    assert tasks.free_short_id(conn, "a", mint=mint) == "T-7K3FA"
    assert asked == [4, 4, 4, 5]
    assert tasks.free_short_id(conn, "b", mint=mint) == "T-7K3F"


def test_when_no_short_id_is_free_it_is_an_error_and_no_endless_loop(
    conn: SqliteConnection,
) -> None:
    tasks.create(conn, TASK)
    with pytest.raises(StoreError) as caught:
        tasks.free_short_id(conn, "a", mint=lambda _minter, **_length: "T-7K3F")
    assert caught.value.code == "store.no-short-id"


def test_a_task_comes_back_as_it_was_stored(conn: SqliteConnection) -> None:
    tasks.create(conn, TASK)
    assert tasks.find(conn, "t-1") == TASK
    assert tasks.find(conn, "t-2") is None
    assert tasks.named(conn, someone("zhang"), "T-7K3F") == [TASK]


@pytest.mark.requirement("R11")
def test_a_short_id_names_only_ones_own_tasks(conn: SqliteConnection) -> None:
    tasks.create(conn, TASK)
    assert tasks.named(conn, someone("li"), "T-7K3F") == []


def test_every_change_leaves_an_event_and_a_finished_task_is_no_longer_open(
    conn: SqliteConnection,
) -> None:
    tasks.create(conn, TASK)
    change = Change(TaskState.WAITING_APPROVAL, seal_code="7K3F-9Q2M", waiting_until=AT + 5)
    tasks.change(conn, "t-1", change, at_ms=AT + 1)
    found = tasks.find(conn, "t-1")
    assert found == replace(
        TASK,
        state=TaskState.WAITING_APPROVAL,
        seal_code="7K3F-9Q2M",
        waiting_until=AT + 5,
        message=None,
        updated_at=AT + 1,
    )
    assert len(tasks.open_of(conn, someone("zhang"), limit=5)) == 1
    end = Change(TaskState.REJECTED, Reason.REJECTED, message="no")
    tasks.change(conn, "t-1", end, at_ms=AT + 2)
    assert tasks.open_of(conn, someone("zhang"), limit=5) == []
    rows = conn.all("SELECT seq, state, reason FROM task_events ORDER BY seq")
    assert [tuple(row[name] for name in ("seq", "state", "reason")) for row in rows] == [
        (1, "RECEIVED", None),
        (2, "WAITING_APPROVAL", None),
        (3, "REJECTED", "rejected"),
    ]


def test_finished_tasks_are_forgotten_in_time_and_open_ones_never(conn: SqliteConnection) -> None:
    tasks.create(conn, TASK)
    tasks.create(conn, replace(TASK, task_id="t-2", short_id="T-0000"))
    tasks.change(conn, "t-1", Change(TaskState.FAILED, Reason.FAILED), at_ms=AT)
    assert tasks.purge(conn, before_ms=AT) == 0
    assert tasks.purge(conn, before_ms=AT + 1) == 1
    assert [task.task_id for task in tasks.newest(conn, limit=5)] == ["t-2"]


# -- mailbox ---------------------------------------------------------------------------------


@pytest.mark.requirement("R17")
def test_frames_are_numbered_without_a_hole_and_come_in_order(conn: SqliteConnection) -> None:
    for number in range(5):
        _mail(conn, f"t-{number}")
    assert [seq for seq, _ in mailbox.pending(conn, "a", after_seq=0, limit=3)] == [1, 2, 3]
    assert [seq for seq, _ in mailbox.pending(conn, "a", after_seq=3, limit=3)] == [4, 5]


def test_an_ack_covers_everything_before_it_and_only_in_its_epoch(conn: SqliteConnection) -> None:
    for number in range(3):
        _mail(conn, f"t-{number}")
    assert mailbox.waiting(conn) == ["a"]
    assert not mailbox.ack(conn, "a", epoch=7, seq=3, at_ms=AT)
    assert mailbox.ack(conn, "a", epoch=1, seq=2, at_ms=AT)
    assert mailbox.waiting(conn) == ["a"]
    assert mailbox.ack(conn, "a", epoch=1, seq=3, at_ms=AT)
    assert mailbox.waiting(conn) == []


def test_an_agent_whose_memory_went_back_in_time_gets_nothing_again(conn: SqliteConnection) -> None:
    for number in range(3):
        _mail(conn, f"t-{number}")
    mailbox.ack(conn, "a", epoch=1, seq=2, at_ms=AT)
    for after in (0, 1):
        with pytest.raises(StoreError) as caught:
            mailbox.pending(conn, "a", after_seq=after, limit=5)
        assert caught.value.code == "mailbox.agent-behind"
    mailbox.purge(conn, before_ms=AT + 1)
    with pytest.raises(StoreError):
        mailbox.pending(conn, "a", after_seq=1, limit=5)
    assert len(mailbox.pending(conn, "a", after_seq=2, limit=5)) == 1


def test_an_ack_of_what_was_never_sent_is_an_alarm(conn: SqliteConnection) -> None:
    _mail(conn)
    with pytest.raises(StoreError) as caught:
        mailbox.ack(conn, "a", epoch=1, seq=2, at_ms=AT)
    assert caught.value.code == "mailbox.agent-ahead"


def test_a_task_is_told_to_stop_once_at_a_time(conn: SqliteConnection) -> None:
    _mail(conn)
    _mail(conn)
    assert len(mailbox.pending(conn, "a", after_seq=0, limit=5)) == 1
    _mail(conn, at=Instant(AT + 300_000, 2.0))
    assert len(mailbox.pending(conn, "a", after_seq=0, limit=5)) == 2


def test_what_expires_is_buried_under_its_own_number(conn: SqliteConnection) -> None:
    _mail(conn)
    assert mailbox.expired(conn, before_ms=AT + 299_999, limit=5) == []
    (entry,) = mailbox.expired(conn, before_ms=AT + 300_000, limit=5)
    mailbox.bury(conn, SEAL, entry, at=NOW)
    ((seq, frame),) = mailbox.pending(conn, "a", after_seq=0, limit=5)
    assert seq == 1
    assert b'"t":"tombstone"' in frame
    assert mailbox.expired(conn, before_ms=AT * 2, limit=5) == []
    assert mailbox.depths(conn) == {}  # nobody waits for what was taken back


# -- outbox ----------------------------------------------------------------------------------


def test_the_same_occasion_makes_one_message(conn: SqliteConnection) -> None:
    assert _say(conn, "once")
    assert not _say(conn, "once")
    assert _due(conn) == ["once"]


def test_one_message_of_each_person_is_sent_at_a_time_in_order(conn: SqliteConnection) -> None:
    for key in ("z1", "z2"):
        _say(conn, key)
    _say(conn, "l1", user="li")
    claim = outbox.claim(conn, now_ms=AT, limit=10)
    first = {message.text: message.id for message in claim.messages}
    assert sorted(first) == ["l1", "z1"]
    assert _due(conn) == []
    outbox.end(conn, first["z1"], "sent", SENT, at_ms=AT)
    assert _due(conn) == ["z2"]


def test_a_message_that_must_wait_holds_up_its_own_person_only(conn: SqliteConnection) -> None:
    for key in ("z1", "z2"):
        _say(conn, key)
    (first,) = outbox.claim(conn, now_ms=AT, limit=10).messages
    outbox.put_back(conn, first.id, LOST, due_at=AT + 5, counted=True)
    claim = outbox.claim(conn, now_ms=AT, limit=10)
    assert (claim.messages, claim.next_due_at) == ((), AT + 5)
    (again,) = outbox.claim(conn, now_ms=AT + 5, limit=10).messages
    assert (again.text, again.attempts, again.repeated) == ("z1", 1, 1)


def test_a_claim_costs_the_same_however_much_is_held_back(tmp_path: Path) -> None:
    """Counted in steps of SQLite's machine, which no load of this one changes."""

    def steps_of_a_claim(place: Path, held: int) -> int:
        place.mkdir()
        with transaction(place) as conn:
            for number in range(held):
                user = f"user-{number % 20}"
                _say(conn, f"held-{number}", user=user)
            for message in outbox.claim(conn, now_ms=AT, limit=20).messages:
                outbox.put_back(conn, message.id, BUSY, due_at=AT + 9, counted=True)
            _say(conn, "free", user="li")
            steps = 0

            def count() -> int:
                nonlocal steps
                steps += 1
                return 0

            conn.driver.set_progress_handler(count, 1)
            claim = outbox.claim(conn, now_ms=AT, limit=8)
            conn.driver.set_progress_handler(None, 1)
            assert [message.text for message in claim.messages] == ["free"]
            return steps

    few, many = steps_of_a_claim(tmp_path / "few", 20), steps_of_a_claim(tmp_path / "many", 2000)
    assert many <= few * 1.1


def test_a_try_that_was_none_is_not_counted(conn: SqliteConnection) -> None:
    _say(conn, "z1")
    (first,) = outbox.claim(conn, now_ms=AT, limit=1).messages
    outbox.put_back(conn, first.id, BUSY, due_at=AT, counted=False)
    (again,) = outbox.claim(conn, now_ms=AT, limit=1).messages
    assert (again.attempts, again.repeated) == (0, 0)


@pytest.mark.requirement("P3")
def test_what_a_crash_left_half_sent_is_sent_again_as_a_copy(conn: SqliteConnection) -> None:
    _say(conn, "z1")
    assert _due(conn) == ["z1"]
    assert outbox.recover(conn) == 1
    (again,) = outbox.claim(conn, now_ms=AT, limit=1).messages
    assert again.repeated == 1


def test_progress_lines_are_merged_and_kept_apart(conn: SqliteConnection) -> None:
    _progress(conn, "10 s", AT)
    _progress(conn, "20 s", AT)
    (line,) = outbox.claim(conn, now_ms=AT, limit=5).messages
    assert line.text == "20 s"
    outbox.end(conn, line.id, "sent", SENT, at_ms=AT)
    _progress(conn, "30 s", AT + 1000)
    _progress(conn, "40 s", AT + 2000)
    assert _due(conn, AT + 2000) == []
    assert _due(conn, AT + outbox.PROGRESS_MS) == ["40 s"]


@pytest.mark.requirement("P7")
def test_a_line_that_waits_for_something_truer_goes_when_it_comes(conn: SqliteConnection) -> None:
    def running(key: str) -> None:
        outbox.put_progress(
            conn, key, key, to=alone("zhang"), task_id="t-1", at_ms=AT, after_ms=90_000
        )

    running("running")
    claim = outbox.claim(conn, now_ms=AT, limit=5)
    assert (claim.messages, claim.next_due_at) == ((), AT + 90_000), "it wakes whoever sends"
    _progress(conn, "80 s", AT + 80_000)
    assert _due(conn, AT + 80_000) == ["80 s"], "an agent's own word comes at once"
    conn.run("UPDATE outbox SET state = 'sent', ended_at = 0 WHERE state = 'sending'")
    running("again")
    outbox.drop_progress(conn, "t-1", at_ms=AT, told=False)
    assert _due(conn, AT + 90_000) == []


@pytest.mark.requirement("P7")
def test_only_what_is_told_takes_a_receipt_back(conn: SqliteConnection) -> None:
    due = AT + outbox.RECEIPT_MS
    to = alone("zhang")
    for number, told in enumerate((False, True)):
        key = f"answer:{number}"
        outbox.put(conn, key, key, to=to, task_id="t-1", at_ms=AT, kind="progress", due_at=due)
        outbox.drop_progress(conn, "t-1", at_ms=AT, told=told)
        assert _due(conn, due - 1) == []
        assert _due(conn, due) == ([] if told else [key])
        conn.run("UPDATE outbox SET state = 'sent', ended_at = 0 WHERE state = 'sending'")


def test_a_progress_line_that_waits_holds_nobody_up_and_goes_when_it_is_old_news(
    conn: SqliteConnection,
) -> None:
    _progress(conn, "10 s", AT)
    (line,) = outbox.claim(conn, now_ms=AT, limit=5).messages
    outbox.end(conn, line.id, "sent", SENT, at_ms=AT)
    _progress(conn, "20 s", AT + 1)
    _say(conn, "done")
    assert _due(conn, AT + 1) == ["done"]
    outbox.drop_progress(conn, "t-1", at_ms=AT + 2, told=False)
    conn.run("UPDATE outbox SET state = 'sent', ended_at = 0 WHERE state = 'sending'")
    assert _due(conn, AT + 60_000) == []


def test_old_messages_are_forgotten_and_waiting_ones_are_not(conn: SqliteConnection) -> None:
    _say(conn, "z1")
    _say(conn, "z2")
    (first,) = outbox.claim(conn, now_ms=AT, limit=5).messages
    outbox.end(conn, first.id, "failed", SENT, at_ms=AT)
    assert outbox.purge(conn, before_ms=AT + 1) == 1
    assert _due(conn) == ["z2"]


# -- dedupe keys -----------------------------------------------------------------------------


def _seen(
    conn: SqliteConnection, dedupe: str, replay: bytes, at: int = AT, *, created_s: int = AT // 1000
) -> bool:
    return not inbound.remember(
        conn,
        person=someone("zhang"),
        created_s=created_s,
        dedupe_key=dedupe,
        replay_key=replay,
        at_ms=at,
    )


@pytest.mark.requirement("R71")
def test_a_message_is_new_only_when_both_of_its_keys_are(conn: SqliteConnection) -> None:
    assert not _seen(conn, "m1", b"c1")
    assert _seen(conn, "m1", b"c1")
    assert _seen(conn, "m1", b"c2"), "delivered again, encrypted anew"
    assert _seen(conn, "m1", b"c2"), "the second delivery, replayed"
    assert _seen(conn, "m2", b"c1"), "replayed under another name"
    assert not _seen(conn, "m3", b"c3")


@pytest.mark.requirement("R71")
@pytest.mark.parametrize("seconds", [-600, -1, 0, 1, 600])
def test_a_message_that_is_dated_anew_is_the_same(conn: SqliteConnection, seconds: int) -> None:
    assert not _seen(conn, "m1", b"c1")
    assert _seen(conn, "m1", b"c2", created_s=AT // 1000 + seconds)
    assert _seen(conn, "m2", b"c1", created_s=AT // 1000 + seconds)


def test_old_messages_are_forgotten(conn: SqliteConnection) -> None:
    _seen(conn, "m1", b"1")
    _seen(conn, "m2", b"2", AT + 10)
    assert inbound.purge(conn, before_ms=AT + 1) == 1
    assert not _seen(conn, "m1", b"1")
