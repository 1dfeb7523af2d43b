"""Temporary files of the writer: names, renaming that never overwrites, what is left (R35, R36).

Each is written beside the file whose place it takes.  Then two names are exchanged, or a name is
given only where it is free, by `renameat2`, which Python does not offer.  Where the kernel or the
file system refuses its flags (NFS, some FUSE), the same is done in steps; a crash between two of
them leaves what a write that was cut off leaves.

That is found by name and believed by content; whether it is to be removed is decided by
`local_agent.actions.changes.settle`.  Blocking.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import platform
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from common.errors import InputError
from local_agent.workspace.tree import Found, Parts, Tree

_NOREPLACE: Final = 1
_EXCHANGE: Final = 2
# Where the C library is older than the call: its number, by machine.
_NUMBERS: Final = {"x86_64": 316, "aarch64": 276, "riscv64": 276, "armv7l": 382, "ppc64le": 357,
                   "s390x": 347, "i686": 353}  # fmt: skip
_REFUSED: Final = frozenset((errno.ENOSYS, errno.EINVAL, errno.ENOTSUP))
_NO_LINKS: Final = frozenset((errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK))
ASIDE: Final = ".old"  # added to a name while two names are exchanged in steps
_BESIDE: Final = re.compile(r"\.codexbridge-([0-9a-f]{12})-[0-9]{1,6}\.tmp(?:\.old)?")
# A name that holds no file of ours, though something else may bear it.
_NO_FILE: Final = frozenset(("change.folder", "change.not-folder"))


@dataclass(frozen=True, slots=True)
class Name:
    """A name in an open folder."""

    folder: int
    name: str


def beside_name(tag: str, number: int) -> str:
    """Return the name beside which the file of a number is written."""
    return f".codexbridge-{tag}-{number}.tmp"


def exchange(new: Name, old: Name) -> None:
    """Let each name mean what the other meant; both must be there.

    Raises:
        OSError: nothing was changed, or only for the moment.  In steps, when going back fails as
            well, what ``old`` meant is at the name of ``new`` with `ASIDE`.
    """
    try:
        _renameat2(new, old, _EXCHANGE)
    except OSError as error:
        if error.errno not in _REFUSED:
            raise
        _exchange_in_steps(new, old)


def place(source: Name, target: Name) -> None:
    """Rename, when the new name is free.

    Raises:
        FileExistsError: it is not; nothing was changed.
        OSError: nothing was changed.
    """
    try:
        _renameat2(source, target, _NOREPLACE)
    except OSError as error:
        if error.errno not in _REFUSED:
            raise
        _place_in_steps(source, target)


def _exchange_in_steps(new: Name, old: Name) -> None:
    aside = Name(new.folder, new.name + ASIDE)
    _place_in_steps(old, aside)
    try:
        _place_in_steps(new, old)
        _finish_exchange(aside, new, old)
    except OSError:
        _place_in_steps(aside, old)
        raise


def _finish_exchange(aside: Name, new: Name, old: Name) -> None:
    try:
        _place_in_steps(aside, new)
    except OSError:
        _place_in_steps(old, new)
        raise


def _place_in_steps(source: Name, target: Name) -> None:
    # A link fails when the name is taken, and a rename would not.
    try:
        os.link(
            source.name,
            target.name,
            src_dir_fd=source.folder,
            dst_dir_fd=target.folder,
            follow_symlinks=False,
        )
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _rename_if_free(source, target)
        return
    try:
        os.unlink(source.name, dir_fd=source.folder)
    except OSError:
        os.unlink(target.name, dir_fd=target.folder)
        raise


def _rename_if_free(source: Name, target: Name) -> None:
    try:
        os.stat(target.name, dir_fd=target.folder, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)
        return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target.name)


def _renameat2(source: Name, target: Name, flags: int) -> None:
    call = _system_call()
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    names = os.fsencode(source.name), os.fsencode(target.name)
    if call(source.folder, names[0], target.folder, names[1], flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), source.name, None, target.name)


@cache
def _system_call() -> Callable[[int, bytes, int, bytes, int], int] | None:
    """Return the call by the C library's name or by the machine's number; None off Linux."""
    if platform.system() != "Linux":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    arguments = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    named = getattr(library, "renameat2", None)
    if named is not None:
        named.argtypes = arguments
        return lambda *given: int(named(*given))
    number = _NUMBERS.get(platform.machine())
    if number is None:
        return None
    numbered = library.syscall
    numbered.argtypes = (ctypes.c_long, *arguments)
    return lambda *given: int(numbered(number, *given))


# --- what a write that was cut off left ------------------------------------------------------


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
