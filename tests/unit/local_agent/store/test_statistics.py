"""What the last days came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.model.state import Reason, TaskState, final_of
from local_agent.store import statistics as module
from local_agent.store import turns
from local_agent.store.journal import Journal
from local_agent.store.statistics import BOUNDS_S, WAITING_STATES, Days, state_times
from local_agent.store.turns import StoredTurn, Used
from local_agent.views.statistics import DayOutcomes, StateTimes, WaitTimes
from tests.each import each
from tests.filled_journal import NOW_MS, fill
from tests.sealed import Step, Wish, a_journal, a_seal, as_stored, decided, ending

pytestmark = pytest.mark.heavy

HOUR = 3_600_000
DAY = 24 * HOUR
NOON = 1_777_896_000_000  # 2026-05-04, 12:00 UTC
UTC = {"utc_offset_minutes": 0}


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, ManualClock(NOON))) as opened:
        yield opened


def ask(journal: Journal, number: int, at_ms: int, **changes: Any) -> str:
    wish = Wish(f"task-{number}", f"T-{number:04}", **changes)
    return journal.tasks.create(wish, at_ms).task_id


def enter(
    journal: Journal, task_id: str, at_ms: int, state: TaskState, reason: Reason | None = None
) -> None:
    """Take a task to a state, or tell of it once more, with the event that the flow writes."""
    event = {"type": "task_state", "threadId": "thread-1", "taskId": task_id, "state": state.value}
    expected = journal.tasks.get(task_id).state
    other = {"type": "task_end", "threadId": "thread-1", "taskId": task_id, "status": "ok"}
    step = Step(task_id, expected, state, at_ms, reason, events=(event, other))
    journal.tasks.change(step)


def refuse(journal: Journal, task_id: str, reason: Reason) -> None:
    over = ending(reason, TaskState.RECEIVED, final_of(reason)[0])
    if reason is Reason.COMPLETED:  # not from where it was received
        journal._db.run(
            "UPDATE tasks SET state = 'COMPLETED', reason = ? WHERE task_id = ?", reason, task_id
        )
    else:
        journal.tasks.change(replace(over, task_id=task_id))


# -- days ----------------------------------------------------------------------------------------


@each(
    "now_ms, offset, names",
    [
        (NOON, 0, ("2026-05-03", "2026-05-04")),
        (NOON, 13 * 60, ("2026-05-04", "2026-05-05")),
        (NOON, -13 * 60, ("2026-05-02", "2026-05-03")),
        (NOON + 4 * HOUR - 1, 480, ("2026-05-03", "2026-05-04")),
        (NOON + 4 * HOUR, 480, ("2026-05-04", "2026-05-05")),
        (NOON + 6 * HOUR + 30 * 60_000, 330, ("2026-05-04", "2026-05-05")),
    ],
)
def test_days_are_those_of_whoever_looks(now_ms: int, offset: int, names: Sequence[str]) -> None:
    days = Days.until(now_ms, days=2, utc_offset_minutes=offset)
    assert days.names == names
    assert days.since_ms <= now_ms - DAY < now_ms < days.until_ms == days.since_ms + 2 * DAY
    one, other = days.each()
    assert (one.since_ms, one.until_ms, other.until_ms) == (
        days.since_ms,
        other.since_ms,
        days.until_ms,
    )


@each("days", [0, -1, 91])
def test_no_more_days_are_counted_than_are_kept(days: int) -> None:
    with pytest.raises(ValueError, match=str(days)):
        Days.until(NOON, days=days, **UTC)


# -- how tasks ended -----------------------------------------------------------------------------


def test_tasks_are_counted_by_their_end_on_the_day_on_which_they_were_asked(
    journal: Journal,
) -> None:
    for number, reason in enumerate([*Reason, Reason.FAILED]):
        refuse(journal, ask(journal, number, NOON - DAY + number), reason)
    ask(journal, 20, NOON)
    ask(journal, 21, NOON, run="run-1", step="main:0")
    ask(journal, 22, NOON - 2 * DAY)
    ask(journal, 23, NOON + DAY)  # the clock went back since
    yesterday, today = journal.statistics.outcomes(Days.until(NOON, days=2, **UTC))
    counts = dict.fromkeys((reason.value for reason in Reason), 0)
    assert today == DayOutcomes(day="2026-05-04", open=1, **counts)
    once = counts | dict.fromkeys(counts, 1)
    assert yesterday == DayOutcomes(day="2026-05-03", open=0, **(once | {"failed": 2}))


@each("offset, counted", [(0, [1, 1]), (480, [0, 2]), (-720, [2, 0])])
def test_a_task_near_midnight_is_of_the_day_of_whoever_looks(
    tmp_path_factory: pytest.TempPathFactory, offset: int, counted: list[int]
) -> None:
    with closing(a_journal(tmp_path_factory.mktemp("days"), ManualClock(NOON))) as journal:
        ask(journal, 1, NOON - 12 * HOUR - 1)
        ask(journal, 2, NOON - 12 * HOUR)
        days = Days.until(NOON, days=2, utc_offset_minutes=offset)
        assert [day.open for day in journal.statistics.outcomes(days)] == counted


# -- where they waited ---------------------------------------------------------------------------


def test_the_time_in_a_state_is_from_its_event_to_the_next_states(journal: Journal) -> None:
    task_id = ask(journal, 1, NOON)
    enter(journal, task_id, NOON + 10, TaskState.ROUTED)
    enter(journal, task_id, NOON + 30, TaskState.CONTEXT_COLLECTED)
    enter(journal, task_id, NOON + 35, TaskState.CONTEXT_COLLECTED)  # told once more
    enter(journal, task_id, NOON + 90, TaskState.PROPOSING)
    other = ask(journal, 2, NOON + 1)
    enter(journal, other, NOON + 9, TaskState.REJECTED, Reason.REFUSED)
    times = journal.statistics.times_in_states(Days.until(NOON, days=1, **UTC))
    assert times == {"RECEIVED": [10, 8], "ROUTED": [20], "CONTEXT_COLLECTED": [60]}


def test_a_clock_that_went_back_gives_no_time_below_nothing(journal: Journal) -> None:
    enter(journal, ask(journal, 1, NOON), NOON - 5, TaskState.ROUTED)
    times = journal.statistics.times_in_states(Days.until(NOON, days=1, **UTC))
    assert times == {"RECEIVED": [0]}


def test_tasks_of_other_days_and_steps_of_runs_are_not_among_them(journal: Journal) -> None:
    for number, facts in enumerate([{}, {"run": "run-1", "step": "main:0"}]):
        at_ms = NOON - (DAY if not number else 0)
        enter(journal, ask(journal, number, at_ms, **facts), at_ms + 1, TaskState.ROUTED)
    assert not journal.statistics.times_in_states(Days.until(NOON, days=1, **UTC))


def test_each_state_in_which_a_task_can_wait_is_told_also_where_none_did() -> None:
    parts = [{"ROUTED": [5, 1]}, {"ROUTED": [9], "PROPOSING": [4]}, {}]
    told = state_times(parts)
    assert [one.state for one in told] == [state.value for state in WAITING_STATES]
    by_state = {one.state: one for one in told}
    assert by_state["ROUTED"] == StateTimes(state="ROUTED", count=3, median_ms=5, p90_ms=9)
    assert by_state["EXECUTING"] == StateTimes(
        state="EXECUTING", count=0, median_ms=None, p90_ms=None
    )


@each(
    "times, median, p90",
    [([7], 7, 7), ([1, 2], 1, 2), (range(1, 11), 5, 9), (range(1, 101), 50, 90), ([], None, None)],
)
def test_of_times_the_half_and_nine_of_ten_are_told(
    times: Sequence[int], median: int | None, p90: int | None
) -> None:
    (told, *_) = state_times([{"RECEIVED": list(times)}])
    assert (told.median_ms, told.p90_ms, told.count) == (median, p90, len(times))


# -- approvals -----------------------------------------------------------------------------------


def wait(journal: Journal, number: int, created_at: int) -> str:
    """Ask for an approval of a task of its own, good for a day."""
    task_id = ask(journal, number, created_at)
    seal = replace(a_seal(ManualClock(created_at)), task_id=task_id)
    journal.approvals.add(as_stored(seal))
    return seal.approval_id


def test_decisions_are_counted_by_how_long_they_took(journal: Journal) -> None:
    seconds = [0, 10, 11, 60, 300, 301, 900, 3_600, 14_400, 14_401, 86_399]
    for number, took in enumerate(seconds):
        stored = journal.approvals.get(wait(journal, number, NOON))
        assert decided(journal, stored, NOON + took * 1_000)
    for number, took in enumerate([5, 7], start=20):
        stored = journal.approvals.get(wait(journal, number, NOON))
        assert decided(journal, stored, NOON + took * 1_000, "rejected")
    told = journal.statistics.waits(Days.until(NOON, days=1, **UTC))
    assert told.bounds_s == BOUNDS_S
    assert told.approved == WaitTimes(counts=(2, 2, 1, 2, 1, 1, 2, 0), count=11, median_ms=301_000)
    assert told.rejected == WaitTimes(counts=(2, 0, 0, 0, 0, 0, 0, 0), count=2, median_ms=5_000)
    assert told.expired == WaitTimes(counts=(0,) * 8, count=0, median_ms=None)


def test_what_became_of_an_approval_later_does_not_change_what_was_decided(
    journal: Journal,
) -> None:
    used, late, nobody, taken_back, waits = (wait(journal, number, NOON) for number in range(5))
    for approval_id in (used, late):
        assert decided(journal, journal.approvals.get(approval_id), NOON + 20_000)
    assert journal.approvals.consume(used, journal.approvals.get(used).digest, NOON + 21_000)
    journal.approvals.expire([late, nobody])
    journal.approvals.withdraw(journal.approvals.get(taken_back).task_id)
    told = journal.statistics.waits(Days.until(NOON, days=1, **UTC))
    assert (told.approved.count, told.rejected.count, told.expired.count) == (2, 0, 1)
    assert told.expired.median_ms == DAY
    assert journal.approvals.get(waits).state == "pending"


def test_what_waited_longer_than_a_day_is_counted_as_longer(journal: Journal) -> None:
    seal = replace(a_seal(ManualClock(NOON)), task_id=ask(journal, 1, NOON))
    seal = replace(seal, expires_at=NOON + DAY + 1)
    journal.approvals.add(as_stored(seal))
    journal.approvals.expire([seal.approval_id])
    told = journal.statistics.waits(Days.until(NOON, days=1, **UTC))
    assert told.expired.counts == (0, 0, 0, 0, 0, 0, 0, 1)


def test_approvals_of_other_days_are_left_out(journal: Journal) -> None:
    stored = journal.approvals.get(wait(journal, 1, NOON - DAY))
    assert decided(journal, stored, NOON - DAY + 1)
    assert journal.statistics.waits(Days.until(NOON, days=1, **UTC)).approved.count == 0


# -- models --------------------------------------------------------------------------------------


def test_what_models_used_is_summed_by_day_and_name(journal: Journal) -> None:
    def turn(model: str, at_ms: int, outcome: str = "ok") -> None:
        facts = {"duration_ms": 1, "input_tokens": 10, "output_tokens": 3, "calls": 1}
        journal.turns.begin(
            StoredTurn(task_id="task-1", model=model, at=at_ms, outcome=outcome, **facts)
        )

    days = Days.until(NOON, days=2, utc_offset_minutes=480)
    for at_ms in (days.since_ms - 1, days.since_ms, days.until_ms - 1, days.until_ms):
        turn("codex", at_ms)
    turn("codex", NOON, "model.busy")
    turn("a-model", NOON, turns.CUT_OFF)
    used = journal.turns.used_by_day(
        days.since_ms, until_ms=days.until_ms, offset_ms=days.offset_ms
    )
    assert used == [
        (days.first, Used("codex", 1, 0, 10, 3)),
        (days.first + 1, Used("a-model", 1, 0, 10, 3)),
        (days.first + 1, Used("codex", 2, 1, 20, 6)),
    ]


# -- all of it -----------------------------------------------------------------------------------


@each(
    "sql, values",
    [
        (module._OUTCOMES, (0, 0, 1)),
        (module._STATES, (0, 1)),
        (module._WAITS, (0, 1)),
        (turns._USED_BY_DAY, (0, *turns._NO_FAILURES, 0, 1)),
    ],
)
def test_each_statement_fits_the_schema(
    tmp_path_factory: pytest.TempPathFactory, sql: str, values: Sequence[object]
) -> None:
    with closing(a_journal(tmp_path_factory.mktemp("schema"), ManualClock())) as journal:
        assert journal._db.all(f"EXPLAIN {sql}", *values)


def test_the_tasks_of_the_days_are_found_by_their_day(journal: Journal) -> None:
    for sql, values in ((module._OUTCOMES, (0, 0, 1)), (module._STATES, (0, 1))):
        plan = [row[3] for row in journal._db.all(f"EXPLAIN QUERY PLAN {sql}", *values)]
        assert plan[0].startswith("SEARCH tasks USING INDEX tasks_listed ")
        assert not [step for step in plan if step.startswith("SCAN")]


def test_of_a_filled_journal_everything_is_counted_once(tmp_path: Path) -> None:
    fill(tmp_path / "state" / "journal.db", tasks=300, events_per_task=10, seed=5)
    with closing(a_journal(tmp_path, ManualClock(NOW_MS))) as journal:
        days = Days.until(NOW_MS, days=90, utc_offset_minutes=480)
        outcomes = journal.statistics.outcomes(days)
        (open_tasks,) = journal._db.one("SELECT count(*) FROM tasks WHERE reason IS NULL") or ()
        assert sum(day.open for day in outcomes) == open_tasks
        names = [reason.value for reason in Reason]
        assert sum(getattr(day, name) for day in outcomes for name in names) == 300 - open_tasks
        whole = state_times([journal.statistics.times_in_states(days)])
        by_day = state_times(journal.statistics.times_in_states(day) for day in days.each())
        assert whole == by_day
        received, *_, executing = whole
        assert received.count == 300
        waits = journal.statistics.waits(days)
        assert waits.approved.count == executing.count == sum(waits.approved.counts)
