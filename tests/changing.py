"""Applying and undoing changes as an approved task does, without an engine: for tests below it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.clock import ManualClock
from common.ids import new_uuid
from common.seal import Action, Seal
from local_agent.actions.changes.perform import Applier, PreparedChange
from local_agent.actions.changes.settle import ChangeOutcome
from local_agent.actions.registry import ACTIONS, seal_bytes
from local_agent.safety.grant import Grant, _mint
from local_agent.store.blobs import Blobs
from local_agent.workspace.registry import Workspace
from tests.sealed import a_seal


@dataclass
class Changing:
    """One workspace, and what applies changes to it.

    Attributes:
        state: Where the blobs are kept; outside of the workspace.
    """

    workspace: Workspace
    state: Path
    clock: ManualClock = field(default_factory=ManualClock)

    @classmethod
    def at(cls, path: Path, state: Path, **facts: Any) -> Changing:
        """Return one for a folder."""
        new_uuid()  # its module reads files when it is first used: not on a test's loop
        return cls(Workspace(name="project", path=path.resolve(), **facts), state)

    @property
    def blobs(self) -> Blobs:
        """The blob store."""
        return Blobs(self.state / "blobs")

    @property
    def applier(self) -> Applier:
        """A fresh one, as after a restart."""
        return Applier(blobs=self.blobs, clock=self.clock)

    def seal(self, prepared: PreparedChange, **changes: Any) -> Seal:
        """Return what a person would approve, and keep the diff as the engine does."""
        self.blobs.put(prepared.diff)
        action: Action = "undo" if "undoes" in prepared.payload else "apply_diff"
        facts: dict[str, Any] = {
            "action": action,
            "payload": prepared.payload,
            "base": prepared.base,
            "workspace": prepared.workspace,
            "git_head": prepared.git_head,
            "undo": "yes",
            "discloses": ("file-list",),
        }
        return a_seal(self.clock, **facts | changes)

    def grant(self, seal: Seal) -> Grant:
        """Return the grant of an approved change, as the gate would mint it."""
        return _mint(seal_bytes(seal), ACTIONS)

    async def run(self, seal: Seal) -> ChangeOutcome:
        """Approve and run."""
        return await self.applier.run(self.grant(seal), workspace=self.workspace)

    async def apply(self, diff: bytes) -> tuple[Seal, ChangeOutcome]:
        """Prepare, approve and run a change."""
        seal = self.seal(await self.applier.prepare(self.workspace, diff))
        return seal, await self.run(seal)

    async def undo(self, done: Seal, *paths: str) -> tuple[Seal, ChangeOutcome]:
        """Prepare, approve and run the undo of a change, whole or of some of its files."""
        prepared = await self.applier.prepare_undo(
            self.workspace, done, paths=paths or None, short_id=done.short_id
        )
        seal = self.seal(prepared)
        return seal, await self.run(seal)
