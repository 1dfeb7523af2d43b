"""That the journal which tests and benchmarks are filled with is one that the agent could have."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.ids import parse_short_id
from common.model.proposal import TaskResult, TaskStateChanged, parse_event
from common.model.state import TaskState, may_follow
from common.seal import digest
from local_agent.actions.registry import read_seal
from local_agent.safety.decision import check_approved
from local_agent.store.database import Database
from local_agent.store.endings import read_ending
from local_agent.store.journal import Journal
from local_agent.store.tasks import Task
from tests.filled_journal import NOW_MS, fill
from tests.sealed import AGENT, a_journal

pytestmark = pytest.mark.heavy
TASKS = 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    fill(folder / "state" / "journal.db", tasks=TASKS, events_per_task=10, seed=8, days=20)
    return folder


def test_everything_in_it_is_read_as_what_it_is(folder: Path) -> None:
    with closing(a_journal(folder, ManualClock(NOW_MS))) as journal:
        tasks = journal.tasks.recent(limit=TASKS)
        assert len(tasks) == TASKS
        for task in tasks:
            check_events(journal, task)
            check_approval(journal, task)
            assert task.short_id == parse_short_id(task.short_id)
            assert task.proposal_json is None or TaskResult.model_validate_json(task.proposal_json)
            assert read_ending(task.ending_json)["change"] is None
            assert all(turn.at <= NOW_MS for turn in journal.turns.of_task(task.task_id))
        assert {task.lang for task in tasks} == {"en", "zh"}
        assert {task.source for task in tasks} == {"wecom", "local_ui"}
        assert len({task.reason for task in tasks}) == 9  # every end, and none
        assert journal.turns.used_since(0)


def check_events(journal: Journal, task: Task) -> None:
    told = journal._db.all("SELECT at, body FROM events WHERE task_id = ?", task.task_id)
    events = [parse_event(body) for _, body in told]
    assert len(events) == 10
    state = TaskState.RECEIVED
    for event in events:
        if isinstance(event, TaskStateChanged):
            assert may_follow(state, event.state)
            state = event.state
    assert state is task.state
    times = [task.created_at, *(at for at, _ in told)]
    assert times == sorted(times)
    assert times[-1] == task.updated_at <= NOW_MS


def check_approval(journal: Journal, task: Task) -> None:
    stored = journal.approvals.newest_of(task.task_id)
    assert stored is not None or task.state is not TaskState.WAITING_APPROVAL
    if stored is None:
        return
    seal = read_seal(stored.seal)
    assert digest(stored.seal) == stored.digest
    assert (seal.task_id, seal.short_id) == (task.task_id, task.short_id)
    if task.reason is None:
        assert (stored.state, seal.action) == ("pending", "run_command")
    if stored.state == "consumed":
        check_approved(stored, by=AGENT.public)


def test_the_same_seed_gives_the_same_journal(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        fill(tmp_path / name / "journal.db", tasks=5, events_per_task=12, seed=1)
        with closing(Database(tmp_path / name / "journal.db")) as db:
            rows = db.all(
                "SELECT * FROM tasks LEFT JOIN events USING (task_id)"
                " LEFT JOIN approvals USING (task_id) LEFT JOIN turns USING (task_id)"
            )
            found.append(rows)
    assert found[0] == found[1]


def test_an_open_journal_can_be_filled_as_well(tmp_path: Path) -> None:
    with closing(a_journal(tmp_path, ManualClock())) as journal:
        written = fill(journal._db, tasks=3, events_per_task=15, seed=1)
        assert [len(journal.tasks.events(task_id)) for task_id in written] == [15, 15, 15]
