"""The files of a scratch copy, reached by folder handles: no link in it is ever followed.

A program that we do not trust works in the same folder.  Whatever it leaves there is looked at by
kind first, and what we write is a new file each time: nothing that is still open elsewhere, or has
another name elsewhere, is written to.  Blocking.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from common.errors import InputError, StateError
from local_agent.workspace.folders import remove_folder

MAX_ENTRIES: Final = 150_000  # files, folders and others that are looked at

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO waits for a writer for ever.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ODD_BITS: Final = 0o7000  # setuid, setgid, sticky

Parts = tuple[str, ...]
Refused = Callable[[str, Parts], str | None]


@dataclass(slots=True)
class Seen:
    """What lies in a copy.

    Attributes:
        files: Regular files by relative path.
        folders: Relative paths of folders, each after the one that it is in.
        others: What is neither, or may not be edited, by relative path, with the code that says
            why; nothing below it was looked at.
    """

    files: dict[str, os.stat_result] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    others: dict[str, str] = field(default_factory=dict)


class ScratchTree:
    """One folder of ours, open.

    Args:
        root: Real path.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._handle = os.open(root, _FOLDER)
        status = os.fstat(self._handle)
        self._node = status.st_dev, status.st_ino

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._handle)
        self._handle = -1  # no late call may mean what is opened next

    def check_there(self) -> None:
        """Return when the folder still bears its name.

        Raises:
            InputError: ``scratch.gone``.
        """
        try:
            status = self.root.lstat()
        except OSError:
            raise InputError("scratch.gone") from None
        if (status.st_dev, status.st_ino) != self._node:
            raise InputError("scratch.gone")

    def status(self, parts: Parts) -> os.stat_result | None:
        """Return what the regular file of this name is, None where there is nothing.

        Raises:
            InputError: ``path.link`` or ``path.not-regular``: something else is there, or on the
                way.
        """
        with self._above(parts) as folder:
            if folder is None:
                return None
            try:
                status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                return None
        if code := fault(status):
            raise InputError(code)
        return status

    def read(self, parts: Parts, limit: int) -> bytes | None:
        """Return a file, None where there is none.

        Raises:
            InputError: as `status`; ``scratch.too-large``.
        """
        with self._above(parts) as folder:
            if folder is None:
                return None
            try:
                handle = os.open(parts[-1], _FILE, dir_fd=folder)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise _obstacle(error, parts[-1], folder) from None
        try:
            if code := fault(os.fstat(handle)):
                raise InputError(code)
            with os.fdopen(handle, "rb", closefd=False) as file:
                content = file.read(limit + 1)
        finally:
            os.close(handle)
        if len(content) > limit:
            raise InputError("scratch.too-large", limit=limit)
        return content

    def write(self, parts: Parts, content: bytes, *, executable: bool) -> os.stat_result:
        """Write a file anew, with the folders above it, and return what it is.

        Raises:
            InputError: as `status`.
        """
        with self._above(parts, make=True) as folder:
            if folder is None:
                raise InputError("path.not-regular")
            _unlink(parts[-1], folder)
            handle = os.open(parts[-1], _NEW, 0o700 if executable else 0o600, dir_fd=folder)
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(handle, left) :]
            return os.fstat(handle)
        finally:
            os.close(handle)

    def remove(self, parts: Parts) -> None:
        """Remove a file; the folder that it leaves empty stays.

        Raises:
            InputError: as `status`.
        """
        with self._above(parts) as folder:
            if folder is not None:
                _unlink(parts[-1], folder)

    def remove_whole(self, parts: Parts) -> None:
        """Remove whatever bears this name, with all that is in it.

        Raises:
            InputError: as `status`, of what is on the way.
            OSError: it would not go.
        """
        with self._above(parts) as folder:
            if folder is None:
                return
            mode = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode
            if not stat.S_ISDIR(mode):
                os.unlink(parts[-1], dir_fd=folder)
                return
            # Out of the reach of whoever works in the copy, and then away.
            aside = self.root.with_name(f"gone-{secrets.token_hex(8)}")
            os.rename(parts[-1], aside, src_dir_fd=folder)
        remove_folder(aside)

    def look(self, refused: Refused) -> Seen:
        """Return what lies in the copy now.

        Args:
            refused: Gives the code why a name may not be edited, None for one that may; it is
                given the path and its parts.

        Raises:
            InputError: ``scratch.too-many`` with ``limit``; ``scratch.gone``: a folder in it
                cannot be read.
        """
        self.check_there()
        seen = Seen()
        try:
            self._look(self._handle, (), seen, refused)
        except OSError:
            raise InputError("scratch.gone") from None
        return seen

    def _look(self, folder: int, above: Parts, seen: Seen, refused: Refused) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(seen.files) + len(seen.folders) + len(seen.others) >= MAX_ENTRIES:
                    raise InputError("scratch.too-many", limit=MAX_ENTRIES)
                parts = (*above, entry.name)
                path = "/".join(parts)
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    if code := refused(path, parts):
                        seen.others[path] = code
                        continue
                    seen.folders.append(path)
                    with _opened(entry.name, folder) as below:
                        self._look(below, parts, seen, refused)
                elif code := fault(status) or refused(path, parts):
                    seen.others[path] = code
                else:
                    seen.files[path] = status

    @contextlib.contextmanager
    def _above(self, parts: Parts, *, make: bool = False) -> Iterator[int | None]:
        """Give a handle of the folder that a file is in, None where there is none."""
        with contextlib.ExitStack() as closing:
            folder: int | None = self._handle
            for part in parts[:-1]:
                try:
                    folder = closing.enter_context(_opened(part, folder, make=make))
                except FileNotFoundError:
                    folder = None
                    break
                except OSError as error:
                    raise _obstacle(error, part, folder) from None
            yield folder


def fault(status: os.stat_result) -> str | None:
    """Return the code of what is wrong with a file of a copy, by its kind; None for nothing."""
    if stat.S_ISLNK(status.st_mode):
        return "path.link"
    if not stat.S_ISREG(status.st_mode):
        return "path.not-regular"
    if status.st_nlink > 1:
        return "path.link"  # it has another name, which may be anywhere
    return "scratch.mode" if status.st_mode & _ODD_BITS else None


@contextlib.contextmanager
def machine_refusals() -> Iterator[None]:
    """Tell what the machine refuses as an error of ours.

    Raises:
        StateError: ``scratch.not-made`` with ``why``.
    """
    try:
        yield
    except OSError as error:
        raise StateError("scratch.not-made", why=error.strerror or "") from error


@contextlib.contextmanager
def _opened(name: str, folder: int | None, *, make: bool = False) -> Iterator[int]:
    try:
        handle = os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=folder)
        handle = os.open(name, _FOLDER, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


def _obstacle(error: OSError, name: str, folder: int | None) -> InputError:
    if error.errno in (errno.ENXIO, errno.EACCES):  # ENXIO is what opening a socket says
        return InputError("path.not-regular")
    if error.errno not in (errno.ENOTDIR, errno.ELOOP):
        raise error
    # ENOTDIR is what is said of a link to a folder, too.
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return InputError("path.missing")
    return InputError("path.link" if stat.S_ISLNK(mode) else "path.not-regular")


def _unlink(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        raise InputError("path.not-regular") from None
