"""Runs of playbooks as tasks: a run proposes by being carried out, and its questions are tasks.

    the run's task:  RECEIVED … PROPOSING ─ execute ─▶ PROPOSAL_READY ─▶ COMPLETED   (it only reads)
    each question:   RECEIVED … PROPOSAL_READY ─▶ WAITING_APPROVAL ─▶ EXECUTING ─▶ its end

So what changes something is asked, sealed, performed, recorded and undone as everything is (P1,
P2), and nothing here can approve.  After a restart no run goes on by itself: its task ends and says
how it is resumed, and its questions are taken back.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from common.clock import Clock
from common.errors import CodexBridgeError, InputError, StateError
from common.home import Home
from common.ids import new_short_id, new_uuid
from common.model.intent import TaskIntent, TaskKind
from common.model.proposal import Diff, LocalApproval, RunStep, StepPart, Steps, TaskResult
from common.model.state import Reason
from common.sentences import Lang, Sentence, say
from common.text import one_line
from local_agent.actions.operation import Blobs
from local_agent.errors import ModelError
from local_agent.flow.narrating import Narrator
from local_agent.flow.ports import NewTask, Workspaces
from local_agent.flow.run_changes import Changes
from local_agent.flow.run_log import RunRecord, read_step
from local_agent.flow.run_questions import PREVIEW_CHARS, OpenQuestion, Questions, about
from local_agent.flow.summaries import of_error
from local_agent.flow.task import TaskLog, submit_named
from local_agent.models.backend import Chosen, ModelEvent, Turn
from local_agent.playbooks.definition import TaskDefinition, parse_hook, parse_playbook
from local_agent.playbooks.executor import (
    GATE_TIMEOUT_S,
    Arguments,
    Changing,
    Question,
    SessionContext,
    TaskExecutor,
)
from local_agent.playbooks.library import Found, find_playbook, list_playbooks
from local_agent.playbooks.prompts import Messages
from local_agent.playbooks.runs import Place, Result, RunStepResult
from local_agent.playbooks.toolbox import Toolbox, Wanted
from local_agent.playbooks.tools import TOOLS
from local_agent.propose import words as proposal_words
from local_agent.propose.base import Asked, Proposed, answer, nothing
from local_agent.propose.context.collected import Piece
from local_agent.safety.disclosure import bounded
from local_agent.store.journal import JournalThread
from local_agent.store.runs import Runs, StoredRun
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

DEFAULT_CLIENT: Final = "default"

Fitting = Callable[[Task, Workspace], Awaitable[int]]

ASKS_ONE = Sentence(
    en="Step “{step}” would use {tool}: {what}", zh="步骤“{step}”将使用 {tool}：{what}"
)
COMPLETED = Sentence(
    en="Playbook {playbook} completed: {count} {count:step|steps}.",
    zh="剧本 {playbook} 已完成，共 {count} 个步骤。",
)
FAILED_AT = Sentence(
    en="step {number} of {count} ({step}): {why}",
    zh="第 {number} 步，共 {count} 步（{step}）：{why}",
)
KEPT_HERE = Sentence(en="the reason is shown at the machine.", zh="原因请在开发机上查看。")
LISTED = Sentence(
    en="Playbooks on this machine; to run one: {prefix} playbook NAME",
    zh="本机上的剧本；执行方法：{prefix} 剧本 名称",
)
NONE_LISTED = Sentence(
    en="There is no playbook on this machine. To begin one there: codexbridge playbook new NAME",
    zh="本机上没有剧本。在开发机上新建：codexbridge playbook new 名称",
)
UNKNOWN = Sentence(
    en="There is no playbook {name}. “{prefix} playbook” lists them.",
    zh="没有剧本 {name}。“{prefix} 剧本”可列出。",
)
UNKNOWN_NEAR = Sentence(
    en="There is no playbook {name}. Alike: {near}. “{prefix} playbook” lists all.",
    zh="没有剧本 {name}。相近的有：{near}。“{prefix} 剧本”可列出全部。",
)
# Why is told at the machine alone: it names a file there.
BROKEN = Sentence(
    en="Playbook {name} cannot be read, so nothing was begun. At the machine, this says why: "
    "codexbridge playbook show {name}",
    zh="无法读取剧本 {name}，没有开始执行。在开发机上查看原因：codexbridge playbook show {name}",
)
_WHY_BYTES: Final = 400  # of why a run failed
_NAME_BYTES: Final = 80
_LISTED_PHRASES: Final = 2
_TEXTS: Final = ("content", "diff", "stdout", "stderr", "preview")  # in results of tools


class Asker:
    """Asks for one run (`local_agent.playbooks.executor.Authority`).

    Args:
        task: The task that carries the run.
        submit: Writes a task and begins it.
        cancel: Ends one that waits.
        fitting: Tells how many of several steps can be sealed together as things are now.
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
    ) -> None:
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
        self, step: Place, message: str | None, parts: Sequence[Changing], *, is_gate: bool
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
        question = self._question(step, message, sealed, is_gate=is_gate)
        self._questions.add(question)
        begun = await submit_named(self._submit, question.task)
        question.task = replace(question.task, short_id=begun.short_id)
        await question.asked.wait()
        if (ended := question.ended_task) is not None and ended.reason is not Reason.REJECTED:
            raise StateError("run.not-done", why=ended.summary or "")
        return question

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
        if not found:
            return found
        try:
            whole = _as_task(self._task, self._of_gate("", found))
            return found[: await self._fitting(whole, self._workspace)]
        except CodexBridgeError:
            return []

    def _question(
        self,
        step: Place,
        message: str | None,
        parts: Sequence[tuple[Changing, Wanted]],
        *,
        is_gate: bool,
    ) -> OpenQuestion:
        told = message if message is not None else self._about(parts[0][0])
        task = self._task
        new = NewTask(
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
            step=str(step),
        )
        proposed = self._of_gate(told, parts) if is_gate else self._of_step(told, *parts[0])
        return OpenQuestion(
            task=new,
            message=told,
            parts=parts,
            proposed=proposed,
            tools=self._tools,
            workspace=self._workspace,
            now=lambda: self._clock.now().mono,
            cancel=self._cancel,
            changes=self._changes,
        )

    def _of_gate(self, message: str, parts: Sequence[tuple[Changing, Wanted]]) -> Proposed:
        whole = Steps(
            run=self._run.run_id,
            definition_sha256=self._run.definition,
            playbook=self._definition.name,
            total=len(self._definition.steps),
            message=message,
            in_workspace=self._in_workspace,
            parts=tuple(
                StepPart(
                    index=changing.place.index,
                    name=changing.step.name,
                    action=TOOLS[changing.step.tool or ""].action,
                    proposal=wanted.proposal,
                )
                for changing, wanted in parts
            ),
        )
        return Proposed(whole, message, LocalApproval(action="steps"))

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
        facts = {"step": changing.step.name, "tool": changing.step.tool}
        return say(ASKS_ONE, self._task.lang, **facts, what=about(changing, PREVIEW_CHARS))


class ReadingTools:
    """The tools that only read, in one workspace (`local_agent.playbooks.executor.Toolbox`)."""

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
    """The configured model as a stream of text (`local_agent.playbooks.executor.AiEngine`)."""

    def __init__(self, choose: Callable[[], Chosen | None], task_id: str) -> None:
        self._choose = choose
        self._task_id = task_id

    async def chat_completion(self, messages: Messages) -> AsyncIterator[str]:
        """Give the answer in pieces.

        Raises:
            ModelError: ``model.none``, or what the model failed with.
        """
        chosen = self._choose()
        if chosen is None:
            raise ModelError("model.none")
        pieces: asyncio.Queue[str | None] = asyncio.Queue()

        def hear(event: ModelEvent) -> None:
            if event.kind == "text" and event.text:
                pieces.put_nowait(event.text)

        system, user = (one["content"] for one in messages)
        turn = Turn(task_id=self._task_id, instructions=system, prompt=user)
        asking = asyncio.ensure_future(chosen.backend.ask(turn, hear))
        asking.add_done_callback(lambda _: pieces.put_nowait(None))
        said = False
        try:
            while (piece := await pieces.get()) is not None:
                said = True
                yield piece
            reply = await asking
            if not said:
                yield reply.text
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWish:
    """What somebody asks to run.

    Attributes:
        gate_timeout_s: How long each question waits; over 0, at most 300.
    """

    found: Found
    message: str
    client: str
    gate_timeout_s: float


class Playing:
    """Carries runs, each within the proposing of its task.

    Args:
        places: This installation.
        choose: Gives the model of agent steps.
        change: Has the model propose a change, in a scratch copy.
        submit: Writes a task and begins it.
        cancel: Ends a task.
        publish: Tells those who follow a task of an event.
    """

    def __init__(
        self,
        *,
        db: JournalThread,
        blobs: Blobs,
        places: Home,
        clock: Clock,
        choose: Callable[[], Chosen | None],
        change: Callable[[Task, Asked, Workspace], Awaitable[Proposed]],
        questions: Questions,
        submit: Callable[[NewTask], Coroutine[Any, Any, Task]],
        cancel: Callable[[str], Awaitable[object]],
        log: TaskLog,
        workspaces: Workspaces,
        fitting: Fitting,
        machine: str,
    ) -> None:
        self._fitting = fitting
        self._db = db
        self._blobs = blobs
        self._places = places
        self._clock = clock
        self._choose = choose
        self._change = change
        self._questions = questions
        self._submit = submit
        self._cancel = cancel
        self._log = log
        self._workspaces = workspaces
        self._machine = machine

    # --- the main flow -----------------------------------------------------------------------

    async def propose(self, asked: Asked) -> Proposed:
        """Carry out the run of a task, and return what came of it.

        Raises:
            StateError: ``run.stands-still``: it was cut off before, and is not begun anew;
                ``run.failed`` or ``run.aborted``: it did not come to its end.
            InputError: ``playbook.*``: there is no such playbook, or it cannot be read.
        """
        task = await self._db.run(self._db.journal.tasks.get, asked.task_id)
        run = await self._db.run(self._runs.of_task, task.task_id)
        name, _, message = asked.text.partition(" ")
        if run is None and not name:
            return answer(await asyncio.to_thread(self._listed, asked))
        if asked.workspace is None:
            return nothing(proposal_words.NO_WORKSPACE, asked)
        if run is None:
            found = await asyncio.to_thread(self._found, name, asked, task)
            if isinstance(found, Proposed):
                return found
            wish = RunWish(
                found=found,
                message=message.strip(),
                client=DEFAULT_CLIENT,
                gate_timeout_s=GATE_TIMEOUT_S,
            )
            run = await self._begun(wish, task.task_id, asked.workspace)
        if run.status in ("pending", "completed"):
            return await self._carried(task, run, asked)
        await self._db.run(self._runs.enter, run.run_id, "failed")
        raise StateError("run.stands-still", task=task.short_id)

    async def begin(self, wish: RunWish, new: NewTask) -> StoredRun:
        """Write a run that a task will carry; what it is to do is fixed from here on.

        Raises:
            InputError: ``workspace.unknown``, ``workspace.none``.
        """
        workspace = await asyncio.to_thread(self._workspaces.find, new.workspace)
        return await self._begun(wish, new.task_id, workspace)

    async def _begun(self, wish: RunWish, task_id: str, workspace: Workspace) -> StoredRun:
        run = StoredRun(
            run_id=new_uuid(),
            task_id=task_id,
            name=wish.found.definition.name,
            definition=await asyncio.to_thread(self._blobs.put, _bundled(wish.found)),
            client=wish.client,
            workspace=str(workspace.path),
            folder=str(workspace.path),
            message=wish.message,
            gate_ms=round(wish.gate_timeout_s * 1000),
            answers=None,
            started_at=self._clock.now().wall_ms,
        )
        await self._db.run(self._runs.add, run)
        return run

    async def resume(self, run_id: str, new: NewTask, *, gate_timeout_s: float | None) -> StoredRun:
        """Have another task carry a run on from where it stands.

        Raises:
            StateError: ``run.unknown``, ``run.not-resumable`` (status).
        """
        gate_ms = None if gate_timeout_s is None else round(gate_timeout_s * 1000)
        return await self._db.run(self._runs.carry, run_id, new.task_id, gate_ms)

    async def _carried(self, task: Task, run: StoredRun, asked: Asked) -> Proposed:
        assert asked.workspace is not None  # noqa: S101  # `propose` has looked
        bundle = await asyncio.to_thread(self._blobs.get, run.definition)
        definition, hooks, path = _unbundled(bundle)
        steps = await self._steps(run)
        tools_of = _tools_of(definition, hooks)
        if run.status == "completed":  # and the agent stopped before that was told
            return self._completed(definition, steps, asked.lang, _shown(steps, tools_of))
        changes = Changes(self._db, self._blobs, self._places, run, tools_of)
        await changes.look()
        record = RunRecord(
            self._db,
            run,
            state=self._places.state,
            clock=self._clock,
            steps=list(steps.values()),
            changes=changes,
            publish=partial(self._log.played, task),
        )
        tools = Toolbox(
            keep=self._blobs.put,
            fetch=self._blobs.get,
            propose_change=partial(self._proposed_change, task, asked),
        )
        context = SessionContext(
            run_id=run.run_id,
            short_id=task.short_id,
            workdir=run.folder,
            lang=asked.lang,
            hooks=hooks,
            tools=ReadingTools(tools, asked.workspace),
            authority=Asker(
                run=run,
                task=task,
                definition=definition,
                workspace=asked.workspace,
                tools=tools,
                questions=self._questions,
                submit=self._submit,
                cancel=self._cancel,
                changes=changes,
                fitting=self._fitting,
                clock=self._clock,
                in_workspace=await asyncio.to_thread(_is_inside, path, self._workspaces),
            ),
            log=record,
            done=steps,
            resumed=run.resumes > 0,
            gate_timeout_s=run.gate_ms / 1000,
        )
        executor = TaskExecutor(ModelStream(self._choose, task.task_id), self._clock)
        narrator = Narrator(self._log, task, definition, machine=self._machine, clock=self._clock)
        last: Mapping[str, Any] = {}
        error: CodexBridgeError | None = None
        try:
            async with aclosing(
                executor.execute(definition, run.message, context, run.client)
            ) as events:
                async for event in events:
                    await record.tell(event)
                    await narrator.hear(event)
                    error = event.get("_error", error)
                    last = event
        except BaseException:  # cancelled, or a fault: it stands still, and can be resumed
            await asyncio.shield(self._db.run(self._runs.enter, run.run_id, "failed"))
            raise
        steps = await self._steps(run)
        if last["status"] != "completed":
            why = of_error(error, asked.lang) if error is not None else str(last["summary"])
            last = {**last, "summary": why} if last["status"] == "failed" else last
            raise await self._failure(task, run, definition, last, asked, _shown(steps, tools_of))
        return self._completed(definition, steps, asked.lang, _shown(steps, tools_of))

    def _completed(
        self,
        definition: TaskDefinition,
        steps: Mapping[Place, RunStepResult],
        lang: Lang,
        shown: tuple[Piece, ...] = (),
    ) -> Proposed:
        head = say(COMPLETED, lang, playbook=definition.name, count=len(definition.steps))
        said = _last_answer(definition, steps).strip()
        text = f"{head}\n\n{said}" if said else head
        # With details it is bounded for the chat as an answer is (`flow.disclosing`).
        return replace(answer(text, details=text), shown=shown)

    async def _failure(
        self,
        task: Task,
        run: StoredRun,
        definition: TaskDefinition,
        last: Mapping[str, Any],
        asked: Asked,
        shown: Sequence[Piece],
    ) -> StateError:
        """Return how a run failed; the chat is told no more of why than of an answer."""
        facts = {"playbook": definition.name, "task": task.short_id}
        if last["status"] == "aborted":
            return StateError("run.aborted", why=last["summary"], **facts)
        why = str(last["summary"])
        if task.source == "wecom" and asked.workspace is not None:
            level = asked.workspace.disclosure
            released = await asyncio.to_thread(
                bounded,
                why,
                sources=[piece.text for piece in shown],
                level=level,
                lang=asked.lang,
                limit=_WHY_BYTES,
            )
            why = released.text or say(KEPT_HERE, asked.lang)
            now = await self._db.run(self._runs.get, run.run_id)
            index = min(now.current_step, len(definition.steps) - 1)
            at = {"number": index + 1, "count": len(definition.steps)}
            step = definition.steps[index].name
            why = say(FAILED_AT, asked.lang, **at, step=step, why=one_line(why, _WHY_BYTES))
        return StateError("run.failed", why=why, **facts)

    def _found(self, name: str, asked: Asked, task: Task) -> Found | Proposed:
        """Return a playbook, or for the chat why there is none.  Blocking.

        Raises:
            InputError: as `find_playbook`.
            TaskParseError: as `find_playbook`.
            ConfigError: as `find_playbook`.
        """
        try:
            return find_playbook(self._places, name)
        except CodexBridgeError as error:
            near = error.facts.get("near")
            if error.code in ("playbook.unknown", "playbook.name"):
                shown = one_line(name, _NAME_BYTES)
                return nothing(UNKNOWN_NEAR if near else UNKNOWN, asked, name=shown, near=near)
            if task.source == "wecom":
                return nothing(BROKEN, asked, name=name)
            raise

    async def _proposed_change(
        self, task: Task, asked: Asked, request: str, workspace: Workspace
    ) -> tuple[bytes, str]:
        """Return the diff that the model proposes, and its summary; an empty one where it has none.

        Raises:
            InputError: ``playbook.no-model``.
            CodexBridgeError: as of any proposal.
        """
        if self._choose() is None:
            raise InputError("playbook.no-model")
        made = await self._change(task, replace(asked, text=request), workspace)
        if not isinstance(made.proposal, Diff):
            return b"", made.summary
        return await asyncio.to_thread(self._blobs.get, made.proposal.diff_id), made.summary

    async def _steps(self, run: StoredRun) -> dict[Place, RunStepResult]:
        stored = await self._db.run(self._runs.steps, run.run_id)
        return await asyncio.to_thread(
            lambda: {
                Place.parse(one.place): read_step(self._places.state, run, one) for one in stored
            }
        )

    def _listed(self, asked: Asked) -> str:
        rows = []
        for one in list_playbooks(self._places):
            if one.found is not None:
                definition = one.found.definition
                about = definition.description.partition("\n")[0].lstrip("# ")
                phrases = definition.trigger_keywords[:_LISTED_PHRASES]
                named = "".join(f" “{phrase}”" for phrase in phrases)
                rows.append(f"- {one.name}{named}  {one_line(about, 120)}".rstrip())
        head = LISTED if rows else NONE_LISTED
        return "\n".join([say(head, asked.lang, prefix=asked.prefix), *rows])

    @property
    def _runs(self) -> Runs:
        return self._db.journal.runs


def _bundled(found: Found) -> bytes:
    """Return a playbook with its hooks as a run keeps it: whatever becomes of the files."""
    bundle = {
        "path": str(found.path),
        "origin": found.origin,
        "playbook": found.raw.decode(),
        "hooks": {name: raw.decode() for name, raw in found.raw_hooks.items()},
    }
    return json.dumps(bundle, sort_keys=True).encode()


def _unbundled(raw: bytes) -> tuple[TaskDefinition, dict[str, TaskDefinition], str]:
    bundle = json.loads(raw)
    path = bundle["path"]
    hooks = {name: parse_hook(text.encode(), name) for name, text in bundle["hooks"].items()}
    of_file = path if bundle["origin"] == "file" else ""
    return parse_playbook(bundle["playbook"].encode(), path), hooks, of_file


def _tools_of(definition: TaskDefinition, hooks: Mapping[str, TaskDefinition]) -> dict[Place, str]:
    found = {Place("main", index): step.tool or "" for index, step in enumerate(definition.steps)}
    for phase in ("pre", "post"):
        steps = [step for name in definition.hooks.get(phase, ()) for step in hooks[name].steps]
        found |= {Place(phase, index): step.tool or "" for index, step in enumerate(steps)}
    return found


def _last_answer(definition: TaskDefinition, steps: Mapping[Place, RunStepResult]) -> str:
    """Return what the last agent step said that was not skipped; the summary of a run."""
    for index, step in reversed([*enumerate(definition.steps)]):
        ended = steps.get(Place("main", index))
        if step.type == "agent" and ended is not None and ended.result is not None:
            return str(ended.result.get("text", ""))
    return ""


def _shown(
    steps: Mapping[Place, RunStepResult], tools_of: Mapping[Place, str]
) -> tuple[Piece, ...]:
    """Return what the tools of a run have read, for whoever decides what of it may leave."""
    found: list[Piece] = []
    for place, ended in steps.items():
        result = ended.result if tools_of.get(place) else None
        for one in (result, *(result.get("items") or ())) if result else ():
            path = one.get("path") if isinstance(one.get("path"), str) else ""
            found += [
                Piece(kind="result", text=one[name], path=path or "")
                for name in _TEXTS
                if isinstance(one.get(name), str) and one[name]
            ]
    return tuple(found)


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


def _is_inside(path: str, workspaces: Workspaces) -> bool:
    """Tell whether a file that a person named lies in a workspace.  Blocking."""
    above = Path(path).resolve().parents if path else ()
    return any(workspaces.at(str(folder)) is not None for folder in above)
