"""Changes of files as operations: applying a diff, and taking an applied one back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from common.diff.model import DiffModel
from common.diff.parse import parse_diff
from common.diff.patching import select
from common.diff.render import render
from common.errors import InputError, StateError
from common.model.proposal import Diff, TaskResult, Undo
from common.seal import Action, Seal
from local_agent.actions.changes.perform import ChangeOutcome, PreparedChange
from local_agent.actions.operation import Ended, Sealable, check_known
from local_agent.errors import RefusedError
from local_agent.flow import facts, summaries
from local_agent.flow.ports import Applier, Blobs
from local_agent.flow.run import Run
from local_agent.proposers.diffs import diff_proposal
from local_agent.safety.grant import Grant
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

DISCLOSES: Final = ("outcome", "file-list")
_HERE: Final = "codexbridge"  # what undoes at this machine, where the chat has its prefix


@dataclass(frozen=True, slots=True)
class Applied:
    """A change that was applied.

    Attributes:
        left: Its files that no undo has taken back since.
        whole: False where it was cut off: some of its files may be as before, or somebody else's.
        foreign: Of one that was cut off, the paths that somebody else wrote, as found back then.
    """

    seal: Seal
    left: tuple[str, ...]
    whole: bool = True
    foreign: tuple[str, ...] = ()


# Short ID of a task → what it applied, when that may be taken back.
FindApplied = Callable[[str, Workspace], Awaitable[Applied]]


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
        diff = await asyncio.to_thread(self._blobs.get, _diff(_result(task)).diff_id)
        prepared = await self._applier.prepare(workspace, diff)
        return _sealable("apply_diff", prepared)

    async def run(self, task: Task, run: Run, grant: Grant, workspace: Workspace) -> Ended:
        """Apply it, whole or not at all; it is too short to be cancelled."""
        del run
        outcome = await self._applier.run(grant, workspace=workspace)
        return _ended(outcome, grant.seal, self._prefix)

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Look at the files: it was applied, or is taken back now, or nobody can tell."""
        outcome = await self._applier.settle(seal, workspace)
        return _ended(outcome, seal, self._prefix)

    async def narrowed(self, result: TaskResult, keep: tuple[str, ...]) -> TaskResult:
        """Return the diff of these files alone, as a new proposal.

        Raises:
            InputError: ``approval.narrow``: none of its files, all of them, or others are named.
        """
        whole = parse_diff(await asyncio.to_thread(self._blobs.get, _diff(result).diff_id))
        model = _selected(whole, keep)
        diff = render(model)
        name = await asyncio.to_thread(self._blobs.put, diff)
        return result.model_copy(update={"proposal": diff_proposal(name, diff, model)})


class UndoChange:
    """Takes applied changes back.

    Args:
        find_applied: Gives the seal of what a task applied.
        prefix: The word that addresses the bot, for what is said afterwards.
    """

    def __init__(self, *, applier: Applier, find_applied: FindApplied, prefix: str) -> None:
        self._applier = applier
        self._prefix = prefix
        self._find_applied = find_applied

    async def prepare(self, task: Task, workspace: Workspace) -> Sealable:
        """Compute the reverse change from the backups.

        Raises:
            StateError: ``undo.*``: there is nothing to take back, or files changed since.
        """
        wanted = _undo(_result(task))
        applied = await self._find_applied(wanted.task, workspace)
        prepared = await self._applier.prepare_undo(
            workspace,
            applied.seal,
            paths=wanted.paths or applied.left,
            short_id=wanted.task,
            whole=applied.whole or wanted.paths is not None,
        )
        return _sealable("undo", prepared)

    async def run(self, task: Task, run: Run, grant: Grant, workspace: Workspace) -> Ended:
        """Take it back, whole or not at all."""
        del run
        outcome = await self._applier.run(grant, workspace=workspace)
        return _ended(outcome, grant.seal, self._prefix, undone=_undone(grant.seal))

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Look at the files, as for a change."""
        outcome = await self._applier.settle(seal, workspace)
        return _ended(outcome, seal, self._prefix, undone=_undone(seal))

    async def narrowed(self, result: TaskResult, keep: tuple[str, ...]) -> TaskResult:
        """Return the undo of these files alone.

        Raises:
            InputError: ``approval.narrow``: no file is named.
        """
        if not keep:
            raise InputError("approval.narrow")
        narrower = _undo(result).model_copy(update={"paths": keep})
        return result.model_copy(update={"proposal": narrower})


def _sealable(action: Action, prepared: PreparedChange) -> Sealable:
    return Sealable(
        action=action,
        payload=prepared.payload,
        workspace=prepared.workspace,
        git_head=prepared.git_head,
        base=prepared.base,
        undo="yes",
        discloses=DISCLOSES,
        diff=prepared.model,
        moved=prepared.moved,
    )


def _ended(outcome: ChangeOutcome, seal: Seal, prefix: str, *, undone: str | None = None) -> Ended:
    words = partial(summaries.of_change, outcome, short_id=seal.short_id, undone=undone)
    here = partial(words, prefix=_HERE)
    # What was asked at this machine is no task of anybody in the chat.
    summary = partial(words, prefix=prefix) if seal.source.gateway_key_id else here
    did = {"change": facts.of_change(outcome, undoes=undone)}
    return Ended(outcome.reason, summary, here=here, did=did)


def _undone(seal: Seal) -> str:
    return str(seal.payload["undoes"]["short_id"])


def _selected(whole: DiffModel, keep: tuple[str, ...]) -> DiffModel:
    known = {file.path for file in whole.files}
    check_known(keep, known)
    if not keep or set(keep) == known:
        raise InputError("approval.narrow", count=len(keep))
    return select(whole, keep)


def _result(task: Task) -> TaskResult:
    return TaskResult.model_validate_json(task.proposal_json or "")


def _diff(result: TaskResult) -> Diff:
    if not isinstance(result.proposal, Diff):
        raise StateError("task.illegal-transition", current="proposal", wanted="apply")
    return result.proposal


def _undo(result: TaskResult) -> Undo:
    if not isinstance(result.proposal, Undo):
        raise StateError("task.illegal-transition", current="proposal", wanted="undo")
    return result.proposal
