"""Commands as an operation: described, run once in the sandbox, and reported."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from functools import partial
from typing import Any, Final

from common.errors import InputError, StateError
from common.model.proposal import CommandProposal, TaskResult
from common.model.state import Reason
from common.seal import Seal
from local_agent.actions.operation import Ended, Sealable
from local_agent.actions.run_command.perform import Outcome, Progress
from local_agent.actions.run_command.prepare import Copy
from local_agent.flow import facts, summaries
from local_agent.flow.approvals import question
from local_agent.flow.ports import Copies, Executor, Gate, TaskStore
from local_agent.flow.progress import ProgressTeller, is_for_chat
from local_agent.flow.run import Run
from local_agent.flow.task import TaskLog
from local_agent.safety.grant import Grant
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

# Why nothing can be approved meanwhile; the words are `replies.BLOCKED`.
UNSANDBOXED_RUNS: Final = "unsandboxed-runs"
SURVIVORS_LIVE: Final = "survivors-live"

DISCLOSES: Final = ("outcome", "output-tail")

ReadLine = Callable[[str], tuple[str, ...] | None]


class RunCommand:
    """Runs commands.

    Args:
        copies: Makes what a check runs on.
        read_line: Gives the arguments of a command line, or None where it needs a shell.
        default_test_command: The person's own, for workspaces that name none.
    """

    def __init__(
        self,
        *,
        log: TaskLog,
        store: TaskStore,
        gate: Gate,
        executor: Executor,
        copies: Copies,
        read_line: ReadLine,
        default_test_command: str | None = None,
    ) -> None:
        self._log = log
        self._store = store
        self._gate = gate
        self._executor = executor
        self._copies = copies
        self._read_line = read_line
        self._default = default_test_command
        self._for_good = ExitStack()

    async def prepare(self, task: Task, workspace: Workspace) -> Sealable:
        """Describe the command as it would run now.

        Raises:
            InputError: it cannot run as written; for a check, the change can no longer be made.
            StateError: ``approval.not-pending``: the change to be checked was decided on.
        """
        copy = None if task.checks is None else await self._copy(task, task.checks, workspace)
        prepared = await self._executor.prepare(workspace, _command(task).cmd, copy=copy)
        return Sealable(
            action="run_command",
            payload=prepared.payload,
            workspace=prepared.workspace,
            git_head=prepared.git_head,
            base=prepared.base,
            undo="no",
            discloses=DISCLOSES,
            allowed=self._allowed(workspace),
        )

    async def run(self, task: Task, run: Run, grant: Grant, workspace: Workspace) -> Ended:
        """Run it to its end."""
        if task.checks is not None and not await self._is_asked(task.checks):
            grant.spend()
            return Ended(Reason.DRIFTED, partial(summaries.of_drift, ("copy",)))
        teller = ProgressTeller()

        async def tell(progress: Progress) -> None:
            words = partial(summaries.of_progress, progress)
            await self._log.told(task, words, chat=is_for_chat(progress.elapsed_s))

        level: str = grant.seal.payload["sandbox"]["level"]
        unsandboxed = level == "none"
        telling = asyncio.create_task(teller.pass_on(tell))
        try:
            with self._gate.block(UNSANDBOXED_RUNS) if unsandboxed else nullcontext():
                outcome = await self._executor.run(
                    grant, workspace=workspace, on_progress=teller.note, cancel=run.stop
                )
                if unsandboxed and outcome.survivors:
                    # What could not be ended may press keys for as long as this agent lives.
                    self._for_good.enter_context(self._gate.block(SURVIVORS_LIVE))
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
        return _ended(outcome, _command(task).cmd, level)

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Say that nobody knows: a command leaves no proof of how far it came."""
        del workspace
        return Ended(Reason.UNKNOWN, partial(summaries.of_interruption, _shown(seal.payload)))

    async def narrowed(self, result: TaskResult, keep: tuple[str, ...]) -> TaskResult:
        """Refuse: a command has no parts.

        Raises:
            InputError: ``approval.narrow``, always.
        """
        raise InputError("approval.narrow", task_id=result.task_id, count=len(keep))

    async def _copy(self, task: Task, approval_id: str, workspace: Workspace) -> Copy:
        asked = await self._store.approval(approval_id)
        if asked.state != "pending":
            raise StateError("approval.not-pending", state=asked.state)
        return await self._copies.make(task.task_id, workspace, question(asked).seal)

    async def _is_asked(self, approval_id: str) -> bool:
        return (await self._store.approval(approval_id)).state == "pending"

    def _allowed(self, workspace: Workspace) -> tuple[tuple[str, ...], ...]:
        configured = workspace.test_command or self._default
        argv = self._read_line(configured) if configured else None
        return (argv,) if argv else ()


def _ended(outcome: Outcome, command: str, level: str) -> Ended:
    return Ended(
        outcome.reason,
        partial(summaries.of_outcome, outcome, command),
        here=partial(summaries.of_ending, outcome, command),
        did={"run": facts.of_run(outcome, command, sandbox=level)},
    )


def _command(task: Task) -> CommandProposal:
    proposal = TaskResult.model_validate_json(task.proposal_json or "").proposal
    if not isinstance(proposal, CommandProposal):
        raise StateError("task.illegal-transition", current=task.state, wanted="run")
    return proposal


def _shown(payload: Mapping[str, Any]) -> str:
    return payload["script"] if "script" in payload else " ".join(payload["argv"])
