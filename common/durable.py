"""Many small files and folders made durable together: flushes overlap, so none waits for the last.

A flush of one file mostly waits for the disk; eight at a time cost hardly more than one.  What is
written where, and what comes of a failure, is the caller's matter.  Blocking.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

from common.access_lists import set_access_list

_TOGETHER: Final = 8
_ALONE: Final = 2  # below, starting threads takes longer than they save
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Some file systems have no flush for folders, and say so in one of these ways.
_NO_FLUSH: Final = frozenset((errno.EINVAL, errno.ENOTSUP, errno.EBADF))

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A file to be made.

    Attributes:
        folder: Handle of the folder that it comes into.
        mode: Permission bits that it will have, whatever the umask.
        owner: User and group that it is given where we may; None leaves it ours.
        access: Its access list, empty for none; None leaves what its folder gives.
    """

    folder: int
    name: str
    data: bytes
    mode: int
    owner: tuple[int, int] | None = None
    access: bytes | None = None


def write_files(files: Sequence[NewFile]) -> list[tuple[int, int]]:
    """Make new files whose content is on disk when this returns; their names are not yet.

    Returns:
        Device and inode of each.

    Raises:
        OSError: one could not be made; none of them is left.
    """
    made = _for_each(_written, files)
    failed = next((found for found in made if isinstance(found, OSError)), None)
    if failed is None:
        return [found for found in made if not isinstance(found, OSError)]
    for file, found in zip(files, made, strict=True):
        if not isinstance(found, OSError):
            _discard(file)
    raise failed


def sync_folders(handles: Iterable[int]) -> None:
    """Put on disk which names the folders hold.

    Raises:
        OSError: one could not be flushed.
    """
    failed = [error for error in _for_each(_sync_folder, list(handles)) if error is not None]
    if failed:
        raise failed[0]


def _for_each(act: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    if len(items) <= _ALONE:
        return [act(item) for item in items]
    with ThreadPoolExecutor(_TOGETHER) as pool:
        return list(pool.map(act, items))


def _written(file: NewFile) -> tuple[int, int] | OSError:
    try:
        # Ours alone until it is whole: the mode comes last.
        descriptor = os.open(file.name, _CREATE, 0o600, dir_fd=file.folder)
    except OSError as error:
        return error
    try:
        return _fill(descriptor, file)
    except OSError as error:
        _discard(file)
        return error


def _fill(descriptor: int, file: NewFile) -> tuple[int, int]:
    try:
        status = os.fstat(descriptor)
        view = memoryview(file.data)
        while view:
            view = view[os.write(descriptor, view) :]
        if file.owner is not None and file.owner != (status.st_uid, status.st_gid):
            _give(descriptor, file.owner)
        if file.access is not None:
            set_access_list(descriptor, file.access)
        os.fchmod(descriptor, file.mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return status.st_dev, status.st_ino


def _give(descriptor: int, owner: tuple[int, int]) -> None:
    # Only root gives files away; else the file is its writer's, as with any editor.
    with contextlib.suppress(PermissionError):
        os.fchown(descriptor, *owner)


def _discard(file: NewFile) -> None:
    with contextlib.suppress(OSError):
        os.unlink(file.name, dir_fd=file.folder)


def _sync_folder(handle: int) -> OSError | None:
    try:
        os.fsync(handle)
    except OSError as error:
        return None if error.errno in _NO_FLUSH else error
    return None
