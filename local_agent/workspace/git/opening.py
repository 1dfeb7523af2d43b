"""Opening repositories so that libgit2 cannot wait for ever, and keeping them open between looks.

libgit2 opens whatever bears the name of a file that it knows, or that a configuration names, and
holds the whole process while it waits for the writer of a FIFO; so it is looked through first.

To read index and commit anew takes libgit2 a quarter of a look.  What it keeps of files it judges
by their stamps, which a change within the same tick of the clock can leave as they are; so a
repository is lent again only where all of them had settled before it was read, as git itself
distrusts what is as young as its index.  What the person's own files of configuration say holds
for a minute, as for listings.  Blocking.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.clock import Clock, SystemClock
from local_agent.workspace.remembered import (
    MAX_AGE_S,
    Memory,
    Stamp,
    is_settled,
    own_turn,
    stamp_at,
    stamp_of,
)

if TYPE_CHECKING:
    import pygit2


MAX_FOLDERS: Final = 100_000  # of a work tree; a larger one is not compared
MAX_ENTRIES: Final = 500_000  # of a repository's own folder; a larger one counts as none
MAX_CONFIG_BYTES: Final = 1024 * 1024
MAX_INCLUDED: Final = 20  # files of configuration
_MAX_LINK: Final = 4096
_MAX_LIST: Final = 64 * 1024
_DEEPEST: Final = 5  # stores that borrow from one another
_OPENED_BELOW: Final = (".git", ".gitignore", ".gitattributes")
_CONFIGS: Final = ("config", "config.worktree")
# What names a file to be opened; `path` is that of an include.
_NAMES: Final = re.compile(r"\b(path|excludesfile|attributesfile)\s*=[ \t]*([^\n]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Folder:
    """One folder of a work tree: what libgit2 would open in it, and the folders in it, by path."""

    stamp: Stamp
    opened: tuple[str, ...]
    below: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Store:
    """One folder of a repository's own: how much is in it, and what is no file, by path."""

    stamp: Stamp
    entries: int
    below: tuple[str, ...]
    others: tuple[str, ...]


_MEMORY: Final[Memory[_Folder]] = Memory()
_STORES: Final[Memory[_Store]] = Memory(most=8)


def load_libgit2() -> None:
    """Import pygit2, also where it would not be: on a machine without certificate authorities.

    It looks for them at once, to reach remotes by TLS; here it reaches none.
    """
    if "pygit2" in sys.modules:
        return
    import ssl

    paths = ssl.get_default_verify_paths()
    if paths.cafile or paths.capath:
        return
    name = paths.openssl_capath_env
    given = os.environ.get(name)
    os.environ[name] = "/"  # any folder will do
    try:
        import pygit2  # noqa: F401  # this is what it is for
    finally:
        os.environ.pop(name)
        if given is not None:
            os.environ[name] = given


def opens_at_once(path: Path) -> bool:
    """Tell whether opening the file cannot wait: it is an ordinary one, or there is none.

    A socket cannot be opened at all: git's own fsmonitor keeps one in ``.git``.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISSOCK(mode)


def may_hang(git: Path) -> bool:
    """Tell whether libgit2 could wait for ever in this ``.git``, or in the one that it names."""
    if not opens_at_once(git):
        return True
    places = (git, *named_by(git))
    folders = [folder for place in places for folder in (place, *named_by(place / "commondir"))]
    stores = [store for folder in folders for store in borrowed(folder / "objects")]
    return any(map(_holds_others, (*folders, *stores))) or _is_configured_to(folders)


def opened_below(workspace: Path) -> tuple[str, ...] | None:
    """Return the files of the work tree that libgit2 opens; None where it could wait for ever.

    Args:
        workspace: Real path, whose own ``.git`` passed `may_hang` when it was opened.
    """
    now, own = SystemClock().now(), f"{workspace}/.git"
    known, since = _MEMORY.recall(workspace, None, now.mono)
    found: list[str] = []
    seen: dict[str, _Folder] = {}
    waiting = [str(workspace)]  # as below: no `Path`, there are thousands
    while waiting:
        here = waiting.pop()
        folder = _look_into(here, known.get(here))
        if folder is None:
            continue  # not ours to enter: not libgit2's either
        if folder.opened:
            opened = [path for path in folder.opened if path != own]
            if not all(map(_opens, opened)):
                return None
            found += opened
        if len(seen) >= MAX_FOLDERS:
            return None
        seen[here] = folder
        waiting += folder.below
    if seen != known:
        settled = {path: one for path, one in seen.items() if is_settled(one.stamp, now.wall_ms)}
        _MEMORY.keep(workspace, None, settled, since)
    return tuple(found)


def _look_into(path: str, known: _Folder | None) -> _Folder | None:
    try:
        stamp = stamp_of(os.lstat(path))
        if known is not None and known.stamp == stamp:
            return known
        with os.scandir(path) as entries:
            found = [*entries]
    except OSError:
        return None
    return _Folder(
        stamp,
        opened=tuple(entry.path for entry in found if entry.name in _OPENED_BELOW),
        below=tuple(
            entry.path
            for entry in found
            if entry.name != ".git" and entry.is_dir(follow_symlinks=False)
        ),
    )


def _opens(path: str) -> bool:
    place = Path(path)
    return not may_hang(place) if place.name == ".git" else opens_at_once(place)


def _holds_others(top: Path) -> bool:
    """Tell whether anything but files and folders lies below, or too much to look through."""
    now = SystemClock().now()
    known, since = _STORES.recall(top, None, now.mono)
    seen: dict[str, _Store] = {}
    looked, waiting = 0, [str(top)]
    while waiting:
        path = waiting.pop()
        store = _look_through(path, known.get(path))
        if store is None:
            continue  # none, or no folder, or not ours to enter: not libgit2's either
        looked += store.entries
        waiting += store.below
        if looked > MAX_ENTRIES or not all(opens_at_once(Path(path)) for path in store.others):
            return True
        seen[path] = store
    if seen != known:
        settled = {path: one for path, one in seen.items() if is_settled(one.stamp, now.wall_ms)}
        _STORES.keep(top, None, settled, since)
    return False


def _look_through(path: str, known: _Store | None) -> _Store | None:
    try:
        stamp = stamp_of(os.stat(path))  # noqa: PTH116  # no `Path`, there are thousands
        if known is not None and known.stamp == stamp:
            return known
        with os.scandir(path) as entries:
            found = [*entries]
    except OSError:
        return None
    no_files = [entry for entry in found if not entry.is_file(follow_symlinks=False)]
    below = tuple(entry.path for entry in no_files if entry.is_dir(follow_symlinks=False))
    others = tuple(entry.path for entry in no_files if not entry.is_dir(follow_symlinks=False))
    return _Store(stamp, len(found), below, others)


def named_by(file: Path) -> Iterator[Path]:
    """Give the folder that a file names: ``.git`` of a further work tree, its ``commondir``."""
    if opens_at_once(file) and file.is_file():
        with file.open(encoding="utf-8", errors="replace") as opened:
            named = opened.read(_MAX_LINK).removeprefix("gitdir:").strip()
        if named:
            yield file.parent / named.replace("\0", "")


def borrowed(objects: Path, depth: int = 0) -> Iterator[Path]:
    """Give the stores that an object store borrows from, as deep as libgit2 follows them."""
    listed = objects / "info" / "alternates"
    if depth > _DEEPEST or not opens_at_once(listed) or not listed.is_file():
        return
    with listed.open(encoding="utf-8", errors="replace") as opened:
        lines = opened.read(_MAX_LIST).split("\n")
    for line in lines[:MAX_INCLUDED]:
        if line and not line.startswith("#"):
            store = objects / line.replace("\0", "")
            yield store
            yield from borrowed(store, depth + 1)


# --- what the configuration names ------------------------------------------------------------


def _is_configured_to(folders: list[Path]) -> bool:
    """Tell whether the configuration names a file that could be waited for, or includes too much.

    The person's own configuration is theirs; what the repository's includes counts as its own.
    """
    waiting = [folder / name for folder in folders for name in _CONFIGS]
    looked: set[Path] = set()
    while waiting:
        config = waiting.pop()
        if config in looked or not config.is_file():
            continue
        looked.add(config)
        named = _named_in(config)
        if named is None or len(looked) > MAX_INCLUDED or not all(map(opens_at_once, named)):
            return True
        waiting += named
    return False


def _named_in(config: Path) -> list[Path] | None:
    """Return the files that a configuration names; None where that cannot be told."""
    try:
        with config.open(encoding="utf-8", errors="replace") as opened:
            text = opened.read(MAX_CONFIG_BYTES + 1)
    except OSError:
        return []
    if len(text) > MAX_CONFIG_BYTES:
        return None
    found = []
    for key, value in _NAMES.findall(text):
        plain = value.strip().removeprefix('"').removesuffix('"')
        # Escapes, comments, and git's own folder: whatever they mean, a person did not need them.
        if any(char in plain for char in '\\";#\0') or plain.startswith("%"):
            return None
        try:
            place = Path(plain).expanduser()
        except RuntimeError:
            return None
        # Relative to the file that includes it; the others to wherever the process is.
        found.append(config.parent / place if key.casefold() == "path" else place)
    return found


# --- repositories that stay open, for reading ------------------------------------------------

MAX_KEPT: Final = 2
MAX_FILES: Final = 20_000  # tracked ones, some six megabytes; what has more is not held in memory
MAX_STAMPS: Final = 1000  # of files that decide what is ignored and how
# Of a repository: what libgit2 keeps of it in memory.
_DECIDING: Final = (
    "index", "config", "config.worktree", "packed-refs", "info/exclude", "info/attributes"
)  # fmt: skip

_Stamps = tuple[Stamp | None, ...]


@dataclass(frozen=True, slots=True)
class _Lent:
    """One open repository.

    Attributes:
        stamps: Of what it was read from.
        since: Monotonic seconds, when it was opened.
        is_sure: The stamps stand for what was read, and will for nothing else.
    """

    repository: pygit2.Repository
    stamps: _Stamps
    since: float
    is_sure: bool

    def stands(self, workspace: Path) -> bool:
        """Tell whether all that it was read from is as it was."""
        return self.stamps == _stamps(workspace, self.repository)


class KeptOpen:
    """Lends repositories; may be asked from several threads, each has one of its own.

    Args:
        open_repository: Opens one whose top is a folder; None where there is none.
        clock: For the age of what is kept.
    """

    def __init__(
        self,
        open_repository: Callable[[Path], pygit2.Repository | None],
        clock: Clock | None = None,
    ) -> None:
        self._open_repository = open_repository
        self._clock = clock or SystemClock()
        self._kept: OrderedDict[Path, _Lent] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def lend(self, workspace: Path) -> Iterator[pygit2.Repository | None]:
        """Give the repository of a workspace as it is now, which nobody else has meanwhile.

        None where there is none, or where libgit2 could wait for ever.  Nothing of it may be used
        afterwards.

        Raises:
            pygit2.GitError, OSError: it cannot be read.
        """
        with own_turn():
            lent = self._again(workspace) or self._anew(workspace)
        if lent is None:
            yield None
            return
        try:
            yield lent.repository
        except BaseException:
            lent.repository.free()
            raise
        self._take_back(workspace, lent)

    def _again(self, workspace: Path) -> _Lent | None:
        with self._lock:
            lent = self._kept.pop(workspace, None)
        if lent is None:
            return None
        old = self._clock.now().mono - lent.since > MAX_AGE_S
        if old or may_hang(workspace / ".git") or not lent.stands(workspace):
            lent.repository.free()
            return None
        return lent

    def _anew(self, workspace: Path) -> _Lent | None:
        now = self._clock.now()
        repository = self._open_repository(workspace)
        if repository is None:
            return None
        stamps = _stamps(workspace, repository)
        if stamps is None:
            repository.free()
            return None
        settled = all(stamp is None or is_settled(stamp, now.wall_ms) for stamp in stamps)
        sure = settled and len(stamps) <= MAX_STAMPS and len(repository.index) <= MAX_FILES
        return _Lent(repository, stamps, now.mono, sure)

    def _take_back(self, workspace: Path, lent: _Lent) -> None:
        dropped = [lent]
        if lent.is_sure:
            with self._lock:
                older = self._kept.pop(workspace, None)
                self._kept[workspace] = lent
                dropped = [older] if older is not None else []
                while len(self._kept) > MAX_KEPT:
                    dropped.append(self._kept.popitem(last=False)[1])
        for one in dropped:
            # Its wrapper is part of a circle, which Python clears away much later.
            one.repository.free()


def _stamps(workspace: Path, repository: pygit2.Repository) -> _Stamps | None:
    """Return the stamps of all that decides; None where libgit2 could wait for a file below."""
    opened = opened_below(workspace)
    if opened is None:
        return None
    # What several work trees share stands in another folder.
    folders = (repository.path, *named_by(Path(repository.path, "commondir")))
    own = (stamp_at(f"{folder}/{name}") for folder in folders for name in _DECIDING)
    return (_place_of(workspace / ".git"), *own, *map(stamp_at, opened[:MAX_STAMPS]))


def _place_of(git: Path) -> Stamp | None:
    """Return what changes when a workspace names another repository; not what moves in its own."""
    try:
        status = git.lstat()
    except OSError:
        return None
    same = (status.st_dev, status.st_ino, status.st_mode)
    return same if stat.S_ISDIR(status.st_mode) else stamp_of(status)
