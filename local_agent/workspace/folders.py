"""Folders of our own: filled with copies of files, and removed whole.  No link is followed.

Blocking.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Final

from common.errors import InputError

_CHUNK: Final = 1024 * 1024
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO waits for a writer for ever.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True, kw_only=True)
class Room:
    """How much may be copied; what was copied is taken off.

    Attributes:
        size: Bytes of all files.
        entries: Files, links and folders.
        depth: Folders in one another.
    """

    size: int
    entries: int
    depth: int


def copy_tree(source: Path, into: Path, room: Room) -> None:
    """Copy a folder with all that is in it: contents, links, permission bits, times of change.

    FIFOs, sockets and devices are left out, as is what goes away meanwhile.  Hard links become
    files of their own, and no file keeps a setuid bit.

    Args:
        source: Real path of a folder.
        into: A folder of ours that is not there yet.
        room: More than this is refused; what is there by then is for the caller to remove.

    Raises:
        InputError: ``copy.too-large``, ``copy.too-many``, ``copy.too-deep`` with ``limit``;
            ``copy.unreadable`` with ``path``: it is not ours to read.
        OSError: the machine refused to write.
    """
    limits = Room(size=room.size, entries=room.entries, depth=room.depth)
    with _opened(source) as handle, _opened(into.parent) as above:
        _copy_folder(handle, into.name, above, "", room, limits)


def copy_files(source: Path, paths: Iterable[str], into: Path, *, limit: int) -> None:
    """Copy regular files and links as they are now, with their times and permission bits.

    What is neither, and what is gone or not ours to read, is left out.

    Args:
        source: Real path of the folder that they are in.
        paths: Relative to it.
        into: An empty folder of ours.
        limit: Bytes of all of them.

    Raises:
        InputError: ``check.too-large`` with ``limit``.
        OSError: the machine refused to write.
    """
    room = limit
    with _opened(source) as root:
        for folder, names in groupby(paths, key=lambda path: path.rpartition("/")[0]):
            with contextlib.ExitStack() as closing:
                handle = _descend(root, folder, closing)
                if handle is None:
                    continue
                place = into / folder
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
                for path in names:
                    name = path.rpartition("/")[2]
                    room -= _copy(handle, name, place / name, room)
                    if room < 0:
                        raise InputError("check.too-large", limit=limit)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, however deep it is and whatever its modes are.

    Raises:
        OSError: something in it would not go.
    """
    try:
        folder.chmod(0o700)
    except FileNotFoundError:
        return
    with _opened(folder) as top:
        while below := _entries(top):
            for name, is_folder in below:
                _remove(top, name, is_folder=is_folder)
    folder.rmdir()


def _remove(top: int, name: str, *, is_folder: bool) -> None:
    """Remove a file, or a folder whose own folders are moved up: no path ever grows long."""
    if not is_folder:
        os.unlink(name, dir_fd=top)
        return
    os.chmod(name, 0o700, dir_fd=top)
    with _opened(name, dir_fd=top) as handle:
        for inner, holds in _entries(handle):
            if holds:
                os.chmod(inner, 0o700, dir_fd=handle)
                free = secrets.token_hex(16)
                os.rename(inner, free, src_dir_fd=handle, dst_dir_fd=top)
            else:
                os.unlink(inner, dir_fd=handle)
    os.rmdir(name, dir_fd=top)


def _copy_folder(source: int, name: str, above: int, path: str, room: Room, limits: Room) -> None:
    """Copy an open folder to a name in another; modes and times come last, when it is full."""
    if room.depth <= 0:
        raise InputError("copy.too-deep", limit=limits.depth)
    room.depth -= 1
    os.mkdir(name, 0o700, dir_fd=above)
    with _opened(name, dir_fd=above) as into:
        for entry in _listed(source, path, room, limits):
            below = f"{path}{entry}"
            with _reading(below):
                status = os.stat(entry, dir_fd=source, follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    with _opened(entry, dir_fd=source) as handle:
                        _copy_folder(handle, entry, into, f"{below}/", room, limits)
                elif stat.S_ISLNK(status.st_mode):
                    os.symlink(os.readlink(entry, dir_fd=source), entry, dir_fd=into)
                    stamps = status.st_atime_ns, status.st_mtime_ns
                    os.utime(entry, ns=stamps, dir_fd=into, follow_symlinks=False)
                elif stat.S_ISREG(status.st_mode):
                    _copy_file(source, entry, into, room, limits)
        status = os.fstat(source)
        os.fchmod(into, stat.S_IMODE(status.st_mode))
        os.utime(into, ns=(status.st_atime_ns, status.st_mtime_ns))
    room.depth += 1


def _listed(folder: int, path: str, room: Room, limits: Room) -> list[str]:
    with _reading(path or "."), os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, room.entries + 1)]
        room.entries -= len(names)
        if room.entries < 0:
            raise InputError("copy.too-many", limit=limits.entries)
        return names
    return []


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    """Leave out what went away, or became something else, between two looks."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        return
    except PermissionError:
        raise InputError("copy.unreadable", path=path) from None
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENXIO):
            raise


def _copy_file(source: int, name: str, into: int, room: Room, limits: Room) -> None:
    handle = os.open(name, _FILE, dir_fd=source)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return
        if status.st_size > room.size:  # before a byte of it: a sparse one can be of any size
            raise InputError("copy.too-large", limit=limits.size)
        made = os.open(name, _NEW, 0o600, dir_fd=into)
        try:
            room.size -= _copy_bytes(handle, made, room.size)
            if room.size < 0:
                raise InputError("copy.too-large", limit=limits.size)
            os.fchmod(made, status.st_mode & 0o777)
            os.utime(made, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(made)
    finally:
        os.close(handle)


def _copy_bytes(source: int, into: int, room: int) -> int:
    """Return how many bytes there were; of more than ``room`` one more at least."""
    done = 0
    with contextlib.suppress(OSError):  # within the kernel, where the file system can
        while done <= room:
            if not (copied := os.copy_file_range(source, into, min(_CHUNK * 64, room - done + 1))):
                break
            done += copied
    while done <= room and (chunk := os.read(source, min(_CHUNK, room - done + 1))):
        done += len(chunk)
        left = memoryview(chunk)
        while left:
            left = left[os.write(into, left) :]
    return done


def _entries(folder: int) -> list[tuple[str, bool]]:
    with os.scandir(folder) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]


@contextlib.contextmanager
def _opened(folder: Path | str, *, dir_fd: int | None = None) -> Iterator[int]:
    handle = os.open(folder, _FOLDER, dir_fd=dir_fd)
    try:
        yield handle
    finally:
        os.close(handle)


def _descend(root: int, folder: str, closing: contextlib.ExitStack) -> int | None:
    """Return a handle of a folder below, or None where there is none without following links."""
    handle = root
    for part in filter(None, folder.split("/")):
        try:
            handle = closing.enter_context(_opened(part, dir_fd=handle))
        except OSError:
            return None
    return handle


def _copy(folder: int, name: str, into: Path, room: int) -> int:
    """Copy one file or link, and return its bytes; of more than ``room`` one more at least."""
    try:
        handle = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        _copy_link(folder, name, into)
        return 0
    try:
        status = os.fstat(handle)
        return _copy_content(handle, status, into, room) if stat.S_ISREG(status.st_mode) else 0
    finally:
        os.close(handle)


def _copy_link(folder: int, name: str, into: Path) -> None:
    try:
        target = os.readlink(name, dir_fd=folder)
    except OSError:
        return  # gone, not ours to read, or nothing that could be copied
    into.symlink_to(target)


def _copy_content(source: int, status: os.stat_result, into: Path, room: int) -> int:
    handle = os.open(into, _NEW, 0o600)
    try:
        done = _copy_bytes(source, handle, room)
        os.fchmod(handle, status.st_mode & 0o777 | 0o600)
        os.utime(handle, ns=(status.st_atime_ns, status.st_mtime_ns))
    finally:
        os.close(handle)
    return done
