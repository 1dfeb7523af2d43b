"""A workspace and its scratch copies, for tests; what nobody may change is compared afterwards."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from common.clock import Clock
from common.home import Home
from local_agent.propose.scratch import ScratchCopy, Scratches
from local_agent.propose.scratch.diffing import ScratchDiff
from local_agent.workspace.listing import ListingLimits
from local_agent.workspace.registry import Workspace

Snapshot = Mapping[str, tuple[int, int, int, bytes]]


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files with the folders above them."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def snapshot(folder: Path) -> Snapshot:
    """Return mode, times and content of all that lies in a folder."""
    found = {}
    for above, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(above) / name
            status = path.lstat()
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            times = status.st_mtime_ns, status.st_ctime_ns
            found[str(path.relative_to(folder))] = (status.st_mode, *times, content)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of every file in a folder, by relative path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@dataclass(frozen=True)
class Borrowed:
    """A copy in the hands of a test."""

    copy: ScratchCopy
    runner: asyncio.Runner

    @property
    def root(self) -> Path:
        """The folder."""
        return self.copy.root

    def inside(self, path: str | Path) -> str:
        """Return the relative name of a path."""
        return self.copy.inside(path)

    def read(self, path: str) -> bytes | None:
        """Return a file."""
        return self.copy.read(path)

    def write(self, path: str, content: bytes) -> None:
        """Write a file."""
        self.copy.write(path, content)

    def delete(self, path: str) -> None:
        """Remove a file."""
        self.copy.delete(path)

    def diff(self) -> ScratchDiff:
        """Return what became of it."""
        return self.runner.run(self.copy.diff())


@dataclass
class Lending:
    """A workspace, and who lends copies of it."""

    top: Path
    files: Mapping[str, str | bytes]
    deny: tuple[str, ...] = ()
    limits: ListingLimits | None = None
    clock: Clock | None = None
    scratches: Scratches = field(init=False)

    def __post_init__(self) -> None:
        self.path.mkdir()
        write_files(self.path, self.files)
        self.restart()

    @property
    def path(self) -> Path:
        """The workspace."""
        return self.top / "workspace"

    @property
    def state(self) -> Path:
        """Where copies lie."""
        return self.top / "state" / "scratch"

    @property
    def workspace(self) -> Workspace:
        """The workspace, as it is registered."""
        return Workspace(name="ours", path=self.path, deny=self.deny)

    def restart(self) -> None:
        """Go on as an agent that was started anew."""
        home = Home(self.top / "config", self.top / "state", self.top / "run")
        self.scratches = Scratches(home, clock=self.clock, limits=self.limits)

    @contextmanager
    def lend(self, *, whole: bool = True, redacted: bool = False) -> Iterator[Borrowed]:
        """Lend a copy to a test that blocks, as a backend's threads do."""
        with asyncio.Runner() as runner:
            lending = self.scratches.lend(self.workspace, whole=whole, redacted=redacted)
            copy = runner.run(_entered(lending))
            try:
                yield Borrowed(copy, runner)
            finally:
                runner.run(_left(lending))


async def _entered(lending: AbstractAsyncContextManager[ScratchCopy]) -> ScratchCopy:
    return await lending.__aenter__()


async def _left(lending: AbstractAsyncContextManager[ScratchCopy]) -> None:
    await lending.__aexit__(None, None, None)
