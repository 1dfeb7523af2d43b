"""Which files of a workspace may be read: one bounded walk by directory handles (R52).

What git ignores is left out as git would, so that build output does not fill every search.
Blocking; `local_agent.workspace.files` calls it in a thread.
"""

from __future__ import annotations

import os
import stat
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from common.clock import Clock
from local_agent.workspace import paths
from local_agent.workspace.git import is_ignored, open_repository

MAX_DEPTH: Final = 64
# What a workspace without git would otherwise drown in.
_HEAVY: Final = frozenset(
    ("node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".ruff_cache", "target")
)
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a workspace that may be read, and what was left out.

    Attributes:
        files: Relative paths, sorted.
        truncated: A limit was reached: there may be more.
        skipped: Count of files and folders that were not taken, by reason: ``denied``,
            ``ignored``, ``not-regular``, ``too-large``, ``unreadable``.
    """

    files: tuple[str, ...]
    truncated: bool
    skipped: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingLimits:
    """Bounds of one listing.

    Attributes:
        files: How many are listed.
        file_bytes: Larger files are left out.
        total_bytes: Of all that are listed.
    """

    files: int = 50_000
    file_bytes: int = 1024 * 1024
    total_bytes: int = 512 * 1024 * 1024


@dataclass(slots=True)
class Budget:
    """What a reader may still use, shared with whoever started its thread.

    Attributes:
        deadline: Monotonic seconds.
        stop: Set to end the work soon.
        truncated: Something was left out.
    """

    clock: Clock
    deadline: float
    stop: threading.Event = field(default_factory=threading.Event)
    truncated: bool = False

    def spent(self) -> bool:
        """Tell whether to stop now, and note that something is left out if so."""
        if self.stop.is_set() or self.clock.now().mono >= self.deadline:
            self.truncated = True
            return True
        return False


def list_files(
    workspace: Path, budget: Budget, limits: ListingLimits, *, deny: Sequence[str] = ()
) -> Listing:
    """Walk the workspace and return what may be read.

    Args:
        workspace: Real path.
        budget: Ends the walk early.
        limits: End it too.
        deny: The person's own deny patterns.

    Raises:
        InputError: ``path.missing``.
    """
    found: list[str] = []
    with paths.open_root(workspace, deny=deny) as root:
        walk = _Walk(ignores=Ignores(workspace), deny=root.deny, budget=budget, limits=limits)
        for path in walk.below(root.handle, ()):
            if len(found) >= limits.files or walk.size > limits.total_bytes:
                budget.truncated = True
                break
            found.append(path)
    return Listing(tuple(sorted(found)), budget.truncated, dict(walk.skipped))


@dataclass(slots=True)
class _Walk:
    ignores: Ignores
    deny: tuple[str, ...]
    budget: Budget
    limits: ListingLimits
    size: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def below(self, folder: int, parts: tuple[str, ...]) -> Iterator[str]:
        """Give the readable files of an open folder and of all folders in it."""
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
        if ".gitignore" in names and not _opens_at_once(folder):
            self.ignores.give_up()
        for name in names:
            if self.budget.spent():
                return
            here = (*parts, name)
            try:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                reason = self._refusal(here, status)
                if reason is not None:
                    self.skipped[reason] += 1
                elif stat.S_ISDIR(status.st_mode):
                    yield from self._into(folder, here)
                else:
                    self.size += status.st_size
                    yield "/".join(here)
            except OSError:
                self.skipped["unreadable"] += 1

    def _into(self, folder: int, parts: tuple[str, ...]) -> Iterator[str]:
        opened = os.open(parts[-1], _FOLDER, dir_fd=folder)
        try:
            yield from self.below(opened, parts)
        finally:
            os.close(opened)

    def _refusal(self, parts: tuple[str, ...], status: os.stat_result) -> str | None:
        is_folder = stat.S_ISDIR(status.st_mode)
        if not is_folder and not stat.S_ISREG(status.st_mode):
            return "not-regular"
        name = parts[-1]
        if not paths.is_plain(name) or paths.denied_part(name) or self._kept_out(parts):
            return "denied"
        path = "/".join(parts)
        if self.ignores.ignored(path, is_folder=is_folder):
            return "ignored"
        if is_folder:
            large = len(parts) >= MAX_DEPTH or len(path.encode()) > paths.MAX_PATH_BYTES
        else:
            large = status.st_size > self.limits.file_bytes
        return "too-large" if large else None

    def _kept_out(self, parts: tuple[str, ...]) -> bool:
        return bool(self.deny) and paths.is_denied(parts, self.deny)


def _opens_at_once(folder: int) -> bool:
    try:
        return stat.S_ISREG(os.stat(".gitignore", dir_fd=folder).st_mode)
    except OSError:
        return True  # a link that leads nowhere


class Ignores:
    """What git leaves out of a repository; tracked files are never left out."""

    def __init__(self, workspace: Path) -> None:
        self._repository = open_repository(workspace)
        self._tracked: set[str] = set()
        self._folders: set[str] = set()
        if self._repository is not None:
            self._tracked = {entry.path for entry in self._repository.index}
            for path in self._tracked:
                # From the inner to the outer, as long as there is a new one.
                while (path := path.rpartition("/")[0]) and path not in self._folders:
                    self._folders.add(path)

    def give_up(self) -> None:
        """Ask libgit2 nothing more: it would wait for ever."""
        self._repository = None

    def ignored(self, path: str, *, is_folder: bool) -> bool:
        if self._repository is None:
            return is_folder and path.rpartition("/")[2] in _HEAVY
        if path in (self._folders if is_folder else self._tracked):
            return False
        return is_ignored(self._repository, f"{path}/" if is_folder else path)
