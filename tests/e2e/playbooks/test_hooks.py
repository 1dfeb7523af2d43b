"""Playbooks, contract section 2: hooks before and after the steps (AC 14–17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.e2e.playbooks.stage import (
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

INSIDE = {"function_result", "confirmation_required", "gate_result"}


@pytest.mark.requirement("EX-14", "EX-15", "R66")
def test_hooks_run_before_and_after_the_steps(stage: Stage) -> None:
    stage.hook("check", reading("h1"), reading("h2"))
    stage.hook("tidy", reading("h3"))
    ran = stage.run(reading("look"), hooks={"pre": "check", "post": "tidy"}).ended("completed")
    assert ran.types == [
        "task_start",
        "hook_start",
        "function_result",
        "function_result",
        "hook_result",
        "step_start",
        "function_result",
        "step_complete",
        "hook_start",
        "function_result",
        "hook_result",
        "task_complete",
    ]
    assert ran.events[0]["total_steps"] == 1


def test_hooks_of_a_list_run_in_its_order(stage: Stage) -> None:
    for name in ("one", "two", "three"):
        stage.hook(name, reading(f"in {name}"))
    ran = stage.run(reading("look"), hooks={"pre": ["two", "one"], "post": ["three"]}).ended(
        "completed"
    )
    told = [(one["hook"], one["phase"]) for one in ran.all("hook_start")]
    assert told == [("two", "pre"), ("one", "pre"), ("three", "post")]


@pytest.mark.requirement("EX-16")
@pytest.mark.parametrize(
    ("step", "decide"),
    [(reading("bad", "nowhere.txt"), ()), (command("bad", "false"), "approve")],
    ids=["a tool", "a command"],
)
def test_a_pre_hook_that_fails_ends_the_run_before_its_first_step(
    stage: Stage, step: Mapping[str, Any], decide: Any
) -> None:
    stage.hook("check", reading("fine"), step, reading("never"))
    ran = stage.run(reading("look"), hooks={"pre": ["check"]}, decide=decide).ended("failed")
    told = ran.one("hook_result")
    assert told["success"] is False
    assert told["error"]
    assert not ran.all("step_start")
    assert not ran.all("function_result", step="never")
    assert ran.state["status"] == "failed"


@pytest.mark.requirement("EX-16")
def test_after_a_pre_hook_that_fails_no_other_runs(stage: Stage) -> None:
    stage.hook("bad", reading("bad", "nowhere.txt"))
    stage.hook("good", reading("good"))
    ran = stage.run(reading("look"), hooks={"pre": ["bad", "good"]}).ended("failed")
    assert [one["hook"] for one in ran.all("hook_start")] == ["bad"]


@pytest.mark.requirement("EX-17")
def test_a_post_hook_that_fails_is_a_warning(stage: Stage) -> None:
    stage.hook("tidy", reading("bad", "nowhere.txt"))
    stage.hook("more", reading("good"))
    ran = stage.run(reading("look"), hooks={"post": ["tidy", "more"]}).ended("completed")
    told = [(one["hook"], one["success"]) for one in ran.all("hook_result")]
    assert told[0] == ("tidy", False)
    assert ran.state["status"] == "completed"


@pytest.mark.parametrize("phase", ["pre", "post"])
def test_a_hook_that_is_not_there_ends_the_run_before_its_first_step(
    stage: Stage, phase: str
) -> None:
    path = stage.file(playbook(reading("look"), hooks={phase: "nowhere"}))
    ran = stage.follow(("playbook", "run", str(path)))
    assert not ran.all("step_start")
    assert ran.code in (1, 2)
    if ran.code == 2:
        assert ran.events == []
        assert "TaskParseError: Failed to parse" in ran.stderr
        assert "nowhere" in ran.stderr


@pytest.mark.parametrize("phase", ["pre", "post"])
def test_a_write_of_a_hook_is_asked_backed_up_and_logged(stage: Stage, phase: str) -> None:
    stage.hook("note", writing("in hook", "b.txt"))
    ran = stage.run(reading("look"), hooks={phase: "note"}, decide="approve").ended("completed")
    asked = ran.one("confirmation_required")
    assert (asked["step"], asked["dynamic"]) == ("in hook", True)
    assert ran.one("gate_result")["confirmed"] is True
    assert stage.read("b.txt") == "new\n"
    (entry,) = ran.state["change_log"]
    assert (entry["action"], entry["resource_id"]) == ("write_file", "b.txt")
    assert entry["backup_path"]


@pytest.mark.parametrize("phase", ["pre", "post"])
def test_of_what_a_hook_does_three_kinds_of_events_are_told(stage: Stage, phase: str) -> None:
    stage.hook(
        "note",
        reading("look in"),
        reading("skipped", condition="look in.result.size == 0"),
        writing("write", "b.txt"),
        reading("bad", "nowhere.txt"),
    )
    ran = stage.run(reading("look"), hooks={phase: "note"}, decide="approve")
    kinds = ran.types
    inside = kinds[kinds.index("hook_start") + 1 : kinds.index("hook_result")]
    assert set(inside) == INSIDE


def test_a_write_of_a_pre_hook_that_is_denied_ends_the_run(stage: Stage) -> None:
    stage.hook("note", writing("in hook", "b.txt"))
    ran = stage.run(reading("look"), hooks={"pre": "note"}, decide="reject")
    assert ran.status in ("aborted", "failed")
    assert ran.code in (1, 3)
    assert not ran.all("step_start")
    assert stage.read("b.txt") == "before\n"


def test_a_write_of_a_post_hook_that_is_denied_is_a_warning(stage: Stage) -> None:
    stage.hook("note", writing("in hook", "b.txt"))
    ran = stage.run(reading("look"), hooks={"post": "note"}, decide="reject").ended("completed")
    assert ran.one("hook_result")["success"] is False
    assert stage.read("b.txt") == "before\n"


def test_steps_of_a_hook_hand_on_their_results(stage: Stage) -> None:
    stage.hook(
        "note",
        tool("list", "list_files", glob="b.*"),
        taken(tool("read", "read_file"), {"path": "list.result.files.0"}),
    )
    ran = stage.run(reading("look"), hooks={"pre": "note"}).ended("completed")
    assert ran.result("read")["path"] == "b.txt"


def test_a_gate_covers_no_write_of_a_hook(stage: Stage) -> None:
    stage.hook("note", writing("in hook", "x.txt"))
    ran = stage.run(
        gate("sure"), writing("write", "b.txt"), hooks={"post": "note"}, decide="approve"
    ).ended("completed")
    assert [one["step"] for one in ran.all("confirmation_required")] == ["sure", "in hook"]


def test_after_a_failure_no_step_is_begun_by_a_post_hook(stage: Stage) -> None:
    stage.hook("tidy", reading("h"))
    ran = stage.run(reading("bad", "nowhere.txt"), hooks={"post": "tidy"}).ended("failed")
    assert ran.types[-1] == "task_complete"
    assert len(ran.all("step_start")) == 1


BAD_HOOKS: Mapping[str, Mapping[str, Any]] = {
    "an agent step": agent("say"),
    "a gate": gate("sure"),
}


@pytest.mark.parametrize("case", BAD_HOOKS)
def test_a_hook_of_other_than_tool_steps_is_refused(stage: Stage, case: str) -> None:
    stage.hook("note", BAD_HOOKS[case])
    path = stage.file(playbook(reading("look"), hooks={"pre": "note"}))
    ran = stage.follow(("playbook", "run", str(path)))
    assert (ran.code, ran.events) == (2, [])
    assert "TaskParseError: Failed to parse " in ran.stderr
    assert "note.md" in ran.stderr
