"""What a run of a playbook is handed, scripted: nobody is asked, and nothing is read or written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from common.clock import ManualClock
from common.errors import CodexBridgeError, StateError
from local_agent.errors import ModelError
from local_agent.playbooks.definition import StepDefinition, TaskDefinition
from local_agent.playbooks.executor import TaskExecutor
from local_agent.playbooks.prompts import Messages
from local_agent.playbooks.runs import Place, Result, StepResult
from local_agent.playbooks.session import (
    Arguments,
    Changing,
    Decision,
    Event,
    ExecutorSettings,
    SessionContext,
)
from local_agent.playbooks.values import Asking

Answer = Decision | None  # None: nobody decides
Reads = Result | CodexBridgeError

RUN = "0b8f3c1e-0000-4000-8000-000000000001"
ENDS = frozenset({"step_complete", "step_error", "step_skipped"})


def refusal(why: str = "no") -> CodexBridgeError:
    """Return an error of a tool or of what performs it."""
    return StateError("run.not-done", why=why)


class ScriptedModel:
    """Gives one scripted answer a request: pieces, and what it fails with after them."""

    def __init__(self, *answers: Sequence[str | CodexBridgeError]) -> None:
        self.answers = list(answers)
        self.asked: list[Messages] = []

    async def chat_completion(self, messages: Messages) -> AsyncGenerator[str]:
        """Give the next answer; without one, fail."""
        self.asked.append(messages)
        for piece in self.answers.pop(0) if self.answers else [ModelError("model.cut")]:
            if isinstance(piece, CodexBridgeError):
                raise piece
            await asyncio.sleep(0)
            yield piece


class ScriptedTools:
    """Reads what is scripted by tool, or what it was asked for."""

    def __init__(self) -> None:
        self.gives: dict[str, Reads] = {}
        self.calls: list[tuple[str, Arguments]] = []

    async def read(self, tool: str, arguments: Arguments) -> Result:
        """Return the result of a tool."""
        self.calls.append((tool, arguments))
        found = self.gives.get(tool, {"asked": dict(arguments)})
        if isinstance(found, CodexBridgeError):
            raise found
        return found


@dataclass(eq=False)
class ScriptedQuestion:
    """A question that is decided as it was scripted, or by the test."""

    owner: ScriptedAuthority
    place: Place
    message: str
    parts: Sequence[Changing]
    request_id: str
    decided: asyncio.Event = field(default_factory=asyncio.Event)
    decision: Decision = "timeout"
    closed: int = 0
    done: int = 0

    @property
    def short_id(self) -> str:
        """Return a name for people."""
        return f"T-{self.request_id}"

    @property
    def covers(self) -> Sequence[Mapping[str, Any]]:
        """Return the names of the steps."""
        return [{"step": changing.step.name} for changing in self.parts]

    @property
    def is_open(self) -> bool:
        """Whether something may still come of it."""
        return not self.closed and (not self.decided.is_set() or self.done < len(self.parts))

    def decide(self, decision: Decision) -> None:
        """Decide."""
        self.decision = decision
        self.decided.set()

    async def outcome(self) -> Decision:
        """Return what was decided."""
        return self.decision

    async def is_sealed(self, changing: Changing) -> bool:
        """Tell whether exactly this comes next, and the files are as they were."""
        if self.closed or self.decision != "approved" or self.done >= len(self.parts):
            return False
        return self.parts[self.done] == changing and changing.step.name not in self.owner.drifted

    async def perform(self, changing: Changing) -> Result:
        """Note that it was done, or fail as it was scripted."""
        assert self.decision == "approved"
        assert not self.closed
        assert self.parts[self.done] == changing
        self.done += 1
        if (error := self.owner.fails.get(changing.step.name)) is not None:
            raise error
        self.owner.performed.append((changing.step.name, self.request_id))
        return {"done": changing.step.name}

    async def close(self) -> None:
        """Note it."""
        self.closed += 1


class ScriptedAuthority:
    """Asks nobody: each question is answered as its step was scripted, ``*`` for the others.

    Attributes:
        together: How many steps a gate seals at most.
        drifted: Steps that would not be the same any more.
        unchanged: Steps that would change nothing.
    """

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {"*": "approved"}
        self.refusals: dict[str, CodexBridgeError] = {}
        self.fails: dict[str, CodexBridgeError] = {}
        self.drifted: set[str] = set()
        self.unchanged: set[str] = set()
        self.together = 100
        self.asked: list[ScriptedQuestion] = []
        self.performed: list[tuple[str, str]] = []

    async def ask(
        self, step: Place, asking: Asking | None, parts: Sequence[Changing], *, is_gate: bool
    ) -> ScriptedQuestion | Result:
        """Put a question."""
        name = f"gate {step}" if is_gate else parts[0].step.name
        if (error := self.refusals.get(name)) is not None:
            raise error
        if not is_gate and name in self.unchanged:
            return {"unchanged": name}
        assert all(not one.is_open for one in self.asked), "one question at a time"
        number = f"q{len(self.asked) + 1}"
        sealed = parts[: self.together] if is_gate else parts
        question = ScriptedQuestion(self, step, asking.text if asking else name, sealed, number)
        self.asked.append(question)
        answer = self.answers.get(name, self.answers.get("*"))
        if answer is not None:
            question.decide(answer)
        return question


class ListLog:
    """Keeps what is recorded of a run."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.ends: dict[str, StepResult] = {}
        self.shown: dict[str, Result] = {}  # by step: what its result is shortened to

    async def begun(self) -> None:
        """Keep it."""
        self.calls.append(("begun",))

    async def at(self, place: Place) -> None:
        """Keep it."""
        self.calls.append(("at", str(place)))

    async def step_ended(self, place: Place, result: StepResult) -> Result | None:
        """Keep it."""
        self.calls.append(("ended", str(place), result.status))
        self.ends[str(place)] = result
        return self.shown.get(result.step_name, result.result)

    async def ended(self, status: str, current_step: int) -> None:
        """Keep it."""
        self.calls.append(("over", status, current_step))


class Scripted:
    """One run with everything scripted."""

    def __init__(self, *answers: Sequence[str | CodexBridgeError]) -> None:
        self.model = ScriptedModel(*answers)
        self.tools = ScriptedTools()
        self.authority = ScriptedAuthority()
        self.log = ListLog()
        self.clock = ManualClock()
        self.hooks: dict[str, TaskDefinition] = {}
        self.done: dict[Place, StepResult] = {}
        self.resumed = False
        self.timeout_s = 0.0  # whoever is to decide within it has decided when it begins

    def events(self, definition: TaskDefinition, message: str = "words") -> Any:
        """Return the generator of a run."""
        context = SessionContext(
            run_id=RUN,
            short_id="T-1",
            workdir="/work",
            lang="en",
            explain=lambda error: str(error.facts.get("why", error.code)),
            hooks=self.hooks,
            tools=self.tools,
            authority=self.authority,
            log=self.log,
            done=self.done,
            resumed=self.resumed,
        )
        settings = ExecutorSettings(clock=self.clock, gate_timeout_s=self.timeout_s)
        executor = TaskExecutor(self.model, settings)
        return executor.execute(definition, message, context, "default")

    async def told(self, definition: TaskDefinition, message: str = "words") -> list[Event]:
        """Carry out a run, and return its events without handles."""
        async with aclosing(self.events(definition, message)) as events:
            found = [event async for event in events]
        check_grammar(found)
        assert all(not one.is_open for one in self.authority.asked), "nothing is left"
        return [{k: v for k, v in event.items() if not k.startswith("_")} for event in found]

    async def kinds(self, definition: TaskDefinition) -> list[str]:
        """Carry out a run, and return the types of its events."""
        return [event["type"] for event in await self.told(definition)]


def check_grammar(events: Sequence[Event]) -> None:
    """Require what holds of every stream (contract, section 3)."""
    kinds = [event["type"] for event in events]
    assert kinds[0] == "task_start"
    assert kinds[-1] == "task_complete"
    assert kinds.count("task_start") == kinds.count("task_complete") == 1
    indexes = [event["step_index"] for event in events if "step_index" in event]
    assert indexes == sorted(set(indexes))
    step: str | None = None
    asked: str | None = None
    ended = False
    for event in events[1:-1]:
        match event["type"]:
            case "step_start":
                assert step is None and not ended  # noqa: PT018
                step = event["step"]
            case "step_skipped":
                assert step is None and not ended  # noqa: PT018
            case "step_complete" | "step_error":
                assert event["step"] == step and asked is None  # noqa: PT018
                step = None
                ended = event.get("status", "failed") != "completed"
            case "confirmation_required":
                assert asked is None
                asked = event["request_id"]
            case "gate_result":
                assert asked == event["request_id"]
                assert event["confirmed"] == (event["reason"] == "approved")
                asked = None
            case "stream" | "step_retry":
                assert step is not None
            case "hook_start" | "hook_result":
                assert step is None
    assert step is None and asked is None  # noqa: PT018
    assert ended <= (events[-1]["status"] != "completed")


def playbook(*steps: StepDefinition, **fields: Any) -> TaskDefinition:
    """Return a playbook of these steps."""
    return TaskDefinition(name="demo", steps=steps, **fields)


def tool(name: str, of: str = "read_file", **fields: Any) -> StepDefinition:
    """Return a step that reads."""
    given = {"read_file": {"path": "a.txt"}, "run_command": {"argv": ["true"]}}
    fields.setdefault("args", given.get(of, {}))
    return StepDefinition(name=name, type="tool", tool=of, **fields)


def write(name: str, content: str = "new", **fields: Any) -> StepDefinition:
    """Return a step that writes a file named after it."""
    args = {"path": f"{name}.txt", "content": content}
    args = {key: value for key, value in args.items() if key not in fields.get("args_from", {})}
    return tool(name, "write_file", args=args, **fields)


def gate(name: str = "gate", message: str = "Go on?", **fields: Any) -> StepDefinition:
    """Return a gate."""
    return StepDefinition(name=name, type="gate", message_template=message, **fields)


def agent(name: str = "agent", prompt: str = "Say it.", **fields: Any) -> StepDefinition:
    """Return a step of the model."""
    return StepDefinition(name=name, type="agent", message_template=prompt, **fields)
