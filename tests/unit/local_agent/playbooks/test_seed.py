"""The names and fields that the executor's story fixes, and its generator within the process."""

from __future__ import annotations

import ast
import asyncio
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pytest

from common.clock import SystemClock
from local_agent.playbooks.definition import StepDefinition, TaskDefinition, TaskParseError
from local_agent.playbooks.executor import TaskExecutor
from local_agent.playbooks.runs import ChangeEntry, Place, StepResult, TaskRunState
from local_agent.playbooks.session import Changing, Decision, ExecutorSettings, SessionContext

MODELS: Mapping[type, set[str]] = {
    TaskDefinition: {"name", "agent", "trigger_keywords", "risk_level", "steps", "hooks"},
    StepDefinition: {
        "name",
        "type",
        "description",
        "tool",
        "args_from",
        "condition",
        "message_template",
    },
    TaskRunState: {
        "task_id",
        "task_name",
        "status",
        "started_at",
        "steps_completed",
        "current_step",
        "change_log",
    },
    StepResult: {
        "step_name",
        "type",
        "status",
        "result",
        "error",
        "started_at",
        "completed_at",
    },
    ChangeEntry: {"action", "resource_type", "resource_id", "backup_path", "timestamp"},
}


@pytest.mark.requirement("EX-1", "EX-2", "EX-3", "EX-4", "EX-5")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_model_has_the_fields_of_the_story(model: type) -> None:
    assert {one.name for one in fields(model)} >= MODELS[model]


@pytest.mark.requirement("EX-6a")
def test_a_parse_error_has_the_file_and_the_message() -> None:
    error = TaskParseError("a.md", "empty-file")
    assert (error.file_path, error.message) == ("a.md", "the file is empty")
    assert str(error) == "TaskParseError: Failed to parse a.md: the file is empty"


@pytest.mark.requirement("EX-6b", "EX-7")
def test_execute_is_an_async_generator_with_the_arguments_of_the_story() -> None:
    assert inspect.isasyncgenfunction(TaskExecutor.execute)
    assert [*inspect.signature(TaskExecutor.execute).parameters] == [
        "self",
        "task_def",
        "user_message",
        "session_context",
        "client_name",
    ]
    assert [*inspect.signature(TaskExecutor).parameters] == ["ai_engine", "settings"]


@dataclass
class Asked:
    """A question whose approval says what it is told to."""

    decision: Decision
    request_id: str = "r-1"
    short_id: str = "T-7K3F"
    message: str = "Go on?"
    covers: Sequence[Mapping[str, Any]] = ()
    decided: asyncio.Event = field(default_factory=asyncio.Event)
    closed: bool = False

    async def outcome(self) -> Decision:
        return self.decision

    async def is_sealed(self, changing: Changing) -> bool:
        raise AssertionError(changing)

    async def perform(self, changing: Changing) -> Mapping[str, Any]:
        raise AssertionError(changing)

    async def close(self) -> None:
        self.closed = True


@dataclass
class Desk:
    """Reads nothing, asks one question, and forgets what it is told."""

    question: Asked

    async def ask(self, *_: object, **_more: object) -> Asked:
        return self.question

    async def read(self, *_: object) -> Mapping[str, Any]:
        return {}

    async def begun(self) -> None:
        return

    async def at(self, _place: Place) -> None:
        return

    async def step_ended(self, _place: Place, result: StepResult) -> Mapping[str, Any] | None:
        return result.result

    async def ended(self, *_: object) -> None:
        return


@pytest.mark.requirement("EX-11", "R64")
@pytest.mark.parametrize(
    ("decision", "status"),
    [("approved", "completed"), ("timeout", "aborted"), ("denied", "aborted")],
)
async def test_setting_the_event_of_a_gate_decides_nothing_without_an_approval(
    decision: Decision, status: str
) -> None:
    question = Asked(decision)
    desk = Desk(question)
    steps = (
        StepDefinition(name="sure", type="gate", message_template="Go on?"),
        StepDefinition(name="look", type="tool", tool="git_status"),
    )
    context = SessionContext(
        run_id="run-1",
        short_id="T-1",
        workdir="/w",
        lang="en",
        explain=str,
        hooks={},
        tools=desk,
        authority=desk,
        log=desk,
    )
    executor = TaskExecutor(None, ExecutorSettings(clock=SystemClock()))  # type: ignore[arg-type]  # no agent step
    told: list[dict[str, Any]] = []
    definition = TaskDefinition(name="case", steps=steps)
    async for event in executor.execute(definition, "", context, "default"):
        told.append(event)
        if event["type"] == "confirmation_required":
            event["_event"].set()
    assert told[-1]["status"] == status
    assert any(event.get("step") == "look" for event in told) is (status == "completed")


ROOT = Path(__file__).parents[4]
AUTHORITY = ("flow", "safety.authority", "safety.grant", "store.approvals", "store.effects")


@pytest.mark.requirement("EX-33")
def test_the_border_between_executor_and_safety_is_documented_and_kept() -> None:
    (adr,) = (ROOT / "docs" / "adr").glob("0035-*.md")
    words = adr.read_text(encoding="utf-8")
    assert all(name in words for name in ("`local_agent/playbooks/executor`", "`Authority`"))
    imported = {
        (path.name, node.module)
        for path in (ROOT / "local_agent" / "playbooks").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert len(imported) > 20
    assert not {
        one for one in imported if one[1].startswith(tuple(f"local_agent.{a}" for a in AUTHORITY))
    }
