"""Playbooks, contract sections 1 and 6: dry runs, and messages that ask for a playbook."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.playbooks.stage import (
    Ran,
    Stage,
    agent,
    command,
    gate,
    playbook,
    reading,
    writing,
)
from tests.e2e.proposing import exact

Answers = Sequence[Mapping[str, str]]
ALL: Answers = [{"step": "*", "decision": "approve"}]


def dry(stage: Stage, *steps: Mapping[str, Any], answers: object = None, **more: Any) -> Ran:
    """Run these steps on a copy."""
    options = ["--dry-run"]
    if answers is not None:
        path = stage.files / "answers.json"
        path.write_text(json.dumps(answers), encoding="utf-8")
        options += ["--answers", str(path)]
    return stage.run(*steps, options=(*options, *more.pop("options", ())), **more)


# --- dry runs -------------------------------------------------------------------------------------


def test_a_dry_run_leaves_the_workspace_as_it_is_to_the_byte(stage: Stage) -> None:
    before = exact(stage.workspace)
    ran = dry(
        stage,
        reading("look"),
        gate("sure"),
        writing("w", "b.txt"),
        command("run", "sh", "run.sh"),
        answers=ALL,
    ).ended("completed")
    assert exact(stage.workspace) == before
    workdir = Path(ran.events[0]["workdir"])
    assert workdir != stage.workspace
    assert workdir.is_relative_to(stage.state)
    assert (workdir / "b.txt").read_text(encoding="utf-8") == "new\n"
    assert (workdir / "ran.txt").read_text(encoding="utf-8") == "ran\n"


def test_the_copy_keeps_links_modes_and_git(stage: Stage) -> None:
    (stage.workspace / "link").symlink_to("a.txt")
    (stage.workspace / "away").symlink_to("/etc/hostname")
    (stage.workspace / "run.sh").chmod(0o750)
    ran = dry(stage, reading("look")).ended("completed")
    workdir = Path(ran.events[0]["workdir"])
    assert (workdir / "link").readlink() == Path("a.txt")
    assert (workdir / "away").readlink() == Path("/etc/hostname")
    assert (workdir / "run.sh").stat().st_mode & 0o777 == 0o750
    assert (workdir / ".git" / "HEAD").is_file()


ANSWERED: Mapping[str, tuple[Sequence[Mapping[str, Any]], Answers, str]] = {
    "a star approves all": ((gate("g1"), gate("g2"), writing("w", "b.txt")), ALL, "completed"),
    "a star denies": ((gate("g1"),), [{"step": "*", "decision": "deny"}], "aborted"),
    "a name approves its step": (
        (gate("g1"),),
        [{"step": "g1", "decision": "approve"}],
        "completed",
    ),
    "a name denies its step": (
        (gate("g1"), gate("g2")),
        [{"step": "g2", "decision": "deny"}, *ALL],
        "aborted",
    ),
    "a name stands before a star": (
        (gate("g1"),),
        [{"step": "*", "decision": "deny"}, {"step": "g1", "decision": "approve"}],
        "completed",
    ),
    "a dynamic question is answered": (
        (writing("w", "b.txt"),),
        [{"step": "w", "decision": "approve"}],
        "completed",
    ),
}


@pytest.mark.parametrize("case", ANSWERED)
def test_answers_decide_in_a_dry_run(stage: Stage, case: str) -> None:
    steps, answers, status = ANSWERED[case]
    ran = dry(stage, *steps, answers=answers, decide="wait").ended(status)
    assert len(ran.all("gate_result")) == len(ran.all("confirmation_required"))
    assert stage.read("b.txt") == "before\n"


@pytest.mark.parametrize(
    "answers",
    [None, [], [{"step": "other", "decision": "approve"}]],
    ids=["none", "empty", "other"],
)
def test_without_an_entry_nobody_answers(stage: Stage, answers: object) -> None:
    options = ("--gate-timeout", "0.2")
    ran = dry(stage, gate("g1"), answers=answers, decide="wait", options=options)
    assert ran.ended("aborted").one("gate_result")["reason"] == "timeout"


BAD_ANSWERS: Mapping[str, str] = {
    "no JSON": "approve",
    "an object": "{}",
    "a text": '"*"',
    "an entry that is text": '["*"]',
    "no step": '[{"decision": "approve"}]',
    "no decision": '[{"step": "*"}]',
    "another decision": '[{"step": "*", "decision": "yes"}]',
    "a truth": '[{"step": "*", "decision": true}]',
    "an unknown key": '[{"step": "*", "decision": "approve", "always": true}]',
    "a step that is a number": '[{"step": 1, "decision": "approve"}]',
    "empty": "",
}


@pytest.mark.parametrize("case", BAD_ANSWERS)
def test_malformed_answers_are_refused(stage: Stage, case: str) -> None:
    answers = stage.files / "answers.json"
    answers.write_text(BAD_ANSWERS[case], encoding="utf-8")
    path = stage.file(playbook(reading("look")))
    done = stage.cli(
        *("playbook", "run", str(path), "--dry-run", "--answers", str(answers), "--json")
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def test_answers_outside_a_dry_run_are_refused(stage: Stage) -> None:
    answers = stage.files / "answers.json"
    answers.write_text(json.dumps(ALL), encoding="utf-8")
    path = stage.file(playbook(writing("w", "b.txt")))
    done = stage.cli("playbook", "run", str(path), "--answers", str(answers), "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert stage.read("b.txt") == "before\n"


def test_answers_that_are_not_there_are_refused(stage: Stage) -> None:
    path = stage.file(playbook(reading("look")))
    done = stage.cli("playbook", "run", str(path), "--dry-run", "--answers", "nowhere", "--json")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.needs("bubblewrap")
def test_a_command_of_a_dry_run_writes_only_the_copy_and_has_no_network(stage: Stage) -> None:
    target = stage.files / "out.txt"
    script = (
        f"echo x > {target}; echo x > {stage.workspace}/x.txt; echo x > here.txt;"
        " cat /proc/net/dev | grep -c : "
    )
    ran = dry(stage, command("run", "sh", "-c", script), answers=ALL).ended("completed")
    assert not target.exists()
    assert stage.read("x.txt") is None
    assert (Path(ran.events[0]["workdir"]) / "here.txt").exists()
    assert ran.result("run")["stdout"].strip() == "1"  # loopback alone


def test_a_dry_run_is_resumed_on_its_copy(stage: Stage) -> None:
    run = dry(
        stage,
        writing("w", "b.txt"),
        gate("g1"),
        answers=[{"step": "w", "decision": "approve"}],
        options=("--gate-timeout", "0.2"),
        decide="wait",
    ).ended("aborted")
    answers = stage.files / "answers.json"
    answers.write_text(json.dumps(ALL), encoding="utf-8")
    ran = stage.follow(
        ("playbook", "resume", run.run_id, "--answers", str(answers)), decide="wait"
    ).ended("completed")
    assert ran.events[0]["workdir"] == run.events[0]["workdir"]
    assert stage.read("b.txt") == "before\n"


def test_a_dry_run_is_taken_back_without_a_question(stage: Stage) -> None:
    run = dry(stage, writing("w", "b.txt"), answers=ALL).ended("completed")
    ran = stage.follow(("playbook", "rollback", run.run_id), decide="wait")
    assert ran.code == 0
    assert ran.events[-1]["status"] == "rolled_back"
    assert (Path(run.events[0]["workdir"]) / "b.txt").read_text(encoding="utf-8") == "before\n"
    assert stage.read("b.txt") == "before\n"


def test_answers_of_a_real_run_are_refused_at_its_resume(stage: Stage) -> None:
    run = stage.run(gate("sure"), decide="reject").ended("aborted")
    answers = stage.files / "answers.json"
    answers.write_text(json.dumps(ALL), encoding="utf-8")
    done = stage.cli("playbook", "resume", run.run_id, "--answers", str(answers), "--json")
    assert (done.returncode, done.stdout) == (2, "")


# --- messages that ask for a playbook -------------------------------------------------------------

TRIGGERS: Mapping[str, bool] = {
    "please write the harbour report": True,
    "@dev write the harbour report": True,
    "写一份港口周报": True,
    "what does the harbour report do?": False,
    'what is "write the harbour report"?': False,
    "rewrite the harbour reporting code": False,
}


@pytest.fixture
def own(stage: Stage) -> Iterator[Path]:
    """The folder of this person's own playbooks."""
    stage.own.mkdir(mode=0o700, exist_ok=True)
    yield stage.own
    stage.reset()


@pytest.mark.parametrize("words", TRIGGERS)
def test_a_message_that_asks_for_a_trigger_runs_the_playbook(
    stage: Stage, own: Path, words: str
) -> None:
    keywords = ["harbour report", "港口周报"]
    text = playbook(agent("say", "Marked: {message}"), name="mine", trigger_keywords=keywords)
    stage.file(text, "mine.md", own)
    stage.cli("ask", words)
    ran = any("Marked: " in prompt for prompt in stage.model.prompts)
    assert ran is TRIGGERS[words]
