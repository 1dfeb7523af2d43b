"""Runs a playbook: the seed's async generator of events, and the only loop (seed 003, AC 6–17).

    task_start ─▶ pre hooks ─▶ each step: condition ─▶ tool | agent | gate ─▶ post hooks ─▶ end

It owns no authority.  A tool that changes something is asked about and performed by the `Authority`
that it is handed (`local_agent.flow.playing`): a question of a run is an approval like any other,
and what is performed is what was sealed.  A step that only reads goes to the `Toolbox`.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from common.clock import Clock
from common.errors import CodexBridgeError
from common.sentences import Lang
from local_agent.errors import ModelError
from local_agent.playbooks import values
from local_agent.playbooks.definition import StepDefinition, TaskDefinition
from local_agent.playbooks.prompts import Messages, messages
from local_agent.playbooks.runs import Phase, Place, Result, RunStepResult, StepStatus, finished
from local_agent.playbooks.tools import TOOLS

Event = dict[str, Any]
Arguments = Mapping[str, Any]
Decision = Literal["approved", "denied", "timeout"]
Ending = Literal["completed", "failed", "aborted"]

GATE_TIMEOUT_S: Final = 300.0  # AC 11: the default, and the most
ATTEMPTS: Final = 2  # of an agent step (AC 35)
CHUNK_CHARS: Final = 8_000  # of a model's answer in one event
MAX_ERROR_CHARS: Final = 2_000
_ONE_AT_A_TIME: Final = ("high", "critical")


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
        """Return what was decided, from the approval itself."""
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
        self, step: Place, message: str | None, parts: Sequence[Changing], *, is_gate: bool
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

    def chat_completion(self, messages: Messages) -> AsyncIterator[str]:
        """Give the answer in pieces.

        Raises:
            ModelError: there is none.
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

    async def step_ended(self, place: Place, result: RunStepResult) -> Result | None:
        """A step ended; its result is returned as an event may carry it."""
        ...

    async def ended(self, status: Ending, current_step: int) -> None:
        """The run ended."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContext:
    """What one run is handed.

    Attributes:
        run_id: The run's own id.
        short_id: Of the task that carries it.
        workdir: Where the tools act.
        hooks: The playbooks that `TaskDefinition.hooks` names.
        done: How steps ended before this, where a run is resumed.
        gate_timeout_s: How long each question waits.
    """

    run_id: str
    short_id: str
    workdir: str
    lang: Lang
    hooks: Mapping[str, TaskDefinition]
    tools: Toolbox
    authority: Authority
    log: RunLog
    done: Mapping[Place, RunStepResult] = field(default_factory=dict)
    resumed: bool = False
    gate_timeout_s: float = GATE_TIMEOUT_S


@dataclass(slots=True)
class _Steps:
    """The steps of a playbook or of a hook while they are carried out."""

    definition: TaskDefinition
    phase: Phase
    first: int
    message: str
    context: SessionContext
    results: dict[str, Any] = field(default_factory=dict)
    gate: Question | None = None
    ending: Ending = "completed"
    error: str = ""
    last: str = ""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(one.name for one in self.definition.steps)

    def place(self, index: int) -> Place:
        return Place(self.phase, self.first + index)


class TaskExecutor:
    """Carries out playbooks, any number at a time.

    Args:
        ai_engine: The model of agent steps.
        clock: Stamps what is recorded.
    """

    def __init__(self, ai_engine: AiEngine, clock: Clock) -> None:
        self._ai = ai_engine
        self._clock = clock

    # --- the main flow -----------------------------------------------------------------------

    async def execute(
        self,
        task_def: TaskDefinition,
        user_message: str,
        session_context: SessionContext,
        client_name: str,
    ) -> AsyncGenerator[Event]:
        """Carry out a playbook step by step; give the events of the seed.

        Closing the generator stops the run: what is asked is taken back.

        Args:
            client_name: Under whose name the run is recorded.
        """
        context = session_context
        steps = _Steps(task_def, "main", 0, user_message, context)
        await context.log.begun()
        yield _task_start(task_def, context, client_name)
        async for event in self._hooks(steps, "pre"):
            yield event
        index = 0
        if steps.ending == "completed":
            async with aclosing(self._all(steps)) as events:
                async for event in events:
                    index = event.get("step_index", index)
                    yield event
        ending, error, last = steps.ending, steps.error, steps.last
        async for event in self._hooks(steps, "post"):
            yield event
        done = len(task_def.steps) if ending == "completed" else index
        await context.log.ended(ending, done)
        yield {
            "type": "task_complete",
            "task_name": task_def.name,
            "status": ending,
            "summary": last if ending == "completed" else error,
        }

    async def _all(self, steps: _Steps) -> AsyncGenerator[Event]:
        try:
            for index, step in enumerate(steps.definition.steps):
                known = steps.context.done.get(steps.place(index))
                if known is not None and known.status in ("completed", "skipped"):
                    _remember(steps, step, known)
                    continue
                async with aclosing(self._step(steps, index, step)) as events:
                    async for event in events:
                        yield event
                if steps.ending != "completed":
                    return
        finally:
            await _close(steps)

    async def _step(self, steps: _Steps, index: int, step: StepDefinition) -> AsyncGenerator[Event]:
        told = {"step": step.name, "step_index": index}
        began = self._now()
        if (why := _skipped(steps, step)) is not None:
            await self._end(steps, index, step, "skipped", began=began, error=why)
            yield {"type": "step_skipped", **told, "reason": why}
            return
        yield {"type": "step_start", **told}
        doing = {"tool": self._tool, "agent": self._agent, "gate": self._gate}[step.type]
        async with aclosing(doing(steps, index, step, began)) as events:
            async for event in events:
                yield event

    # --- the three kinds of steps ------------------------------------------------------------

    async def _tool(
        self, steps: _Steps, index: int, step: StepDefinition, began: int
    ) -> AsyncGenerator[Event]:
        try:
            spec = TOOLS[step.tool or ""]
            arguments = values.resolve_arguments(step, steps.results, spec, steps=steps.names)
            if spec.action is None:
                result = await steps.context.tools.read(spec.name, arguments)
            else:
                changing = Changing(steps.place(index), step, arguments)
                await steps.context.log.at(changing.place)
                approved = await self._standing(steps, changing)
                if approved is None:
                    approved = await steps.context.authority.ask(
                        changing.place, None, (changing,), is_gate=False
                    )
                    if not isinstance(approved, Mapping):
                        steps.gate = approved
                        reason: Decision = "timeout"
                        async for event in self._asked(steps, step, approved, dynamic=True):
                            reason = event.get("reason", reason)
                            yield event
                        if reason != "approved":
                            yield await self._not_approved(steps, index, step, reason, began)
                            return
                if isinstance(approved, Mapping):
                    result = approved
                else:
                    result = await approved.perform(changing)
        except CodexBridgeError as error:
            async for event in self._failed(steps, index, step, error, began):
                yield event
            return
        shown = await self._end(steps, index, step, "completed", began=began, result=result)
        yield _function_result(step, success=True, result=shown)
        yield _step_complete(step, "completed")

    async def _agent(
        self, steps: _Steps, index: int, step: StepDefinition, began: int
    ) -> AsyncGenerator[Event]:
        for attempt in range(1, ATTEMPTS + 1):
            said: list[str] = []
            asked = messages(
                step,
                steps.message,
                steps.results,
                lang=steps.context.lang,
                nonce=secrets.token_hex(8),
                short=attempt > 1,
            )
            try:
                async for piece in self._ai.chat_completion(asked):
                    said.append(piece)
                    for at in range(0, len(piece), CHUNK_CHARS):
                        yield {"type": "stream", "chunk": piece[at : at + CHUNK_CHARS]}
                text = _checked("".join(said))
                break
            except ModelError as error:
                if attempt == ATTEMPTS:
                    async for event in self._failed(steps, index, step, error, began):
                        yield event
                    return
                told = {"step": step.name, "attempt": attempt + 1, "error": _said(error)}
                yield {"type": "step_retry", **told}
        await self._end(steps, index, step, "completed", began=began, result={"text": text})
        steps.last = text
        yield _step_complete(step, "completed")

    async def _gate(
        self, steps: _Steps, index: int, step: StepDefinition, began: int
    ) -> AsyncGenerator[Event]:
        await _close(steps)
        template = step.message_template or step.name
        message = values.render(template, steps.message, steps.results, steps.names)
        try:
            await steps.context.log.at(steps.place(index))
            question = await steps.context.authority.ask(
                steps.place(index), message, _ahead(steps, index), is_gate=True
            )
        except CodexBridgeError as error:
            async for event in self._failed(steps, index, step, error, began):
                yield event
            return
        assert not isinstance(question, Mapping)  # noqa: S101  # a gate always asks
        steps.gate = question
        reason: Decision = "timeout"
        async for event in self._asked(steps, step, question, dynamic=False):
            reason = event.get("reason", reason)
            yield event
        if reason != "approved":
            yield await self._not_approved(steps, index, step, reason, began)
            return
        result = {"confirmed": True}
        await self._end(steps, index, step, "completed", began=began, result=result)
        yield _step_complete(step, "completed")

    # --- asking ------------------------------------------------------------------------------

    async def _standing(self, steps: _Steps, changing: Changing) -> Question | Result | None:
        """Return the question under which this is approved already; one that is used up is left."""
        gate = steps.gate
        if gate is None:
            return None
        if await gate.is_sealed(changing):
            return gate
        await _close(steps)
        return None

    async def _asked(
        self, steps: _Steps, step: StepDefinition, question: Question, *, dynamic: bool
    ) -> AsyncGenerator[Event]:
        """Wait for a decision.  `_event` is for whoever decides within this process (AC 11).

        Setting it decides nothing: what counts is the approval (`Question.outcome`).
        """
        timeout_s = steps.context.gate_timeout_s
        told: Event = {
            "type": "confirmation_required",
            "step": step.name,
            "message": question.message,
            "request_id": question.request_id,
            "timeout_s": timeout_s,
            "dynamic": dynamic,
            "short_id": question.short_id,
        }
        if not dynamic:
            told["covers"] = list(question.covers)
        yield told | {"_event": question.decided}
        reason: Decision = "timeout"
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await question.decided.wait()
                reason = await question.outcome()
        if reason != "approved":
            await _close(steps)
        yield {
            "type": "gate_result",
            "step": step.name,
            "request_id": question.request_id,
            "confirmed": reason == "approved",
            "reason": reason,
        }

    async def _not_approved(
        self, steps: _Steps, index: int, step: StepDefinition, reason: Decision, began: int
    ) -> Event:
        status: StepStatus = "timeout" if reason == "timeout" else "denied"
        steps.ending, steps.error = "aborted", status
        await self._end(steps, index, step, status, began=began)
        return _step_complete(step, status)

    # --- hooks -------------------------------------------------------------------------------

    async def _hooks(self, steps: _Steps, phase: Literal["pre", "post"]) -> AsyncGenerator[Event]:
        """Carry out hooks; a pre hook that fails ends the run, a post hook is a warning (AC 14–17).

        Of their steps only what was asked and what came of it is told (contract, section 3).
        """
        first = 0
        for name in steps.definition.hooks.get(phase, ()):
            hook = steps.context.hooks[name]
            told = {"hook": name, "phase": phase}
            yield {"type": "hook_start", **told}
            inner = _Steps(hook, phase, first, steps.message, steps.context)
            first += len(hook.steps)
            async with aclosing(self._all(inner)) as events:
                async for event in events:
                    if event["type"] in _OF_HOOKS:
                        yield event
            worked = inner.ending == "completed"
            failed = {} if worked else {"error": inner.error}
            yield {"type": "hook_result", **told, "success": worked, **failed}
            if phase == "pre" and not worked:
                steps.ending, steps.error = inner.ending, inner.error
                return

    # --- ends --------------------------------------------------------------------------------

    async def _failed(
        self, steps: _Steps, index: int, step: StepDefinition, error: CodexBridgeError, began: int
    ) -> AsyncGenerator[Event]:
        said = _said(error)
        steps.ending, steps.error = "failed", said
        await self._end(steps, index, step, "failed", began=began, error=said)
        if step.type == "tool":
            yield _function_result(step, success=False, result={"error": said})
        # The error itself is for whoever puts it into words within this process.
        yield {"type": "step_error", "step": step.name, "error": said, "_error": error}

    async def _end(
        self,
        steps: _Steps,
        index: int,
        step: StepDefinition,
        status: StepStatus,
        *,
        began: int,
        result: Result | None = None,
        error: str | None = None,
    ) -> Result | None:
        ended = finished(
            step, status, result=result, error=error, started_at=began, completed_at=self._now()
        )
        if result is not None:
            steps.results[step.name] = result
        return await steps.context.log.step_ended(steps.place(index), ended)

    def _now(self) -> int:
        return self._clock.now().wall_ms


_OF_HOOKS: Final = frozenset({"function_result", "confirmation_required", "gate_result"})


def _ahead(steps: _Steps, gate: int) -> list[Changing]:
    """Return the changing steps after a gate, as far as it is known now what they will do.

    Up to the next gate or agent step.  What depends on a step that has not run is not known yet.
    """
    known = {**steps.results, steps.definition.steps[gate].name: {"confirmed": True}}
    found: list[Changing] = []
    for index, step in enumerate(steps.definition.steps[gate + 1 :], gate + 1):
        if step.type != "tool":
            break
        later = {one.name for one in steps.definition.steps[gate + 1 :]}
        spec = TOOLS[step.tool or ""]
        if values.steps_read(step, steps.names) & later:
            if spec.action is None:
                continue
            break
        if not _holds(step, known, steps):
            continue
        if spec.action is None:
            continue
        try:
            arguments = values.resolve_arguments(step, known, spec, steps=steps.names)
        except CodexBridgeError:
            break  # it fails when its turn comes, and says why
        found.append(Changing(steps.place(index), step, arguments))
        if steps.definition.risk_level in _ONE_AT_A_TIME:
            break
    return found


def _holds(step: StepDefinition, results: Mapping[str, Any], steps: _Steps) -> bool:
    if step.condition is None:
        return True
    return values.holds(values.parse_condition(step.condition, steps.names), results) is True


def _skipped(steps: _Steps, step: StepDefinition) -> str | None:
    """Return why a step is skipped; None where it is not."""
    if step.condition is None or _holds(step, steps.results, steps):
        return None
    return f"condition not met: {step.condition}"


def _remember(steps: _Steps, step: StepDefinition, known: RunStepResult) -> None:
    if known.result is not None:
        steps.results[step.name] = known.result
        if step.type == "agent":
            steps.last = str(known.result.get("text", ""))


async def _close(steps: _Steps) -> None:
    question, steps.gate = steps.gate, None
    if question is not None:
        await question.close()


def _checked(text: str) -> str:
    """Return a model's answer; an empty one is none.

    Raises:
        ModelError: ``model.empty``.
    """
    if not text.strip():
        raise ModelError("model.empty")
    return text


def _said(error: CodexBridgeError) -> str:
    return str(error)[:MAX_ERROR_CHARS] or error.code


def _task_start(definition: TaskDefinition, context: SessionContext, client: str) -> Event:
    told: Event = {
        "type": "task_start",
        "task_id": context.run_id,
        "short_id": context.short_id,
        "task_name": definition.name,
        "total_steps": len(definition.steps),
        "workdir": context.workdir,
        "client": client,
    }
    return told | {"resumed": True} if context.resumed else told


def _function_result(step: StepDefinition, *, success: bool, result: Result | None) -> Event:
    told = {"function": step.tool, "step": step.name, "success": success}
    return {"type": "function_result", **told, "result": result}


def _step_complete(step: StepDefinition, status: StepStatus) -> Event:
    return {"type": "step_complete", "step": step.name, "status": status}
