"""The models of a run, and the state file that is rendered of them (AC 3-5, 18)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local_agent.playbooks.definition import StepDefinition
from local_agent.playbooks.runs import (
    ChangeEntry,
    Place,
    StepResult,
    TaskRunState,
    as_status,
    finished,
    iso,
    render_state,
    result_path,
    state_path,
    write_state,
)

STEP = StepDefinition(name="读取", type="tool", tool="read_file")
CHANGE = ChangeEntry(
    action="write_file",
    resource_type="file",
    resource_id="a.txt",
    backup_path=None,
    timestamp=1_760_000_000_123,
)


def a_run(**changes: Any) -> TaskRunState:
    return TaskRunState(
        task_id="run-1", task_name="demo", status="running", started_at=1_760_000_000_000, **changes
    )


def a_result(result: Any) -> StepResult:
    return finished(STEP, "completed", result=result, started_at=0, completed_at=1_500)


@pytest.mark.parametrize("place", [Place("pre", 0), Place("main", 17), Place("post", 2)])
def test_a_place_is_read_as_it_was_written(place: Place) -> None:
    assert Place.parse(str(place)) == place


@pytest.mark.parametrize("text", ["other:1", "main", "main:x"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises((KeyError, ValueError)):
        Place.parse(text)


def test_a_status_is_one_of_five() -> None:
    """AC 3."""
    known = ["pending", "running", "completed", "failed", "rolled_back"]
    assert [as_status(one) for one in known] == known
    with pytest.raises(KeyError):
        as_status("aborted")


def test_the_files_of_a_run_lie_below_its_client() -> None:
    """AC 18."""
    state = Path("/state")
    runs = state / "clients" / "mei" / "task-runs"
    assert state_path(state, "mei", "r1") == runs / "r1.json"
    assert result_path(state, "mei", "r1", Place("main", 3)) == runs / "r1" / "main-3.json"


def test_the_state_has_the_fields_of_the_seed_and_times_with_a_zone() -> None:
    """AC 3-5."""
    run = a_run(current_step=1, steps_completed=[a_result({"n": [1]})], change_log=[CHANGE])
    assert json.loads(render_state(run)) == {
        "task_id": "run-1",
        "task_name": "demo",
        "status": "running",
        "started_at": "2025-10-09T08:53:20.000+00:00",
        "current_step": 1,
        "steps_completed": [
            {
                "step_name": "读取",
                "type": "tool",
                "status": "completed",
                "result": {"n": [1]},
                "error": None,
                "started_at": "1970-01-01T00:00:00.000+00:00",
                "completed_at": "1970-01-01T00:00:01.500+00:00",
            }
        ],
        "change_log": [
            {
                "action": "write_file",
                "resource_type": "file",
                "resource_id": "a.txt",
                "backup_path": None,
                "timestamp": "2025-10-09T08:53:20.123+00:00",
            }
        ],
    }
    assert iso(1) == "1970-01-01T00:00:00.001+00:00"


def test_a_run_that_has_done_nothing_is_rendered() -> None:
    found = json.loads(render_state(a_run()))
    assert (found["steps_completed"], found["change_log"]) == ([], [])


def test_what_is_added_or_changed_later_is_in_the_next_rendering() -> None:
    run = a_run(steps_completed=[a_result({"n": 1})])
    render_state(run)
    run.steps_completed.append(replace(a_result(None), status="failed", error="no"))
    run.status, run.current_step = "failed", 1
    run.change_log = [CHANGE]
    found = json.loads(render_state(run))
    assert [one["status"] for one in found["steps_completed"]] == ["completed", "failed"]
    assert (found["status"], found["current_step"], len(found["change_log"])) == ("failed", 1, 1)


def test_the_file_is_for_its_owner_alone_and_takes_half_a_pair(tmp_path: Path) -> None:
    path = state_path(tmp_path, "default", "r1")
    write_state(path, a_run(steps_completed=[a_result({"text": "half \ud800 of a pair"})]))
    assert path.stat().st_mode & 0o777 == 0o600
    found = json.loads(path.read_text("utf-8"))
    assert found["steps_completed"][0]["result"] == {"text": "half ? of a pair"}
    assert [one.name for one in path.parent.iterdir()] == ["r1.json"]
