"""Which files of a workspace may be read: one bounded walk by directory handles (R52).

What git ignores is left out as git would, so that build output does not fill every search.  Folders
that did not change since the last walk are not read again (`local_agent.workspace.remembered`).
Blocking; `local_agent.workspace.files` calls it in a thread.
"""

from __future__ import annotations

import os
import stat
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.clock import Clock
from local_agent.workspace import paths
from local_agent.workspace.git.opening import named_by
from local_agent.workspace.git.repository import index_of, is_ignored, open_repository
from local_agent.workspace.remembered import (
    Folder,
    Memory,
    Stamp,
    is_settled,
    own_turn,
    stamp_at,
    stamp_of,
)

if TYPE_CHECKING:
    import pygit2

MAX_DEPTH: Final = 64
# What a workspace without git would otherwise drown in.
HEAVY: Final = frozenset(
    ("node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".ruff_cache", "target")
)
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OFTEN: Final = 256  # entries between two looks at the clock
_IGNORE: Final = ".gitignore"
# Of a repository: what decides, beside each `.gitignore`, what is ignored.
_DECIDING: Final = ("index", "config", "config.worktree", "info/exclude")
_MEMORY: Final[Memory[Folder]] = Memory()


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a workspace that may be read, and what was left out.

    Attributes:
        files: Relative paths, sorted.
        truncated: A limit was reached: there may be more.
        skipped: Count of files and folders that were not taken, by reason: ``denied``,
            ``ignored``, ``not-regular``, ``too-large``, ``unreadable``.
        near_large: Whether one of the folders that were looked into held a file that is larger
            than may be listed, when it was read; True where that is not known.
    """

    files: tuple[str, ...]
    truncated: bool
    skipped: Mapping[str, int]
    near_large: bool = True


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
    workspace: Path,
    budget: Budget,
    limits: ListingLimits,
    *,
    deny: Sequence[str] = (),
    memory: Memory[Folder] = _MEMORY,
) -> Listing:
    """Walk the workspace and return what may be read.

    Args:
        workspace: Real path.
        budget: Ends the walk early.
        limits: End it too.
        deny: The person's own deny patterns.
        memory: Of earlier walks.

    Raises:
        InputError: ``path.missing``.
    """
    with own_turn(), paths.open_root(workspace, deny=deny) as root:
        ignores = Ignores(workspace)
        now, rules = budget.clock.now(), (root.deny, ignores.stamps())
        known, since = memory.recall(workspace, rules, now.mono)
        walk = _Walk(root, ignores, budget, limits, known)
        walk.into("", fresh=False)
    settled = all(stamp is None or is_settled(stamp, now.wall_ms) for stamp in rules[1])
    if settled and not budget.truncated and not ignores.given_up:
        memory.keep(workspace, rules, walk.seen, since)
    near_large = budget.truncated or walk.largest > limits.file_bytes
    return Listing(tuple(sorted(walk.found)), budget.truncated, dict(walk.skipped), near_large)


@dataclass(slots=True)
class _Walk:
    root: paths.Root
    ignores: Ignores
    budget: Budget
    limits: ListingLimits
    known: Mapping[str, Folder]
    found: list[str] = field(default_factory=list)
    seen: dict[str, Folder] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    size: int = 0
    largest: int = 0

    def into(self, path: str, *, fresh: bool) -> None:
        """Take in the readable files of a folder and of all folders in it.

        Args:
            fresh: What is remembered does not count, for what is ignored above has changed.
        """
        if self.budget.spent():
            return
        known = self.known.get(path)
        try:
            if known is None or fresh or not self._stands(path, known):
                folder = self._read(path)
            else:
                folder = self.seen[path] = known
        except OSError:
            self.skipped["unreadable"] += 1
            return
        fresh = fresh or known is None or known.ignore != folder.ignore
        if folder.skipped:
            self.skipped.update(folder.skipped)
        self._take(folder)
        before = f"{path}/" if path else ""
        for name in folder.below:
            if self.budget.truncated:
                return
            self.into(before + name, fresh=fresh)

    def _take(self, folder: Folder) -> None:
        fits = len(self.found) + len(folder.files) <= self.limits.files
        small = folder.largest <= self.limits.file_bytes
        self.largest = max(self.largest, folder.largest)
        if fits and small and self.size + folder.total <= self.limits.total_bytes:
            self.found += folder.files
            self.size += folder.total
            return
        for path, size in zip(folder.files, folder.sizes, strict=True):
            if self.budget.truncated:
                return
            if size <= self.limits.file_bytes or self._is_small(path):
                self._add(path, size)
            else:
                self.skipped["too-large"] += 1

    def _add(self, path: str, size: int) -> None:
        # In the order of names, so that a limit cuts at the same place every time.
        self.size += size
        if len(self.found) >= self.limits.files or self.size > self.limits.total_bytes:
            self.budget.truncated = True
        else:
            self.found.append(path)

    def _is_small(self, path: str) -> bool:
        # Its folder tells nothing of a file that became shorter.
        try:
            status = os.stat(path, dir_fd=self.root.handle, follow_symlinks=False)
        except OSError:
            return False
        return status.st_size <= self.limits.file_bytes

    def _stands(self, path: str, known: Folder) -> bool:
        """Tell whether a folder still holds what is remembered of it."""
        status = os.stat(path or ".", dir_fd=self.root.handle, follow_symlinks=False)
        if stamp_of(status) != known.stamp:
            return False
        ignore = f"{path}/{_IGNORE}" if path else _IGNORE
        return known.ignore is None or stamp_at(ignore, self.root.handle) == known.ignore

    def _read(self, path: str) -> Folder:
        now_ms = self.budget.clock.now().wall_ms
        parts = tuple(path.split("/")) if path else ()
        handle = self._open(parts)
        try:
            folder = self._scan(handle, parts, stamp_of(os.fstat(handle)))
        finally:
            os.close(handle)
        stamps = (folder.stamp, *([folder.ignore] if folder.ignore else ()))
        if all(is_settled(stamp, now_ms) for stamp in stamps):
            self.seen[path] = folder
        return folder

    def _open(self, parts: tuple[str, ...]) -> int:
        handle = os.dup(self.root.handle)
        for part in parts:
            try:
                below = os.open(part, _FOLDER, dir_fd=handle)
            finally:
                os.close(handle)
            handle = below
        return handle

    def _scan(self, handle: int, parts: tuple[str, ...], stamp: Stamp) -> Folder:
        with os.scandir(handle) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
            ignore = None
            if any(entry.name == _IGNORE for entry in found):
                if not _opens_at_once(handle):
                    self.ignores.give_up()
                ignore = stamp_at(_IGNORE, handle)
            files: list[tuple[str, int]] = []
            below: list[str] = []
            skipped: Counter[str] = Counter()
            largest = 0
            before = "/".join((*parts, ""))
            for number, entry in enumerate(found):
                if number % _OFTEN == 0 and self.budget.spent():
                    break
                judged = self._judge(entry, before, parts)
                if judged is None:
                    below.append(entry.name)
                elif isinstance(judged, str):
                    skipped[judged] += 1
                    largest = max(largest, _size_of(entry))
                else:
                    files.append((before + entry.name, judged))
        names, sizes = tuple(path for path, _ in files), tuple(size for _, size in files)
        largest = max(largest, *sizes) if sizes else largest
        return Folder(stamp, names, sizes, sum(sizes), largest, tuple(below), skipped, ignore)

    def _judge(
        self, entry: os.DirEntry[str], before: str, parts: tuple[str, ...]
    ) -> int | str | None:
        """Return the size of a file, None for a folder, or why it is left out."""
        name, path = entry.name, before + entry.name
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return "unreadable"
        is_folder = stat.S_ISDIR(status.st_mode)
        if not is_folder and not stat.S_ISREG(status.st_mode):
            return "not-regular"
        if not paths.is_plain(name) or paths.denied_part(name):
            return "denied"
        if self.root.deny and paths.matches((*parts, name), self.root.deny):
            return "denied"
        if self.ignores.ignored(path, is_folder=is_folder):
            return "ignored"
        if not is_folder:
            return status.st_size
        deep = len(parts) + 1 >= MAX_DEPTH or len(path.encode()) > paths.MAX_PATH_BYTES
        return "too-large" if deep else None


def _size_of(entry: os.DirEntry[str]) -> int:
    """Return the bytes of a file as they were when it was judged; 0 of what is none."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _opens_at_once(folder: int) -> bool:
    try:
        return stat.S_ISREG(os.stat(_IGNORE, dir_fd=folder).st_mode)
    except OSError:
        return True  # a link that leads nowhere


class Ignores:
    """What git leaves out of a repository; tracked files are never left out.

    The repository is opened at the first question: a walk that remembers everything asks none.

    Attributes:
        given_up: Nothing is asked of libgit2 any more; there may have been a repository.
    """

    def __init__(self, workspace: Path, *, heavy: frozenset[str] = HEAVY) -> None:
        self._workspace = workspace
        self._heavy = heavy  # folders that are left out where there is no repository
        self._supposed = False  # that there is one, for its folder is there
        self.given_up = False

    def stamps(self) -> tuple[Stamp | None, ...]:
        """Return what changes when something else is tracked, or ignored by the repository."""
        plain = self._stamps_in(f"{self._workspace}/.git/")
        if plain[_DECIDING.index("config")] is not None:
            self._supposed = True
            return plain
        if self._repository is None:
            return ()
        folder = self._repository.path
        # What several work trees share stands in another one.
        shared = map(str, named_by(Path(folder, "commondir")))
        return tuple(stamp for one in (folder, *shared) for stamp in self._stamps_in(f"{one}/"))

    def _stamps_in(self, folder: str) -> tuple[Stamp | None, ...]:
        return tuple(stamp_at(folder + name) for name in _DECIDING)

    @cached_property
    def _repository(self) -> pygit2.Repository | None:
        repository = open_repository(self._workspace)
        # What is not ignored for want of a repository may be once its other files are mended.
        self.given_up = repository is None and self._supposed
        return repository

    def give_up(self) -> None:
        """Ask libgit2 nothing more: it would wait for ever."""
        self._repository = None
        self.given_up = True

    def ignored(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether a path is left out."""
        tracked, folders = self._tracked
        if self._repository is None:
            return is_folder and path.rpartition("/")[2] in self._heavy
        if path in (folders if is_folder else tracked):
            return False
        return is_ignored(self._repository, f"{path}/" if is_folder else path)

    def leaves_out(self, path: str) -> bool:
        """Tell whether a file is left out, or a folder that it is in."""
        names = path.split("/")
        above = ("/".join(names[:end]) for end in range(1, len(names)))
        return any(self.ignored(one, is_folder=True) for one in above) or (
            self.ignored(path, is_folder=False)
        )

    @cached_property
    def _tracked(self) -> tuple[set[str], set[str]]:
        """Return the files that are tracked, and the folders that hold some."""
        entries = index_of(self._repository) if self._repository is not None else ()
        if entries is None:
            self.give_up()
        tracked = {entry.path for entry in entries or ()}
        return tracked, folders_of(tracked)


def folders_of(files: Iterable[str]) -> set[str]:
    """Return all folders that these files are in."""
    found: set[str] = set()
    for path in files:
        # From the inner to the outer, as long as there is a new one.
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return found
