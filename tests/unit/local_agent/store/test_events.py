"""Events of tasks: what is new since a moment, and when a task was in which state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.model.state import Reason, TaskState
from local_agent.store import events
from local_agent.store.journal import Journal
from tests.sealed import Step, Wish, a_journal, ending

pytestmark = pytest.mark.heavy

AT = 1_760_000_000_000
EVENT = {"type": "task_state", "threadId": "thread-1", "taskId": "task-1", "state": "ROUTED"}
ASKED = tuple(Wish(f"task-{number}", f"T-7K3{number}") for number in range(1, 5))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, ManualClock())) as opened:
        yield opened


def tell(journal: Journal, task_id: str, *, times: int = 1, state: str = "ROUTED") -> None:
    """Tell something of a task that is routed, or is now."""
    expected = journal.tasks.get(task_id).state
    told = tuple({**EVENT, "taskId": task_id, "state": state} for _ in range(times))
    journal.tasks.change(Step(task_id, expected, TaskState(state), events=told))


# -- what has changed ----------------------------------------------------------------------------


def test_the_tasks_of_new_events_are_told_once_each(journal: Journal) -> None:
    assert journal.tasks.events_cursor() == 0
    assert journal.tasks.changed_since(0, limit=9) == (0, ())
    for wish in ASKED:
        journal.tasks.create(wish, AT)
    cursor = journal.tasks.events_cursor()
    for task_id in ("task-2", "task-1", "task-2"):
        tell(journal, task_id)
    assert journal.tasks.changed_since(cursor, limit=9) == (cursor + 3, ["task-2", "task-1"])
    assert journal.tasks.changed_since(cursor + 3, limit=9) == (cursor + 3, ())
    assert journal.tasks.events_cursor() == cursor + 3


def test_no_more_events_are_looked_at_than_asked_and_none_is_missed(journal: Journal) -> None:
    for wish in ASKED[:3]:
        journal.tasks.create(wish, AT)
        tell(journal, wish.task_id, times=3)
    cursor, seen = 0, []
    while (step := journal.tasks.changed_since(cursor, limit=2)) and step[0] != cursor:
        cursor = step[0]
        seen.append(list(step[1]))
    assert seen == [["task-1"], ["task-1", "task-2"], ["task-2"], ["task-3"], ["task-3"]]


def test_new_events_are_found_among_a_hundred_thousand_by_their_number(journal: Journal) -> None:
    journal.tasks.create(Wish(), AT)
    journal._db.run(
        "INSERT INTO events (task_id, seq, at, body)"
        " WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
        " SELECT 'task-1', i, 0, '{}' FROM n"
    )
    assert journal.tasks.changed_since(99_990, limit=500) == (100_000, ["task-1"])
    assert journal.tasks.changed_since(10, limit=500) == (510, ["task-1"])
    (plan,) = journal._db.all(f"EXPLAIN QUERY PLAN {events._CHANGED}", 1, 1)
    assert plan[3] == "SEARCH events USING INTEGER PRIMARY KEY (rowid>?)"
    steps = journal._db.all(f"EXPLAIN {events._LAST}")
    assert "Last" in [step[1] for step in steps]  # it goes to the end, and does not count


def forget_all(journal: Journal) -> None:
    for task in journal.tasks.open_tasks():
        over = ending(Reason.REJECTED, task.state, TaskState.REJECTED, events=(EVENT,))
        journal.tasks.change(replace(over, task_id=task.task_id))
    assert journal.tasks.forget(before_ms=AT + 1, limit=9)


def test_no_event_is_missed_where_numbers_are_used_again(journal: Journal) -> None:
    journal.tasks.create(ASKED[0], AT)
    tell(journal, "task-1", times=5)
    held = [journal.tasks.events_cursor()]
    forget_all(journal)
    held.append(journal.tasks.events_cursor())
    assert journal._db.one("SELECT count(*) FROM events") == (0,)
    journal.tasks.create(ASKED[1], AT)
    tell(journal, "task-2", times=9)  # under the numbers of those that are gone, and more
    assert journal._db.one("SELECT min(rowid), max(rowid) FROM events") == (1, 9)
    for cursor in held:
        assert journal.tasks.changed_since(cursor, limit=99) == (held[1] + 9, ["task-2"])


def test_a_cursor_never_goes_back_when_events_are_forgotten(journal: Journal) -> None:
    seen = []
    for wish in ASKED:
        journal.tasks.create(wish, AT)
        tell(journal, wish.task_id, times=2)
        seen.append(journal.tasks.events_cursor())
        forget_all(journal)
        seen.append(journal.tasks.events_cursor())
    assert seen == sorted(seen)


def test_whoever_is_ahead_of_all_events_is_told_to_read_everything_anew(
    journal: Journal,
) -> None:
    journal.tasks.create(Wish(), AT)
    tell(journal, "task-1")
    assert journal.tasks.changed_since(1, limit=9) == (1, ())
    assert journal.tasks.changed_since(2, limit=9) is None


# -- when a task was in a state ------------------------------------------------------------------


def test_the_timeline_tells_when_each_state_was_entered(journal: Journal) -> None:
    journal.tasks.create(Wish(), AT)
    journal.tasks.change(Step(at_ms=AT + 5, events=({"type": "task_start"}, EVENT)))
    later = {**EVENT, "state": "CONTEXT_COLLECTED"}
    step = Step("task-1", TaskState.ROUTED, TaskState.CONTEXT_COLLECTED, AT + 90, events=(later,))
    journal.tasks.change(step)
    whole = [(1, AT + 5, {"type": "task_start"}), (2, AT + 5, EVENT), (3, AT + 90, later)]
    assert journal.tasks.timeline("task-1") == whole
    assert journal.tasks.timeline("task-1", after=1, limit=1) == whole[1:2]
    assert journal.tasks.events("task-1", after=2) == [(3, later)]
    assert journal.tasks.timeline("task-2") == []
