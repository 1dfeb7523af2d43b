"""What a run is handed: the parts by which it reads, asks, speaks to a model and is recorded.

Protocols, of which `local_agent.flow` has the real ones; and the events' own words.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from common.clock import Clock
from common.errors import CodexBridgeError
from common.sentences import Lang
from local_agent.playbooks.definition import StepDefinition, TaskDefinition
from local_agent.playbooks.prompts import Messages
from local_agent.playbooks.runs import Place, Result, StepResult
from local_agent.playbooks.values import Asking

Event = dict[str, Any]
Arguments = Mapping[str, Any]
Decision = Literal["approved", "denied", "timeout"]
Ending = Literal["completed", "failed", "aborted"]

GATE_TIMEOUT_S: Final = 300.0  # AC 11: the default, and the most


@dataclass(frozen=True, slots=True)
class Changing:
    """A step that would change something, with its arguments as they were resolved."""

    place: Place
    step: StepDefinition
    arguments: Arguments


class Question(Protocol):
    """A question of a run that a person is asked at this machine.

    Attributes:
        request_id: Names it in events.
        short_id: By which a person shows, approves or rejects it.
        message: What is asked, in words.
        covers: The changing steps that are sealed with it, for people.
        decided: Set once there is a decision; it says that, and nothing else.
    """

    @property
    def request_id(self) -> str: ...
    @property
    def short_id(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def covers(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def decided(self) -> asyncio.Event: ...

    async def outcome(self) -> Decision:
        """Return what was decided, from the approval itself.

        Raises:
            CodexBridgeError: nobody decided; by now it cannot be done as it was asked.
        """
        ...

    async def is_sealed(self, changing: Changing) -> bool:
        """Tell whether exactly this is approved with it and comes next."""
        ...

    async def perform(self, changing: Changing) -> Result:
        """Do what was sealed of a step, and return its result.

        Raises:
            CodexBridgeError: it was not done, or failed.
        """
        ...

    async def close(self) -> None:
        """Take back what was not decided or not begun."""
        ...


class Authority(Protocol):
    """Asks a person, and performs what was approved."""

    async def ask(
        self, step: Place, asking: Asking | None, parts: Sequence[Changing], *, is_gate: bool
    ) -> Question | Result:
        """Ask about these steps, or as many of them as can be sealed together.

        Returns:
            The question; of a single step that would change nothing, its result.

        Raises:
            CodexBridgeError: it cannot be done as it is, or is refused.
        """
        ...


class Toolbox(Protocol):
    """What the tools do that only read."""

    async def read(self, tool: str, arguments: Arguments) -> Result:
        """Return the result.

        Raises:
            CodexBridgeError: it cannot be had.
        """
        ...


class AiEngine(Protocol):
    """The configured model."""

    def chat_completion(self, messages: Messages) -> AsyncGenerator[str]:
        """Give the answer in pieces; closing it ends the request.

        Raises:
            ModelError: the model gave none.
            CodexBridgeError: it cannot be asked.
        """
        ...


class RunLog(Protocol):
    """Where a run is recorded; each call returns once it is on the disk."""

    async def begun(self) -> None:
        """The run is begun, or begun anew."""
        ...

    async def at(self, place: Place) -> None:
        """A step that may change something begins."""
        ...

    async def step_ended(self, place: Place, result: StepResult) -> Result | None:
        """A step ended; its result is returned as an event may carry it."""
        ...

    async def ended(self, status: Ending, current_step: int) -> None:
        """The run ended."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSettings:
    """How runs are carried out.

    Attributes:
        clock: Stamps what is recorded.
        gate_timeout_s: How long each question waits.
        attempts: How often at most the model of an agent step is asked (AC 35).
        asked_anew: How often at most a question is, where files were changed while it waited.
    """

    clock: Clock
    gate_timeout_s: float = GATE_TIMEOUT_S
    attempts: int = 2
    asked_anew: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    """What one run is handed.

    Attributes:
        run_id: The run's own id.
        short_id: Of the task that carries it.
        workdir: Where the tools act.
        explain: Gives an error in words.
        hooks: The playbooks that `TaskDefinition.hooks` names.
        dry: Whether they act on a copy of the workspace.
        done: How steps ended before this, where a run is resumed.
        inputs: What the playbook was given, by name.
    """

    run_id: str
    short_id: str
    workdir: str
    lang: Lang
    explain: Callable[[CodexBridgeError], str]
    hooks: Mapping[str, TaskDefinition]
    tools: Toolbox
    authority: Authority
    log: RunLog
    done: Mapping[Place, StepResult] = field(default_factory=dict)
    resumed: bool = False
    dry: bool = False
    inputs: Mapping[str, str] = field(default_factory=dict)
