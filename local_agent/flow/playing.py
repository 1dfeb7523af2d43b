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
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from common.clock import Clock
from common.errors import CodexBridgeError, InputError, StateError
from common.ids import new_uuid
from common.model.proposal import Diff
from local_agent.flow import summaries
from local_agent.flow.narrating import Narrator
from local_agent.flow.ports import RunWish, Site, Workspaces
from local_agent.flow.proposing import Proposing
from local_agent.flow.rolling_back import RollBack
from local_agent.flow.run_answers import FileAnswers
from local_agent.flow.run_asking import Asker, Fitting, ModelStream, ReadingTools
from local_agent.flow.run_bundle import Bundle, pack, unpack
from local_agent.flow.run_changes import Changes
from local_agent.flow.run_ending import completed, failure, for_chat, rolled_back, tells_chat
from local_agent.flow.run_log import (
    RunRecord,
    as_shown,
    read_step,
    render_again,
    shown_step,
    told_of,
)
from local_agent.flow.run_naming import listed, named_playbook
from local_agent.flow.task import TaskLog
from local_agent.playbooks.answers import APPROVE_ALL, Answers
from local_agent.playbooks.definition import step_for_a_model
from local_agent.playbooks.executor import TaskExecutor
from local_agent.playbooks.inputs import read_inputs, split_inputs
from local_agent.playbooks.library import Phrases
from local_agent.playbooks.runs import Place, StepResult, state_path
from local_agent.playbooks.session import (
    GATE_TIMEOUT_S,
    Event,
    ExecutorSettings,
    SessionContext,
)
from local_agent.playbooks.toolbox import Toolbox
from local_agent.propose import words as proposal_words
from local_agent.propose.base import Asked, Proposed, answer, nothing
from local_agent.store.blobs import Blobs
from local_agent.store.journal import JournalThread
from local_agent.store.retention import KEPT_MS
from local_agent.store.runs import Runs, StoredRun, StoredStep
from local_agent.store.tasks import NewTask, Task
from local_agent.workspace.dry_runs import DryRuns
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:  # it imports this module when the first task comes
    from local_agent.flow.engine import Engine

DEFAULT_CLIENT: Final = "default"
_OVER: Final = ("completed", "skipped")


@dataclass(frozen=True, slots=True)
class _Opened:
    """A run as it stands, with what carries it on."""

    bundle: Bundle
    steps: Mapping[Place, StepResult]
    changes: Changes
    tools: Toolbox
    record: RunRecord
    asker: Asker
    workspace: Workspace
    asked: Asked

    def explain(self, error: CodexBridgeError) -> str:
        """Return an error in words."""
        return summaries.of_error(error, self.asked.lang)


class Playing:
    """Carries runs, each within the proposing of its task.

    Args:
        fitting: Tells how many of several steps can be sealed together as things are now.

    Attributes:
        phrases: Gives the phrases that ask for playbooks, by name.
    """

    def __init__(
        self,
        *,
        db: JournalThread,
        blobs: Blobs,
        clock: Clock,
        proposing: Proposing,
        engine: Engine,
        log: TaskLog,
        workspaces: Workspaces,
        fitting: Fitting,
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
        self._copies = DryRuns(site.places)
        self.phrases = Phrases(site.places).read
        self._places = site.places
        self._machine = site.machine

    # --- the main flow -----------------------------------------------------------------------

    async def propose(self, asked: Asked) -> Proposed:
        """Carry out the run of a task, and return what came of it.

        Raises:
            StateError: ``run.stands-still``: it was cut off before, and is not begun anew;
                ``run.failed`` or ``run.aborted``: it did not come to its end.
            InputError: ``playbook.*``: there is no such playbook, it cannot be read, or an input is
                missing or of another type.
        """
        task = await self._db.run(self._db.journal.tasks.get, asked.task_id)
        try:
            return await self._played(task, asked)
        except CodexBridgeError as error:
            if task.source != "wecom":
                raise
            raise for_chat(error) from error

    async def _played(self, task: Task, asked: Asked) -> Proposed:
        run = await self._db.run(self._runs.of_task, task.task_id)
        if run is None and task.run is not None:  # another task carries it since
            raise StateError("run.stands-still", task=task.short_id)
        name, _, message = asked.text.partition(" ")
        if run is None and not name:
            return answer(await asyncio.to_thread(listed, self._places, asked))
        if asked.workspace is None:
            return nothing(proposal_words.NO_WORKSPACE, asked)
        if run is None:
            is_remote = task.source == "wecom"
            found = await asyncio.to_thread(
                named_playbook, self._places, name, asked, is_remote=is_remote
            )
            if isinstance(found, Proposed):
                return found
            wish = RunWish(
                found=found,
                message=message.strip(),
                client=DEFAULT_CLIENT,
                gate_timeout_s=GATE_TIMEOUT_S,
            )
            run = await self._planned(wish, task.task_id, asked.workspace)
            await self._db.run(self._runs.add, run)
        if run.carrying == "nothing" or (run.carrying == "run" and run.status != "pending"):
            return await self._cut_off(task, run, asked)
        if run.workspace != str(asked.workspace.path):
            raise StateError("run.other-workspace", run=run.name, path=run.workspace)
        named = (await asyncio.to_thread(self._bundle, run)).steps
        tells = tells_chat(task, run, named, asked.workspace.disclosure)
        await self._db.run(self._runs.take, run.run_id, tells)
        run = replace(run, tells=tells)
        return await self._carry(task, run, await self._opened(task, run, asked), asked)

    async def _cut_off(self, task: Task, run: StoredRun, asked: Asked) -> Proposed:
        """Tell what came of a run whose carrying a restart has cut off: it is not begun again.

        Raises:
            StateError: ``run.stands-still``, ``run.rollback-cut-off``.
        """
        bundle = await asyncio.to_thread(self._bundle, run)
        if run.carrying == "run" and run.status == "completed":
            steps = await self._steps(run)
            return completed(bundle.definition, steps, bundle.steps, run, asked)
        if run.status == "rolled_back":
            changes = Changes(self._db, self._blobs, self._places, run, bundle.steps)
            await changes.look()
            files = [{"success": True} for one in changes() if one.resource_type == "file"]
            last = {"status": run.status, "rollback_results": files}
            return rolled_back(task, run, last, asked)
        code = "run.stands-still" if run.carrying == "run" else "run.rollback-cut-off"
        raise StateError(code, task=task.short_id)

    async def check_dry(self, run_id: str, answers: str | None = None) -> None:
        """Require that what a dry run acts in is there still, and that answers are for a copy.

        Raises:
            StateError: ``run.unknown``.
            InputError: ``playbook.answers-not-dry``; ``copy.gone``.
        """
        run = await self._db.run(self._runs.get, run_id)
        if run.is_dry:
            await asyncio.to_thread(self._copy, run)
        elif answers is not None:
            raise InputError("playbook.answers-not-dry")

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
        """Return what answers in place of a person; taking a dry run back asks nobody."""
        answers = APPROVE_ALL if run.carrying == "rollback" else run.answers
        if not run.is_dry or answers is None:
            return None
        return FileAnswers(self._db, self._engine.answering, Answers(answers))

    async def mend(self, run_id: str, task_id: str) -> bool:
        """Write the state file of a run again where it is not as the journal has it.

        Args:
            task_id: What carried it; where another task does so by now, that one writes it.

        Returns:
            Whether it was damaged.
        """
        run = await self._db.run(self._runs.get, run_id)
        if run.task_id != task_id or run.status == "pending":
            return False
        stored = await self._db.run(self._runs.steps, run_id)
        path = state_path(self._places.state, run.client, run_id)
        told = await asyncio.to_thread(told_of, path, run, stored)
        if told != "same":
            with suppress(CodexBridgeError, OSError):  # what it is rendered from is gone
                steps = (await asyncio.to_thread(self._bundle, run)).steps
                changes = Changes(self._db, self._blobs, self._places, run, steps)
                await changes.look()
                await asyncio.to_thread(render_again, self._places.state, run, stored, changes())
        return told == "damaged"

    async def mend_all(self) -> list[str]:
        """Do so for the newest runs that nothing carries, and return which were damaged."""
        forgotten = self._clock.now().wall_ms - KEPT_MS  # files of older ones were removed
        return [
            run.run_id
            for run in await self._db.run(self._runs.recent)
            if run.status not in ("pending", "running")
            and run.started_at > forgotten
            and await self.mend(run.run_id, run.task_id)
        ]

    async def _carry(self, task: Task, run: StoredRun, opened: _Opened, asked: Asked) -> Proposed:
        events = self._rolled_back(run, opened) if run.carrying == "rollback" else None
        narrator = Narrator(
            self._log, task, opened.bundle.definition, machine=self._machine, clock=self._clock
        )
        last: Mapping[str, Any] = {}
        try:
            async with aclosing(events or self._executed(task, run, opened)) as told:
                async for event in told:
                    await opened.record.tell(event)
                    await narrator.hear(event)
                    last = event
        except BaseException as error:
            await opened.changes.look()  # a command that was cut off has begun as well
            if isinstance(error, asyncio.CancelledError):
                await opened.record.cut_off("aborted", "cancelled")
            else:
                why = type(error).__name__
                if isinstance(error, CodexBridgeError):
                    why = opened.explain(error)
                await opened.record.cut_off("failed", why)
            raise
        if last["type"] == "rollback_result":
            return rolled_back(task, run, last, asked)
        steps = await self._steps(run)
        if last["status"] == "completed":
            return completed(opened.bundle.definition, steps, opened.bundle.steps, run, asked)
        index = (await self._db.run(self._runs.get, run.run_id)).current_step
        raise await asyncio.to_thread(
            partial(failure, task, run, opened.bundle.definition, last, index, steps),
            opened.bundle.steps,
            asked,
        )

    async def plan(self, wish: RunWish, new: NewTask) -> StoredRun:
        """Return a run that a task will carry, to be written with it; what it is to do is fixed.

        Raises:
            InputError: ``workspace.unknown``, ``workspace.none``; ``copy.*`` of a dry run;
                ``playbook.needs-model``: there is none, and nothing would come of it before.
        """
        workspace = await asyncio.to_thread(self._workspaces.find, new.workspace)
        return await self._planned(wish, new.task_id, workspace)

    async def _planned(self, wish: RunWish, task_id: str, workspace: Workspace) -> StoredRun:
        step = step_for_a_model(wish.found.definition)
        if step and self._proposing.choose() is None:
            raise InputError("playbook.needs-model", name=wish.found.definition.name, step=step)
        given, message = wish.inputs, wish.message
        if given is None:
            given, message = split_inputs(wish.found.definition, message)
        inputs = read_inputs(wish.found.definition, given)
        run_id, folder = new_uuid(), workspace.path
        if wish.dry:
            folder = await asyncio.to_thread(self._copies.make, run_id, workspace)
        bundle = await asyncio.to_thread(pack, wish.found, self._is_workspace)
        return StoredRun(
            run_id=run_id,
            task_id=task_id,
            name=wish.found.definition.name,
            definition=await asyncio.to_thread(self._blobs.put, bundle),
            client=wish.client,
            workspace=str(workspace.path),
            folder=str(folder),
            message=message,
            inputs=json.dumps(inputs),
            gate_ms=round(wish.gate_timeout_s * 1000),
            answers=wish.answers,
            started_at=self._clock.now().wall_ms,
        )

    async def _opened(self, task: Task, run: StoredRun, asked: Asked) -> _Opened:
        """Return a run as it stands, with what carries it on."""
        workspace = asked.workspace
        assert workspace is not None  # noqa: S101  # `propose` has looked
        if run.is_dry:
            workspace = await asyncio.to_thread(self._copy, run)
            asked = replace(asked, workspace=workspace)
        bundle = await asyncio.to_thread(self._bundle, run)
        changes = Changes(self._db, self._blobs, self._places, run, bundle.steps)
        tools = Toolbox(
            keep=self._blobs.put,
            fetch=self._blobs.get,
            propose_change=partial(self._proposed_change, task, asked),
        )
        is_rollback = run.carrying == "rollback"  # it needs no results, only that steps ended
        known = await self._steps(run, shown_step if is_rollback else read_step)
        steps = {place: one for place, one in known.items() if one.status in _OVER}
        # What did not end well is carried out anew; a rollback leaves it as it is told.
        rendered = known if is_rollback else steps
        rendered = {place: one for place, one in rendered.items() if place.phase == "main"}
        shown = partial(as_shown, self._places.state, run)
        record = RunRecord(
            self._db,
            run,
            state=self._places.state,
            clock=self._clock,
            steps=await asyncio.to_thread(lambda: [*starmap(shown, rendered.items())]),
            changes=changes,
            publish=partial(self._log.played, task),
        )
        for place, proved in await changes.proved(steps, tools):
            await record.step_ended(place, proved)
            steps[place] = proved
        asker = Asker(
            run=run,
            task=task,
            definition=bundle.definition,
            workspace=workspace,
            tools=tools,
            questions=self._engine.questions,
            submit=self._engine.submit,
            cancel=self._engine.cancel,
            changes=changes,
            fitting=self._fitting,
            clock=self._clock,
            answers=self._answers(run),
            tells=tuple(run.tells.split()),
            in_workspace=bundle.in_workspace,
        )
        return _Opened(bundle, steps, changes, tools, record, asker, workspace, asked)

    def _executed(self, task: Task, run: StoredRun, opened: _Opened) -> AsyncGenerator[Event]:
        context = SessionContext(
            run_id=run.run_id,
            short_id=task.short_id,
            workdir=run.folder,
            lang=opened.asked.lang,
            explain=opened.explain,
            hooks=opened.bundle.hooks,
            tools=ReadingTools(opened.tools, opened.workspace),
            authority=opened.asker,
            log=opened.record,
            done=opened.steps,
            resumed=run.resumes > 0,
            dry=run.is_dry,
            inputs=json.loads(run.inputs),
        )
        settings = ExecutorSettings(clock=self._clock, gate_timeout_s=run.gate_ms / 1000)
        executor = TaskExecutor(ModelStream(self._proposing.choose, task.task_id), settings)
        return executor.execute(opened.bundle.definition, run.message, context, run.client)

    async def _rolled_back(self, run: StoredRun, opened: _Opened) -> AsyncGenerator[Event]:
        rolling = RollBack(
            run,
            workspace=opened.workspace,
            changes=opened.changes,
            asker=opened.asker,
            explain=opened.explain,
            lang=opened.asked.lang,
            timeout_s=run.gate_ms / 1000,
        )
        async with aclosing(rolling.events()) as events:
            async for event in events:
                if event.get("status") == "rolled_back":
                    await opened.record.rolled_back()
                yield event

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

    def _bundle(self, run: StoredRun) -> Bundle:
        return unpack(self._blobs.get(run.definition))

    def _is_workspace(self, folder: Path) -> bool:
        return self._workspaces.at(str(folder)) is not None

    async def _steps(
        self, run: StoredRun, read: Callable[[Path, StoredRun, StoredStep], StepResult] = read_step
    ) -> dict[Place, StepResult]:
        stored = await self._db.run(self._runs.steps, run.run_id)
        state = self._places.state
        return await asyncio.to_thread(
            lambda: {Place.parse(one.place): read(state, run, one) for one in stored}
        )

    @property
    def _runs(self) -> Runs:
        return self._db.journal.runs
