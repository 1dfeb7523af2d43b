"""Committing and pushing as an approved task does, without an engine: for tests below it.

Repositories are made by libgit2; only the push itself is git's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pygit2
from pygit2.enums import ConfigLevel

from common.clock import ManualClock
from common.ids import new_uuid
from common.model.proposal import GitSync
from common.seal import Seal
from local_agent.actions.git_sync.perform import PreparedSync, Syncer, SyncOutcome
from local_agent.actions.git_sync.push import Pusher
from local_agent.actions.registry import ACTIONS, seal_bytes
from local_agent.safety.grant import Grant, _mint
from local_agent.store.blobs import Blobs
from local_agent.workspace.registry import Workspace
from tests.sealed import a_seal

WHO: Final = pygit2.Signature("Zhang", "zhang@example.com", 1_760_000_000, 0)
_LEVELS: Final = (ConfigLevel.GLOBAL, ConfigLevel.XDG, ConfigLevel.SYSTEM)


@contextmanager
def at_home(home: Path) -> Iterator[Path]:
    """Let libgit2 find the person's configuration in this home alone, as at a start with it."""
    before = {level: pygit2.settings.search_path[level] for level in _LEVELS}
    nowhere = home / "nowhere"
    for level in _LEVELS:
        pygit2.settings.search_path[level] = str(home if level == ConfigLevel.GLOBAL else nowhere)
    try:
        yield home
    finally:
        for level, places in before.items():
            pygit2.settings.search_path[level] = places


@dataclass
class Syncing:
    """A workspace whose branch main follows a bare repository on the disk.

    Attributes:
        home: The person's; its ``.gitconfig`` names them.
        environ: What the agent was started with besides.
    """

    root: Path
    workspace: Workspace
    home: Path
    clock: ManualClock = field(default_factory=ManualClock)
    environ: dict[str, str] = field(default_factory=dict)
    timeout_s: int = 20

    @classmethod
    def at(cls, root: Path) -> Syncing:
        """Make everything below a folder: one file, committed and pushed."""
        new_uuid()  # its module reads files when it is first used: not on a test's loop
        root = root.resolve()
        home = root / "home"
        home.mkdir(parents=True)
        (home / ".gitconfig").write_text(
            "[user]\n\tname = Zhang\n\temail = zhang@example.com\n", encoding="utf-8"
        )
        pygit2.init_repository(str(root / "remote.git"), bare=True, initial_head="main")
        pygit2.init_repository(str(root / "project"), initial_head="main")
        made = cls(root, Workspace(name="project", path=root / "project"), home)
        made.raw.remotes.create("origin", str(made.remote))
        made.commit({"a.py": "1\n"})
        made.follow()
        return made

    @property
    def path(self) -> Path:
        """The workspace."""
        return self.workspace.path

    @property
    def remote(self) -> Path:
        """The bare repository that is pushed to."""
        return self.root / "remote.git"

    @property
    def raw(self) -> pygit2.Repository:
        """The workspace's repository, freshly opened."""
        return pygit2.Repository(str(self.path))

    @property
    def blobs(self) -> Blobs:
        """The blob store."""
        return Blobs(self.root / "state" / "blobs")

    @property
    def scratch(self) -> Path:
        """Where clean repositories are made."""
        return self.root / "run" / "sync"

    @property
    def syncer(self) -> Syncer:
        """A fresh one, as after a restart."""
        return Syncer(
            scratch=self.scratch,
            blobs=self.blobs,
            pusher=Pusher(environ=self.environ, home=self.home),
            clock=self.clock,
            timeout_s=self.timeout_s,
        )

    # --- the person's hands

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files without telling git."""
        for name, text in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self, files: Mapping[str, str | bytes], message: str = "by hand\n") -> str:
        """Write files and commit everything there is."""
        self.write(files)
        raw = self.raw
        raw.index.add_all()
        raw.index.write()
        parents = [] if raw.head_is_unborn else [raw.head.target]
        return str(raw.create_commit("HEAD", WHO, WHO, message, raw.index.write_tree(), parents))

    def follow(self) -> None:
        """Push main and let it follow, as ``git push -u`` does."""
        raw = self.raw
        raw.remotes["origin"].push(["refs/heads/main"])
        raw.references.create("refs/remotes/origin/main", raw.head.target, force=True)
        raw.branches.local["main"].upstream = raw.branches.remote["origin/main"]

    def commit_there(self) -> str:
        """Let somebody else push a commit to the remote first."""
        there = pygit2.Repository(str(self.remote))
        tip = there.references["refs/heads/main"].target
        who = pygit2.Signature("Li", "li@example.com", 1_760_000_001, 0)
        tree = there[tip].peel(pygit2.Tree).id
        return str(there.create_commit("refs/heads/main", who, who, "theirs\n", tree, [tip]))

    def configure(self, **settings: str) -> None:
        """Set values of the workspace's own ``.git/config``; ``__`` stands for a dot."""
        config = self.raw.config
        for name, value in settings.items():
            config[name.replace("__", ".")] = value

    def configure_home(self, text: str) -> None:
        """Add lines to the person's own configuration."""
        with (self.home / ".gitconfig").open("a", encoding="utf-8") as file:
            file.write(text)

    # --- what was done

    @property
    def tip(self) -> str:
        """The commit that main is at here."""
        return str(self.raw.references["refs/heads/main"].target)

    @property
    def tip_there(self) -> str:
        """The commit that main is at in the remote."""
        there = pygit2.Repository(str(self.remote))
        return str(there.references["refs/heads/main"].target)

    def files_there(self, tip: str | None = None) -> dict[str, bytes]:
        """Return the files of a commit of the remote, of its main branch if none is named."""
        there = pygit2.Repository(str(self.remote))
        return dict(_files(there[tip or self.tip_there].peel(pygit2.Tree)))

    # --- a task

    async def prepare(self, message: str | None = "a change") -> PreparedSync:
        """Look up what would be done."""
        return await self.syncer.prepare(self.workspace, GitSync(message=message))

    def seal(self, prepared: PreparedSync, **changes: Any) -> Seal:
        """Return what a person would approve."""
        facts: dict[str, Any] = {
            "action": "git_sync",
            "payload": prepared.payload,
            "base": prepared.base,
            "workspace": prepared.workspace,
            "git_head": prepared.git_head,
            "discloses": ("file-list",),
        }
        return a_seal(self.clock, **facts | changes)

    def grant(self, seal: Seal) -> Grant:
        """Return the grant of an approved sync, as the gate would mint it."""
        return _mint(seal_bytes(seal), ACTIONS)

    async def run(self, seal: Seal) -> SyncOutcome:
        """Approve and run."""
        return await self.syncer.run(self.grant(seal), workspace=self.workspace)

    async def sync(self, message: str | None = "a change") -> SyncOutcome:
        """Prepare, approve and run."""
        return await self.run(self.seal(await self.prepare(message)))


def mark(path: Path, marks: Path) -> Path:
    """Write a program that leaves a mark with its own name when it runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    marks.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n: > "{marks}/{path.name}"\nexit 1\n', encoding="utf-8")
    os.chmod(path, 0o755)  # noqa: PTH101, S103  # a trap must be able to run
    return path


def _files(tree: pygit2.Tree, at: str = "") -> Iterator[tuple[str, bytes]]:
    for entry in tree:
        name = f"{at}{entry.name}"
        if isinstance(entry, pygit2.Tree):
            yield from _files(entry, f"{name}/")
        elif isinstance(entry, pygit2.Blob):
            yield name, entry.data
