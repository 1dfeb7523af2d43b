"""An agent that answers by a table, on a real control socket, for the commands that ask it."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from common.home import Home, find_home
from local_agent.faces.control import wire
from local_agent.faces.control.server import ControlServer
from local_agent.views.task import Ending, ListedTask, ShownTask, TaskRow, TaskView, WaitingTask
from tests.asked import USUAL

Answer = Mapping[str, Any] | Exception
Script = Callable[[Mapping[str, Any]], list[Mapping[str, Any]]]

TASK: dict[str, Any] = {
    "task_id": "t-1",
    "short_id": "T-7K3F",
    "source": "wecom",
    "channel": "wecom_app",
    "claimed_user": "zhangwei",
    "text": "@dev test",
    "workspace": None,
    "state": "WAITING_APPROVAL",
    "reason": None,
    "summary": None,
    "created_at": 1,
    "updated_at": 1,
    "expires_at": None,
}


_LOOKS = ("show", "refresh", "narrow", "check")


class _Silent:
    def exception(self, event: str, /) -> None:
        """Say nothing."""

    def warning(self, event: str, *_args: Any, **_facts: Any) -> None:
        """Say nothing."""


class AgentDouble:
    """Answers each operation by a table; remembers what it was asked.

    Attributes:
        answers: By operation: what is answered last, or the error instead.
        events: By operation: what is told before.
        silent: Operations that are never answered to their end.
    """

    def __init__(self, home: Home) -> None:
        self.answers: dict[str, Answer] = {}
        self.events: dict[str, list[Mapping[str, Any]]] = {}
        self.silent: set[str] = set()
        self.asked: list[wire.Request] = []
        self._loop = asyncio.new_event_loop()
        self._server = ControlServer(wire.socket_path(home, {}), self, _Silent())
        self._thread = threading.Thread(target=self._loop.run_forever)

    async def answer(self, request: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        """Answer from the table."""
        self.asked.append(request)
        for event in self.events.get(request.op, []):
            yield False, event
        if request.op in self.silent:
            await asyncio.Event().wait()
        # What waits is still as it was, unless a test says otherwise.
        known = "show" if request.op == "refresh" else request.op
        answer = self.answers.get(request.op, self.answers.get(known, {}))
        if isinstance(answer, Exception):
            raise answer
        yield True, _whole(request.op, answer)

    def args_of(self, op: str) -> Mapping[str, Any]:
        """Return what the last request of that operation said."""
        return next(asked.args for asked in reversed(self.asked) if asked.op == op)

    def start(self) -> None:
        """Listen, in a thread of its own."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._server.start(), self._loop).result(5)

    def stop(self) -> None:
        """Listen no more."""
        asyncio.run_coroutine_threadsafe(self._server.close(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()


def _whole(op: str, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an answer with all that an agent would tell, where a test leaves it out."""
    whole = dict(answer)
    if isinstance(approval := answer.get("approval"), dict):
        whole["approval"] = USUAL | approval
    if isinstance(task := answer.get("task"), dict):
        whole["task"] = filled(ShownTask if op in _LOOKS else TaskView, task)
        if op not in _LOOKS:
            whole.pop("approval", None)
    if "tasks" in answer:
        whole["tasks"] = [filled(ListedTask, task) for task in answer["tasks"]]
    if "approvals" in answer:
        whole["approvals"] = [filled(WaitingTask, task) for task in answer["approvals"]]
    return whole


def filled(kind: type[TaskRow], task: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task with the fields that such a view has, and no others."""
    usual = {"rests": False, "answered": False, "files": [], "files_more": 0, "turns": []}
    known = {**TASK, **usual, **task}
    names = {field.name for field in fields(kind)}
    if "ending" in names:  # told beside the others
        names = names - {"ending"} | {field.name for field in fields(Ending)}
    return {name: known.get(name) for name in names}


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """An installation in a short folder: pytest's own are too long for a socket."""
    for name in ("CODEXBRIDGE_LANG", "LC_ALL", "LC_MESSAGES", "CODEXBRIDGE_CONFIG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    with tempfile.TemporaryDirectory(prefix="cb") as folder:
        monkeypatch.setenv("CODEXBRIDGE_HOME", str(Path(folder).resolve()))
        yield find_home({"CODEXBRIDGE_HOME": str(Path(folder).resolve())})


@pytest.fixture
def agent(home: Home) -> Iterator[AgentDouble]:
    """A running agent double."""
    double = AgentDouble(home)
    double.start()
    yield double
    double.stop()
