"""What a person sees of a run at the terminal: a list of steps that grows."""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from common.errors import StateError
from common.home import Home, find_home
from common.sentences import Lang
from common.terminal import Ink, cells
from local_agent.cli import playbook
from local_agent.cli.playbook_run import _Terminal, follow_run
from local_agent.cli.screen import Screen
from local_agent.faces.control import client
from local_agent.views.task import TaskView
from tests.unit.local_agent.cli.conftest import filled

Captured = pytest.CaptureFixture[str]

START = {
    "type": "task_start",
    "short_id": "T-7K3F",
    "task_name": "demo",
    "total_steps": 3,
    "workdir": "/w",
}
END = {"type": "task_complete", "status": "completed"}
GO_ON = "To carry it on from there: codexbridge playbook resume T-7K3F"
TOOK = re.compile(r"\d+\.\d s")


def step(index: int, name: str, *between: dict[str, Any], status: str = "completed") -> list[Any]:
    begun = {"type": "step_start", "step": name, "step_index": index}
    return [begun, *between, {"type": "step_complete", "step": name, "status": status}]


def result(**fields: Any) -> dict[str, Any]:
    return {"type": "function_result", "success": True, "result": fields}


def shown(
    events: Sequence[dict[str, Any]], capsys: Captured, tmp_path: Path, *, lang: Lang = "en"
) -> tuple[int, list[str]]:
    environ = {"CODEXBRIDGE_HOME": str(tmp_path)}
    args = argparse.Namespace(json=False)
    steps = iter([("event", event) for event in events])
    code = follow_run(steps, args, find_home(environ), lang, environ)
    return code, TOOK.sub("0 s", capsys.readouterr().out).splitlines()


def test_each_step_is_a_line_with_what_came_of_it(capsys: Captured, tmp_path: Path) -> None:
    events = [
        START,
        *step(0, "list", result(files=["a", "b"], truncated=True)),
        *step(1, "run", result(exit_code=0, stdout="1\n2\n\n3\n\x1b[2J4\n", stderr="")),
        {"type": "step_skipped", "step": "write", "step_index": 2, "reason": "condition not met"},
        END,
    ]
    assert shown(events, capsys, tmp_path) == (
        0,
        [
            "T-7K3F  demo  /w",
            "  1/3  list  ✓ 2+ files  0 s",
            "  2/3  run  ✓ 0 s",
            "        2",
            "        3",
            "        ⟨U+001B⟩[2J4",
            "  3/3  write  skipped: condition not met",
            "completed  0 s",
        ],
    )


@pytest.mark.requirement("P7")
def test_a_step_whose_runner_reports_failures_has_no_tick(capsys: Captured, tmp_path: Path) -> None:
    said = {"en": "exit code 0, but 1 failed", "zh": "退出码 0，但 1 个失败"}
    doubted = result(exit_code=0, stdout="", stderr="", reported=said)
    events = [START, *step(0, "test", doubted), *step(1, "run", result(path="a")), END]
    assert shown(events, capsys, tmp_path)[1][1:3] == [
        "  1/3  test  ⚠ exit code 0, but 1 failed  0 s",
        "  2/3  run  ✓ a  0 s",
    ]


def test_a_step_that_said_something_is_ended_on_a_line_of_its_own(
    capsys: Captured, tmp_path: Path
) -> None:
    said = [{"type": "stream", "chunk": "第一"}, {"type": "stream", "chunk": "行\n  2/3  x  ✓"}]
    events = [
        START,
        *step(0, "想", *said),
        *step(1, "state", result(branch="main", changed=[])),
        END,
    ]
    code, lines = shown(events, capsys, tmp_path, lang="zh")
    assert (code, lines[1:]) == (
        0,
        [
            "  1/3  想",
            "    │ 第一行",
            "    │   2/3  x  ✓",
            "  1/3  想  ✓ 0 s",
            "  2/3  state  ✓ main, 0 个改动  0 s",
            "已完成  0 s",
        ],
    )


def test_why_a_run_ended_is_said_and_in_the_exit_code(capsys: Captured, tmp_path: Path) -> None:
    failed = {"type": "step_error", "step": "read", "error": "a.txt is not there.\nReally."}
    begun = {"type": "step_start", "step": "read", "step_index": 0}
    end = END | {"status": "failed"}
    code, lines = shown([START, begun, failed, end], capsys, tmp_path)
    assert (code, lines[1:]) == (
        1,
        ["  1/3  read", "        a.txt is not there. Really.", "failed  0 s", GO_ON],
    )
    denied = [START, *step(0, "ask", status="denied"), END | {"status": "aborted"}]
    code, lines = shown(denied, capsys, tmp_path)
    assert (code, lines[1:]) == (3, ["  1/3  ask", "        denied", "aborted  0 s", GO_ON])


@pytest.mark.parametrize(
    ("state", "waits"), [("pending", True), ("consumed", False), (None, True), ("stopped", True)]
)
def test_a_question_that_was_answered_before_it_was_told_is_not_said_to_wait(
    capsys: Captured,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    state: str | None,
    waits: bool,
) -> None:
    def call(*_: object, **__: object) -> dict[str, Any]:
        if state == "stopped":
            raise StateError("agent.stopped")
        return {"approval": None if state is None else {"state": state}}

    monkeypatch.setattr(client, "call", call)
    asked = {"type": "confirmation_required", "message": "Write?", "short_id": "T-7K4F"}
    _, lines = shown([START, *step(0, "ask", asked), END], capsys, tmp_path)
    assert "    │ Write?" in lines
    assert ("waits for you: codexbridge approve T-7K4F" in "".join(lines)) is waits


def test_a_rollback_of_a_dry_run_is_told_as_one(capsys: Captured, tmp_path: Path) -> None:
    files = [{"action": "write_file", "resource_id": "a.txt", "success": True}]
    back: dict[str, Any] = {"type": "rollback_result", "status": "rolled_back"}
    back["rollback_results"] = files
    assert shown([back], capsys, tmp_path) == (0, ["  ✓ a.txt", "rolled back  0 s"])
    _, lines = shown([back | {"dry_run": True}], capsys, tmp_path)
    assert lines[1] == "Only in the copy of a dry run; the workspace was not changed."


def test_what_ends_a_run_before_its_first_event_is_said(capsys: Captured, tmp_path: Path) -> None:
    task = filled(TaskView, {"state": "FAILED", "reason": "failed", "summary": "It is gone."})
    environ = {"CODEXBRIDGE_HOME": str(tmp_path)}
    for as_json in (False, True):
        args = argparse.Namespace(json=as_json)
        steps = iter([("ok", {"task": task})])
        assert follow_run(steps, args, find_home(environ), "en", environ) == 2
        told = capsys.readouterr()
        assert (told.out, "It is gone." in told.err) == ("", True)


def test_no_words_of_others_reach_the_left_edge_of_a_terminal(capsys: Captured) -> None:
    screen = Screen("en", Ink(on=False), 40, live=True)
    face = _Terminal(screen, Home(Path("/c"), Path("/s"), Path("/r")), {}, "en")
    fake = "x" * 31 + " " * 40 + "Approved. T-7K3F starts.\nCode for T-7K3F: "
    said = [{"type": "stream", "chunk": piece} for piece in (fake, "\n\n批准" + "好" * 40)]
    read = result(path="y" * 90 + " Approved.")
    ran = result(exit_code=0, stdout="z" * 60 + "Approved.", stderr="")
    failed = {"type": "step_error", "step": "c", "error": "w" * 80 + " Approved."}
    skipped = {"type": "step_skipped", "step_index": 2, "step": "很" * 64, "reason": "v" * 90}
    for event in [START, *step(0, "say", *said), *step(1, "a", read), *step(2, "b", ran), failed]:
        face.show(event)
    for event in [*step(1, "n" * 20 + " " * 20 + "Approved.", read), skipped]:
        face.show(event)
    lines = capsys.readouterr().out.splitlines()
    ours = ("T-7K3F  demo", "  1/3  say", "  2/3  a", "  3/3  b", "  2/3  n", "  3/3  很")
    assert all(line.startswith((*ours, "    │", "        ")) for line in lines), lines
    assert all(cells(line) <= 40 for line in lines), lines


def test_a_run_that_told_something_and_no_end_is_not_said_to_be_one_where_nothing_ran(
    capsys: Captured, tmp_path: Path
) -> None:
    environ = {"CODEXBRIDGE_HOME": str(tmp_path)}
    task = filled(TaskView, {"state": "FAILED", "reason": "failed", "summary": "It broke."})
    told: list[tuple[str, dict[str, Any]]] = [("event", START), ("ok", {"task": task})]
    steps = iter(told)
    args = argparse.Namespace(json=True)
    assert follow_run(steps, args, find_home(environ), "en", environ) == 1
    assert "It broke." in capsys.readouterr().err


def test_what_has_no_default_is_asked_at_the_terminal(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = "inputs: {tag: {type: text, description: which}, days: {type: integer, default: 7}}"
    file = tmp_path / "demo.md"
    file.write_text(
        f"---\nname: demo\n{inputs}\nsteps: [{{name: a, type: tool, tool: git_status}}]\n---\n",
        encoding="utf-8",
    )
    home = Home(tmp_path, tmp_path, tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("v 1\n"))
    assert playbook._asked_for(str(file), ["days=3"], home, "en") == ["tag=v 1"]
    assert capsys.readouterr() == ("", "tag (which): ")
    assert playbook._asked_for(str(file), ["tag=v2"], home, "en") == []
