"""Tasks: one step, one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import CodexBridgeError, LocalProtocolError, StateError, StoreError
from common.model.state import TRANSITIONS, Reason, TaskState, final_of
from local_agent.store.journal import Journal
from local_agent.store.tasks import NAME_FREE_AFTER_MS
from tests.sealed import LINE, Step, Wish, a_journal, a_seal, as_stored, ending, walk

pytestmark = pytest.mark.heavy

AT = 1_760_000_000_000
EVENT = {"type": "task_state", "threadId": "thread-1", "taskId": "task-1", "state": "ROUTED"}


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, ManualClock())) as opened:
        yield opened


def report(message: str = "已收到") -> tuple[str, dict[str, Any]]:
    body = {"task_id": "task-1", "state": "ROUTED", "message": message, "waiting": None, "at": AT}
    return "event", body


def test_a_new_task_is_received_and_named(journal: Journal) -> None:
    task = journal.tasks.create(Wish(text="测试 🙂"), AT)
    assert (task.state, task.reason, task.text) == (TaskState.RECEIVED, None, "测试 🙂")
    assert journal.tasks.named("T-7K3F") == journal.tasks.get("task-1") == task
    assert journal.tasks.find("task-2") is None


@pytest.mark.parametrize("name", ["get", "named"])
def test_an_unknown_task_is_an_error(journal: Journal, name: str) -> None:
    with pytest.raises(StateError) as caught:
        getattr(journal.tasks, name)("T-0000")
    assert caught.value.code == "task.unknown"


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        (Wish(short_id="T-0000"), "store.task-known"),
        (Wish(task_id="task-2"), "store.short-id-taken"),
    ],
)
def test_a_known_task_or_name_is_not_taken_twice(journal: Journal, wish: Wish, code: str) -> None:
    journal.tasks.create(Wish(), AT)
    with pytest.raises(StoreError) as caught:
        journal.tasks.create(wish, AT)
    assert caught.value.code == code
    assert len(journal.tasks.recent()) == 1


def test_short_ids_are_found_by_tasks_and_by_their_approvals(journal: Journal) -> None:
    journal.tasks.create(Wish(), AT)
    stored = as_stored(a_seal(ManualClock()))
    journal.approvals.add(stored)
    found = journal.audit.short_ids({"task-1", stored.approval_id, "task-2", "'"})
    assert found == {"task-1": "T-7K3F", stored.approval_id: "T-7K3F"}
    assert journal.audit.short_ids(()) == {}


def test_a_name_is_free_again_90_days_after_its_task_ended(journal: Journal) -> None:
    journal.tasks.create(Wish(), AT)
    journal.tasks.change(ending(Reason.FAILED, TaskState.RECEIVED, TaskState.FAILED))
    assert not journal.tasks.name_is_free("T-7K3F", AT + NAME_FREE_AFTER_MS)
    journal.tasks.create(Wish(task_id="task-2"), AT + NAME_FREE_AFTER_MS + 1)
    assert journal.tasks.named("T-7K3F").task_id == "task-2"
    assert not journal.tasks.get("task-1").named


def test_an_open_task_keeps_its_name_for_ever(journal: Journal) -> None:
    journal.tasks.create(Wish(), AT)
    assert not journal.tasks.name_is_free("T-7K3F", AT + 10 * NAME_FREE_AFTER_MS)


def test_a_step_changes_row_events_and_report_together(journal: Journal) -> None:
    journal.tasks.create(Wish(), AT)
    step = Step(at_ms=AT + 5, intent_json="{}", events=(EVENT, EVENT), reports=(report(),))
    task = journal.tasks.change(step)
    assert (task.state, task.intent_json, task.updated_at) == (TaskState.ROUTED, "{}", AT + 5)
    assert journal.tasks.events("task-1") == [(1, EVENT), (2, EVENT)]
    [(seq, frame)] = journal.outbox.unsent()
    assert seq == 1
    assert json.loads(json.loads(frame)["body"])["message"] == "已收到"


@pytest.mark.requirement("P3")
def test_a_report_that_cannot_be_signed_undoes_the_step(journal: Journal) -> None:
    journal.tasks.create(Wish(), AT)
    with pytest.raises(LocalProtocolError):
        journal.tasks.change(Step(events=(EVENT,), reports=(report("x" * 9000),)))
    assert journal.tasks.get("task-1").state is TaskState.RECEIVED
    assert journal.tasks.events("task-1") == []
    assert journal.outbox.unsent() == []


def test_nothing_is_reported_of_a_local_task(journal: Journal) -> None:
    journal.tasks.create(Wish(source="local_ui", gateway_key_id=None), AT)
    journal.tasks.change(Step(reports=(report(),)))
    assert journal.outbox.unsent() == []


@pytest.mark.requirement("NL-6")
@pytest.mark.parametrize("wanted", list(TaskState))
@pytest.mark.parametrize("current", LINE)
def test_only_the_table_leads_from_state_to_state(
    journal: Journal, current: TaskState, wanted: TaskState
) -> None:
    journal.tasks.create(Wish(), AT)
    walk(journal, "task-1", current)
    reason = {
        TaskState.COMPLETED: Reason.COMPLETED,
        TaskState.FAILED: Reason.FAILED,
        TaskState.REJECTED: Reason.REJECTED,
    }.get(wanted)
    step = Step(expected=current, state=wanted, reason=reason, events=(EVENT,))
    if wanted in TRANSITIONS[current] or wanted is current:
        assert journal.tasks.change(step).state is wanted
        return
    with pytest.raises(StateError) as caught:
        journal.tasks.change(step)
    assert caught.value.code == "task.illegal-transition"
    assert journal.tasks.get("task-1").state is current
    assert journal.tasks.events("task-1") == []


def test_a_step_from_a_state_the_task_has_left_changes_nothing(journal: Journal) -> None:
    journal.tasks.create(Wish(), AT)
    journal.tasks.change(Step())
    with pytest.raises(StateError) as caught:
        journal.tasks.change(Step())
    assert caught.value.code == "task.illegal-transition"


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        (None, TaskState.FAILED),
        (Reason.COMPLETED, TaskState.FAILED),
        (Reason.CANCELLED, TaskState.FAILED),
        (Reason.FAILED, TaskState.ROUTED),
    ],
)
def test_a_reason_stands_beside_its_own_final_state_only(
    journal: Journal, reason: Reason | None, state: TaskState
) -> None:
    journal.tasks.create(Wish(), AT)
    with pytest.raises(LocalProtocolError) as caught:
        journal.tasks.change(Step(state=state, reason=reason))
    assert caught.value.code == "task.reason"


@pytest.mark.parametrize("reason", list(Reason))
def test_an_ended_task_never_changes(journal: Journal, reason: Reason) -> None:
    journal.tasks.create(Wish(), AT)
    walk(journal, "task-1", TaskState.EXECUTING)
    state = final_of(reason)[0]
    journal.tasks.change(ending(reason, TaskState.EXECUTING, state, summary="done"))
    for wanted in TaskState:
        with pytest.raises(CodexBridgeError):
            journal.tasks.change(Step(expected=state, state=wanted, reason=reason))
    task = journal.tasks.get("task-1")
    assert (task.state, task.reason, task.summary) == (state, reason, "done")
    assert not journal.tasks.request_cancel("task-1")


@pytest.mark.requirement("P3")
def test_a_task_and_its_effect_end_together(journal: Journal) -> None:
    journal.tasks.create(Wish(), AT)
    walk(journal, "task-1", TaskState.WAITING_APPROVAL)
    stored = as_stored(a_seal(ManualClock()))
    journal.approvals.add(stored)
    journal.effects.open_effect(stored.approval_id, "task-1", stored.digest)
    walk(journal, "task-1", TaskState.EXECUTING)
    assert [effect.task_id for effect in journal.effects.unfinished_effects()] == ["task-1"]
    journal.tasks.change(ending(Reason.UNKNOWN, TaskState.EXECUTING, TaskState.FAILED))
    assert [effect.outcome for effect in journal.effects.of_task("task-1")] == ["unknown"]
    assert journal.effects.unfinished_effects() == []


def test_a_cancel_is_remembered_until_the_task_ends(journal: Journal) -> None:
    journal.tasks.create(Wish(), AT)
    assert journal.tasks.request_cancel("task-1")
    assert journal.tasks.get("task-1").cancel_requested
    assert not journal.tasks.request_cancel("task-2")


def test_open_tasks_come_oldest_first_and_recent_ones_newest_first(journal: Journal) -> None:
    for number in (1, 2, 3):
        wish = Wish(task_id=f"task-{number}", short_id=f"T-000{number}")
        journal.tasks.create(wish, AT + number)
    journal.tasks.change(
        ending(Reason.FAILED, TaskState.RECEIVED, TaskState.FAILED, task_id="task-2")
    )
    assert [task.task_id for task in journal.tasks.open_tasks()] == ["task-1", "task-3"]
    assert [task.task_id for task in journal.tasks.recent(limit=2)] == ["task-3", "task-2"]


def test_events_resume_after_a_number(journal: Journal) -> None:
    journal.tasks.create(Wish(), AT)
    told = [EVENT | {"message": str(number)} for number in range(5)]
    journal.tasks.change(Step(events=tuple(told[:2])))
    journal.tasks.change(
        Step(expected=TaskState.ROUTED, state=TaskState.ROUTED, events=tuple(told[2:]))
    )
    assert journal.tasks.events("task-1", after=2, limit=2) == [(3, told[2]), (4, told[3])]


@pytest.mark.parametrize("statement", ["UPDATE events SET body = ''", "DELETE FROM events"])
def test_what_happened_cannot_be_rewritten(
    journal: Journal, tmp_path: Path, statement: str
) -> None:
    journal.tasks.create(Wish(), AT)
    journal.tasks.change(Step(events=(EVENT,)))
    raw = sqlite3.connect(tmp_path / "state" / "journal.db")
    with closing(raw), pytest.raises(sqlite3.IntegrityError):
        raw.execute(statement)


def test_the_newest_check_of_an_approval_is_found(journal: Journal) -> None:
    assert journal.tasks.newest_check("approval-1") is None
    for number, checks in enumerate(("approval-1", "approval-1", "approval-2", None)):
        wish = Wish(task_id=f"task-{number}", short_id=f"T-7K3{number}", checks=checks)
        journal.tasks.create(wish, AT)
    found = journal.tasks.newest_check("approval-1")
    assert found is not None
    assert (found.task_id, found.checks) == ("task-1", "approval-1")
