"""What ``codexbridge show``, ``diff``, ``tasks`` and ``status`` print of what the agent tells."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import codexbridge
from common.clock import Instant, SystemClock
from common.home import find_home
from common.model.state import Reason, TaskState
from common.sentences import LANGS
from local_agent.store.tasks import Task
from local_agent.store.turns import StoredTurn
from tests.asked import task_row, whole_task
from tests.golden import golden
from tests.golden.seals import DIFFS, NOW_MS, order
from tests.unit.local_agent.cli.conftest import AgentDouble

Command = Callable[..., str]
_TASKS: dict[str, dict[str, Any]] = json.loads(golden.stored("input/tasks.json"))
_DEFAULTS = _TASKS.pop("defaults")
_MINUTE_MS = 60_000
_DAY_MS = 86_400_000


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: Any) -> Iterator[AgentDouble]:
    """An agent that answers by a table, at a moment that stands, in a zone of its own."""
    home = str(Path(tmp_path_factory.mktemp("h")))
    for name, value in {"CODEXBRIDGE_HOME": home, "TZ": "Asia/Shanghai", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    time.tzset()
    monkeypatch.setattr(SystemClock, "now", lambda _self: Instant(NOW_MS + _MINUTE_MS, 1000.0))
    double = AgentDouble(find_home({"CODEXBRIDGE_HOME": home}))
    double.start()
    yield double
    double.stop()
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command, and return what it printed."""

    def run(*arguments: str, lang: str, width: int = 80) -> str:
        monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
        monkeypatch.setenv("COLUMNS", str(width))
        assert codexbridge.main(arguments) == 0
        return capsys.readouterr().out

    return run


def test_show_prints_each_outcome_as_it_did(agent: AgentDouble, printed: Command) -> None:
    parts = []
    for name in _TASKS:
        task = _whole(name)
        agent.answers["show"] = {"task": task, "approval": None}
        parts += [(f"{name} {lang}", printed("show", "T-7F3K", lang=lang)) for lang in LANGS]
        parts.append((f"{name} facts", json.dumps(task, ensure_ascii=False, sort_keys=True)))
    golden.check("commands/show.txt", golden.sections(parts))


def test_show_and_diff_print_what_waits_as_they_did(agent: AgentDouble, printed: Command) -> None:
    parts = []
    for name, width, lang in (("change", 100, "zh"), ("change-all-operations", 80, "en")):
        agent.events["diff"] = [{"diff": base64.b64encode(DIFFS[name]).decode()}]
        shown = order(name, "en", "high", here=False).shown
        agent.answers["show"] = {"task": _whole("completed-change"), "approval": shown}
        for command in ("show", "diff"):
            out = printed(command, "T-7F3K", lang=lang, width=width)
            parts.append((f"{command} {name} {lang} {width}", out))
    parts.append(("diff --json", printed("diff", "T-7F3K", "--json", lang="en")))
    golden.check("commands/waiting.txt", golden.sections(parts))


def test_tasks_and_status_print_what_they_did(agent: AgentDouble, printed: Command) -> None:
    rows = [task_row(_task(name)) | {"expires_at": NOW_MS + _DAY_MS} for name in _TASKS]
    rows[-1]["created_at"] -= _DAY_MS
    agent.answers["tasks"] = {"tasks": rows, "more": True}
    parts = [(f"tasks {lang}", printed("tasks", lang=lang, width=100)) for lang in LANGS]
    parts.append(("tasks --json", printed("tasks", "--json", lang="en")))
    for name, told in json.loads(golden.stored("input/status.json")).items():
        waiting = [task_row(_task(one)) | {"risk": "high"} for one in told["approvals"]]
        told["approvals"] = [row | {"expires_at": NOW_MS + _DAY_MS} for row in waiting]
        agent.answers["status"] = told
        parts += [(f"status {name} {lang}", printed("status", lang=lang)) for lang in LANGS]
    golden.check("commands/lists.txt", golden.sections(parts))


def test_a_run_and_what_it_asks_are_printed_as_they_were(
    agent: AgentDouble, printed: Command
) -> None:
    part = {"run": "T-7F3K", "playbook": "weekly", "step": 3, "total": 4, "name": "save"}
    waits = {"state": "WAITING_APPROVAL", "expires_at": NOW_MS + _DAY_MS, "reason": None}
    row = task_row(_task("executing")) | {"expires_at": None, "state": "PROPOSING"}
    asks = row | waits | {"short_id": "T-9Q2W", "part": part}
    hook = asks | {"short_id": "T-8K2M", "part": part | {"step": None, "name": ""}}
    agent.answers["tasks"] = {"tasks": [row, asks, hook], "more": False}
    parts = [(f"tasks {lang}", printed("tasks", lang=lang, width=100)) for lang in LANGS]
    done = {"started_at": NOW_MS, "completed_at": NOW_MS + 1500, "error": None, "task": None}
    open_ = {"started_at": None, "completed_at": None, "error": None, "task": None}
    why = "playbook.file (path=notes/周报.md, why=missing)"
    steps = [
        {"number": None, "name": "clean", "type": "tool", "status": "completed", **done},
        {"number": 1, "name": "读取", "type": "tool", "status": "completed", **done},
        {"number": 2, "name": "look", "type": "tool", "status": "failed", **done, "error": why},
        {"number": 3, "name": "save", "type": "gate", "status": "waiting", **open_}
        | {"task": "T-9Q2W"},
        {"number": 4, "name": "send", "type": "tool", "status": "pending", **open_},
    ]
    run = {"run_id": "run-1", "playbook": "weekly", "status": "running", "steps": steps}
    of_run = _whole("executing") | {"playbook_run": run}
    asked = _whole("completed-change") | {"short_id": "T-9Q2W", "part": part}
    for name, task in (("run", of_run), ("question", asked)):
        agent.answers["show"] = {"task": task, "approval": None}
        parts += [(f"show {name} {lang}", printed("show", "T-7F3K", lang=lang)) for lang in LANGS]
    golden.check("commands/playbook.txt", golden.sections(parts))


def _task(name: str) -> Task:
    """Return a task as the journal holds it."""
    told = _DEFAULTS | _TASKS[name]
    row: dict[str, Any] = dict.fromkeys(field.name for field in fields(Task))
    for kept, stored in (("result", "proposal"), ("ending", "ending"), ("context", "context")):
        row[f"{stored}_json"] = json.dumps(told.pop(kept)) if kept in told else None
    row |= {key: value for key, value in told.items() if key in row}
    row |= {"state": TaskState(told["state"]), "reason": told["reason"] and Reason(told["reason"])}
    return Task(**row)


def _whole(name: str) -> dict[str, Any]:
    """Return a task as the agent tells it."""
    turns = [StoredTurn(task_id="task-1", **turn) for turn in _TASKS[name].get("turns", ())]
    again = {"retry_of_short_id": "T-1A2B" if _TASKS[name].get("retry_of") else None}
    return (
        whole_task(_task(name), turns) | again | {"left_to_undo": _TASKS[name].get("left_to_undo")}
    )
