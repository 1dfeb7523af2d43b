"""Applies a proposed diff."""

from __future__ import annotations

import asyncio

from common.diff.model import DiffModel
from common.diff.parse import parse_diff
from common.diff.patching import Hunks, select
from common.diff.render import render
from common.errors import InputError, StateError
from common.model.proposal import Diff, TaskResult
from common.seal import Seal
from local_agent.actions.changes.ending import ended_change, sealable_change
from local_agent.actions.operation import (
    Applier,
    Ended,
    Performing,
    Sealable,
    check_known,
    proposed_result,
    unknown_hunks,
)
from local_agent.errors import RefusedError
from local_agent.propose.diffs import diff_proposal, encodings_of
from local_agent.safety.grant import Grant
from local_agent.store.blobs import Blobs
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace


class ApplyDiff:
    """Applies proposed diffs.

    Args:
        prefix: The word that addresses the bot, for what is said afterwards.
        allowed: False refuses every one (setting ``allow_apply_patch``).
    """

    def __init__(self, *, applier: Applier, blobs: Blobs, prefix: str, allowed: bool) -> None:
        self._applier = applier
        self._prefix = prefix
        self._blobs = blobs
        self._allowed = allowed

    async def prepare(self, task: Task, workspace: Workspace) -> Sealable:
        """Check the diff against the files as they are now.

        Raises:
            RefusedError: changes are switched off on this machine.
            InputError: ``diff.*``, ``change.*``: it cannot be applied.
        """
        if not self._allowed:
            raise RefusedError(("apply-off",))
        diff = await asyncio.to_thread(self._blobs.get, _diff(proposed_result(task)).diff_id)
        prepared = await self._applier.prepare(workspace, diff)
        return sealable_change("apply_diff", prepared)

    async def perform(
        self, task: Task, grant: Grant, workspace: Workspace, around: Performing
    ) -> Ended:
        """Apply it, whole or not at all; it is too short to be cancelled."""
        del task, around
        outcome = await self._applier.run(grant, workspace=workspace)
        return ended_change(outcome, grant.seal, self._prefix)

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Look at the files: it was applied, or is taken back now, or nobody can tell."""
        outcome = await self._applier.settle(seal, workspace)
        return ended_change(outcome, seal, self._prefix)

    async def narrowed(
        self, result: TaskResult, seal: Seal, keep: tuple[str, ...], hunks: Hunks
    ) -> TaskResult:
        """Return the diff of these files and hunks alone, as a new proposal.

        Raises:
            InputError: ``approval.narrow``: none of its files, all of them whole, or others are
                named, or hunks that a file has not; ``diff.too-large``.
        """
        del seal
        narrower = await asyncio.to_thread(self._narrowed, _diff(result), keep, hunks)
        return result.model_copy(update={"proposal": narrower})

    def _narrowed(self, whole: Diff, keep: tuple[str, ...], hunks: Hunks) -> Diff:
        diff = render(_selected(parse_diff(self._blobs.get(whole.diff_id)), keep, hunks))
        # Refused here, it withdraws no question.
        model = parse_diff(diff).in_encodings(encodings_of(whole))
        return diff_proposal(self._blobs.put(diff), diff, model)


def _selected(whole: DiffModel, keep: tuple[str, ...], hunks: Hunks) -> DiffModel:
    check_known({*keep, *hunks}, {file.path for file in whole.files})
    if not keep:
        raise InputError("approval.narrow", count=0)
    try:
        selected = select(whole, keep, hunks)
    except InputError as error:
        raise unknown_hunks(str(error.facts["path"])) from None
    if selected == whole:
        raise InputError("approval.narrow", count=len(keep))
    return selected


def _diff(result: TaskResult) -> Diff:
    if not isinstance(result.proposal, Diff):
        raise StateError("task.illegal-transition", current="proposal", wanted="apply")
    return result.proposal
