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
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from common.clock import Clock
from common.errors import InputError, StateError
from common.ids import new_uuid
from common.model.proposal import Diff
from common.sentences import Lang, Sentence, say
from common.text import one_line
from local_agent.actions.operation import Blobs
from local_agent.flow.gate import Entrance
from local_agent.flow.ports import NewTask, RunWish, Site, Workspaces
from local_agent.flow.run_answers import FileAnswers
from local_agent.flow.run_asking import Asker, Fitting, ModelStream, ReadingTools
from local_agent.flow.run_changes import Changes
from local_agent.flow.run_log import RunRecord, read_step
from local_agent.flow.run_questions import Questions
from local_agent.flow.task import TaskLog
from local_agent.models.backend import Chosen
from local_agent.playbooks.answers import Answers
from local_agent.playbooks.definition import TaskDefinition, parse_hook, parse_playbook
from local_agent.playbooks.executor import TaskExecutor
from local_agent.playbooks.library import Found, find_playbook, list_playbooks
from local_agent.playbooks.runs import Place, RunStepResult
from local_agent.playbooks.session import (
    GATE_TIMEOUT_S,
    SessionContext,
)
from local_agent.playbooks.toolbox import Toolbox
from local_agent.propose import words as proposal_words
from local_agent.propose.base import Asked, Proposed, answer, nothing
from local_agent.store.journal import JournalThread
from local_agent.store.runs import Runs, StoredRun
from local_agent.store.tasks import Task
from local_agent.workspace.dry_runs import DryRuns
from local_agent.workspace.registry import Workspace

DEFAULT_CLIENT: Final = "default"


WAITING = Sentence(
    en="Playbook {playbook} waits at {machine} for a decision on step “{step}” ({task}).",
    zh="剧本 {playbook} 在 {machine} 上等待确认步骤“{step}”（{task}）。",
)
COMPLETED = Sentence(
    en="Playbook {playbook} completed: {count} {count:step|steps}.",
    zh="剧本 {playbook} 已完成，共 {count} 个步骤。",
)
COMPLETED_DRY = Sentence(
    en="Dry run of playbook {playbook} completed: {count} {count:step|steps}. Nothing in the "
    "workspace was changed; what the steps did lies in {folder}",
    zh="剧本 {playbook} 试运行完成，共 {count} 个步骤。工作区没有任何改动，步骤的结果在 {folder}",
)
LISTED = Sentence(en="Playbooks on this machine:", zh="本机上的剧本：")


class Carrier(Protocol):
    """What carries tasks (`local_agent.flow.engine`).

    Attributes:
        questions: What runs ask.
    """

    @property
    def questions(self) -> Questions: ...

    async def submit(self, new: NewTask) -> Task:
        """Write a task and begin it."""
        ...

    async def cancel(self, task_id: str) -> bool:
        """End a task."""
        ...


class Models(Protocol):
    """What has models work (`local_agent.flow.proposing`)."""

    def choose(self) -> Chosen | None:
        """Return the model of agent steps; None without one."""
        ...

    async def change(self, task: Task, asked: Asked, workspace: Workspace) -> Proposed:
        """Return the change that a model proposes, made in a scratch copy."""
        ...


class Playing:
    """Carries runs, each within the proposing of its task.

    Args:
        fitting: Tells how many of several steps can be sealed together as things are now.
        answering: Where the answers of a dry run's file enter.
    """

    def __init__(
        self,
        *,
        db: JournalThread,
        blobs: Blobs,
        clock: Clock,
        proposing: Models,
        engine: Carrier,
        log: TaskLog,
        workspaces: Workspaces,
        fitting: Fitting,
        answering: Entrance,
        site: Site,
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._clock = clock
        self._proposing = proposing
        self._engine = engine
        self._log = log
        self._workspaces = workspaces
        self._fitting = fitting
        self._answering = answering
        self._copies = DryRuns(site.places)
        self._places = site.places
        self._machine = site.machine

    # --- the main flow -----------------------------------------------------------------------

    async def propose(self, asked: Asked) -> Proposed:
        """Carry out the run of a task, and return what came of it.

        Raises:
            StateError: ``run.stands-still``: it was cut off before, and is not begun anew;
                ``run.failed`` or ``run.aborted``: it did not come to its end.
            InputError: ``playbook.*``: there is no such playbook, or it cannot be read.
        """
        task = await self._db.run(self._db.journal.tasks.get, asked.task_id)
        if asked.workspace is None:
            return nothing(proposal_words.NO_WORKSPACE, asked)
        run = await self._db.run(self._runs.of_task, task.task_id)
        if run is None:
            if not (name := asked.text.partition(" ")[0].strip()):
                return answer(await asyncio.to_thread(self._listed, asked.lang))
            found = await asyncio.to_thread(find_playbook, self._places, name)
            message = asked.text.partition(" ")[2].strip()
            wish = RunWish(
                found=found, message=message, client=DEFAULT_CLIENT, gate_timeout_s=GATE_TIMEOUT_S
            )
            run = await self._begun(wish, task.task_id, asked.workspace)
        if run.status != "pending":
            await self._db.run(self._runs.enter, run.run_id, "failed")
            raise StateError("run.stands-still", task=task.short_id)
        return await self._carried(task, run, asked)

    async def begin(self, wish: RunWish, new: NewTask) -> StoredRun:
        """Write a run that a task will carry; what it is to do is fixed from here on.

        Raises:
            InputError: ``workspace.unknown``, ``workspace.none``; ``copy.*`` of a dry run.
        """
        workspace = await asyncio.to_thread(self._workspaces.find, new.workspace)
        return await self._begun(wish, new.task_id, workspace)

    async def _begun(self, wish: RunWish, task_id: str, workspace: Workspace) -> StoredRun:
        run_id, folder = new_uuid(), workspace.path
        if wish.dry:
            folder = await asyncio.to_thread(self._copies.make, run_id, workspace)
        run = StoredRun(
            run_id=run_id,
            task_id=task_id,
            name=wish.found.definition.name,
            definition=await asyncio.to_thread(self._blobs.put, _bundled(wish.found)),
            client=wish.client,
            workspace=str(workspace.path),
            folder=str(folder),
            message=wish.message,
            gate_ms=round(wish.gate_timeout_s * 1000),
            answers=wish.answers,
            started_at=self._clock.now().wall_ms,
        )
        await self._db.run(self._runs.add, run)
        return run

    async def resume(
        self,
        run_id: str,
        new: NewTask,
        *,
        gate_timeout_s: float | None,
        answers: str | None = None,
    ) -> StoredRun:
        """Have another task carry a run on from where it stands.

        Args:
            answers: Of a dry run; a file answers for one time only.

        Raises:
            StateError: ``run.unknown``, ``run.not-resumable`` (status).
            InputError: ``playbook.answers-not-dry``; ``copy.gone``.
        """
        await self._check_dry(run_id, answers)
        gate_ms = None if gate_timeout_s is None else round(gate_timeout_s * 1000)
        return await self._db.run(self._runs.carry, run_id, new.task_id, gate_ms, answers)

    async def _check_dry(self, run_id: str, answers: str | None) -> None:
        run = await self._db.run(self._runs.get, run_id)
        if run.is_dry:
            await asyncio.to_thread(self._copy, run)
        elif answers is not None:
            raise InputError("playbook.answers-not-dry")

    async def _carried(self, task: Task, run: StoredRun, asked: Asked) -> Proposed:
        workspace = await self._place_of(run, asked.workspace)
        definition, hooks, path = await asyncio.to_thread(self._read, run)
        steps = await self._steps(run)
        changes = Changes(self._db, self._blobs, self._places, run, _tools_of(definition, hooks))
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
            propose_change=partial(
                self._proposed_change, task, replace(asked, workspace=workspace)
            ),
        )
        context = SessionContext(
            run_id=run.run_id,
            short_id=task.short_id,
            workdir=run.folder,
            lang=asked.lang,
            hooks=hooks,
            tools=ReadingTools(tools, workspace),
            authority=Asker(
                run=run,
                task=task,
                definition=definition,
                workspace=workspace,
                tools=tools,
                questions=self._engine.questions,
                submit=self._engine.submit,
                cancel=self._engine.cancel,
                changes=changes,
                fitting=self._fitting,
                clock=self._clock,
                answers=self._answers(run),
                in_workspace=await asyncio.to_thread(_is_inside, path, self._workspaces),
            ),
            log=record,
            done=steps,
            resumed=run.resumes > 0,
            gate_timeout_s=run.gate_ms / 1000,
        )
        executor = TaskExecutor(ModelStream(self._proposing.choose, task.task_id), self._clock)
        last: Mapping[str, Any] = {}
        async with aclosing(
            executor.execute(definition, run.message, context, run.client)
        ) as events:
            async for event in events:
                await record.tell(event)
                if event["type"] == "confirmation_required":
                    await self._tell_waiting(task, definition, event)
                last = event
        return self._ended(task, definition, last, run, asked.lang)

    def _ended(
        self,
        task: Task,
        definition: TaskDefinition,
        last: Mapping[str, Any],
        run: StoredRun,
        lang: Lang,
    ) -> Proposed:
        if last["status"] != "completed":
            facts = {"playbook": definition.name, "why": last["summary"], "task": task.short_id}
            raise StateError(f"run.{last['status']}", **facts)
        words, where = (COMPLETED_DRY, {"folder": run.folder}) if run.is_dry else (COMPLETED, {})
        count = len(definition.steps)
        head = say(words, lang, playbook=definition.name, count=count, **where)
        said = str(last["summary"] or "").strip()
        return answer(f"{head}\n\n{said}" if said else head)

    async def _proposed_change(
        self, task: Task, asked: Asked, request: str, workspace: Workspace
    ) -> tuple[bytes, str]:
        """Return the diff that the model proposes, and its summary; an empty one where it has none.

        Raises:
            InputError: ``playbook.no-model``.
            CodexBridgeError: as of any proposal.
        """
        if self._proposing.choose() is None:
            raise InputError("playbook.no-model")
        made = await self._proposing.change(task, replace(asked, text=request), workspace)
        if not isinstance(made.proposal, Diff):
            return b"", made.summary
        return await asyncio.to_thread(self._blobs.get, made.proposal.diff_id), made.summary

    def _read(self, run: StoredRun) -> tuple[TaskDefinition, dict[str, TaskDefinition], str]:
        return _unbundled(self._blobs.get(run.definition))

    async def _place_of(self, run: StoredRun, workspace: Workspace | None) -> Workspace:
        """Return where the tools of a run act.

        Raises:
            InputError: ``copy.gone``.
        """
        assert workspace is not None  # noqa: S101  # `propose` has looked
        if not run.is_dry:
            return workspace
        return await asyncio.to_thread(self._copy, run)

    def _copy(self, run: StoredRun) -> Workspace:
        """Return the copy of a dry run.  Blocking.

        Raises:
            InputError: ``copy.gone``: it is not there, or nobody has its workspace open any more.
        """
        workspace = self._workspaces.at(run.workspace)
        if workspace is None:
            raise InputError("copy.gone", workspace=run.workspace)
        return self._copies.of(run.run_id, workspace)

    def _answers(self, run: StoredRun) -> FileAnswers | None:
        if not run.is_dry or run.answers is None:
            return None
        return FileAnswers(self._db, self._answering, Answers(run.answers))

    async def _steps(self, run: StoredRun) -> dict[Place, RunStepResult]:
        stored = await self._db.run(self._runs.steps, run.run_id)
        return await asyncio.to_thread(
            lambda: {
                Place.parse(one.place): read_step(self._places.state, run, one) for one in stored
            }
        )

    async def _tell_waiting(
        self, task: Task, definition: TaskDefinition, event: Mapping[str, Any]
    ) -> None:
        words = partial(
            say,
            WAITING,
            playbook=definition.name,
            step=event["step"],
            task=event["short_id"],
            machine=self._machine,
        )
        await self._log.told(task, words)

    def _listed(self, lang: Lang) -> str:
        rows = [say(LISTED, lang)]
        for one in list_playbooks(self._places):
            if one.found is not None:
                about = one.found.definition.description.partition("\n")[0].lstrip("# ")
                rows.append(f"- {one.name}  {one_line(about, 120)}".rstrip())
        return "\n".join(rows)

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


def _is_inside(path: str, workspaces: Workspaces) -> bool:
    """Tell whether a file that a person named lies in a workspace.  Blocking."""
    above = Path(path).resolve().parents if path else ()
    return any(workspaces.at(str(folder)) is not None for folder in above)
