"""Renaming that never overwrites: two names exchanged, or a name given only where it is free.

By `renameat2`, which Python does not offer.  Where the kernel or the file system refuses its flags
(NFS, some FUSE), the same is done in steps; a crash between two of them is settled by
`local_agent.workspace.recovery`.  Blocking.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

_NOREPLACE: Final = 1
_EXCHANGE: Final = 2
# Where the C library is older than the call: its number, by machine.
_NUMBERS: Final = {"x86_64": 316, "aarch64": 276, "riscv64": 276, "armv7l": 382, "ppc64le": 357,
                   "s390x": 347, "i686": 353}  # fmt: skip
_REFUSED: Final = frozenset((errno.ENOSYS, errno.EINVAL, errno.ENOTSUP))
_NO_LINKS: Final = frozenset((errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK))
ASIDE: Final = ".old"  # added to a name while two names are exchanged in steps


@dataclass(frozen=True, slots=True)
class Name:
    """A name in an open folder."""

    folder: int
    name: str


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
