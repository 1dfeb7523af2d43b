"""Takes an applied change back; an undo is a change like any other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from common.diff.patching import Hunks
from common.errors import InputError, StateError
from common.model.proposal import TaskResult, Undo
from common.seal import Seal, read_changes
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
from local_agent.safety.grant import Grant
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace


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


# Short ID of a task, and which of its several operations → what it applied, when that may be taken
# back.
FindApplied = Callable[[str, Workspace, int | None], Awaitable[Applied]]


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
        wanted = _undo(proposed_result(task))
        applied = await self._find_applied(wanted.task, workspace, wanted.part)
        prepared = await self._applier.prepare_undo(
            workspace,
            applied.seal,
            paths=wanted.paths or applied.left,
            short_id=wanted.task,
            whole=applied.whole or wanted.paths is not None,
            through=wanted.through or {},
        )
        return sealable_change("undo", prepared)

    async def perform(
        self, task: Task, grant: Grant, workspace: Workspace, around: Performing
    ) -> Ended:
        """Take it back, whole or not at all."""
        del task, around
        outcome = await self._applier.run(grant, workspace=workspace)
        return ended_change(outcome, grant.seal, self._prefix, undone=_undone(grant.seal))

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Look at the files, as for a change."""
        outcome = await self._applier.settle(seal, workspace)
        return ended_change(outcome, seal, self._prefix, undone=_undone(seal))

    async def narrowed(
        self, result: TaskResult, seal: Seal, keep: tuple[str, ...], hunks: Hunks
    ) -> TaskResult:
        """Return the undo of these files alone.

        Raises:
            InputError: ``approval.narrow``: none of its files, all of them, or others are named; or
                hunks, for a file is taken back whole.
        """
        if hunks:
            raise unknown_hunks(min(hunks))
        narrower = _undo(result).model_copy(update={"paths": _undone_parts(seal, keep)})
        return result.model_copy(update={"proposal": narrower})


def _undone_parts(seal: Seal, keep: tuple[str, ...]) -> tuple[str, ...]:
    """Return some files of an undo by the names that the change had for them.

    The undo of a rename is shown under the name that comes back; either is understood.
    """
    changes = read_changes(seal.payload)
    done = {one.path: one.old_path or one.path for one in changes}
    named = {done.get(path, path) for path in keep}
    check_known(named, done.values())
    if not named or named == set(done.values()):
        raise InputError("approval.narrow", count=len(named))
    return tuple(sorted(named))


def _undone(seal: Seal) -> str:
    return str(seal.payload["undoes"]["short_id"])


def _undo(result: TaskResult) -> Undo:
    if not isinstance(result.proposal, Undo):
        raise StateError("task.illegal-transition", current="proposal", wanted="undo")
    return result.proposal
