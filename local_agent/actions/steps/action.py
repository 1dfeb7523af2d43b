"""Several steps as one operation: described together; each is then done by its own operation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from common.errors import InputError, StateError
from common.model.proposal import LocalApproval, Steps
from common.model.state import Reason
from common.seal import MAX_SEAL_BYTES, Place, Seal, read_changes
from common.seal import Undo as Undoable
from common.sentences import Sentence, say
from common.strict_json import canonical
from local_agent.actions.operation import (
    Ended,
    Executor,
    Indivisible,
    Operation,
    Performing,
    Sealable,
    proposed_result,
)
from local_agent.actions.steps.payload import MAX_PARTS, find_conflict, steps_payload
from local_agent.errors import RefusedError
from local_agent.safety.action_facts import SealedPart
from local_agent.safety.grant import Grant
from local_agent.store.tasks import Task
from local_agent.workspace.git.repository import git_head
from local_agent.workspace.registry import Workspace, place_of

GOES_ON: Final = Sentence(en="The playbook goes on.", zh="剧本继续执行。")

_MAX_SEALED: Final = MAX_SEAL_BYTES - 64 * 1024  # of the payload and of the base of the whole


class RunSteps(Indivisible):
    """Describes steps; what carries them out is the operation of each (`flow.parts`).

    Args:
        operations: Gives the operation of an action.
        executor: Tells what a command starts from.
    """

    def __init__(self, operations: Callable[[str], Operation], executor: Executor) -> None:
        self._operations = operations
        self._executor = executor

    async def prepare(self, task: Task, workspace: Workspace) -> Sealable:
        """Describe each step as it would be done now, and all of them as one.

        Raises:
            InputError: ``steps.overlap``, ``steps.command``: two of them are not to be sealed
                together; ``steps.too-many``; what the operation of a step raises.
        """
        steps = steps_of(task)
        if len(steps.parts) > MAX_PARTS:
            raise InputError("steps.too-many", limit=MAX_PARTS)
        found: list[Sealable] = []
        for number in range(len(steps.parts)):
            found.append(await self._described(task, workspace, number, found))
            _check_together(steps, found)
        place = await asyncio.to_thread(place_of, workspace)
        head = await asyncio.to_thread(git_head, workspace.path)
        return replace(_whole(steps, found), workspace=place, git_head=head)

    async def fitting(self, task: Task, workspace: Workspace) -> int:
        """Return how many of the first steps can be asked about together as things are now.

        Raises:
            CodexBridgeError: the first cannot even be asked about alone.
        """
        steps = steps_of(task)
        found: list[Sealable] = []
        for number in range(min(len(steps.parts), MAX_PARTS)):
            try:
                found.append(await self._described(task, workspace, number, found))
                _check_together(steps, found)
                _whole(steps, found)
            except (InputError, RefusedError, StateError):
                if not number:
                    raise
                return number
        return len(found)

    async def _described(
        self, task: Task, workspace: Workspace, number: int, before: Sequence[Sealable]
    ) -> Sealable:
        own = part_task(task, number)
        found = await self._operations(_action(own)).prepare(own, workspace)
        changes = [
            change
            for one in before
            if one.action != "run_command"
            for change in read_changes(one.payload)
        ]
        if found.action != "run_command" or not changes:
            return found
        base = await self._executor.base_after(workspace, changes, found.base)
        return replace(found, base=base)

    async def perform(
        self, task: Task, grant: Grant, workspace: Workspace, around: Performing
    ) -> Ended:
        """Do nothing where no step is covered; else a Grant is for one of them."""
        del task, workspace, around
        _check_empty(grant.seal)
        grant.spend()
        return Ended(Reason.COMPLETED, partial(say, GOES_ON))

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Say that nothing was to be done, where no step is covered; else one was cut off."""
        del workspace
        _check_empty(seal)
        return Ended(Reason.COMPLETED, partial(say, GOES_ON))


def steps_of(task: Task) -> Steps:
    """Return the steps that a task proposes.

    Raises:
        StateError: ``task.illegal-transition``: it proposes something else.
    """
    proposal = proposed_result(task).proposal
    if not isinstance(proposal, Steps):
        raise StateError("task.illegal-transition", current="proposal", wanted="steps")
    return proposal


def part_task(task: Task, number: int) -> Task:
    """Return a task as the operation of one of its steps reads it; another kind as it is."""
    result = proposed_result(task)
    if not isinstance(result.proposal, Steps):
        return task
    part = result.proposal.parts[number]
    own = {"proposal": part.proposal, "requires": LocalApproval(action=part.action)}
    return replace(task, proposal_json=result.model_copy(update=own).to_json())


def _check_together(steps: Steps, found: Sequence[Sealable]) -> None:
    conflict = find_conflict(_sealed(found))
    if conflict is None:
        return
    step, earlier = steps.parts[conflict.part].name, steps.parts[conflict.earlier].name
    code = "steps.command" if conflict.why == "command" else "steps.overlap"
    raise InputError(code, step=step, earlier=earlier, path=conflict.path)


def _whole(steps: Steps, found: Sequence[Sealable]) -> Sealable:
    """Return all that was found as one.

    Raises:
        InputError: ``steps.too-many``: no seal could hold it.
    """
    payload = steps_payload(
        run=steps.run,
        definition_sha256=steps.definition_sha256,
        indexes=[part.index for part in steps.parts[: len(found)]],
        parts=_sealed(found),
    )
    base = {path: sha256 for one in reversed(found) for path, sha256 in one.base.items()}
    if len(canonical(payload)) + len(canonical(base)) > _MAX_SEALED:
        raise InputError("steps.too-many", limit=len(found) - 1)
    return Sealable(
        action="steps",
        payload=payload,
        workspace=Place("", 0, 0),
        git_head=None,
        base=base,
        undo=_undo(found),
        discloses=tuple(dict.fromkeys(name for one in found for name in one.discloses)),
        parts=tuple(found),
    )


def _sealed(found: Sequence[Sealable]) -> Sequence[SealedPart]:
    return [SealedPart(one.action, one.payload, one.base) for one in found]


def _undo(parts: Sequence[Sealable]) -> Undoable:
    kinds: Mapping[Undoable, None] = dict.fromkeys(one.undo for one in parts)
    if not kinds:
        return "no"
    return next(iter(kinds)) if len(kinds) == 1 else "partly"


def _check_empty(seal: Seal) -> None:
    if seal.payload["steps"]:
        raise StateError("task.illegal-transition", current=seal.action, wanted="steps")


def _action(task: Task) -> str:
    needs = proposed_result(task).requires
    return needs.action if isinstance(needs, LocalApproval) else ""
