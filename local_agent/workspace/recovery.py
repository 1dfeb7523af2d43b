"""What a write that was cut off left in a workspace: found by name, believed by content (R36).

Whether it is to be removed is decided by `local_agent.actions.changes.settle`.  Blocking.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from common.errors import InputError
from local_agent.workspace.tree import Found, Parts, Tree

_BESIDE: Final = re.compile(r"\.codexbridge-([0-9a-f]{12})-[0-9]{1,6}\.tmp(?:\.old)?")
# A name that holds no file of ours, though something else may bear it.
_NO_FILE: Final = frozenset(("change.folder", "change.not-folder"))


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file beside that was not removed.

    Attributes:
        found: None where something else than a regular file bears its name.
    """

    parts: Parts
    found: Found | None

    @property
    def path(self) -> str:
        """Return its relative path."""
        return "/".join(self.parts)


def is_reserved(name: str) -> bool:
    """Tell whether a name is kept for files beside: after a crash such a one counts as ours."""
    return _BESIDE.fullmatch(name) is not None


def find_file(tree: Tree, parts: Parts) -> Found | None:
    """Return the file of a path; None also where a folder is, or a file is in its folder's place.

    Raises:
        InputError: ``change.symlink``, ``change.special`` and their like, with ``path``.
    """
    try:
        return tree.find(parts)
    except InputError as error:
        if error.code not in _NO_FILE:
            raise
        return None


def find_leftovers(
    tree: Tree, folders: Iterable[Parts], *, tags: Collection[str]
) -> list[Leftover]:
    """Return what bears the name of a file beside with one of the tags.

    Raises:
        InputError: a folder cannot be looked into.
    """
    found: list[Leftover] = []
    for folder in folders:
        for name in _names(tree, folder):
            match = _BESIDE.fullmatch(name)
            if match is None or match[1] not in tags:
                continue
            try:
                content = tree.find((*folder, name))
            except InputError:
                found.append(Leftover((*folder, name), None))
                continue
            if content is not None:
                found.append(Leftover((*folder, name), content))
    return found


def sweep(tree: Tree, leftovers: Iterable[Leftover], *, folders: Iterable[Parts]) -> None:
    """Remove leftovers, and of the folders those that are empty.

    Raises:
        InputError: a folder is not what it was.
        OSError: the machine refused; sweeping again goes on from there.
    """
    for leftover in leftovers:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(leftover.parts[-1], dir_fd=tree.present(leftover.parts[:-1]))
    for folder in sorted(folders, key=len, reverse=True):
        if _is_folder(tree, folder):
            _remove_if_empty(tree, folder)


def _remove_if_empty(tree: Tree, folder: Parts) -> None:
    try:
        os.rmdir(folder[-1], dir_fd=tree.present(folder[:-1]))
    except OSError as error:
        # Somebody put something in, or a file system is mounted there.
        if error.errno not in (errno.ENOTEMPTY, errno.EBUSY):
            raise
        return
    tree.forget(folder)


def _is_folder(tree: Tree, parts: Parts) -> bool:
    try:
        return tree.folder(parts) is not None
    except InputError as error:
        if error.code not in _NO_FILE:
            raise
        return False


def _names(tree: Tree, folder: Parts) -> list[str]:
    return tree.names(folder) if _is_folder(tree, folder) else []
