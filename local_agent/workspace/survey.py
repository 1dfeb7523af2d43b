"""What a command starts from: the workspace's own files by content, for the seal (R24b).

Its own are the files that git would commit: tracked, or neither tracked nor ignored; and of git's
own folder what git runs or obeys.  Where there is no repository, all but the folders that package
managers fill.  What was read is kept by identity, size and times, so that a second look reads only
what has changed.  What cannot be read ends the look; what is left out is named to the approver, and
compared all the same where a command names it or an earlier step wrote it (ADR 42).

One walk also finds what the sandbox has to know of: repositories further down, and sockets.  Names
come from the file system and are not shown; nothing is followed.  Blocking.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Final

from common.clock import Clock, SystemClock
from common.errors import InputError
from common.seal import Seal, SealedChange
from local_agent.workspace.git.opening import opens_at_once
from local_agent.workspace.listing import HEAVY, Ignores

MAX_ENTRIES: Final = 200_000  # of the workspace's own; and as many of those that are ignored
MAX_DEPTH: Final = 128
MAX_FILE_BYTES: Final = 16 * 1024 * 1024
MAX_BYTES: Final = 256 * 1024 * 1024  # read at the first look: of the smallest files
MAX_FOUND: Final = 64  # sockets
MAX_REPOSITORIES: Final = 256
MAX_KNOWN: Final = 50_000  # contents of one workspace that are remembered
MAX_NAMED_BYTES: Final = 64 * 1024 * 1024  # of a file that a command names
MAX_UNCOMPARED: Final = 4  # names of what is left out, for the approver
# Keys of the base beside paths.  Where there is the second, not all was compared by content.
CONTENT: Final = "."
STAMPS: Final = "*"
ABSENT: Final = "absent"

_OWN, _GITS, _IGNORED = range(3)  # whose a folder is
# Folders of git's own that may hold any number of files; never sockets.
_MANY: Final = frozenset(("objects", "refs", "logs"))
_CONFIGS: Final = ("config", "config.worktree")
# Somebody else chose these names: none may read as a sentence (R26).
_PLAIN: Final = re.compile(r"[\w.@+-]{1,40}", re.ASCII)
# Nobody writes a program into one of these by hand, as they may into a folder called "target".
_FILLED: Final = HEAVY - {"target"}
_GONE: Final = (errno.ENOENT, errno.ENOTDIR)
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
        own: Paths of its own files that were compared by content.
        unread: How many of them were not read.
        uncompared: Names of what is left out, for people: some of them, then ``…``.
        repositories: Relative paths of each ``.git`` but the workspace's own; not of those in
            ignored folders, which package managers fill and empty.
        sockets: Relative paths of sockets, at most 64.
        strangers: There may be more sockets than these.
    """

    base: Mapping[str, str]
    own: frozenset[str]
    unread: int
    uncompared: tuple[str, ...]
    repositories: tuple[str, ...]
    sockets: tuple[str, ...]
    strangers: bool

    def beside(
        self, workspace: Path, named: Iterable[str], sealed: Seal | None
    ) -> tuple[Mapping[str, str], tuple[str, ...]]:
        """Return the base with a line for each file that a command names, and what is left out.

        Args:
            workspace: Real path.
            named: Paths, relative to it or absolute.
            sealed: What was approved, if it was: what that has a line for is looked at again, and
                what it says to be left out is what the approver saw.

        Raises:
            InputError: ``workspace.unreadable`` (path).
        """
        known = paths_in(sealed.base) if sealed else set()
        apart, large = _read_named(workspace, {*named, *known} - self.own)
        left_out = (*large, *self.uncompared)
        shown = sealed.payload.get("uncompared", ()) if sealed else left_out
        return {**self.base, **apart}, tuple(shown)


@dataclass(slots=True)
class _Found:
    """What a walk has come across."""

    files: list[tuple[str, os.stat_result]] = field(default_factory=list)
    repositories: list[str] = field(default_factory=list)
    sockets: list[str] = field(default_factory=list)
    uncompared: dict[str, None] = field(default_factory=dict)
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
            after: Changes that are to be made before, also where git ignores it; none of the rules.
            anew: Read every file, whatever is remembered: what a process writes through shared
                memory shows in no time of a file before the system writes it back.

        Raises:
            InputError: ``workspace.too-deep``, ``workspace.too-many-files`` or
                ``workspace.too-many-repositories`` (limit), ``workspace.unreadable`` (path): what
                lies behind could be no part of what is sealed, or could be written in a sandbox.
        """
        found = _Found()
        ignores = Ignores(workspace, heavy=frozenset() if whole else _FILLED)
        if whole:
            ignores.give_up()  # nothing is left out of a folder of ours
        _walk(workspace, ignores, found)
        coming, apart = _foresee(found, after, ignores)
        known = {} if anew else self._known.get(workspace, {})
        settled = self._clock.now().wall_ms * 1_000_000 - _SETTLED_NS
        fresh: dict[_Stamp, str] = {}
        content, stamps, own, unread = hashlib.sha256(), hashlib.sha256(), set(), 0
        most = _largest_read([status.st_size for _, status in found.files])
        for path, status in found.files:
            stamp = _stamp(status)
            sha256 = None
            if status.st_size <= most:
                sha256 = coming.get(path) or known.get(stamp) or _read(workspace, path, status)
            if sha256 is None:
                unread += 1
                stamps.update(_line(path, status, repr(stamp)))
                continue
            content.update(_line(path, status, sha256))
            own.add(path)
            if path not in coming and status.st_ctime_ns < settled and len(fresh) < MAX_KNOWN:
                fresh[stamp] = sha256
        if not (whole or after):
            self._known[workspace] = fresh
        base = {**apart, CONTENT: content.hexdigest()}
        if unread:
            base[STAMPS] = stamps.hexdigest()
        return Survey(
            base,
            frozenset(own),
            unread,
            _named_to_people(found.uncompared),
            tuple(found.repositories),
            tuple(found.sockets[:MAX_FOUND]),
            strangers=found.closed or len(found.sockets) > MAX_FOUND,
        )


def own_files(workspace: Path) -> list[tuple[str, os.stat_result]]:
    """Return the workspace's own files with what each is.

    Args:
        workspace: Real path.

    Raises:
        InputError: as `Surveyor.survey`.
    """
    found = _Found()
    _walk(workspace, Ignores(workspace, heavy=_FILLED), found)
    return [file for file in found.files if ".git" not in file[0].split("/")]


def _read_named(workspace: Path, paths: Iterable[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return what the base has of files by their paths, and which are too large to be read.

    Args:
        workspace: Real path.
        paths: Relative to it, or absolute.

    Raises:
        InputError: ``workspace.unreadable`` (path).
    """
    found, large = {}, []
    for path in sorted(paths):
        key = f"./{path}" if path == STAMPS else path
        found[key] = ABSENT
        try:
            with open(workspace / path, "rb", opener=_follow) as file:
                status = os.fstat(file.fileno())
                if status.st_size > MAX_NAMED_BYTES:
                    large.append(path.rpartition("/")[2])
                    found[key] = hashlib.sha256(repr(_stamp(status)).encode()).hexdigest()
                elif stat.S_ISREG(status.st_mode):
                    found[key] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            if error.errno not in (*_GONE, errno.ELOOP, errno.EISDIR, errno.ENXIO):
                raise InputError("workspace.unreadable", path=path) from None
    return found, _named_to_people(large)


def paths_in(base: Mapping[str, str]) -> set[str]:
    """Return the paths that a base of a command has a line of its own for."""
    return {path.removeprefix("./") for path in base if path not in (CONTENT, STAMPS)}


def _largest_read(sizes: list[int]) -> int:
    """Return up to which size files are read.

    By sizes alone, whatever is known already: two looks must choose the same.  And from the
    smallest on: what is large is data, and must not leave a script unread.
    """
    read = sorted(size for size in sizes if size <= MAX_FILE_BYTES)
    if sum(read) <= MAX_BYTES:
        return MAX_FILE_BYTES
    return read[bisect_right(list(accumulate(read)), MAX_BYTES)] - 1


def _walk(workspace: Path, ignores: Ignores, found: _Found) -> None:
    """Go through the workspace in one order, the same each time."""
    folders = [("", _OWN, 0)]
    while folders:
        folder, above, depth = folders.pop()
        below = []
        # libgit2 would wait for ever for one that is a FIFO: before it is asked anything here.
        if not opens_at_once(workspace / folder / ".gitignore"):
            ignores.give_up()
        for entry in _entries(workspace, folder, is_own=above != _IGNORED):
            path = folder + entry.name
            of_git = entry.name == ".git"
            if of_git and above == _OWN:
                _note_repository(path, found)
            is_folder = entry.is_dir(follow_symlinks=False)
            state = _state(path, above, ignores, is_folder=is_folder)
            # In git's own folder only sockets are looked for, such as those of its fsmonitor.
            obeyed = state == _GITS and _is_obeyed(path, is_folder=is_folder)
            hidden = state != _OWN and not obeyed
            if hidden and above == _OWN:
                found.uncompared[f"{entry.name}/" if is_folder else entry.name] = None
            if _is_too_much(depth, found, hidden=hidden):
                continue
            if is_folder:
                found.closed = found.closed or (hidden and _is_closed_to_us(entry))
                if not (hidden and _holds_many(path)):
                    below.append((f"{path}/", state, depth + 1))
            else:
                _note(entry, path, found, hidden=hidden)
        folders += reversed(below)


def _state(path: str, above: int, ignores: Ignores, *, is_folder: bool) -> int:
    if above == _OWN and path.rpartition("/")[2] == ".git":
        return _GITS
    ignored = above == _OWN and ignores.ignored(path, is_folder=is_folder)
    return _IGNORED if ignored else above


def _is_obeyed(path: str, *, is_folder: bool) -> bool:
    """Return True for what git runs or obeys; a file ``.git`` names where all of that lies."""
    *above, name = f"/{path}".partition("/.git/")[2].split("/")
    return "hooks" in (*above, name) or (not is_folder and name in ("", *_CONFIGS))


def _named_to_people(names: Iterable[str]) -> tuple[str, ...]:
    """Return a few of the names, folders first, and ``…`` for the others."""
    several = sorted(names, key=lambda name: not name.endswith("/"))
    plain = [name for name in several if _PLAIN.fullmatch(name.removesuffix("/"))]
    shown = plain[:MAX_UNCOMPARED]
    return (*shown, *(["…"] if len(shown) < len(several) else []))


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
    found: _Found, after: Sequence[SealedChange], ignores: Ignores
) -> tuple[dict[str, str], dict[str, str]]:
    """Put files in as changes will leave them; return the hashes of those that will be written.

    In the second are those that git ignores.
    """
    files = dict(found.files)
    coming: dict[str, str] = {}
    apart: dict[str, str] = {}
    for change in after:
        if change.op in ("delete", "rename"):
            gone = change.old_path or change.path
            if files.pop(gone, None) is None:
                apart[gone] = ABSENT
            coming.pop(gone, None)
        if change.new_sha256 is None:
            continue
        if change.path not in files and ignores.leaves_out(change.path):
            apart[change.path] = change.new_sha256
            continue
        mode = stat.S_IFREG | (0o755 if change.new_mode == "100755" else 0o644)
        files[change.path] = os.stat_result((mode, 0, 0, 1, 0, 0, change.size, 0, 0, 0))
        coming[change.path] = change.new_sha256
    if after:
        found.files = sorted(files.items(), key=_place)
    return coming, apart


def _place(file: tuple[str, object]) -> list[tuple[bool, str]]:
    """Return where the walk comes across a file: in each folder its files, then its folders."""
    *folders, name = file[0].split("/")
    return [*((True, one) for one in folders), (False, name)]


def _entries(workspace: Path, folder: str, *, is_own: bool) -> Sequence[os.DirEntry[str]]:
    try:
        with os.scandir(workspace / folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        if is_own:
            _refuse_unread(folder or ".", error)
        return ()


def _refuse_unread(path: str, error: OSError) -> None:
    """Refuse what is there and cannot be read: a command may still find it by name, or open it.

    Raises:
        InputError: ``workspace.unreadable`` (path).
    """
    if error.errno not in _GONE:
        raise InputError("workspace.unreadable", path=path) from None


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


def _note(entry: os.DirEntry[str], path: str, found: _Found, *, hidden: bool) -> None:
    """Note a file, and a socket also where it is hidden; no folder."""
    if hidden and entry.is_file(follow_symlinks=False):
        return
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        if not hidden:
            _refuse_unread(path, error)
        return
    if not stat.S_ISSOCK(status.st_mode):
        if not hidden:
            found.files.append((path, status))
    elif len(found.sockets) <= MAX_FOUND:
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


def _open(path: str, _flags: int) -> int:
    return os.open(path, _OPEN)


def _follow(path: str, _flags: int) -> int:
    return os.open(path, _OPEN & ~os.O_NOFOLLOW)


def _read(workspace: Path, path: str, status: os.stat_result) -> str | None:
    """Return the hash of a content, or None where there is none to be read."""
    try:
        if stat.S_ISLNK(status.st_mode):
            return hashlib.sha256(os.fsencode((workspace / path).readlink())).hexdigest()
        if not stat.S_ISREG(status.st_mode):
            return None
        with open(workspace / path, "rb", opener=_open) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return hashlib.sha256(file.read(MAX_FILE_BYTES + 1)).hexdigest()
    except PermissionError as error:
        _refuse_unread(path, error)
    except OSError:  # gone, or something else by now
        pass
    return None
