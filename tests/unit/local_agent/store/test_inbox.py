"""Messages from the gateway: journaled, then acknowledged, accepted once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import LocalProtocolError, RemoteProtocolError, UnavailableError
from common.model.state import Reason, TaskState
from common.signing import SigningKey
from local_agent.store import inbox as inbox_module
from local_agent.store import outbox as outbox_module
from local_agent.store.journal import Journal
from tests.sealed import Wish, a_journal, ending, from_gateway


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def journal(tmp_path: Path, clock: ManualClock) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, clock)) as opened:
        yield opened


def results(journal: Journal) -> list[dict[str, Any]]:
    return [json.loads(json.loads(frame)["body"]) for _, frame in journal.outbox.unsent()]


@pytest.mark.requirement("P3")
def test_an_accepted_task_is_there_after_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    envelope = from_gateway(clock, 1)
    with closing(a_journal(tmp_path, clock)) as journal:
        assert journal.inbox.accept(envelope) == "new"
    with closing(a_journal(tmp_path, clock)) as journal:
        assert journal.inbox.last_seq() == 1
        [task] = journal.tasks.open_tasks()
    assert (task.task_id, task.short_id, task.state) == ("task-1", "T-7K31", TaskState.RECEIVED)
    assert (task.source, task.lang, task.claimed_user) == ("wecom", "zh", "zhang")
    assert task.envelope_sha256 == envelope.sha256
    assert task.gateway_key_id == envelope.header.kid


@pytest.mark.requirement("R17")
def test_the_same_envelope_makes_one_task(journal: Journal, clock: ManualClock) -> None:
    envelope = from_gateway(clock, 1)
    assert [journal.inbox.accept(envelope) for _ in range(4)] == ["new", *["duplicate"] * 3]
    assert len(journal.tasks.recent()) == 1


def test_the_same_message_id_under_a_new_number_makes_no_task(
    journal: Journal, clock: ManualClock
) -> None:
    journal.inbox.accept(from_gateway(clock, 1, jti="once"))
    assert journal.inbox.accept(from_gateway(clock, 2, jti="once")) == "duplicate"
    assert journal.inbox.last_seq() == 2
    assert len(journal.tasks.recent()) == 1


@pytest.mark.requirement("P4")
def test_a_second_message_never_changes_a_task(journal: Journal, clock: ManualClock) -> None:
    journal.inbox.accept(from_gateway(clock, 1, task_id="task-1", text="@dev test"))
    again = from_gateway(clock, 2, task_id="task-1", text="@dev something else")
    assert journal.inbox.accept(again) == "duplicate"
    assert [task.text for task in journal.tasks.recent()] == ["@dev test"]


@pytest.mark.requirement("R17")
def test_a_gap_is_an_alarm_and_changes_nothing(journal: Journal, clock: ManualClock) -> None:
    journal.inbox.accept(from_gateway(clock, 1))
    with pytest.raises(RemoteProtocolError) as caught:
        journal.inbox.accept(from_gateway(clock, 3))
    assert caught.value.code == "sequence-gap"
    assert journal.inbox.last_seq() == 1
    assert journal.inbox.accept(from_gateway(clock, 2)) == "new"


@pytest.mark.requirement("P7")
def test_a_task_that_comes_too_late_ends_as_expired(journal: Journal, clock: ManualClock) -> None:
    envelope = from_gateway(clock, 1, expired=True)
    assert journal.inbox.accept(envelope) == "expired"
    task = journal.tasks.get("task-1")
    assert (task.state, task.reason) == (TaskState.REJECTED, Reason.EXPIRED)
    assert journal.tasks.open_tasks() == []
    [result] = results(journal)
    assert (result["reason"], result["task_sha256"]) == ("expired", envelope.sha256)
    assert [event["type"] for _, event in journal.tasks.events("task-1")] == [
        "task_state",
        "task_end",
    ]


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("short_id", ["T-Z000", "T-O000", "T-UUUU", "T-7K3F"])
def test_an_id_the_gateway_may_not_give_is_refused_and_names_nothing(
    journal: Journal, clock: ManualClock, short_id: str
) -> None:
    """Of the agent's own half, not in its stored form, no ID, or in use for another task."""
    journal.tasks.create(Wish(task_id="other", short_id="T-7K3F"), clock.now().wall_ms)
    assert journal.inbox.accept(from_gateway(clock, 1, short_id=short_id)) == "refused"
    task = journal.tasks.get("task-1")
    assert (task.reason, task.named, task.short_id) == (Reason.REFUSED, False, short_id)
    assert journal.tasks.named("T-7K3F").task_id == "other"
    assert [result["reason"] for result in results(journal)] == ["refused"]


@pytest.mark.requirement("P3")
def test_a_cancel_is_remembered_before_it_is_acknowledged(
    journal: Journal, clock: ManualClock
) -> None:
    journal.inbox.accept(from_gateway(clock, 1))
    cancel = from_gateway(clock, 2, typ="cancel", task_id="task-1")
    assert journal.inbox.accept(cancel) == "cancel"
    assert journal.tasks.get("task-1").cancel_requested


def test_a_cancel_that_is_late_unknown_or_of_a_local_task_cancels_nothing(
    journal: Journal, clock: ManualClock
) -> None:
    local = Wish(task_id="local", source="local_ui", gateway_key_id=None)
    journal.tasks.create(local, clock.now().wall_ms)
    journal.inbox.accept(from_gateway(clock, 1))
    late = from_gateway(clock, 2, typ="cancel", task_id="task-1", expired=True)
    told = [
        journal.inbox.accept(late),
        journal.inbox.accept(from_gateway(clock, 3, typ="cancel", task_id="nothing")),
        journal.inbox.accept(from_gateway(clock, 4, typ="cancel", task_id="local")),
    ]
    assert told == ["noted"] * 3
    assert not any(task.cancel_requested for task in journal.tasks.recent())


def test_another_gateways_task_is_not_its_to_cancel(journal: Journal, clock: ManualClock) -> None:
    journal.inbox.accept(from_gateway(clock, 1))
    other = SigningKey(bytes([9]) * 32)
    cancel = from_gateway(clock, 2, typ="cancel", task_id="task-1", key=other)
    assert journal.inbox.accept(cancel) == "noted"


def test_a_tombstone_fills_its_number(journal: Journal, clock: ManualClock) -> None:
    assert journal.inbox.accept(from_gateway(clock, 1, typ="tombstone")) == "noted"
    assert journal.inbox.last_seq() == 1
    assert journal.tasks.recent() == []
    assert journal.inbox.accept(from_gateway(clock, 2)) == "new"


def test_message_ids_are_forgotten_long_after_their_time_and_numbers_never(
    tmp_path: Path, clock: ManualClock
) -> None:
    with closing(a_journal(tmp_path, clock)) as journal:
        journal.inbox.accept(from_gateway(clock, 1))
        assert journal.inbox.prune() == 0
    clock.advance(31 * 86_400)
    with closing(a_journal(tmp_path, clock)) as journal:
        assert journal.inbox.prune() == 1  # not at every start: retention does it
        assert journal.inbox.last_seq() == 1
        assert journal.inbox.accept(from_gateway(clock, 1)) == "duplicate"


def test_without_a_gateway_nothing_is_accepted(tmp_path: Path, clock: ManualClock) -> None:
    with closing(a_journal(tmp_path, clock, paired=False)) as journal:
        with pytest.raises(LocalProtocolError) as caught:
            journal.inbox.accept(from_gateway(clock, 1))
        assert caught.value.code == "inbox.unpaired"


@pytest.mark.requirement("P6a")
def test_every_message_leaves_an_audit_entry(journal: Journal, clock: ManualClock) -> None:
    journal.inbox.accept(from_gateway(clock, 1))
    journal.inbox.accept(from_gateway(clock, 2, typ="cancel", task_id="task-1"))
    journal.inbox.accept(from_gateway(clock, 3, typ="tombstone"))
    events = [json.loads(entry[2])["event"] for entry in journal.audit.entries()]
    assert events == ["task.accepted", "inbox.cancel", "inbox.tombstone"]


@pytest.mark.requirement("P7")
def test_a_task_beyond_what_a_machine_can_have_open_is_refused_and_told(
    journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "MAX_OPEN_TASKS", 2)
    told = [journal.inbox.accept(from_gateway(clock, seq)) for seq in (1, 2, 3)]
    assert told == ["new", "new", "refused"]
    assert journal.tasks.get("task-3").reason is Reason.REFUSED
    assert [result["task_id"] for result in results(journal)] == ["task-3"]
    journal.tasks.change(ending(Reason.CANCELLED, TaskState.RECEIVED, TaskState.REJECTED))
    assert journal.inbox.accept(from_gateway(clock, 4)) == "new"


def test_tasks_of_this_machine_take_no_room_from_the_chats(
    journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "MAX_OPEN_TASKS", 1)
    local = Wish(task_id="local", short_id="T-Z111", source="local_ui", gateway_key_id=None)
    journal.tasks.create(local, clock.now().wall_ms)
    assert journal.inbox.accept(from_gateway(clock, 1)) == "new"


@pytest.mark.requirement("P3")
def test_a_gateway_that_hears_no_report_brings_no_new_task(
    journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.inbox.accept(from_gateway(clock, 1, expired=True))
    monkeypatch.setattr(outbox_module, "MAX_ROWS", 1)
    with pytest.raises(UnavailableError) as caught:
        journal.inbox.accept(from_gateway(clock, 2))
    assert caught.value.code == "inbox.unheard"
    assert (journal.inbox.last_seq(), len(journal.tasks.recent())) == (1, 1)
    journal.outbox.acked(1)
    assert journal.inbox.accept(from_gateway(clock, 2)) == "new"


@pytest.mark.requirement("P3")
def test_a_cancel_is_taken_in_even_when_no_report_is_heard(
    journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.inbox.accept(from_gateway(clock, 1))
    monkeypatch.setattr(outbox_module, "MAX_ROWS", 0)
    assert journal.inbox.accept(from_gateway(clock, 2, typ="cancel", task_id="task-1")) == "cancel"


def test_more_messages_than_a_journal_may_grow_by_have_to_wait(
    journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "MAX_HOURLY", 2)
    for seq in (1, 2):
        journal.inbox.accept(from_gateway(clock, seq))
    with pytest.raises(UnavailableError) as caught:
        journal.inbox.accept(from_gateway(clock, 3))
    assert caught.value.code == "inbox.too-fast"
    assert journal.inbox.last_seq() == 2
    clock.advance(inbox_module.SLOWLY_MS / 1000)
    assert journal.inbox.accept(from_gateway(clock, 3)) == "new", "slowly, and not after an hour"
    with pytest.raises(UnavailableError):
        journal.inbox.accept(from_gateway(clock, 4))
    clock.jump_wall(-3600)
    assert journal.inbox.accept(from_gateway(clock, 4)) == "new", "of a clock put back"
    clock.advance(2 * 3600)
    for seq in (5, 6):
        assert journal.inbox.accept(from_gateway(clock, seq)) == "new"


@pytest.mark.requirement("P3")
@pytest.mark.requirement("P4")
def test_a_cancel_is_obeyed_ahead_of_its_turn_and_counted_in_its_turn(
    journal: Journal, clock: ManualClock
) -> None:
    journal.inbox.accept(from_gateway(clock, 1))
    cancel = from_gateway(clock, 5, typ="cancel", task_id="task-1")
    late = from_gateway(clock, 5, typ="cancel", task_id="task-1", expired=True)
    other = from_gateway(clock, 5, typ="cancel", task_id="task-2")
    ahead = journal.inbox.obey_ahead
    assert [ahead(each) for each in (late, other, from_gateway(clock, 2))] == [False] * 3
    assert not journal.tasks.get("task-1").cancel_requested
    assert ahead(cancel)
    assert journal.tasks.get("task-1").cancel_requested
    assert journal.inbox.last_seq() == 1


def test_more_words_than_a_journal_may_grow_by_have_to_wait(
    journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "MAX_HOURLY_CHARS", 100)
    journal.inbox.accept(from_gateway(clock, 1, text="a" * 60))
    with pytest.raises(UnavailableError) as caught:
        journal.inbox.accept(from_gateway(clock, 2, text="b" * 41))
    assert caught.value.code == "inbox.too-much"
    assert journal.inbox.last_seq() == 1
    assert journal.inbox.accept(from_gateway(clock, 2, text="b" * 40)) == "new"
    clock.advance(3600)
    assert journal.inbox.accept(from_gateway(clock, 3, text="c" * 100)) == "new"


def test_the_words_of_an_hour_are_counted_without_reading_all_tasks(journal: Journal) -> None:
    plan = journal._db.all(
        "EXPLAIN QUERY PLAN"
        " SELECT sum(length(text)) FROM tasks WHERE source = 'wecom' AND created_at > 5"
    )
    assert "tasks_of_the_chat" in str(plan)
