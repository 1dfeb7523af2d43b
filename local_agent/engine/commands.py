"""A proposed command, from the question to the person to its outcome.

    ask ─▶ (a person decides at the machine) ─▶ decide ─▶ take_grant ─▶ EXECUTING ─▶ run ─▶ ended

The approval is used up only when the command can start at once; what cannot start in time is asked
again under a new seal.  EXECUTING is entered and left within `decide`, so a task that is found in
it after a restart was interrupted, and is never run again (P3).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Final

from common.errors import StateError, StoreError
from common.model.proposal import CommandProposal, TaskResult
from common.model.state import Reason, TaskState
from common.sentences import Lang, Sentence, Words, same, say
from local_agent import replies
from local_agent.approval.records import Decision, PendingApproval, question
from local_agent.engine import facts, summaries
from local_agent.engine.ports import Executor, Gate, TaskStore, Workspaces
from local_agent.engine.progress import ProgressTeller
from local_agent.engine.run import Run, StoppedError, unless_stopped
from local_agent.engine.sealing import Sealer
from local_agent.engine.task import TaskLog, Waiting
from local_agent.execution.command import Progress
from local_agent.grant import Grant
from local_agent.store.approvals import StoredApproval
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

AGAIN_SECONDS: Final = 5.0  # after the journal refused to keep how a command ended
TURN_SECONDS: Final = 45.0  # of the 60 from approval to start (R22); the rest is for the start

# Why nothing can be approved meanwhile; the words are `replies.BLOCKED`.
UNSANDBOXED_RUNS: Final = "unsandboxed-runs"
SURVIVORS_LIVE: Final = "survivors-live"

ReadLine = Callable[[str], tuple[str, ...] | None]


class _BusyError(Exception):
    """Another command ran in the workspace for too long; the approval is stale by now."""


class Commands:
    """Asks for commands, and runs those that were approved.

    Args:
        read_line: Gives the arguments of a command line, or None where it needs a shell.
        machine: The name people know this machine by.
        default_test_command: The person's own, for workspaces that name none.
        turn_seconds: How long an approved command may wait for another one in its workspace.
    """

    def __init__(
        self,
        *,
        log: TaskLog,
        store: TaskStore,
        gate: Gate,
        executor: Executor,
        workspaces: Workspaces,
        sealer: Sealer,
        read_line: ReadLine,
        machine: str,
        default_test_command: str | None = None,
        turn_seconds: float = TURN_SECONDS,
    ) -> None:
        self._log = log
        self._store = store
        self._gate = gate
        self._executor = executor
        self._workspaces = workspaces
        self._sealer = sealer
        self._read_line = read_line
        self._machine = machine
        self._default = default_test_command
        self._turn_seconds = turn_seconds
        self._turns: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._for_good = ExitStack()

    async def ask(self, task: Task) -> Task:
        """PROPOSAL_READY → WAITING_APPROVAL: seal the command as it would run now.

        Raises:
            RefusedError: policy forbids it.
            FloodedError: too much is asked for.
            InputError: it cannot run as written.
        """
        opening = same(_result(task).summary)
        asked = await self._store.newest_approval(task.task_id)
        if asked is not None and asked.state in ("pending", "rejected"):
            # Asked just before a crash: it goes on waiting, under the seal it was shown with.  What
            # a person has refused meanwhile stays refused, and is not asked once more.
            return await self._wait_for(task, opening, question(asked))
        return await self._ask(task, opening, version=_version_after(asked))

    async def decide(self, task: Task, run: Run) -> Task:
        """WAITING_APPROVAL → EXECUTING → final, or final at once, or asked again.

        Raises:
            StoppedError: the task was cancelled before anything ran.
        """
        approval = await self._store.newest_approval(task.task_id)
        if approval is not None and approval.state == "consumed":
            return await self.interrupted(task)
        if approval is None or _lapsed(approval):
            return await self._ask_again(task, approval, replies.AGAIN_INTERRUPTED)
        decision = await unless_stopped(run, self._gate.wait(approval.approval_id))
        if decision.outcome != "approved":
            return await self._not_approved(task, decision)
        workspace = await self._workspace(task)
        turn = self._turns[workspace.path]
        try:
            async with self._holding(turn, run):
                return await self._start(task, run, approval, workspace)
        except _BusyError:
            await self._gate.withdraw(task.task_id)
            await unless_stopped(run, _free(turn))
            return await self._ask_again(task, approval, replies.AGAIN_BUSY)

    async def interrupted(self, task: Task) -> Task:
        """EXECUTING, found in the journal → FAILED, ``unknown``: nobody knows (P3)."""
        proposal = _result(task).proposal if task.proposal_json else None
        command = proposal.cmd if isinstance(proposal, CommandProposal) else None
        summary = partial(summaries.of_interruption, command)
        return await self._log.ended(task, Reason.UNKNOWN, summary)

    async def _ask(self, task: Task, opening: Words, *, version: int) -> Task:
        proposal = _command(task)
        workspace = await self._workspace(task)
        prepared = await self._executor.prepare(workspace, proposal.cmd)
        seal = self._sealer.seal(task, prepared, version=version)
        asked = await self._gate.request(seal, allowed=self._allowed(workspace))
        return await self._wait_for(task, opening, asked)

    async def _wait_for(self, task: Task, opening: Words, asked: PendingApproval) -> Task:
        message = partial(_asking, opening, asked)
        waiting = Waiting(asked.code, asked.expires_at, self._machine)
        return await self._log.waiting(task, message, waiting)

    async def _ask_again(self, task: Task, older: StoredApproval | None, why: Sentence) -> Task:
        return await self._ask(task, partial(_asked_again, why), version=_version_after(older))

    async def _not_approved(self, task: Task, decision: Decision) -> Task:
        if decision.outcome == "rejected":
            summary: Words = partial(summaries.of_rejection, decision)
            return await self._log.ended(task, Reason.REJECTED, summary)
        if decision.outcome == "expired":
            summary = partial(say, replies.APPROVAL_EXPIRED)
            return await self._log.ended(task, Reason.EXPIRED, summary)
        # Superseded: `decide` looks again, and asks once more if nothing newer stands.
        return await self._store.get(task.task_id)

    async def _start(
        self, task: Task, run: Run, approval: StoredApproval, workspace: Workspace
    ) -> Task:
        run.executing = True
        try:
            grant = await self._gate.take_grant(approval.approval_id, approval.digest)
        except StateError as error:
            run.executing = False
            if error.code == "approval.task-over":
                raise StoppedError from None
            if error.code != "approval.not-approved":
                raise
            return await self._ask_again(task, approval, replies.AGAIN_INTERRUPTED)
        task = await self._log.entered(task, TaskState.EXECUTING, partial(say, replies.BEGUN))
        return await self._run(task, run, grant, workspace)

    async def _run(self, task: Task, run: Run, grant: Grant, workspace: Workspace) -> Task:
        teller = ProgressTeller()

        async def tell(progress: Progress) -> None:
            await self._log.told(task, partial(summaries.of_progress, progress))

        level: str = grant.seal.payload["sandbox"]["level"]
        unsandboxed = level == "none"
        telling = asyncio.create_task(teller.pass_on(tell))
        try:
            with self._gate.block(UNSANDBOXED_RUNS) if unsandboxed else nullcontext():
                outcome = await self._executor.run(
                    grant, workspace=workspace, on_progress=teller.note, cancel=run.stop
                )
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
        if unsandboxed and outcome.survivors:
            # What could not be ended may press keys for as long as this agent lives.
            self._for_good.enter_context(self._gate.block(SURVIVORS_LIVE))
        command = _command(task).cmd
        summary: Words = partial(summaries.of_outcome, outcome, command)
        here: Words = partial(summaries.of_ending, outcome, command)
        if run.closing:
            summary, here = partial(_stopped, summary), partial(_stopped, here)
        did = facts.of_run(outcome, command, sandbox=level)
        while True:
            try:
                return await self._log.ended(task, outcome.reason, summary, here=here, run=did)
            except StoreError:
                # Nobody could find it out again: forgotten, it would have to be called unknown.
                await asyncio.sleep(AGAIN_SECONDS)

    @asynccontextmanager
    async def _holding(self, turn: asyncio.Lock, run: Run) -> AsyncIterator[None]:
        if not await unless_stopped(run, _acquire(turn, self._turn_seconds)):
            raise _BusyError
        try:
            yield
        finally:
            turn.release()

    async def _workspace(self, task: Task) -> Workspace:
        return await asyncio.to_thread(self._workspaces.find, task.workspace)

    def _allowed(self, workspace: Workspace) -> tuple[tuple[str, ...], ...]:
        configured = workspace.test_command or self._default
        argv = self._read_line(configured) if configured else None
        return (argv,) if argv else ()


async def _acquire(turn: asyncio.Lock, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await turn.acquire()
    except TimeoutError:
        return False


async def _free(turn: asyncio.Lock) -> None:
    async with turn:
        return


def _result(task: Task) -> TaskResult:
    return TaskResult.model_validate_json(task.proposal_json or "")


def _command(task: Task) -> CommandProposal:
    proposal = _result(task).proposal
    if not isinstance(proposal, CommandProposal):
        raise StateError("task.illegal-transition", current=task.state, wanted="run")
    return proposal


def _lapsed(approval: StoredApproval) -> bool:
    """Tell whether it was approved and never used, or was withdrawn: it must be asked again."""
    was_approved = approval.state == "expired" and approval.decided_at is not None
    return was_approved or approval.state == "superseded"


def _version_after(older: StoredApproval | None) -> int:
    return question(older).seal.version + 1 if older else 1


def _asking(opening: Words, asked: PendingApproval, lang: Lang) -> str:
    if asked.risk != "high":
        return opening(lang)
    why = summaries.reasons(asked.reasons, lang)
    return f"{opening(lang)}\n{say(replies.HIGH_RISK, lang, why=why)}"


def _asked_again(why: Sentence, lang: Lang) -> str:
    return say(replies.ASKED_AGAIN, lang, why=say(why, lang))


def _stopped(words: Words, lang: Lang) -> str:
    return f"{say(replies.AGENT_STOPPED, lang)} {words(lang)}"
