"""What the engine hands its parts, and what it sees of the gate and of the workspaces.

The gate stands here without the method that decides: no part of the flow can name it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from common.home import Home

if TYPE_CHECKING:  # only named here: what waits for a task does not load who carries it out
    from common.seal import Seal
    from local_agent.flow.approvals import Decision, Notice, PendingApproval
    from local_agent.models.backend import Chosen
    from local_agent.playbooks.library import Found
    from local_agent.propose.coding import Lend
    from local_agent.safety.grant import Grant
    from local_agent.safety.risk import Circumstances
    from local_agent.workspace.registry import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWish:
    """What somebody asks to run.

    Attributes:
        gate_timeout_s: How long each question waits; over 0, at most 300.
        dry: Whether it acts on a copy of the workspace.
        answers: Of a dry run: what answers its questions (`local_agent.playbooks.answers`).
        inputs: Each as ``NAME=VALUE``; None where the message begins with them.
    """

    found: Found
    message: str
    client: str
    gate_timeout_s: float
    dry: bool = False
    answers: str | None = None
    inputs: Sequence[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mind:
    """What makes proposals that need a model.

    Attributes:
        choose: Gives the model that is asked, or None while none is configured.
        lend: Gives scratch copies.
    """

    choose: Callable[[], Chosen | None]
    lend: Lend


class Gate(Protocol):
    """The approval gate (`local_agent.flow.gate`), without the method that decides."""

    async def request(self, seal: Seal, *, around: Circumstances) -> PendingApproval:
        """Let a person be asked; an older question of the same task no longer stands."""
        ...

    async def wait(self, approval_id: str) -> Decision:
        """Return how it ended, once it has; also after a restart."""
        ...

    async def withdraw(self, task_id: str) -> None:
        """Take back what a task asks or was granted and has not used."""
        ...

    async def take_grant(self, approval_id: str, digest: str, *, part: int = 0) -> Grant:
        """Use an approval up, or begin its next part; the intent is on disk when this returns."""
        ...

    async def end_part(self, grant: Grant) -> None:
        """Record that a part completed; the one after it may be begun within a minute."""
        ...

    def block(self, why: str) -> AbstractContextManager[None]:
        """Accept no approval meanwhile; ``why`` is a code of `local_agent.flow.words.BLOCKED`."""
        ...

    def listen(self, listener: Callable[[Notice], None]) -> None:
        """Have everything told that happens to approvals."""
        ...


class Workspaces(Protocol):
    """The registry of workspaces (`local_agent.workspace.registry`).  Blocking."""

    def find(self, name: str | None = None) -> Workspace:
        """Return the named one, or the default.

        Raises:
            InputError: ``workspace.unknown`` or ``workspace.none``.
        """
        ...

    def at(self, path: str) -> Workspace | None:
        """Return the workspace of this real path, or None."""
        ...

    def copy(self, run_id: str, name: str) -> Workspace:
        """Return the copy of a workspace for a dry run (`local_agent.workspace.dry_runs`).

        Raises:
            InputError: ``copy.gone``; ``workspace.unknown``.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where an engine runs.

    Attributes:
        machine: The name people know this machine by.
        agent_id: Its id at its gateway; empty while it is not paired.
        places: Our own folders.
        sandbox: Level that the self-test at start proved: ``bubblewrap`` or ``none``.
        user: Who sits at this machine, for the record of what is begun in a window.
    """

    machine: str
    agent_id: str
    sandbox: str
    places: Home
    user: str = ""
