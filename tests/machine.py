"""A machine in small: our directories, a home, a workspace, and the surroundings of commands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from common.clock import ManualClock
from common.home import Home
from common.ids import new_uuid
from local_agent.actions.registry import ACTIONS, seal_bytes
from local_agent.actions.run_command.perform import Executor, Outcome
from local_agent.actions.run_command.prepare import Prepared, Surroundings
from local_agent.safety.grant import Grant, _mint
from local_agent.sandbox.bubblewrap import Level
from local_agent.store.blobs import Blobs
from local_agent.workspace.registry import Workspace
from tests.sealed import a_seal


@dataclass(frozen=True)
class Machine:
    """Where everything lies."""

    root: Path
    around: Surroundings
    workspace: Workspace
    blobs: Blobs

    @property
    def path(self) -> Path:
        return self.workspace.path

    def executor(self, *secrets: str) -> Executor:
        return Executor(self.around, blobs=self.blobs, clock=ManualClock(), secrets=lambda: secrets)

    def program(self, name: str, text: str) -> Path:
        """Put an executable script into the workspace."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def with_workspace(self, **changes: Any) -> Machine:
        """Return the same machine with another entry in its registry."""
        return replace(self, workspace=replace(self.workspace, **changes))

    async def prepare(self, text: str, **facts: Any) -> Prepared:
        """Describe a command."""
        return await self.executor().prepare(self.workspace, text, **facts)

    def grant(self, prepared: Prepared, **changes: Any) -> Grant:
        """Return the grant of an approved command, as the gate would mint it."""
        facts = {
            "workspace": prepared.workspace,
            "payload": prepared.payload,
            "base": prepared.base,
        } | changes
        return _mint(seal_bytes(a_seal(ManualClock(), **facts)), ACTIONS)

    async def run(self, text: str, **facts: Any) -> Outcome:
        """Prepare, approve and run a command."""
        grant = self.grant(await self.prepare(text))
        return await self.executor().run(grant, workspace=self.workspace, **facts)


def build_machine(folder: Path, level: Level = "none") -> Machine:
    """Make a machine in a folder of a test."""
    root = folder.resolve()
    home = root / "home"
    path = home / "project"
    path.mkdir(parents=True)
    places = Home(root / "cb/config", root / "cb/state", root / "cb/run")
    for place in (places.config, places.state, places.run):
        place.mkdir(parents=True)
    new_uuid()  # its module reads files when it is first used: not on a test's loop
    return Machine(
        root=root,
        around=Surroundings(places, home=home, environ={}, level=level),
        workspace=Workspace(name="project", path=path),
        blobs=Blobs(places.state / "blobs"),
    )
