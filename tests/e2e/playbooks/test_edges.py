"""Playbooks where people and files do what nobody expects: odd names, odd text, other hands."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.place import wait_until
from tests.e2e.playbooks.stage import (
    Event,
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
from tests.e2e.proposing import git
from tests.each import few
from tests.model_script import text

pytestmark = pytest.mark.thorough

NAMES = (
    "result",
    "message",
    "a.result",
    "a.result.b",
    "__class__",
    "0",
    "true",
    "x == y",
    "{x}",
    "a/b",
    "..",
    "é",
    "步骤 一",
    "x" * 64,
)


@pytest.mark.parametrize("name", few(NAMES, 3))
def test_a_step_may_have_any_name(stage: Stage, name: str) -> None:
    ran = stage.run(
        reading("a"),
        reading(name, "b.txt"),
        taken(tool("again", "read_file"), {"path": f"{name}.result.path"}),
        reading("if", condition=f"{name}.result.size == 7"),
        agent("say", f"«{{{name}.result.path}}» «{{message}}»"),
        options=("--message", "words"),
    ).ended("completed")
    assert ran.result("again")["path"] == "b.txt"
    assert ran.all("step_start", step="if")
    assert "«words»" in stage.model.prompts[0]


@pytest.mark.parametrize(
    "message",
    ["", "two\nlines", "\x1b[31mred", "\udcff", "{look.result.path}", "中" * 20_000, "w " * 60_000],
    ids=["empty", "lines", "escape", "no-utf-8", "braces", "Chinese", "long"],
)
@pytest.mark.thorough
def test_any_message_runs_or_is_refused_in_words(stage: Stage, message: str) -> None:
    path = stage.file(playbook(reading("look"), agent("say", "{message}")))
    done = stage.program("playbook", "run", str(path), f"--message={message}", "--json")
    said = done.stderr.decode()
    assert "Traceback" not in said
    assert done.returncode in (0, 2), said
    if done.returncode == 2:
        assert done.stdout == b""
        assert said
        return
    assert json.loads(done.stdout.splitlines()[-1])["status"] == "completed"
    assert len(stage.model.requests[0].body.encode()) < 200_000


@pytest.mark.parametrize(
    "answer",
    ["half \ud83d of a pair", "\ufeffmark", "a\x00b\x1b[2J", "\u202eright", "\r\n\r\nlines\r\n"],
    ids=["surrogate", "mark", "controls", "direction", "line-ends"],
)
def test_any_answer_of_the_model_gives_valid_lines(stage: Stage, answer: str) -> None:
    stage.model.say(text(answer))
    ran = stage.run(agent("say"), agent("again", "{say.result.text}")).ended("completed")
    for line in ran.raw:
        line.decode("utf-8")
    assert ran.state["steps_completed"][0]["result"]["text"]


def test_a_write_of_half_a_pair_fails_its_step(stage: Stage) -> None:
    stage.model.say(text("half \ud83d"))
    ran = stage.run(
        agent("say"),
        taken(tool("write", "write_file", path="b.txt"), {"content": "say.result.text"}),
        decide="approve",
    )
    assert ran.status in ("failed", "completed")
    if ran.status == "failed":
        assert stage.read("b.txt") == "before\n"


@pytest.mark.parametrize("name", ["odd name.md", "ö.md", "中文.md", "-x.md", "UP.MD"])
@pytest.mark.thorough
def test_a_file_may_have_any_name(stage: Stage, name: str) -> None:
    path = stage.file(playbook(reading("look")), name)
    assert stage.cli("playbook", "check", str(path)).returncode == 0
    assert stage.follow(("playbook", "run", str(path))).ended("completed")


def test_a_file_is_found_beside_the_person(stage: Stage) -> None:
    stage.file(playbook(reading("look")), "beside.md")
    for given in ("beside.md", "./beside.md"):
        done = stage.cli("playbook", "run", given, "--json")  # where `stage.files` is
        assert done.returncode == 0, done


# --- other hands while it runs --------------------------------------------------------------------


def test_a_file_that_is_changed_while_it_runs_changes_nothing(stage: Stage) -> None:
    stage.hook("tidy", reading("h"))

    def change(_: Stage, event: Event) -> None:
        stage.file(playbook(writing("evil", "b.txt", "owned\n")))
        stage.hook("tidy", writing("evil", "b.txt", "owned\n"))
        stage.approve(event)

    ran = stage.run(gate("sure"), reading("look"), hooks={"post": "tidy"}, decide=change)
    ran.ended("completed")
    assert ran.result("look")["path"] == "a.txt"
    assert stage.read("b.txt") == "before\n"


@pytest.mark.parametrize("number", few([signal.SIGINT, signal.SIGTERM, signal.SIGKILL], 3))
def test_a_run_goes_on_when_nobody_watches(stage: Stage, number: signal.Signals) -> None:
    from tests import forks

    path = stage.file(playbook(gate("sure"), writing("w", "b.txt"), name="alone"))
    reader, writer = os.pipe()
    with Path(os.devnull).open("r+b") as nothing:
        fork = forks.shared_zygote().start(
            ("playbook", "run", str(path), "--json"),
            environ=stage.place.environ,
            streams=[nothing.fileno(), writer, nothing.fileno()],
        )
    os.close(writer)
    with os.fdopen(reader, "rb") as lines:
        events: list[Event] = []
        while not events or events[-1]["type"] != "confirmation_required":
            events.append(json.loads(lines.readline()))
        os.kill(fork.pid, number)
        fork.wait(10)
    stage.approve(events[-1])
    wait_until(lambda: stage.runs()[0]["status"] == "completed")
    assert stage.runs()[0]["task_id"] == events[0]["task_id"]
    assert stage.read("b.txt") == "new\n"


def test_a_link_in_the_workspace_is_not_written_through(stage: Stage) -> None:
    outside = stage.files / "outside.txt"
    outside.write_text("mine\n", encoding="utf-8")
    (stage.workspace / "link.txt").symlink_to(outside)
    ran = stage.run(writing("w", "link.txt"), decide="approve")
    assert ran.status in ("failed", "completed")
    assert outside.read_text(encoding="utf-8") == "mine\n"


def test_a_link_in_the_workspace_is_not_read_through(stage: Stage) -> None:
    outside = stage.files / "outside.txt"
    outside.write_text("mine\n", encoding="utf-8")
    (stage.workspace / "link.txt").symlink_to(outside)
    ran = stage.run(reading("r", "link.txt")).ended("failed")
    assert "mine" not in b"".join(ran.raw).decode()


CWDS = ("..", "/tmp", "nowhere", ".git", "a.txt")


@pytest.mark.parametrize("cwd", few(CWDS, 2))
def test_a_command_starts_in_a_folder_of_the_workspace_alone(stage: Stage, cwd: str) -> None:
    ran = stage.run(tool("run", "run_command", argv=["pwd"], cwd=cwd), decide="approve")
    ran.ended("failed")
    assert not ran.all("confirmation_required")


# --- what git tells -------------------------------------------------------------------------------


def test_git_tells_of_changes(stage: Stage) -> None:
    stage.write("b.txt", "after\n")
    git(stage.workspace, "commit", "-q", "-a", "-m", "second")
    stage.write("a.txt", "not committed\n")
    ran = stage.run(
        tool("state", "git_status"),
        tool("diff", "git_diff", base="HEAD~1", head="HEAD"),
        tool("past", "git_log", since="2020-01-01"),
        reading("dirty", condition="state.result.clean == false"),
    ).ended("completed")
    assert ran.result("state")["clean"] is False
    assert "a.txt" in json.dumps(ran.result("state")["changed"])
    assert ran.result("diff")["files"] == ["b.txt"]
    assert "+after" in ran.result("diff")["diff"]
    assert len(ran.result("past")["commits"]) == 2
    assert ran.all("step_start", step="dirty")


SHAPES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "one gate": (gate("g"),),
    "one agent": (agent("a"),),
    "all skipped": (reading("a", condition="x.result"), gate("g", condition="x.result")),
    "NUL in output": (command("c", "printf", "a\\000b"),),
    "much on both": (command("c", "sh", "-c", "seq 20000; seq 20000 >&2"),),
}


@pytest.mark.parametrize("case", few(SHAPES, 3))
def test_a_run_of_any_shape_ends(stage: Stage, case: str) -> None:
    ran = stage.run(*SHAPES[case], decide="approve").ended("completed")
    assert ran.types[0] == "task_start"
    assert ran.state["current_step"] in (len(SHAPES[case]), None)


def test_the_end_of_a_failed_run_says_why(stage: Stage) -> None:
    ran = stage.run(reading("r", "nowhere.txt")).ended("failed")
    assert "nowhere.txt" in ran.events[-1]["summary"]
