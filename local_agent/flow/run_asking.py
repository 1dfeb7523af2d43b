"""How a run asks: each question becomes a task of its own, with its proposal ready.

Beside it what else a run is handed: the tools that only read, and the model as a stream of text.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from common.clock import Clock
from common.errors import CodexBridgeError, InputError, StateError
from common.ids import new_short_id, new_uuid
from common.model.intent import TaskIntent, TaskKind
from common.model.proposal import LocalApproval, RunStep, StepPart, Steps, TaskResult
from common.model.state import Reason
from common.sentences import Sentence, say
from local_agent.actions.steps.payload import MAX_PARTS
from local_agent.flow.run_answers import FileAnswers
from local_agent.flow.run_changes import Changes
from local_agent.flow.run_questions import PREVIEW_CHARS, OpenQuestion, Questions, about
from local_agent.flow.task import submit_named
from local_agent.models.backend import Chosen, ModelEvent, Turn
from local_agent.playbooks.definition import TaskDefinition
from local_agent.playbooks.prompts import Messages
from local_agent.playbooks.runs import Place, Result
from local_agent.playbooks.session import (
    Arguments,
    Changing,
    Question,
)
from local_agent.playbooks.toolbox import Toolbox, Wanted
from local_agent.playbooks.tools import TOOLS
from local_agent.playbooks.values import Asking
from local_agent.propose.base import Asked, Proposed
from local_agent.store.runs import StoredRun
from local_agent.store.tasks import NewTask, Task
from local_agent.workspace.registry import Workspace

BEHIND: Final = 16  # pieces of a model's answer that wait, before they are told together
Fitting = Callable[[Task, Workspace], Awaitable[int]]

ASKS_ONE = Sentence(
    en="Next, step “{step}” {does} ({tool}): {what}",
    zh="接下来，步骤“{step}”将{does}（{tool}）：{what}",
)


class Asker:
    """Asks for one run (`local_agent.playbooks.session.Authority`).

    Args:
        task: The task that carries the run.
        submit: Writes a task and begins it.
        cancel: Ends one that waits.
        fitting: Tells how many of several steps can be sealed together as things are now.
        tells: What the chat hears of the run.
        answers: Of a dry run: what answers its questions; None where a person is asked.
    """

    def __init__(
        self,
        *,
        run: StoredRun,
        task: Task,
        definition: TaskDefinition,
        workspace: Workspace,
        tools: Toolbox,
        questions: Questions,
        submit: Callable[[NewTask], Coroutine[Any, Any, Task]],
        cancel: Callable[[str], Awaitable[object]],
        changes: Changes,
        fitting: Fitting,
        clock: Clock,
        in_workspace: bool,
        tells: tuple[str, ...],
        answers: FileAnswers | None = None,
    ) -> None:
        self._tells = tells
        self._answers = answers
        self._fitting = fitting
        self._run = run
        self._task = task
        self._definition = definition
        self._workspace = workspace
        self._tools = tools
        self._questions = questions
        self._submit = submit
        self._cancel = cancel
        self._changes = changes
        self._clock = clock
        self._in_workspace = True if in_workspace else None

    async def ask(
        self, step: Place, asking: Asking | None, parts: Sequence[Changing], *, is_gate: bool
    ) -> Question | Result:
        """Ask about these steps, or as many of them as can be sealed together.

        Raises:
            CodexBridgeError: it cannot be done, or is refused; nobody was asked.
        """
        if is_gate:
            sealed = await self._sealable(parts)
        else:
            (changing,) = parts
            wanted = await self._wanted(changing)
            if wanted.result is not None:
                return wanted.result
            sealed = [(changing, wanted)]
        if asking is not None:
            proposed = self._of_gate(asking, sealed)
        else:
            proposed = self._of_step(self._about(parts[0]), *sealed[0])
        name = self._definition.steps[step.index].name if is_gate else parts[0].step.name
        return await self.put(str(step), proposed, sealed, name=name)

    async def put(
        self,
        step: str,
        proposed: Proposed,
        parts: Sequence[tuple[Changing, Wanted]] = (),
        *,
        name: str = "",
    ) -> OpenQuestion:
        """Put a question, as a task of its own, and return once it waits for a person.

        Args:
            step: For which step of the run it is put.
            name: Of that step, by which a file answers it in a dry run.
            proposed: What is asked; its summary in words.
            parts: Of a run the steps that it covers, each of which waits for its turn.

        Raises:
            StateError: ``run.not-done``: it cannot be done, or is refused; nobody was asked.
        """
        question = OpenQuestion(
            task=self._new_task(step),
            message=proposed.summary,
            parts=parts,
            proposed=proposed,
            tools=self._tools,
            workspace=self._workspace,
            now=lambda: self._clock.now().mono,
            cancel=self._cancel,
            changes=self._changes,
            waits_ms=self._run.gate_ms,
            tells=self._tells,
        )
        self._questions.add(question)
        if self._answers is not None:
            self._answers.attend(question, name)
        try:
            begun = await submit_named(self._submit, question.task)
            question.task = replace(question.task, short_id=begun.short_id)
            await question.asked.wait()
            if self._answers is not None:
                await self._answers.settled()
        except asyncio.CancelledError:
            await question.close()
            raise
        if question.over.is_set() and question.ended_task is None:
            raise StateError("run.stands-still", task=self._task.short_id)  # the agent stops
        if (ended := question.ended_task) is not None and ended.reason is not Reason.REJECTED:
            raise StateError("run.not-done", why=ended.summary or "")
        return question

    async def fit(self, proposed: Proposed) -> int:
        """Return how many of the first of several steps can be asked about together now.

        Raises:
            CodexBridgeError: the first cannot even be asked about alone.
        """
        return await self._fitting(_as_task(self._task, proposed), self._workspace)

    async def _wanted(self, changing: Changing) -> Wanted:
        tool = changing.step.tool or ""
        return await self._tools.propose(tool, changing.arguments, self._workspace)

    async def _sealable(self, parts: Sequence[Changing]) -> list[tuple[Changing, Wanted]]:
        """Return the first steps that can be sealed together (`actions.steps.payload`).

        Each of the others asks for itself when its turn comes.
        """
        found: list[tuple[Changing, Wanted]] = []
        for changing in parts:
            try:
                wanted = await self._wanted(changing)
            except CodexBridgeError:
                break  # its turn comes, and it says why
            if wanted.result is None:
                found.append((changing, wanted))
            if len(found) == MAX_PARTS:
                break  # no more have room, and each that is looked at is stored
        if not found:
            return found
        try:
            return found[: await self.fit(self._of_gate(Asking(""), found))]
        except CodexBridgeError:
            return []

    def _new_task(self, step: str) -> NewTask:
        task = self._task
        return NewTask(
            task_id=new_uuid(),
            short_id=new_short_id("agent"),
            source=task.source,
            channel=task.channel,
            claimed_user=task.claimed_user,
            thread_id=task.thread_id,
            text=task.text,
            lang=task.lang,
            workspace=self._workspace.name,
            envelope_sha256=task.envelope_sha256,
            gateway_key_id=task.gateway_key_id,
            run=self._run.run_id,
            step=step,
        )

    def steps(self, asking: Asking, parts: Iterable[StepPart]) -> Proposed:
        """Return the proposal of several steps under one question."""
        whole = Steps(
            run=self._run.run_id,
            definition_sha256=self._run.definition,
            playbook=self._definition.name,
            total=len(self._definition.steps),
            message=asking.own or asking.text,
            inserted=asking.inserted,
            in_workspace=self._in_workspace,
            parts=tuple(parts),
        )
        return Proposed(whole, asking.text, LocalApproval(action="steps"))

    def _of_gate(self, asking: Asking, parts: Sequence[tuple[Changing, Wanted]]) -> Proposed:
        return self.steps(
            asking,
            (
                StepPart(
                    index=changing.place.index,
                    name=changing.step.name,
                    action=TOOLS[changing.step.tool or ""].action,
                    proposal=wanted.proposal,
                )
                for changing, wanted in parts
            ),
        )

    def _of_step(self, message: str, changing: Changing, wanted: Wanted) -> Proposed:
        action = TOOLS[changing.step.tool or ""].action
        assert action is not None and wanted.proposal is not None  # noqa: S101, PT018  # it changes
        of = RunStep(
            playbook=self._definition.name,
            index=changing.place.index,
            name=changing.step.name,
            total=len(self._definition.steps),
            in_workspace=self._in_workspace,
        )
        return Proposed(wanted.proposal, message, LocalApproval(action=action), run=of)

    def _about(self, changing: Changing) -> str:
        does = TOOLS[changing.step.tool or ""].summary
        what = about(changing, PREVIEW_CHARS)
        facts = {"step": changing.step.name, "tool": changing.step.tool, "what": what}
        return say(ASKS_ONE, self._task.lang, does=does, **facts)


class ReadingTools:
    """The tools that only read, in one workspace (`local_agent.playbooks.session.Toolbox`)."""

    def __init__(self, tools: Toolbox, workspace: Workspace) -> None:
        self._tools = tools
        self._workspace = workspace

    async def read(self, tool: str, arguments: Arguments) -> Result:
        """Return the result of a tool.

        Raises:
            CodexBridgeError: it cannot be had.
        """
        return await self._tools.read(tool, arguments, self._workspace)


class StepQuestions:
    """Proposes what the task of a question asks: it is known before its task begins."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    async def propose(self, asked: Asked) -> Proposed:
        """Return it.

        Raises:
            StateError: ``run.stands-still``: the run that asked is not carried any more.
        """
        question = self._questions.of(asked.task_id)
        if question is None:
            raise StateError("run.stands-still")
        return question.proposed


class ModelStream:
    """The configured model as a stream of text (`local_agent.playbooks.session.AiEngine`)."""

    def __init__(self, choose: Callable[[], Chosen | None], task_id: str) -> None:
        self._choose = choose
        self._task_id = task_id

    async def chat_completion(self, messages: Messages) -> AsyncGenerator[str]:
        """Give the answer in pieces.

        Raises:
            InputError: ``playbook.no-model``.
            ModelError: what the model failed with.
        """
        chosen = self._choose()
        if chosen is None:
            raise InputError("playbook.no-model")
        pieces: asyncio.Queue[str | None] = asyncio.Queue()

        def hear(event: ModelEvent) -> None:
            if event.kind == "text" and event.text:
                pieces.put_nowait(event.text)

        system, user = (one["content"] for one in messages)
        turn = Turn(task_id=self._task_id, instructions=system, prompt=user, once=True)
        asking = asyncio.ensure_future(chosen.backend.ask(turn, hear))
        asking.add_done_callback(lambda _: pieces.put_nowait(None))
        said = False
        try:
            while (piece := await pieces.get()) is not None:
                said, several = True, [piece]
                # Each is an event on the disk: whoever falls behind takes several at once.
                while pieces.qsize() > BEHIND and (piece := pieces.get_nowait()) is not None:
                    several.append(piece)
                yield "".join(several)
                if piece is None:
                    break
            reply = await asking
            if not said:
                yield reply.text
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)


def _as_task(task: Task, proposed: Proposed) -> Task:
    """Return a task that proposes something, to see whether it could be sealed."""
    result = TaskResult(
        task_id=task.task_id,
        intent=TaskIntent(kind=TaskKind.PLAYBOOK, confidence=1.0, summary=""),
        proposal=proposed.proposal,
        requires=proposed.requires,
        summary="",
    )
    return replace(task, proposal_json=result.to_json())
