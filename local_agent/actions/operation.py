"""What the engine needs to know of each kind of thing that a person approves.

    prepare ─▶ (sealed, shown, approved) ─▶ run        settle: after a restart in the middle of it

One class for each action: commands, changes, undo, git sync.  How they are asked for, decided and
recorded is the same for all and stands once, in `local_agent.flow.approving`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from common.diff.model import DiffModel
from common.errors import InputError
from common.model.proposal import TaskResult
from common.model.state import Reason
from common.seal import Action, Seal, Undo
from common.seal_payloads import Place
from common.sentences import Words
from local_agent.flow.run import Run
from local_agent.safety.grant import Grant
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

MAX_NAMED: Final = 5  # unknown paths in an error


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealable:
    """Something that would be done, described so that it can be sealed and judged.

    Attributes:
        payload: As `common.seal_payloads` writes it for the action.
        discloses: What a remote requester is told afterwards.
        allowed: Commands that the person configured for this workspace, as argv lists.
        diff: What the payload's diff says, for judging the risk.
        moved: How many of its blocks stand elsewhere in the files than their author said.
    """

    action: Action
    payload: Mapping[str, Any]
    workspace: Place
    git_head: str | None
    base: Mapping[str, str]
    undo: Undo
    discloses: tuple[str, ...]
    allowed: Collection[Sequence[str]] = ()
    diff: DiffModel | None = None
    moved: int = 0


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended.

    Attributes:
        summary: For the chat.
        here: The words for this machine, where they are others than the chat's.
        did: What it did, as facts for this machine alone.
    """

    reason: Reason
    summary: Words
    here: Words | None = None
    did: Mapping[str, Any] | None = None


def check_known(keep: Collection[str], known: Collection[str]) -> None:
    """Require that an operation has all the parts that are to be kept.

    Raises:
        InputError: ``approval.narrow`` with ``why`` ``unknown`` and the ``paths`` it has not.
    """
    if unknown := sorted(set(keep).difference(known)):
        raise InputError("approval.narrow", why="unknown", paths=", ".join(unknown[:MAX_NAMED]))


class Operation(Protocol):
    """One kind of action."""

    async def prepare(self, task: Task, workspace: Workspace) -> Sealable:
        """Describe what was proposed as it would be done now; nothing is touched.

        Raises:
            CodexBridgeError: it cannot be done as proposed.
        """
        ...

    async def run(self, task: Task, run: Run, grant: Grant, workspace: Workspace) -> Ended:
        """Spend the grant: do exactly what was sealed, or nothing."""
        ...

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Say what came of it when it was cut off, from what can be proved afterwards (P3)."""
        ...

    async def narrowed(self, result: TaskResult, keep: tuple[str, ...]) -> TaskResult:
        """Return the proposal with these files alone.

        Raises:
            InputError: ``approval.narrow``: it has no parts, or names none of them.
        """
        ...
