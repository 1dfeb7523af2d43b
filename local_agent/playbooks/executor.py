"""Runs a playbook: the seed's async generator of events, and the only loop (seed 003, AC 6–17).

    task_start ─▶ pre hooks ─▶ each step: condition ─▶ tool | agent | gate ─▶ post hooks ─▶ end

It owns no authority.  A tool that changes something is asked about and performed by the `Authority`
that it is handed (`local_agent.flow.playing`): a question of a run is an approval like any other,
and what is performed is what was sealed.  A step that only reads goes to the `Toolbox`.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, Final, Literal

from common.errors import CodexBridgeError
from common.sentences import Sentence, say
from local_agent.errors import ModelError
from local_agent.playbooks import events, values
from local_agent.playbooks.definition import StepDefinition, TaskDefinition
from local_agent.playbooks.prompts import messages
from local_agent.playbooks.runs import Phase, Place, Result, StepResult, StepStatus, finished
from local_agent.playbooks.session import (
    AiEngine,
    Changing,
    Decision,
    Ending,
    Event,
    ExecutorSettings,
    Question,
    SessionContext,
)
from local_agent.playbooks.tools import TOOLS

CHUNK_CHARS: Final = 8_000  # of a model's answer in one event
MAX_ERROR_CHARS: Final = 2_000
DONE: Final = Sentence(en="{done} {done:step|steps} done", zh="已执行 {done} 个步骤")
SKIPPED: Final = Sentence(en="{said}, {skipped} skipped", zh="{said}，跳过 {skipped} 个")
AT_STEP: Final = Sentence(en="step {step}: {why}", zh="步骤 {step}：{why}")
IN_HOOK: Final = Sentence(
    en="hook {hook}, step {step}: {why}", zh="钩子 {hook} 的步骤 {step}：{why}"
)
_Ask = Callable[[], Awaitable[Question | Result]]
_ONE_AT_A_TIME: Final = ("high", "critical")


@dataclass(slots=True)
class _Steps:
    """The steps of a playbook or of a hook while they are carried out."""

    definition: TaskDefinition
    phase: Phase
    first: int
    words: values.Words
    context: SessionContext
    done: Mapping[Place, StepResult]
    has_gone_on: bool = False  # a step was begun that was not done before
    results: dict[str, Any] = field(default_factory=dict)
    gate: Question | None = None
    unchanged: Result | None = None  # of a step that would change nothing
    ending: Ending = "completed"
    error: str = ""
    where: Mapping[str, str] = field(default_factory=dict)  # the step at which it ended early
    last: str = ""
    skipped: int = 0

    @property
    def names(self) -> frozenset[str]:
        return frozenset(one.name for one in self.definition.steps)

    def arguments(self, step: StepDefinition, results: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the tool of a step is called with, after these results."""
        spec = TOOLS[step.tool or ""]
        return values.resolve_arguments(step, results, spec, steps=self.names, words=self.words)

    def place(self, index: int) -> Place:
        return Place(self.phase, self.first + index)

    def known(self, index: int) -> StepResult | None:
        """Return how a step ended before, where it is not to be carried out any more."""
        known = self.done.get(self.place(index))
        return known if known and known.status in ("completed", "skipped") else None

    @property
    def are_done(self) -> bool:
        """Whether all of them were carried out before."""
        return all(self.known(index) for index in range(len(self.definition.steps)))

    def said(self, error: CodexBridgeError) -> str:
        return self.context.explain(error)[:MAX_ERROR_CHARS]


class TaskExecutor:
    """Carries out playbooks, any number at a time.

    Args:
        ai_engine: The model of agent steps.
        settings: How they are carried out.
    """

    def __init__(self, ai_engine: AiEngine, settings: ExecutorSettings) -> None:
        self._ai = ai_engine
        self._settings = settings

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
        words = {f"inputs.{name}": value for name, value in context.inputs.items()}
        words["message"] = user_message
        steps = _Steps(task_def, "main", 0, words, context, context.done)
        await context.log.begun()
        yield events.task_start(task_def, context, client_name)
        async with aclosing(self._hooks(steps, "pre")) as following:
            async for event in following:
                yield event
        index = 0
        if steps.ending == "completed":
            async with aclosing(self._all(steps)) as following:
                async for event in following:
                    index = event.get("step_index", index)
                    yield event
        ending, last = steps.ending, steps.last
        async with aclosing(self._hooks(steps, "post")) as following:
            async for event in following:
                yield event
        done = len(task_def.steps) if ending == "completed" else index
        await context.log.ended(ending, done)
        told: Event = {"type": "task_complete", "task_name": task_def.name, "status": ending}
        if ending == "completed":
            yield told | {"summary": last or _counted(steps)}
            return
        facts = {**steps.where, "why": steps.error}
        said = say(IN_HOOK if "hook" in facts else AT_STEP, context.lang, **facts)
        yield told | {"summary": said, "_ended": facts}

    async def _all(self, steps: _Steps) -> AsyncGenerator[Event]:
        try:
            for index, step in enumerate(steps.definition.steps):
                if (known := steps.known(index)) is not None:
                    _remember(steps, step, known)
                    continue
                steps.has_gone_on = True
                async with aclosing(self._step(steps, index, step)) as following:
                    async for event in following:
                        yield event
                if steps.ending != "completed":
                    return
        finally:
            await _close(steps)

    async def _step(self, steps: _Steps, index: int, step: StepDefinition) -> AsyncGenerator[Event]:
        told = {"step": step.name, "step_index": index}
        began = self._now()
        if (why := _skipped(steps, step)) is not None:
            steps.skipped += 1
            await self._end(steps, index, step, "skipped", began=began, error=why)
            yield {"type": "step_skipped", **told, "reason": why}
            return
        yield {"type": "step_start", **told}
        doing = {"tool": self._tool, "agent": self._agent, "gate": self._gate}[step.type]
        try:
            async with aclosing(doing(steps, index, step, began)) as following:
                async for event in following:
                    yield event
        except CodexBridgeError as error:
            said = steps.said(error)
            steps.ending, steps.error = "failed", said
            await self._end(steps, index, step, "failed", began=began, error=said)
            if step.type == "tool":
                yield events.function_result(step, success=False, result={"error": said})
            yield {"type": "step_error", "step": step.name, "error": said}

    # --- the three kinds of steps ------------------------------------------------------------

    async def _tool(
        self, steps: _Steps, index: int, step: StepDefinition, began: int
    ) -> AsyncGenerator[Event]:
        spec = TOOLS[step.tool or ""]
        arguments = steps.arguments(step, steps.results)
        result: Result | None = None
        if spec.action is None:
            result = await steps.context.tools.read(spec.name, arguments)
        else:
            changing = Changing(steps.place(index), step, arguments)
            await steps.context.log.at(changing.place)
            approved = await self._standing(steps, changing)
            ask = partial(
                steps.context.authority.ask, changing.place, None, (changing,), is_gate=False
            )
            for attempt in count():
                if approved is None:
                    async with aclosing(self._asked(steps, index, ask, began)) as following:
                        async for event in following:
                            yield event
                    if steps.ending != "completed":
                        return
                    approved = steps.gate if steps.unchanged is None else steps.unchanged
                assert approved is not None  # noqa: S101  # `_asked` has set one of the two
                if isinstance(approved, Mapping):
                    result = approved
                    break
                try:
                    result = await approved.perform(changing)
                    break
                except CodexBridgeError as error:
                    if not error.facts.get("drifted") or attempt >= self._settings.asked_anew:
                        raise
                    await _close(steps)  # files were changed since: it is asked about as it is now
                    approved = None
        shown = await self._end(steps, index, step, "completed", began=began, result=result)
        yield events.function_result(step, success=True, result=shown)
        yield events.step_complete(step, "completed")

    async def _agent(
        self, steps: _Steps, index: int, step: StepDefinition, began: int
    ) -> AsyncGenerator[Event]:
        for attempt in range(1, self._settings.attempts + 1):
            said: list[str] = []
            asked = await asyncio.to_thread(  # megabytes may be looked through for secrets
                messages,
                step,
                steps.words,
                steps.results,
                lang=steps.context.lang,
                nonce=secrets.token_hex(8),
                short=attempt > 1,
            )
            try:
                async with aclosing(self._ai.chat_completion(asked)) as pieces:
                    async for piece in pieces:
                        said.append(piece)
                        for at in range(0, len(piece), CHUNK_CHARS):
                            yield {"type": "stream", "chunk": piece[at : at + CHUNK_CHARS]}
                text = _checked("".join(said))
                break
            except ModelError as error:  # after any other, asking again would be no use
                if attempt == self._settings.attempts:
                    raise
                told = {"step": step.name, "attempt": attempt + 1, "error": steps.said(error)}
                yield {"type": "step_retry", **told}
        await self._end(steps, index, step, "completed", began=began, result={"text": text})
        steps.last = text
        yield events.step_complete(step, "completed")

    async def _gate(
        self, steps: _Steps, index: int, step: StepDefinition, began: int
    ) -> AsyncGenerator[Event]:
        await _close(steps)
        types = {one.name: one.type for one in steps.definition.steps}
        template = step.message_template or step.name
        asking = values.read_asking(template, steps.words, steps.results, types)
        place = steps.place(index)
        await steps.context.log.at(place)
        ask = partial(
            steps.context.authority.ask, place, asking, _ahead(steps, index), is_gate=True
        )
        async with aclosing(self._asked(steps, index, ask, began)) as following:
            async for event in following:
                yield event
        if steps.ending != "completed":
            return
        result = {"confirmed": True}
        await self._end(steps, index, step, "completed", began=began, result=result)
        yield events.step_complete(step, "completed")

    # --- asking ------------------------------------------------------------------------------

    async def _standing(self, steps: _Steps, changing: Changing) -> Question | Result | None:
        """Return the question under which this is approved already; any other is taken back."""
        gate = steps.gate
        if gate is None:
            return None
        if await gate.is_sealed(changing):
            return gate
        await _close(steps)
        return None

    async def _asked(
        self, steps: _Steps, index: int, ask: _Ask, began: int
    ) -> AsyncGenerator[Event]:
        """Ask, and wait for a decision; any but an approval ends the run with this step (AC 36).

        What cannot be done any more as it was asked, since files were changed meanwhile, is asked
        anew under the same request.  What would change nothing is not asked (`_Steps.unchanged`).
        """
        step = steps.definition.steps[index]
        request_id = ""
        reason: Decision = "timeout"
        steps.unchanged = None
        for attempt in range(1, self._settings.asked_anew + 2):
            try:
                question = await ask()
            except CodexBridgeError:
                if request_id:
                    yield events.gate_result(step.name, request_id, "timeout")
                raise
            if isinstance(question, Mapping):
                steps.unchanged = question
                if request_id:
                    yield events.gate_result(step.name, request_id, "timeout")
                return
            steps.gate = question
            request_id = request_id or question.request_id
            # `_event` is for whoever decides within this process (AC 11).  Setting it decides
            # nothing: what counts is the approval (`Question.outcome`).
            timeout_s = self._settings.gate_timeout_s
            told = events.confirmation_required(step, question, request_id, timeout_s)
            yield told | {"_event": question.decided}
            try:
                reason = await self._decided(question)
                break
            except CodexBridgeError:
                await _close(steps)
                if attempt > self._settings.asked_anew:
                    yield events.gate_result(step.name, request_id, "timeout")
                    raise
        if reason != "approved":
            await _close(steps)
        yield events.gate_result(step.name, request_id, reason)
        if reason != "approved":
            steps.ending, steps.error = "aborted", reason
            await self._end(steps, index, step, reason, began=began)
            yield events.step_complete(step, reason)

    async def _decided(self, question: Question) -> Decision:
        try:
            async with asyncio.timeout(self._settings.gate_timeout_s):
                await question.decided.wait()
                return await question.outcome()
        except TimeoutError:
            return "timeout"

    # --- hooks -------------------------------------------------------------------------------

    async def _hooks(self, steps: _Steps, phase: Literal["pre", "post"]) -> AsyncGenerator[Event]:
        """Carry out hooks; a pre hook that fails ends the run, a post hook is a warning (AC 14–17).

        Of their steps only what was asked and what came of it is told (contract, section 3).
        Post hooks are carried out however the steps ended; once more where a resumed run went on.
        """
        first = 0
        done = {} if steps.has_gone_on else steps.done
        for name in steps.definition.hooks.get(phase, ()):
            hook = steps.context.hooks[name]
            inner = _Steps(hook, phase, first, steps.words, steps.context, done)
            first += len(hook.steps)
            if inner.are_done:
                continue
            told = {"hook": name, "phase": phase}
            yield {"type": "hook_start", **told}
            async with aclosing(self._all(inner)) as following:
                async for event in following:
                    if event["type"] in _OF_HOOKS:
                        yield event
            worked = inner.ending == "completed"
            failed = {} if worked else {"error": inner.error}
            yield {"type": "hook_result", **told, "success": worked, **failed}
            if phase == "pre" and not worked:
                steps.ending, steps.error = inner.ending, inner.error
                steps.where = {**inner.where, "hook": name}
                return

    # --- ends --------------------------------------------------------------------------------

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
        if status not in ("completed", "skipped"):
            steps.where = {"step": step.name}
        return await steps.context.log.step_ended(steps.place(index), ended)

    def _now(self) -> int:
        return self._settings.clock.now().wall_ms


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
            arguments = steps.arguments(step, known)
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


def _counted(steps: _Steps) -> str:
    lang, done = steps.context.lang, len(steps.definition.steps) - steps.skipped
    said = say(DONE, lang, done=done)
    return say(SKIPPED, lang, said=said, skipped=steps.skipped) if steps.skipped else said


def _remember(steps: _Steps, step: StepDefinition, known: StepResult) -> None:
    steps.skipped += known.status == "skipped"
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
        ModelError: ``model.answer``.
    """
    if not text.strip():
        raise ModelError("model.answer")
    return text
