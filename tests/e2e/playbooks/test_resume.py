"""Playbooks, contract section 6: a run is carried on from where it stands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.place import wait_until
from tests.e2e.playbooks.stage import (
    Event,
    Ran,
    Stage,
    agent,
    command,
    gate,
    playbook,
    reading,
    taken,
    tool,
    writing,
)
from tests.each import few

STEPS = (reading("look"), agent("say"), reading("missing", "later.txt"), reading("last"))


def resumed(stage: Stage, run: Ran, *options: str, **more: Any) -> Ran:
    """Carry a run on by its own ID."""
    return stage.follow(("playbook", "resume", run.run_id, *options), **more)


def test_it_is_the_same_run_and_finished_steps_are_not_told_again(stage: Stage) -> None:
    run = stage.run(*STEPS).ended("failed")
    asked = len(stage.model.requests)
    stage.write("later.txt", "here now\n")
    ran = resumed(stage, run).ended("completed")
    start = ran.events[0]
    assert (start["task_id"], start["resumed"]) == (run.run_id, True)
    assert start["short_id"] != run.short_id
    assert start["total_steps"] == len(STEPS)
    assert [one["step"] for one in ran.all("step_start")] == ["missing", "last"]
    assert [one["step_index"] for one in ran.all("step_start")] == [2, 3]
    assert len(stage.model.requests) == asked
    assert ran.state["status"] == "completed"
    names = [one["step_name"] for one in ran.state["steps_completed"]]
    assert [names.count(one) for one in ("look", "say", "last")] == [1, 1, 1]


@pytest.mark.parametrize("which", ["first", "second"])
def test_the_ids_of_its_tasks_are_taken_too(stage: Stage, which: str) -> None:
    run = stage.run(*STEPS).ended("failed")
    named = run.short_id
    if which == "second":
        named = resumed(stage, run).ended("failed").short_id
    stage.write("later.txt", "here now\n")
    ran = stage.follow(("playbook", "resume", named)).ended("completed")
    assert ran.run_id == run.run_id


def test_results_of_finished_steps_are_there_and_whole(stage: Stage) -> None:
    big = "line\n" * 40_000
    stage.write("big.txt", big)
    run = stage.run(
        reading("big", "big.txt"),
        reading("missing", "later.txt"),
        taken(tool("copy", "write_file", path="copy.txt"), {"content": "big.result.content"}),
    ).ended("failed")
    stage.write("later.txt", "")
    stage.write("big.txt", "not this\n")
    resumed(stage, run, decide="approve").ended("completed")
    assert stage.read("copy.txt") == big


def test_the_definition_is_the_one_of_the_start(stage: Stage) -> None:
    run = stage.run(*STEPS).ended("failed")
    stage.write("later.txt", "")
    stage.file(playbook(writing("evil", "b.txt")))
    ran = resumed(stage, run).ended("completed")
    assert ran.events[0]["total_steps"] == len(STEPS)
    (stage.files / "case.md").unlink()


@pytest.mark.parametrize("steps", [1, 2], ids=["gate", "dynamic"])
def test_a_denied_run_asks_again(stage: Stage, steps: int) -> None:
    asked = (gate("sure"), writing("w", "b.txt")) if steps == 1 else (writing("w", "b.txt"),)
    run = stage.run(reading("look"), *asked, decide="reject").ended("aborted")
    ran = resumed(stage, run, decide="approve").ended("completed")
    assert len(ran.all("confirmation_required")) == 1
    assert stage.read("b.txt") == "new\n"


def test_approvals_do_not_outlive_a_resume(stage: Stage) -> None:
    run = stage.run(
        gate("sure"),
        writing("w1", "1.txt"),
        reading("missing", "later.txt"),
        writing("w2", "2.txt"),
        decide="approve",
    ).ended("failed")
    stage.write("later.txt", "")
    ran = resumed(stage, run, decide="approve").ended("completed")
    asked = ran.one("confirmation_required")
    assert (asked["step"], asked["dynamic"]) == ("w2", True)


def test_changes_before_and_after_are_one_log(stage: Stage) -> None:
    run = stage.run(
        writing("w1", "b.txt", "1\n"),
        reading("missing", "later.txt"),
        writing("w2", "b.txt", "2\n"),
        decide="approve",
    ).ended("failed")
    stage.write("later.txt", "")
    ran = resumed(stage, run, decide="approve").ended("completed")
    backups = [
        Path(one["backup_path"]).read_text(encoding="utf-8") for one in ran.state["change_log"]
    ]
    assert backups == ["before\n", "1\n"]


def test_a_run_that_was_cancelled_is_resumed(stage: Stage) -> None:
    starts: list[str] = []

    def cancel(_: Stage, event: Event) -> None:
        if event["type"] == "task_start":
            starts.append(event["short_id"])
        if event["type"] == "confirmation_required":
            stage.cancel(starts[0])

    run = stage.run(gate("sure"), writing("w", "b.txt"), each=cancel, decide="wait")
    run.ended("aborted")
    resumed(stage, run, decide="approve").ended("completed")
    assert stage.read("b.txt") == "new\n"


def test_a_client_keeps_its_run(stage: Stage) -> None:
    run = stage.run(*STEPS, client="team-r").ended("failed")
    stage.write("later.txt", "")
    ran = stage.follow(("playbook", "resume", run.run_id), client="team-r").ended("completed")
    assert ran.state["status"] == "completed"


def test_the_gate_timeout_can_be_given_anew(stage: Stage) -> None:
    run = stage.run(gate("sure"), decide="reject").ended("aborted")
    ran = resumed(stage, run, "--gate-timeout", "0.2").ended("aborted")
    assert ran.one("gate_result")["reason"] == "timeout"
    assert ran.one("confirmation_required")["timeout_s"] == 0.2


def test_a_completed_run_is_refused(stage: Stage) -> None:
    run = stage.run(reading("look")).ended("completed")
    done = stage.cli("playbook", "resume", run.run_id, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def test_a_running_run_is_refused(stage: Stage) -> None:
    seen: list[Any] = []

    def look(_: Stage, event: Event) -> None:
        seen.append(stage.cli("playbook", "resume", stage.runs()[0]["task_id"], "--json"))
        stage.approve(event)

    stage.run(gate("sure"), decide=look).ended("completed")
    assert (seen[0].returncode, seen[0].stdout) == (2, "")


REFUSED: Mapping[str, Sequence[str]] = {
    "an unknown uuid": ("00000000-0000-0000-0000-000000000000",),
    "an unknown T-id": ("T-ZZZZ",),
    "a path": ("../../x",),
    "nothing": ("",),
    "words": ("no id",),
    "no ID": (),
    "a timeout out of bounds": ("T-ZZZZ", "--gate-timeout", "301"),
}


@pytest.mark.parametrize("case", few(REFUSED, 3))
def test_what_is_no_run_is_refused(stage: Stage, case: str) -> None:
    done = stage.cli("playbook", "resume", *REFUSED[case], "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


# --- after the agent was killed -------------------------------------------------------------------


def killed(stage: Stage, *steps: Mapping[str, Any], at: str, name: str = "case") -> Ran:
    """Run steps and kill the agent at the first event of a kind; start it again."""

    def kill(_: Stage, event: Event) -> None:
        if event["type"] == at:
            stage.place.kill("agent")

    ran = stage.run(*steps, each=kill, decide="wait", name=name)
    stage.place.start_agent(connected=False)
    return ran


def test_after_a_restart_a_run_stands_still_until_it_is_resumed(stage: Stage) -> None:
    run = killed(
        stage, reading("look"), gate("sure"), writing("w", "b.txt"), at="confirmation_required"
    )
    assert run.code != 0
    row = wait_until(lambda: _row(stage, run, "failed"))
    assert row["current_step"] in (1, "sure")
    assert stage.read("b.txt") == "before\n"
    waiting = [one for one in stage.place.tasks() if one["state"] == "WAITING_APPROVAL"]
    assert waiting == []
    ran = resumed(stage, run, decide="approve").ended("completed")
    assert ran.events[0]["resumed"] is True
    assert [one["step"] for one in ran.all("step_start")] == ["sure", "w"]
    assert stage.read("b.txt") == "new\n"


def test_a_command_that_had_begun_asks_before_it_runs_again(stage: Stage) -> None:
    steps = (command("slow", "sh", "-c", "echo begun >> ran.txt; sleep 3"), reading("last"))

    def kill(_: Stage, event: Event) -> None:
        if event["type"] == "gate_result":
            wait_until(lambda: stage.read("ran.txt"))
            stage.place.kill("agent")

    run = stage.run(*steps, each=kill, decide="approve")
    stage.place.start_agent(connected=False)
    wait_until(lambda: _row(stage, run, "failed"))
    ran = resumed(stage, run, decide="reject").ended("aborted")
    asked = ran.one("confirmation_required")
    assert asked["step"] == "slow"
    assert stage.read("ran.txt") == "begun\n"


def _row(stage: Stage, run: Ran, status: str) -> dict[str, Any]:
    rows = [row for row in stage.runs() if row["task_id"] == run.run_id]
    return rows[0] if rows and rows[0]["status"] == status else {}


def test_a_lost_state_file_is_written_again(stage: Stage) -> None:
    run = stage.run(*STEPS).ended("failed")
    run.state_file.write_text("{", encoding="utf-8")
    stage.write("later.txt", "")
    ran = resumed(stage, run).ended("completed")
    names = [
        one["step_name"]
        for one in json.loads(ran.state_file.read_text(encoding="utf-8"))["steps_completed"]
    ]
    assert names[:2] == ["look", "say"]
