"""What the actions need of the parts that carry them out, as Protocols: fakes in tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # only named here: what waits for a task does not load who carries it out
    from common.model.proposal import GitSync
    from common.seal import Seal
    from local_agent.actions.changes.perform import ChangeOutcome, PreparedChange
    from local_agent.actions.git_sync.perform import PreparedSync, SyncOutcome
    from local_agent.actions.run_command.perform import Outcome, Progress
    from local_agent.actions.run_command.prepare import Copy, Prepared
    from local_agent.actions.undo.action import FindApplied
    from local_agent.safety.grant import Grant
    from local_agent.settings import AgentSettings
    from local_agent.store.approvals import StoredApproval
    from local_agent.workspace.git.preflight import SyncPlan
    from local_agent.workspace.registry import Workspace


class Executor(Protocol):
    """The executor of commands (`local_agent.actions.run_command.perform`)."""

    async def prepare(
        self, workspace: Workspace, text: str, *, copy: Copy | None = None
    ) -> Prepared:
        """Describe a command given as text, on the workspace or on a copy; nothing is run."""
        ...

    async def run(
        self,
        grant: Grant,
        *,
        workspace: Workspace,
        on_progress: Callable[[Progress], None] | None = None,
        cancel: asyncio.Event | None = None,
    ) -> Outcome:
        """Spend the grant: run exactly what was sealed, or nothing."""
        ...


class Copies(Protocol):
    """Copies of workspaces with a change in them (`local_agent.actions.run_command.copies`)."""

    async def make(self, task_id: str, workspace: Workspace, seal: Seal) -> Copy:
        """Return a fresh copy for a task, with the change of a seal made in it."""
        ...

    async def remove(self, task_id: str) -> None:
        """Remove the copy of a task."""
        ...

    async def clear(self, *, keep: Collection[str]) -> None:
        """Remove all copies but those of these tasks."""
        ...


class Applier(Protocol):
    """Changes files (`local_agent.actions.changes.perform`)."""

    async def prepare(self, workspace: Workspace, diff: bytes) -> PreparedChange:
        """Check a diff against the files; nothing is touched."""
        ...

    async def prepare_undo(
        self,
        workspace: Workspace,
        seal: Seal,
        *,
        paths: tuple[str, ...] | None,
        short_id: str,
        whole: bool = True,
    ) -> PreparedChange:
        """Compute the reverse of an applied change; nothing is touched."""
        ...

    async def run(self, grant: Grant, *, workspace: Workspace) -> ChangeOutcome:
        """Spend the grant: write exactly what was sealed, or nothing."""
        ...

    async def settle(self, seal: Seal, workspace: Workspace) -> ChangeOutcome:
        """Find out, or bring about, how a write that was cut off ended."""
        ...


class Syncer(Protocol):
    """Commits and pushes (`local_agent.actions.git_sync.perform`)."""

    async def plan(self, workspace: Workspace, message: str | None) -> SyncPlan:
        """Look up what would be committed and pushed; nothing is touched."""
        ...

    async def prepare(self, workspace: Workspace, proposal: GitSync) -> PreparedSync:
        """Look at the repository; nothing is touched."""
        ...

    async def run(
        self, grant: Grant, *, workspace: Workspace, cancel: asyncio.Event | None = None
    ) -> SyncOutcome:
        """Spend the grant: commit and push exactly what was sealed, or nothing."""
        ...

    async def settle(self, seal: Seal, workspace: Workspace) -> SyncOutcome:
        """Say what can be proved of a sync that was cut off."""
        ...


class Blobs(Protocol):
    """Exact bytes under their hash (`local_agent.store.blobs`).  Blocking."""

    def put(self, data: bytes) -> str:
        """Store the bytes and return their name."""
        ...

    def get(self, name: str) -> bytes:
        """Return the bytes of that name."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Executors:
    """What carries out what was approved, each for its kind of action."""

    executor: Executor
    applier: Applier
    syncer: Syncer


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What operations are made from.

    Attributes:
        find_approval: Gives an approval by its own id.
        find_applied: Gives the seal of what a task applied.
    """

    executors: Executors
    copies: Copies
    blobs: Blobs
    find_approval: Callable[[str], Awaitable[StoredApproval]]
    find_applied: FindApplied
    settings: AgentSettings
