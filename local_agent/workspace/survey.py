"""What a command starts from: the workspace's own files by content, for the seal (R24b).

Its own are the files that git would commit: tracked, or neither tracked nor ignored.  Where there
is no repository, all but the folders that builds and package managers fill.  What was read is kept
by identity, size and times, so that a second look reads only what has changed.

One walk also finds what the sandbox has to know of: repositories further down, and sockets.  Names
come from the file system and are not shown; nothing is followed.  Blocking.
"""

from __future__ import annotations

import hashlib
import os
import stat
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Final

from common.clock import Clock, SystemClock
from common.errors import InputError
from common.seal import SealedChange
from local_agent.workspace.git.opening import opens_at_once
from local_agent.workspace.listing import Ignores

MAX_ENTRIES: Final = 200_000  # of the workspace's own; and as many of those that are ignored
MAX_DEPTH: Final = 128
MAX_FILE_BYTES: Final = 16 * 1024 * 1024
MAX_BYTES: Final = 256 * 1024 * 1024  # read at the first look: of the smallest files
MAX_FOUND: Final = 64  # sockets
MAX_REPOSITORIES: Final = 256
MAX_KNOWN: Final = 50_000  # contents of one workspace that are remembered
# Keys of the base.  Where there is the second, not all was compared by content.
CONTENT: Final = "."
STAMPS: Final = "*"

# Folders of git's own that may hold any number of files; never sockets.
_MANY: Final = frozenset(("objects", "refs", "logs"))
_SETTLED_NS: Final = 2_000_000_000  # a file changed later than this ago may change in the same tick
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_Stamp = tuple[int, int, int, int, int]  # device, inode, size, mtime and ctime in ns


@dataclass(frozen=True, slots=True)
class Survey:
    """The state of one moment.

    Attributes:
        base: For the seal: under `CONTENT` the hash over names, modes and contents; under `STAMPS`,
            only where files are too large, or too much in all, the hash over names, sizes, times
            and inodes of those that were not read.
        files: How many of its own files the workspace has.
        unread: How many of them were not read.
        repositories: Relative paths of each ``.git`` but the workspace's own; not of those in
            ignored folders, which package managers fill and empty.
        sockets: Relative paths of sockets, at most 64.
        strangers: There may be more sockets than these.
    """

    base: Mapping[str, str]
    files: int
    unread: int
    repositories: tuple[str, ...]
    sockets: tuple[str, ...]
    strangers: bool


@dataclass(slots=True)
class _Found:
    """What a walk has come across."""

    files: list[tuple[str, os.stat_result]] = field(default_factory=list)
    repositories: list[str] = field(default_factory=list)
    sockets: list[str] = field(default_factory=list)
    own: int = 0
    ignored: int = 0
    closed: bool = False


class Surveyor:
    """Surveys workspaces, and remembers the contents that it has read.

    Args:
        clock: Tells which files have not changed for long enough to be remembered.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._known: dict[Path, dict[_Stamp, str]] = {}

    def survey(
        self,
        workspace: Path,
        *,
        whole: bool = False,
        after: Sequence[SealedChange] = (),
        anew: bool = False,
    ) -> Survey:
        """Return the state of a workspace now, or as it will be.

        Args:
            workspace: Real path.
            whole: All of its files are its own, as in a copy that we made; nothing is remembered.
            after: Changes that are to be made before; none of the rules what git ignores.
            anew: Read every file, whatever is remembered: what a process writes through shared
                memory shows in no time of a file before the system writes it back.

        Raises:
            InputError: ``workspace.too-deep``, ``workspace.too-many-files`` or
                ``workspace.too-many-repositories`` (limit): what lies behind could be no part of
                what is sealed, or could be written in a sandbox.
        """
        found = _Found()
        ignores = _Nothing() if whole else Ignores(workspace)
        _walk(workspace, ignores, found)
        coming = _foresee(found, after, ignores)
        known = {} if anew else self._known.get(workspace, {})
        settled = self._clock.now().wall_ms * 1_000_000 - _SETTLED_NS
        fresh: dict[_Stamp, str] = {}
        content, stamps, unread = hashlib.sha256(), hashlib.sha256(), 0
        most = _largest_read([status.st_size for _, status in found.files])
        for path, status in found.files:
            stamp = _stamp(status)
            sha256 = None
            if status.st_size <= most:
                sha256 = coming.get(path) or known.get(stamp) or _read(workspace / path, status)
            if sha256 is None:
                unread += 1
                stamps.update(_line(path, status, repr(stamp)))
                continue
            content.update(_line(path, status, sha256))
            if path in coming:
                continue
            if status.st_ctime_ns < settled and len(fresh) < MAX_KNOWN:
                fresh[stamp] = sha256
        if not (whole or after):
            self._known[workspace] = fresh
        base = {CONTENT: content.hexdigest()}
        if unread:
            base[STAMPS] = stamps.hexdigest()
        return Survey(
            base,
            len(found.files),
            unread,
            tuple(found.repositories),
            tuple(found.sockets[:MAX_FOUND]),
            strangers=found.closed or len(found.sockets) > MAX_FOUND,
        )


class _Nothing:
    """What is left out of a folder of ours: nothing."""

    def give_up(self) -> None:
        """Nobody else is asked anyway."""

    def ignored(self, path: str, *, is_folder: bool) -> bool:
        """Leave nothing out."""
        del path, is_folder
        return False


def own_files(workspace: Path) -> list[tuple[str, os.stat_result]]:
    """Return the workspace's own files with what each is.

    Args:
        workspace: Real path.

    Raises:
        InputError: as `Surveyor.survey`.
    """
    found = _Found()
    _walk(workspace, Ignores(workspace), found)
    return found.files


def _largest_read(sizes: list[int]) -> int:
    """Return up to which size files are read.

    By sizes alone, whatever is known already: two looks must choose the same.  And from the
    smallest on: what is large is data, and must not leave a script unread.
    """
    read = sorted(size for size in sizes if size <= MAX_FILE_BYTES)
    if sum(read) <= MAX_BYTES:
        return MAX_FILE_BYTES
    return read[bisect_right(list(accumulate(read)), MAX_BYTES)] - 1


def _walk(workspace: Path, ignores: Ignores | _Nothing, found: _Found) -> None:
    """Go through the workspace in one order, the same each time."""
    folders = [("", False, 0)]
    while folders:
        folder, foreign, depth = folders.pop()
        below = []
        # libgit2 would wait for ever for one that is a FIFO: before it is asked anything here.
        if not opens_at_once(workspace / folder / ".gitignore"):
            ignores.give_up()
        for entry in _entries(workspace / folder):
            path = folder + entry.name
            of_git = entry.name == ".git"
            if of_git and not foreign:
                _note_repository(path, found)
            is_folder = entry.is_dir(follow_symlinks=False)
            # In git's own folder only sockets are looked for, such as those of its fsmonitor.
            hidden = foreign or of_git or ignores.ignored(path, is_folder=is_folder)
            if _is_too_much(depth, found, hidden=hidden):
                continue
            if is_folder:
                found.closed = found.closed or _is_closed_to_us(entry)
                if not (hidden and _holds_many(path)):
                    below.append((f"{path}/", hidden, depth + 1))
            elif hidden:
                _note_socket(entry, path, found)
            else:
                _note(entry, path, found)
        folders += reversed(below)


def _is_too_much(depth: int, found: _Found, *, hidden: bool) -> bool:
    """Tell whether something ignored is not looked at any more; nothing of its own may be."""
    if hidden:
        found.ignored += 1
        too_much = found.ignored > MAX_ENTRIES or depth > MAX_DEPTH
        found.closed = found.closed or too_much
        return too_much
    found.own += 1
    if depth > MAX_DEPTH:
        raise InputError("workspace.too-deep", limit=MAX_DEPTH)
    if found.own > MAX_ENTRIES:
        raise InputError("workspace.too-many-files", limit=MAX_ENTRIES)
    return False


def _foresee(
    found: _Found, after: Sequence[SealedChange], ignores: Ignores | _Nothing
) -> dict[str, str]:
    """Put files in as changes will leave them; return the hashes of those that will be written."""
    if not after:
        return {}
    files = dict(found.files)
    coming: dict[str, str] = {}
    for change in after:
        if change.op in ("delete", "rename"):
            files.pop(change.old_path or change.path, None)
            coming.pop(change.old_path or change.path, None)
        if change.new_sha256 is None or not _is_own(change.path, files, ignores):
            continue
        mode = stat.S_IFREG | (0o755 if change.new_mode == "100755" else 0o644)
        files[change.path] = os.stat_result((mode, 0, 0, 1, 0, 0, change.size, 0, 0, 0))
        coming[change.path] = change.new_sha256
    found.files = sorted(files.items(), key=_place)
    return coming


def _is_own(path: str, files: Mapping[str, object], ignores: Ignores | _Nothing) -> bool:
    """Tell whether a file that will be there is one of the workspace's own."""
    if path in files:
        return True
    names = path.split("/")
    above = ("/".join(names[:end]) for end in range(1, len(names)))
    return not (
        any(ignores.ignored(one, is_folder=True) for one in above)
        or ignores.ignored(path, is_folder=False)
    )


def _place(file: tuple[str, object]) -> list[tuple[bool, str]]:
    """Return where the walk comes across a file: in each folder its files, then its folders."""
    *folders, name = file[0].split("/")
    return [*((True, one) for one in folders), (False, name)]


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return  # gone, or not ours to look into
    yield from found


def _is_closed_to_us(entry: os.DirEntry[str]) -> bool:
    """Tell whether a command could find in a folder, by name or after a chmod, what we do not."""
    if os.access(entry.path, os.R_OK | os.X_OK):
        return False
    try:
        ours = entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    except OSError:
        return False
    return ours or os.access(entry.path, os.X_OK)


def _holds_many(path: str) -> bool:
    *above, name = path.split("/")
    return name in _MANY and ".git" in above


def _note_repository(path: str, found: _Found) -> None:
    if path == ".git":
        return
    if len(found.repositories) >= MAX_REPOSITORIES:
        raise InputError("workspace.too-many-repositories", limit=MAX_REPOSITORIES)
    found.repositories.append(path)


def _note(entry: os.DirEntry[str], path: str, found: _Found) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return
    if stat.S_ISSOCK(status.st_mode):
        _note_socket(entry, path, found)
    else:
        found.files.append((path, status))


def _note_socket(entry: os.DirEntry[str], path: str, found: _Found) -> None:
    if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
        return
    try:
        is_socket = stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return
    if is_socket and len(found.sockets) <= MAX_FOUND:
        found.sockets.append(path)


def _stamp(status: os.stat_result) -> _Stamp:
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _line(path: str, status: os.stat_result, what: str) -> bytes:
    # What git keeps of a mode: its kind, and whether the owner may execute it.
    mode = stat.S_IFMT(status.st_mode) | (status.st_mode & stat.S_IXUSR)
    return b"%o %s %s\0" % (mode, what.encode(), os.fsencode(path))


def _read(path: Path, status: os.stat_result) -> str | None:
    """Return the hash of a content, or None where there is none to be read."""
    if stat.S_ISLNK(status.st_mode):
        try:
            return hashlib.sha256(os.fsencode(path.readlink())).hexdigest()
        except OSError:
            return None
    if not stat.S_ISREG(status.st_mode):
        return None
    try:
        with open(path, "rb", opener=lambda name, _: os.open(name, _OPEN)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return hashlib.sha256(file.read(MAX_FILE_BYTES + 1)).hexdigest()
    except OSError:
        return None
