"""Playbooks, contract section 5: what asks, and what an approval covers (AC 11, 29–31, 36)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest

from common.errors import CodexBridgeError
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

Step = dict[str, Any]
NO = "look.result.size == 0"

# Steps, the risk level, and each question that is asked: its step, what it covers.
ASKED: Mapping[str, tuple[Sequence[Step], str, Sequence[tuple[str, Sequence[str]]]]] = {
    "a gate covers what follows": (
        (gate("sure"), writing("w1", "1.txt"), writing("w2", "2.txt"), command("run", "true")),
        "medium",
        (("sure", ("w1", "w2", "run")),),
    ),
    "a gate covers across a reading step": (
        (gate("sure"), writing("w1", "1.txt"), reading("look"), writing("w2", "2.txt")),
        "medium",
        (("sure", ("w1", "w2")),),
    ),
    "a gate covers up to the next gate": (
        (gate("first"), writing("w1", "1.txt"), gate("second"), writing("w2", "2.txt")),
        "medium",
        (("first", ("w1",)), ("second", ("w2",))),
    ),
    "a gate covers up to an agent step": (
        (gate("sure"), writing("w1", "1.txt"), agent("say"), writing("w2", "2.txt")),
        "medium",
        (("sure", ("w1",)), ("w2", ())),
    ),
    "what is not known at the gate asks by itself": (
        (
            gate("sure"),
            writing("w1", "1.txt"),
            reading("look"),
            taken(tool("w2", "write_file", path="2.txt"), {"content": "look.result.content"}),
        ),
        "medium",
        (("sure", ("w1",)), ("w2", ())),
    ),
    "what an earlier step gave is covered": (
        (
            reading("look"),
            gate("sure"),
            taken(tool("w1", "write_file", path="1.txt"), {"content": "look.result.content"}),
        ),
        "medium",
        (("sure", ("w1",)),),
    ),
    "of a low risk all is covered": (
        (gate("sure"), writing("w1", "1.txt"), writing("w2", "2.txt")),
        "low",
        (("sure", ("w1", "w2")),),
    ),
    "of a high risk the first alone is covered": (
        (gate("sure"), writing("w1", "1.txt"), writing("w2", "2.txt"), writing("w3", "3.txt")),
        "high",
        (("sure", ("w1",)), ("w2", ()), ("w3", ())),
    ),
    "of a critical risk the first alone is covered": (
        (gate("sure"), writing("w1", "1.txt"), command("run", "true")),
        "critical",
        (("sure", ("w1",)), ("run", ())),
    ),
    "a skipped gate covers nothing": (
        (reading("look"), gate("sure", condition=NO), writing("w1", "1.txt")),
        "medium",
        (("w1", ()),),
    ),
    "a skipped gate leaves what the one before covers": (
        (gate("first"), writing("w1", "1.txt"), reading("look"), gate("second", condition=NO)),
        "medium",
        (("first", ("w1",)),),
    ),
    "a step that will be skipped is not covered": (
        (
            reading("look"),
            gate("sure"),
            writing("w1", "1.txt", condition=NO),
            writing("w2", "2.txt"),
        ),
        "medium",
        (("sure", ("w2",)),),
    ),
    "a gate with nothing after it asks": ((gate("sure"),), "medium", (("sure", ()),)),
    "a gate before reading steps asks": (
        (gate("sure"), reading("look")),
        "medium",
        (("sure", ()),),
    ),
    "two gates in a row both ask": (
        (gate("first"), gate("second"), writing("w1", "1.txt")),
        "medium",
        (("first", ()), ("second", ("w1",))),
    ),
    "a change before the gate asks by itself": (
        (writing("w1", "1.txt"), gate("sure"), writing("w2", "2.txt")),
        "medium",
        (("w1", ()), ("sure", ("w2",))),
    ),
    "the same write twice is covered once": (
        (gate("sure"), writing("w1", "1.txt", "a\n"), writing("w2", "1.txt", "a\n")),
        "medium",
        (("sure", ("w1",)),),
    ),
}


@pytest.mark.requirement("EX-11", "R64")
@pytest.mark.parametrize("case", few(ASKED, 2))
def test_what_is_asked_and_covered(stage: Stage, case: str) -> None:
    steps, risk, wanted = ASKED[case]
    ran = stage.run(*steps, risk_level=risk, decide="approve").ended("completed")
    asked = [
        (event["step"], tuple(one["step"] for one in event.get("covers", ())))
        for event in ran.all("confirmation_required")
    ]
    if case == "the same write twice is covered once":
        assert asked[0][1][0] == "w1"
        assert [one for one, _ in asked] == ["sure"]
    else:
        assert asked == [*wanted]
    gates = {step["name"] for step in steps if step["type"] == "gate"}
    for event in ran.all("confirmation_required"):
        assert event["dynamic"] is (event["step"] not in gates)


@pytest.mark.requirement("EX-31", "R64")
@pytest.mark.parametrize("risk", few(["low", "medium", "high", "critical"], 3))
@pytest.mark.parametrize(
    "step",
    [
        writing("do", "b.txt"),
        command("do", "sh", "run.sh"),
        tool("do", "apply_diff", diff="--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-before\n+after\n"),
    ],
    ids=["write_file", "run_command", "apply_diff"],
)
def test_every_changing_tool_asks_at_every_risk(stage: Stage, step: Step, risk: str) -> None:
    def look(_: Stage, event: Event) -> None:
        assert event["dynamic"] is True
        assert stage.read("b.txt") == "before\n"
        assert stage.read("ran.txt") is None
        stage.reject(event)

    ran = stage.run(step, risk_level=risk, decide=look).ended("aborted")
    assert len(ran.all("confirmation_required")) == 1
    assert (stage.read("b.txt"), stage.read("ran.txt")) == ("before\n", None)


def test_reading_tools_never_ask(stage: Stage) -> None:
    stage.run(
        reading("1"),
        tool("2", "list_files", glob="**/*"),
        tool("3", "search", query="retry"),
        tool("4", "git_status"),
        tool("5", "git_log"),
        tool("6", "git_diff", base="HEAD"),
        risk_level="critical",
    ).ended("completed")


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (writing("do", "b.txt", "the beginning\n"), ("write_file", "b.txt", "the beginning")),
        (command("do", "sh", "run.sh", "a b"), ("run_command", "sh", "run.sh", "a b")),
    ],
    ids=["write_file", "run_command"],
)
def test_a_dynamic_question_names_the_tool_and_shows_what(
    stage: Stage, step: Step, words: Sequence[str]
) -> None:
    ran = stage.run(step, decide="reject")
    asked = ran.one("confirmation_required")["message"]
    assert [word for word in words if word not in asked] == []


# --- not approved ---------------------------------------------------------------------------------

TWO = (reading("look"), gate("sure"), writing("write", "b.txt"), reading("after"))
ALONE = (reading("look"), writing("sure", "b.txt"), reading("after"))


def check_aborted(ran: Ran, reason: str) -> None:
    """Require that the run ended at its question, and that nothing was changed."""
    ran.ended("aborted")
    told = ran.one("gate_result")
    assert (told["confirmed"], told["reason"]) == (False, reason)
    assert ran.events[-2]["type"] == "step_complete"
    assert (ran.events[-2]["step"], ran.events[-2]["status"]) == ("sure", reason)
    assert not ran.all("step_start", step="write")
    assert not ran.all("step_start", step="after")
    assert ran.stage.read("b.txt") == "before\n"
    assert ran.state["status"] == "failed"
    assert ran.state["current_step"] in (1, "sure")
    assert ran.state["change_log"] == []


@pytest.mark.requirement("EX-11")
@pytest.mark.parametrize("steps", [TWO, ALONE], ids=["gate", "dynamic"])
def test_a_denied_question_ends_the_run(stage: Stage, steps: Sequence[Step]) -> None:
    check_aborted(stage.run(*steps, decide="reject"), "denied")


def test_what_a_run_asks_is_decided_by_the_name_of_the_run_too(stage: Stage) -> None:
    def reject(stage: Stage, event: Event) -> None:
        run = json.loads(stage.cli("runs", "--json").stdout)["runs"][0]
        assert run["short_id"] != event["short_id"]
        done = stage.cli("reject", run["short_id"])
        assert (done.returncode, event["short_id"] in done.stdout) == (0, True)

    check_aborted(stage.run(*TWO, decide=reject), "denied")


@pytest.mark.requirement("EX-36")
@pytest.mark.parametrize("steps", [TWO, ALONE], ids=["gate", "dynamic"])
def test_a_question_that_nobody_answers_ends_the_run(stage: Stage, steps: Sequence[Step]) -> None:
    began = time.monotonic()
    ran = stage.run(*steps, decide="wait", options=("--gate-timeout", "0.3"))
    check_aborted(ran, "timeout")
    assert ran.one("confirmation_required")["timeout_s"] == 0.3
    assert time.monotonic() - began < 5


def test_the_default_timeout_is_300_s(stage: Stage) -> None:
    ran = stage.run(gate("sure"), decide="reject")
    assert ran.one("confirmation_required")["timeout_s"] == 300


@pytest.mark.parametrize("answer", ["", "y\n", "yes\nyes\n"], ids=["empty", "y", "yes"])
def test_standard_input_that_is_no_terminal_approves_nothing(stage: Stage, answer: str) -> None:
    stage.files.joinpath("answers").write_text(answer, encoding="utf-8")
    path = stage.file(playbook(*TWO))
    with stage.files.joinpath("answers").open("rb") as stdin:
        ran = stage.follow(
            ("playbook", "run", str(path), "--gate-timeout", "0.3"), stdin=stdin.fileno()
        )
    check_aborted(ran, "timeout")


def test_after_a_timeout_nothing_can_be_approved_any_more(stage: Stage) -> None:
    ran = stage.run(*TWO, decide="wait", options=("--gate-timeout", "0.2"))
    asked = ran.one("confirmation_required")
    with pytest.raises(CodexBridgeError):
        stage.approve(asked)
    check_aborted(ran, "timeout")


def test_a_second_question_that_is_denied_keeps_what_was_done(stage: Stage) -> None:
    ran = stage.run(
        gate("first"),
        writing("w1", "1.txt"),
        gate("second"),
        writing("w2", "2.txt"),
        decide=["approve", "reject"],
    ).ended("aborted")
    assert (stage.read("1.txt"), stage.read("2.txt")) == ("new\n", None)
    assert [one["confirmed"] for one in ran.all("gate_result")] == [True, False]
    assert ran.state["current_step"] in (2, "second")


# --- who decides ----------------------------------------------------------------------------------


@pytest.mark.requirement("P1", "EX-11")
def test_a_person_approves_a_gate_at_a_terminal(stage: Stage) -> None:
    shown: list[str] = []

    def look(_: Stage, event: Event) -> None:
        shown.append(stage.place.approve(event["short_id"]))

    stage.run(gate("sure", "Really write?"), *TWO[2:], decide=look).ended("completed")
    assert "Really write?" in shown[0]
    assert "b.txt" in shown[0]
    assert stage.read("b.txt") == "new\n"


def test_a_person_approves_a_dynamic_question_at_a_terminal(stage: Stage) -> None:
    stage.run(writing("write", "b.txt"), decide="hand").ended("completed")
    assert stage.read("b.txt") == "new\n"


def test_a_person_rejects_on_the_command_line(stage: Stage) -> None:
    def reject(_: Stage, event: Event) -> None:
        assert stage.cli("reject", event["short_id"]).returncode == 0

    check_aborted(stage.run(*TWO, decide=reject), "denied")


def test_a_wrong_code_approves_nothing(stage: Stage) -> None:
    def guess(_: Stage, event: Event) -> None:
        with pytest.raises(CodexBridgeError):
            stage.decide(stage.look(event), "approve", typed="0000-0000")
        assert stage.read("b.txt") == "before\n"
        stage.approve(event)

    stage.run(*TWO, decide=guess).ended("completed")


def test_questions_in_a_file_of_a_workspace_say_so(stage: Stage) -> None:
    shown: dict[str, list[str]] = {}
    for where in (stage.workspace, stage.files):
        stage.reset()
        steps = (gate("sure"), writing("write", "b.txt"), writing("x", "x.txt"))
        path = stage.file(playbook(*steps, risk_level="high"), folder=where)
        said = shown[str(where)] = []

        def look(_: Stage, event: Event, said: list[str] = said) -> None:
            said.append(stage.cli("show", event["short_id"]).stdout)
            stage.approve(event)

        stage.follow(("playbook", "run", str(path)), decide=look).ended("completed")
    inside, outside = shown[str(stage.workspace)], shown[str(stage.files)]
    assert all("lies in a workspace" in said for said in inside), inside
    assert not any("lies in a workspace" in said for said in outside)


# --- between the approval and the run -------------------------------------------------------------


@pytest.mark.requirement("P2", "EX-30")
def test_a_target_that_changed_since_the_gate_is_asked_about_by_itself(stage: Stage) -> None:
    ran = stage.run(
        gate("sure"),
        command("touch", "sh", "-c", "echo other > b.txt"),
        writing("write", "b.txt"),
        decide=["approve", "approve"],
    ).ended("completed")
    assert [(event["step"], event["dynamic"]) for event in ran.all("confirmation_required")] == [
        ("sure", False),
        ("write", True),
    ]
    assert stage.read("b.txt") == "new\n"


def test_a_target_that_changed_is_not_written_without_a_new_approval(stage: Stage) -> None:
    stage.run(
        gate("sure"),
        command("touch", "sh", "-c", "echo other > b.txt"),
        writing("write", "b.txt"),
        decide=["approve", "reject"],
    ).ended("aborted")
    assert stage.read("b.txt") == "other\n"


def test_a_change_while_the_gate_waits_is_not_overwritten_unseen(stage: Stage) -> None:
    def change(_: Stage, event: Event) -> None:
        question = stage.look(event)
        stage.write("b.txt", "other\n")
        with suppress(CodexBridgeError):
            stage.decide(question, "approve")

    ran = stage.run(gate("sure"), writing("write", "b.txt"), decide=[change, "reject"])
    assert ran.status in ("aborted", "failed"), ran.told
    assert stage.read("b.txt") == "other\n"


def test_a_person_who_looks_after_a_change_is_not_said_to_have_been_late(stage: Stage) -> None:
    def change(_: Stage, event: Event) -> None:
        stage.write("b.txt", "other\n")
        with suppress(CodexBridgeError):
            stage.approve(event)

    ran = stage.run(gate("sure"), writing("write", "b.txt"), decide=[change, "reject"])
    assert stage.read("b.txt") == "other\n"
    # Nobody waited for the time to run out: it asks anew, and the request has one result.
    first, again = ran.all("confirmation_required")
    result = ran.one("gate_result")
    assert {first["request_id"], again["request_id"]} == {result["request_id"]}
    assert (first["short_id"] != again["short_id"], result["reason"]) == (True, "denied")


def test_a_run_uses_no_approval_of_another(stage: Stage) -> None:
    steps = (gate("sure"), writing("write", "b.txt"))
    stage.run(*steps, decide="approve").ended("completed")
    stage.write("b.txt", "before\n")
    stage.run(*steps, decide="reject").ended("aborted")
    assert stage.read("b.txt") == "before\n"


@pytest.mark.requirement("EX-29")
def test_each_question_is_a_task_that_ends(stage: Stage) -> None:
    ran = stage.run(*TWO, writing("more", "m.txt"), decide="approve").ended("completed")
    asked = [event["short_id"] for event in ran.all("confirmation_required")]
    assert len(asked) == 1
    stage.place.final(asked[0])
    assert stage.place.final(ran.short_id)["reason"] == "completed"
