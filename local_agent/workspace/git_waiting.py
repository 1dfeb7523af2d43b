"""Whether libgit2 could wait for ever in a repository; to be asked before it opens one.

libgit2 opens whatever bears the name of a file that it knows, or that a configuration names, and
holds the whole process while it waits for the writer of a FIFO.  Blocking.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MAX_FOLDERS: Final = 100_000  # of a work tree; a larger one is not compared
MAX_ENTRIES: Final = 500_000  # of a repository's own folder; a larger one counts as none
MAX_CONFIG_BYTES: Final = 1024 * 1024
MAX_INCLUDED: Final = 20  # files of configuration
_MAX_LINK: Final = 4096
_MAX_LIST: Final = 64 * 1024
_DEEPEST: Final = 5  # stores that borrow from one another
_OPENED_BELOW: Final = (".gitignore", ".gitattributes")
_CONFIGS: Final = ("config", "config.worktree")
# What names a file to be opened; `path` is that of an include.
_NAMES: Final = re.compile(r"\b(path|excludesfile|attributesfile)\s*=[ \t]*([^\n]*)", re.IGNORECASE)


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
    places = (git, *_named_by(git))
    folders = [folder for place in places for folder in (place, *_named_by(place / "commondir"))]
    stores = [store for folder in folders for store in _borrowed(folder / "objects")]
    return any(map(_holds_others, (*folders, *stores))) or _is_configured_to(folders)


def may_hang_below(workspace: Path) -> bool:
    """Tell whether libgit2 could wait for ever for a file of the work tree."""
    for count, (folder, names, files) in enumerate(os.walk(workspace), start=1):
        here, repository = Path(folder), ".git" in names or ".git" in files
        opened = [name for name in _OPENED_BELOW if name in files]
        if count > MAX_FOLDERS or not all(opens_at_once(here / name) for name in opened):
            return True
        if repository and may_hang(here / ".git"):
            return True
        names[:] = [name for name in names if name != ".git"]
    return False


def _holds_others(top: Path) -> bool:
    """Tell whether anything but files and folders lies below, or too much to look through."""
    looked, folders = 0, [str(top)]  # no `Path`: there are hundreds, and it is the slower part
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                found = list(entries)
        except OSError:
            continue  # none, or no folder, or not ours to enter: not libgit2's either
        looked += len(found)
        others = [entry for entry in found if not entry.is_file(follow_symlinks=False)]
        below = [entry for entry in others if entry.is_dir(follow_symlinks=False)]
        folders += [entry.path for entry in below]
        if looked > MAX_ENTRIES or (len(below) < len(others) and not all(map(_is_usual, others))):
            return True
    return False


def _is_usual(entry: os.DirEntry[str]) -> bool:
    return entry.is_file() or entry.is_dir() or opens_at_once(Path(entry.path))


def _named_by(file: Path) -> Iterator[Path]:
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
