"""Judges the edits that codex asks to make (R62): all of a patch, or nothing of it.

Codex would write wherever its process may, also outside of the folder that it works in.  The
request for a patch names no file; what it would do was told just before, under the same number.
What it may then write to are the folders of these files, as far as they are there: a new one it
cannot make in its read-only sandbox, so that we do.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeGuard

from common.errors import InputError
from local_agent.models.backend import Scratch

MAX_FILES: Final = 500  # of one patch
MAX_PATH_CHARS: Final = 4096


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a patch, as codex tells of it.

    Attributes:
        path: Relative to where codex works, or absolute; not resolved.
        to: Where the file would be moved.
        size: Bytes of what would be written, or of the hunks.
    """

    path: str
    to: str | None
    size: int


def read_changes(item: Mapping[str, Any], cwd: Path) -> tuple[Change, ...]:
    """Return what a patch would do.

    Args:
        item: As the program told of it.
        cwd: Where it works: names below are given relative to it.

    Raises:
        InputError: ``scratch.unreadable``: that is not known, so that it must not be done.
    """
    listed = item.get("changes")
    if not isinstance(listed, list) or not 0 < len(listed) <= MAX_FILES:
        raise InputError("scratch.unreadable")
    return tuple(_read(change, f"{cwd}/") for change in listed)


def judge(changes: tuple[Change, ...], scratch: Scratch) -> None:
    """Make room for all of these, if they may be done; blocks.

    Their sizes are bounded by the budget of the answer.

    Raises:
        InputError: ``scratch.*`` or ``path.*``, with the fact ``path``: why not, of the first.
    """
    named = [path for change in changes for path in (change.path, change.to) if path is not None]
    for file in [_judge(path, scratch) for path in named]:
        with suppress(FileExistsError, NotADirectoryError):  # the patch fails by itself then
            file.parent.mkdir(parents=True, exist_ok=True)


def _read(change: object, below: str) -> Change:
    told = change if isinstance(change, dict) else {}
    path, kind, diff = told.get("path"), told.get("kind"), told.get("diff")
    if not _is_path(path) or not isinstance(kind, dict) or not isinstance(diff, str):
        raise InputError("scratch.unreadable")
    to = kind.get("move_path")
    if kind.get("type") not in ("add", "delete", "update") or not (to is None or _is_path(to)):
        raise InputError("scratch.unreadable")
    to = to.removeprefix(below) if to is not None else None
    return Change(path.removeprefix(below), to, len(diff.encode()))


def _is_path(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= MAX_PATH_CHARS


def _judge(path: str, scratch: Scratch) -> Path:
    try:
        file = scratch.root / scratch.inside(path)
        _refuse_borrowed(file)
        scratch.read(path)  # what may not be read may not be written over, either
    except InputError as error:
        raise InputError(error.code, path=path) from error
    return file


def _refuse_borrowed(file: Path) -> None:
    """Refuse where writing would write somewhere else, too: codex follows every link."""
    if os.path.realpath(file) != str(file):
        raise InputError("scratch.link")
    try:
        found = os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise InputError("scratch.link")
