"""A commit and push as an operation: one card, one approval, steps in their order."""

from __future__ import annotations

from functools import partial
from typing import Final

from common.errors import StateError
from common.model.proposal import GitSync, TaskResult
from common.seal import Seal
from local_agent.actions.git_sync.perform import SyncOutcome
from local_agent.actions.git_sync.words import render_sync, sync_facts
from local_agent.actions.operation import Ended, Performing, Sealable, refuse_to_narrow
from local_agent.actions.ports import Syncer
from local_agent.safety.grant import Grant
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

DISCLOSES: Final = ("outcome", "file-list")


class SyncGit:
    """Commits and pushes."""

    def __init__(self, *, syncer: Syncer) -> None:
        self._syncer = syncer

    async def prepare(self, task: Task, workspace: Workspace) -> Sealable:
        """Look at the repository as it is now.

        Raises:
            InputError: ``sync.*``: it cannot be done.
        """
        proposal = TaskResult.model_validate_json(task.proposal_json or "").proposal
        if not isinstance(proposal, GitSync):
            raise StateError("task.illegal-transition", current="proposal", wanted="sync")
        prepared = await self._syncer.prepare(workspace, proposal)
        return Sealable(
            action="git_sync",
            payload=prepared.payload,
            workspace=prepared.workspace,
            git_head=prepared.git_head,
            base=prepared.base,
            undo="no",
            discloses=DISCLOSES,
            diff=prepared.model,
        )

    async def perform(
        self, task: Task, grant: Grant, workspace: Workspace, around: Performing
    ) -> Ended:
        """Commit, then push; a cancel ends the push."""
        del task
        outcome = await self._syncer.run(grant, workspace=workspace, cancel=around.stop)
        return _ended(outcome, grant.seal)

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Say what the repository and its remote prove."""
        return _ended(await self._syncer.settle(seal, workspace), seal)

    async def narrowed(self, result: TaskResult, seal: Seal, keep: tuple[str, ...]) -> TaskResult:
        """Refuse: all that was changed is committed together."""
        del seal
        refuse_to_narrow(result, keep)


def _ended(outcome: SyncOutcome, seal: Seal) -> Ended:
    words = partial(render_sync, outcome, seal.payload)
    return Ended(outcome.reason, words, did={"sync": sync_facts(outcome)})
