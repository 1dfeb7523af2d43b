"""Commands as an operation: described, run once in the sandbox, and reported.

Of a long one a truthful line is told, ever more rarely.  The executor tells every ten seconds.
Passed on are about 10, 20, 40, 80 seconds and so on, at least every five minutes.  The chat hears
of it from the first minute on: most commands have ended by then, and what came of them says more.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

from common.errors import InputError, StateError
from common.model.proposal import CommandProposal
from common.model.state import Reason
from common.seal import Seal
from local_agent.actions.operation import (
    Copies,
    Ended,
    Executor,
    Indivisible,
    Performing,
    Sealable,
    proposed_result,
    render_drift,
)
from local_agent.actions.run_command.command_line import SHELL, read_command_line
from local_agent.actions.run_command.perform import Outcome, Progress
from local_agent.actions.run_command.prepare import Copy, lies_elsewhere
from local_agent.actions.run_command.words import (
    render_ending,
    render_interruption,
    render_outcome,
    render_progress,
    run_facts,
)
from local_agent.safety.grant import Grant
from local_agent.store.approvals import StoredApproval
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

FIRST_S: Final = 10
LONGEST_S: Final = 300
CHAT_S: Final = 60

Tell = Callable[[Progress], Awaitable[None]]
# Why nothing can be approved meanwhile; the words are `flow.words.BLOCKED`.
UNSANDBOXED_RUNS: Final = "unsandboxed-runs"
SURVIVORS_LIVE: Final = "survivors-live"

DISCLOSES: Final = ("outcome", "output-tail")


def is_for_chat(elapsed_s: float) -> bool:
    """Tell whether something goes on for so long that the chat is told."""
    return elapsed_s >= CHAT_S


class ProgressTeller:
    """Takes what the executor says, and passes some of it on."""

    def __init__(self) -> None:
        self._latest: Progress | None = None
        self._fresh = asyncio.Event()
        self._next_s = FIRST_S

    def note(self, progress: Progress) -> None:
        """Take where the command stands; does not wait."""
        if progress.elapsed_s < self._next_s:
            return
        elapsed = progress.elapsed_s
        self._next_s = elapsed + min(max(elapsed, FIRST_S), LONGEST_S)
        self._latest = progress
        self._fresh.set()

    async def pass_on(self, tell: Tell) -> None:
        """Tell what is due, for ever; what is overtaken while telling is left out."""
        while True:
            await self._fresh.wait()
            self._fresh.clear()
            if self._latest is not None:
                await tell(self._latest)


class RunCommand(Indivisible):
    """Runs commands.

    Args:
        find_approval: Gives an approval by its own id.
        open_seal: Gives the seal of an approval from its stored bytes and their digest.
        copies: Makes what a check runs on.
        default_test_command: The person's own, for workspaces that name none.
    """

    def __init__(
        self,
        *,
        find_approval: Callable[[str], Awaitable[StoredApproval]],
        open_seal: Callable[[bytes, str], Seal],
        executor: Executor,
        copies: Copies,
        default_test_command: str | None = None,
    ) -> None:
        self._find_approval = find_approval
        self._open_seal = open_seal
        self._executor = executor
        self._copies = copies
        self._default = default_test_command
        self._for_good = ExitStack()

    async def prepare(self, task: Task, workspace: Workspace) -> Sealable:
        """Describe the command as it would run now.

        Raises:
            InputError: it cannot run as written; for a check, the change can no longer be made.
            StateError: ``approval.not-pending``: the change to be checked was decided on.
        """
        copy = None if task.checks is None else await self._copy(task, task.checks, workspace)
        asked = _command(task)
        if task.source == "wecom" and task.step is None and asked.argv:
            await asyncio.to_thread(self._check_program, asked.argv[0], workspace)
        prepared = await self._executor.prepare(
            workspace,
            asked.cmd if asked.argv is None else asked.argv,
            cwd=asked.cwd,
            timeout_s=asked.timeout_s,
            copy=copy,
            stdin=asked.stdin,
        )
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

    async def perform(
        self, task: Task, grant: Grant, workspace: Workspace, around: Performing
    ) -> Ended:
        """Run it to its end."""
        if task.checks is not None and not await self._is_asked(task.checks):
            grant.spend()
            return Ended(Reason.DRIFTED, partial(render_drift, ("copy",)))
        teller = ProgressTeller()

        async def tell(progress: Progress) -> None:
            words = partial(render_progress, progress)
            await around.tell(words, is_for_chat(progress.elapsed_s))

        payload = grant.seal.payload
        proposal = proposed_result(task).proposal
        # Of several operations under one question this is one: its words are those of its seal.
        shown = proposal.cmd if isinstance(proposal, CommandProposal) else _shown(payload)
        level: str = payload["sandbox"]["level"]
        unsandboxed = level == "none"
        telling = asyncio.create_task(teller.pass_on(tell))
        try:
            with around.block(UNSANDBOXED_RUNS) if unsandboxed else nullcontext():
                outcome = await self._executor.run(
                    grant,
                    workspace=workspace,
                    on_progress=teller.note,
                    cancel=around.stop,
                    streams=around.streams,
                )
                if unsandboxed and outcome.survivors:
                    # What could not be ended may press keys for as long as this agent lives.
                    self._for_good.enter_context(around.block(SURVIVORS_LIVE))
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
        return _ended(outcome, shown, level)

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Say that nobody knows: a command leaves no proof of how far it came."""
        del workspace
        return Ended(Reason.UNKNOWN, partial(render_interruption, _shown(seal.payload)))

    async def _copy(self, task: Task, approval_id: str, workspace: Workspace) -> Copy:
        asked = await self._find_approval(approval_id)
        if asked.state != "pending":
            raise StateError("approval.not-pending", state=asked.state)
        seal = self._open_seal(asked.seal, asked.digest)
        return await self._copies.make(task.task_id, workspace, seal)

    async def _is_asked(self, approval_id: str) -> bool:
        return (await self._find_approval(approval_id)).state == "pending"

    def _check_program(self, word: str, workspace: Workspace) -> None:
        """Refuse what the chat names by a path elsewhere; else it would learn whether it is there.

        Raises:
            InputError: ``command.outside``.
        """
        is_own = any(word == argv[0] for argv in self._allowed(workspace))
        if word.startswith("/") and not is_own and lies_elsewhere(Path(word), workspace):
            raise InputError("command.outside", program=word)

    def _allowed(self, workspace: Workspace) -> tuple[tuple[str, ...], ...]:
        configured = workspace.test_command or self._default
        if not configured:
            return ()
        line = read_command_line(configured)
        return (line.argv or (SHELL, line.script or ""),)


def _ended(outcome: Outcome, command: str, level: str) -> Ended:
    did = {"run": run_facts(outcome, command, sandbox=level)}
    if outcome.streams is not None:
        did["streams"] = {name: asdict(kept) for name, kept in outcome.streams.items()}
    return Ended(
        outcome.reason,
        partial(render_outcome, outcome, command),
        here=partial(render_ending, outcome, command),
        did=did,
    )


def _command(task: Task) -> CommandProposal:
    proposal = proposed_result(task).proposal
    if not isinstance(proposal, CommandProposal):
        raise StateError("task.illegal-transition", current=task.state, wanted="run")
    return proposal


def _shown(payload: Mapping[str, Any]) -> str:
    return payload["script"] if "script" in payload else shlex.join(payload["argv"])
