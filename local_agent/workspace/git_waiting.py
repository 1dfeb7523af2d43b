"""Whether libgit2 could wait for ever in a repository; to be asked before it opens one.

libgit2 opens whatever bears the name of a file that it knows, or that a configuration names, and
holds the whole process while it waits for the writer of a FIFO.  Blocking.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from common.clock import SystemClock
from local_agent.workspace.remembered import Memory, Stamp, is_settled, stamp_of

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
    stores = [store for folder in folders for store in _borrowed(folder / "objects")]
    return any(map(_holds_others, (*folders, *stores))) or _is_configured_to(folders)


def may_hang_below(workspace: Path) -> bool:
    """Tell whether libgit2 could wait for ever for a file of the work tree."""
    return opened_below(workspace) is None


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
        if looked > MAX_ENTRIES or not all(map(_is_usual, store.others)):
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


def _is_usual(path: str) -> bool:
    return opens_at_once(Path(path))


def named_by(file: Path) -> Iterator[Path]:
    """Give the folder that a file names: ``.git`` of a further work tree, its ``commondir``."""
    if opens_at_once(file) and file.is_file():
        with file.open(encoding="utf-8", errors="replace") as opened:
            named = opened.read(_MAX_LINK).removeprefix("gitdir:").strip()
        if named:
            yield file.parent / named.replace("\0", "")


def _borrowed(objects: Path, depth: int = 0) -> Iterator[Path]:
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
            yield from _borrowed(store, depth + 1)


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
