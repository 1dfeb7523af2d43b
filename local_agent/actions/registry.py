"""The actions: one row for each thing that a person can approve, by the seal's word for it.

Reading a seal and showing it needs no operation: the faces import this, and pay for no part that
carries out.  What does is imported by the row's ``make``, when the first task comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from common import seal as sealing
from common.seal import Seal
from local_agent.actions.apply_diff import card as apply_diff
from local_agent.actions.card import Card
from local_agent.actions.changes.payload import check_change, check_undo
from local_agent.actions.disclose import card as disclose
from local_agent.actions.disclose.payload import check_release
from local_agent.actions.git_sync import card as git_sync
from local_agent.actions.git_sync.payload import check_sync
from local_agent.actions.run_command import card as run_command
from local_agent.actions.run_command.payload import check_command
from local_agent.actions.steps import card as steps
from local_agent.actions.steps.payload import check_steps, sealed_parts
from local_agent.actions.undo import card as undo
from local_agent.safety.action_facts import ActionFacts, parts_of, read_known

if TYPE_CHECKING:
    from local_agent.actions.operation import Operation, Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(ActionFacts):
    """An action.

    Attributes:
        card: What an approver sees of it.
        make: Gives its operation.
    """

    card: Card
    make: Callable[[Parts], Operation]


def read_seal(raw: bytes) -> Seal:
    """Read a stored seal of any of the actions; as `common.seal.read_seal`."""
    return read_known(raw, ACTIONS)


def seal_bytes(seal: Seal) -> bytes:
    """Return the stored form of a seal of any of the actions; as `common.seal.seal_bytes`."""
    raw = sealing.seal_bytes(seal, {word: row.check_payload for word, row in ACTIONS.items()})
    parts_of(seal, ACTIONS)
    return raw


def make_operations(parts: Parts) -> Mapping[str, Operation]:
    """Return the operation of each action."""
    return {action: row.make(parts) for action, row in ACTIONS.items()}


def _run_command(parts: Parts) -> Operation:
    from local_agent.actions.run_command.action import RunCommand
    from local_agent.safety.authority import open_seal

    return RunCommand(
        find_approval=parts.find_approval,
        open_seal=partial(open_seal, known=ACTIONS),
        executor=parts.executors.executor,
        copies=parts.copies,
        default_test_command=parts.settings.default_test_command,
    )


def _apply_diff(parts: Parts) -> Operation:
    from local_agent.actions.apply_diff.action import ApplyDiff

    return ApplyDiff(
        applier=parts.executors.applier,
        blobs=parts.blobs,
        prefix=parts.settings.prefix,
        allowed=parts.settings.allow_apply_patch,
    )


def _undo(parts: Parts) -> Operation:
    from local_agent.actions.undo.action import UndoChange

    return UndoChange(
        applier=parts.executors.applier,
        find_applied=parts.find_applied,
        prefix=parts.settings.prefix,
    )


def _git_sync(parts: Parts) -> Operation:
    from local_agent.actions.git_sync.action import SyncGit

    return SyncGit(syncer=parts.executors.syncer)


def _steps(parts: Parts) -> Operation:
    from local_agent.actions.steps.action import RunSteps

    operations = cache(lambda action: ACTIONS[action].make(parts))
    return RunSteps(operations, parts.executors.executor)


def _disclose(parts: Parts) -> Operation:
    from local_agent.actions.disclose.action import Disclose

    return Disclose(blobs=parts.blobs)


ACTIONS: Final[Mapping[str, Row]] = {
    "run_command": Row(
        check_payload=check_command, card=run_command.CARD, reaches="processes", make=_run_command
    ),
    "apply_diff": Row(
        check_payload=check_change,
        card=apply_diff.CARD,
        reaches="files",
        undoable=True,
        make=_apply_diff,
    ),
    "undo": Row(
        check_payload=check_undo, card=undo.CARD, reaches="files", undoable=True, make=_undo
    ),
    "git_sync": Row(check_payload=check_sync, card=git_sync.CARD, reaches="remote", make=_git_sync),
    "disclose": Row(
        check_payload=check_release, card=disclose.CARD, reaches="chat", make=_disclose
    ),
    "steps": Row(
        check_payload=check_steps,
        card=steps.CARD,
        reaches="parts",
        parts=sealed_parts,
        make=_steps,
    ),
}
