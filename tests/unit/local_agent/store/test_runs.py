"""Runs of playbooks in the journal: where each stands, and how its steps ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import InputError, StateError
from common.model.state import Reason, TaskState
from local_agent.store.journal import Journal
from local_agent.store.runs import StoredRun, StoredStep, read_result
from tests.sealed import AGENT, Step, Wish, walk

RUN = StoredRun(
    run_id="run-1",
    task_id="task-1",
    name="demo",
    definition="0" * 64,
    client="default",
    workspace="/work",
    folder="/work",
    message="words",
    gate_ms=300_000,
    answers=None,
    started_at=1_000,
)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal(tmp_path / "journal.db", clock=ManualClock(), key=lambda: AGENT)
    yield opened
    opened.close()


def a_task(journal: Journal, task_id: str, **changes: Any) -> None:
    short_id = f"T-7K{len(task_id):02}{task_id[-1]}"
    journal.tasks.create(Wish(task_id=task_id, short_id=short_id, **changes), 1)


def end_task(journal: Journal, task_id: str) -> None:
    walk(journal, task_id, TaskState.PROPOSING)
    journal.tasks.change(
        Step(
            task_id=task_id,
            expected=TaskState.PROPOSING,
            state=TaskState.FAILED,
            reason=Reason.FAILED,
        )
    )


def a_step(place: str, status: str = "completed", **changes: Any) -> StoredStep:
    plain = StoredStep(
        place=place,
        step_name=f"step {place}",
        type="tool",
        status=status,
        result='{"n":1}',
        stored=None,
        error=None,
        started_at=1,
        completed_at=2,
    )
    return replace(plain, **changes)


def test_a_run_is_read_as_it_was_written(journal: Journal) -> None:
    runs = journal.runs
    runs.add(RUN)
    assert runs.get("run-1") == RUN
    assert (RUN.status, RUN.current_step, RUN.carrying, RUN.is_dry) == ("pending", 0, "run", False)
    assert replace(RUN, folder="/copy").is_dry
    assert runs.of_task("task-1") == RUN
    assert runs.of_task("task-2") is None
    with pytest.raises(StateError, match=r"run\.unknown"):
        runs.get("run-2")


def test_a_task_that_is_there_already_learns_its_run(journal: Journal) -> None:
    a_task(journal, "task-1")
    journal.runs.add(RUN)
    assert journal.tasks.get("task-1").run == "run-1"


def test_the_newest_runs_come_first(journal: Journal) -> None:
    for number in range(4):
        run = replace(RUN, run_id=f"run-{number}", started_at=1_000 + number // 2)
        journal.runs.add(run)
    found = [run.run_id for run in journal.runs.recent(limit=3)]
    assert found == ["run-3", "run-2", "run-1"]


def test_where_a_run_stands_is_kept(journal: Journal) -> None:
    runs = journal.runs
    runs.add(RUN)
    runs.take("run-1")
    runs.enter("run-1", "running", current_step=3)
    found = runs.get("run-1")
    assert (found.status, found.current_step, found.carrying) == ("running", 3, "run")
    runs.enter("run-1", "failed")
    assert runs.get("run-1").status == "failed"


def test_a_rollback_that_was_begun_is_not_begun_again(journal: Journal) -> None:
    runs = journal.runs
    runs.add(RUN)
    runs.enter("run-1", "completed")
    runs.carry_back("run-1", "task-2")
    runs.take("run-1")
    found = runs.get("run-1")
    assert (found.status, found.carrying) == ("completed", "nothing")


def test_steps_are_kept_in_the_order_in_which_they_ended(journal: Journal) -> None:
    runs = journal.runs
    runs.add(RUN)
    runs.enter("run-1", "running")
    denied = a_step("main:0", "denied", result=None, error="no")
    for step, at in ((a_step("pre:0"), None), (denied, 0), (a_step("main:1"), 2)):
        runs.end_step("run-1", step, current_step=at)
    assert [one.place for one in runs.steps("run-1")] == ["pre:0", "main:0", "main:1"]
    assert runs.steps("run-1")[1] == denied
    runs.end_step("run-1", a_step("main:0"), current_step=1)
    assert [one.place for one in runs.steps("run-1")] == ["pre:0", "main:1", "main:0"]
    assert runs.steps("run-1")[2].status == "completed"
    assert runs.get("run-1").current_step == 1


def test_a_step_that_is_proved_later_leaves_the_status(journal: Journal) -> None:
    """A rollback proves steps, too, and may be denied after that."""
    journal.runs.add(RUN)
    journal.runs.enter("run-1", "failed")
    journal.runs.end_step("run-1", a_step("main:0"), current_step=1)
    assert journal.runs.get("run-1").status == "failed"


@pytest.mark.parametrize("status", ["failed", "pending", "running"])
def test_a_run_that_no_task_carries_any_more_is_carried_on(journal: Journal, status: str) -> None:
    """A crash may leave any of these."""
    a_task(journal, "task-1")
    journal.runs.add(RUN)
    journal.runs.take("run-1")
    journal.runs.enter("run-1", status)
    end_task(journal, "task-1")
    assert journal.runs.get("run-1").status == "failed"
    found = journal.runs.carry("run-1", "task-2", 5)
    assert (found.task_id, found.status, found.carrying) == ("task-2", "pending", "run")
    assert (found.gate_ms, found.resumes) == (5, 1)
    a_task(journal, "task-2")
    end_task(journal, "task-2")
    found = journal.runs.carry("run-1", "task-3", None)
    assert (found.gate_ms, found.resumes) == (5, 2), "as before"


@pytest.mark.parametrize("status", ["completed", "rolled_back"])
def test_what_is_over_is_not_carried_on(journal: Journal, status: str) -> None:
    journal.runs.add(RUN)
    journal.runs.enter("run-1", status)
    with pytest.raises(StateError, match=r"run\.not-resumable") as caught:
        journal.runs.carry("run-1", "task-2", None)
    assert caught.value.facts["why"] == status
    assert journal.runs.get("run-1").task_id == "task-1"


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_run_is_taken_back_once(journal: Journal, status: str) -> None:
    journal.runs.add(RUN)
    journal.runs.enter("run-1", status)
    found = journal.runs.carry_back("run-1", "task-2")
    assert (found.task_id, found.status, found.carrying) == ("task-2", status, "rollback")
    journal.runs.enter("run-1", "rolled_back")
    with pytest.raises(StateError, match=r"run\.not-reversible"):
        journal.runs.carry_back("run-1", "task-3")
    with pytest.raises(StateError, match=r"run\.not-resumable"):
        journal.runs.carry("run-1", "task-3", None)


def test_what_a_task_carries_is_not_carried_by_another(journal: Journal) -> None:
    a_task(journal, "task-1")
    journal.runs.add(RUN)
    journal.runs.enter("run-1", "failed")
    with pytest.raises(StateError, match=r"run\.not-reversible") as caught:
        journal.runs.carry_back("run-1", "task-2")
    assert caught.value.facts["why"] == "running"
    with pytest.raises(StateError, match=r"run\.not-resumable") as caught:
        journal.runs.carry("run-1", "task-2", None)
    assert caught.value.facts["why"] == "running"
    with pytest.raises(StateError, match=r"run\.unknown"):
        journal.runs.carry("run-2", "task-2", None)


def test_copies_are_kept_of_the_newest_dry_runs_and_of_those_that_go_on_or_back(
    journal: Journal,
) -> None:
    for number, status in enumerate(("completed", "failed", "running", "completed", "completed")):
        a_task(journal, f"task-{number}")
        end_task(journal, f"task-{number}")
        run_id, at = f"run-{number}", number
        folder = "/work" if number == 1 else f"/copies/{run_id}"
        journal.runs.add(
            replace(
                RUN,
                run_id=run_id,
                task_id=f"task-{number}",
                folder=folder,
                status=status,
                started_at=at,
            )
        )
    assert set(journal.runs.keeping_copies(newest=1, since_ms=0)) == {"run-2", "run-4"}
    assert set(journal.runs.keeping_copies(newest=9, since_ms=3)) == {"run-2", "run-3", "run-4"}
    a_task(journal, "task-back-5")
    journal.runs.carry_back("run-0", "task-back-5")
    assert set(journal.runs.keeping_copies(newest=0, since_ms=0)) == {"run-0", "run-2"}


def test_a_result_is_an_object_or_there_is_none() -> None:
    assert read_result(a_step("main:0")) == {"n": 1}
    assert read_result(a_step("main:0", result=None)) is None
    with pytest.raises(InputError, match=r"run\.damaged"):
        read_result(a_step("main:0", result="[1]"))
