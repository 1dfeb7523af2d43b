"""An open workspace, walked by folder handles (R35): no link is followed, none leads out.

Every folder is opened relative to the one above it and remembered by identity, so that a folder
that was exchanged for another shows: when it is opened again, and when the writer asks before and
after it writes.  Reads only; `local_agent.workspace.writer` writes.  Blocking.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from common.access_lists import access_list, without_list
from common.diff.names import checked_path
from common.errors import InputError
from common.seal import Place
from local_agent.workspace.paths import Root, open_root
from local_agent.workspace.registry import Workspace

MAX_FILE_BYTES: Final = 8 * 1024 * 1024  # what the blob store keeps of one file
MAX_DEPTH: Final = 64  # folders above a file
_HANDLES: Final = 256  # kept open; at least twice the depth, so that two folders stay open together
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK, opening a FIFO waits for a writer for ever.
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file as it was read.

    Attributes:
        mode: Permission bits, those for other users and the sticky ones included.
        node: Device and inode.
        owner: User and group.
        access: Its access list; empty where it has none.
    """

    data: bytes
    mode: int
    node: tuple[int, int]
    owner: tuple[int, int]
    access: bytes

    def is_like(self, other: Found) -> bool:
        """Tell whether both say the same to the same people, whichever file they were read from."""
        mine, theirs = (self.data, self.mode), (other.data, other.mode)
        return mine == theirs and self.access == other.access


class Tree:
    """The files of one workspace, while it is open (`open_tree`).

    Attributes:
        deny: Patterns of what is denied in it: the person's and the workspace's.
        encodings: In which its files may be text.
        place: Its name and identity.
    """

    def __init__(self, path: Path, root: Root) -> None:
        status = os.fstat(root.handle)
        self.deny = root.deny
        self.encodings = root.encodings
        self.place = Place(str(path), status.st_dev, status.st_ino)
        self._root = root.handle
        self._handles: OrderedDict[Parts, int] = OrderedDict()
        self._nodes: dict[Parts, tuple[int, int]] = {}

    def is_at(self, place: Place) -> bool:
        """Tell whether this is the folder that was here when ``place`` was sealed.

        By name and inode alone: the number of a device may be another after the machine restarted.
        """
        return (self.place.path, self.place.ino) == (place.path, place.ino)

    def folder(self, parts: Parts) -> int | None:
        """Return a handle of a folder, or None where there is nothing.

        It stays open at least until the folder after the next one is asked for.

        Raises:
            InputError: ``change.symlink``, ``change.not-folder``, ``change.submodule``,
                ``change.moved`` or ``change.unreadable``, with ``path``.
        """
        if not parts:
            return self._root
        handle = self._handles.get(parts)
        if handle is None:
            above = self.folder(parts[:-1])
            handle = None if above is None else self._open(above, parts)
            if handle is None:
                return None
            self._keep(parts, handle)
        self._handles.move_to_end(parts)
        return handle

    def find(self, parts: Parts) -> Found | None:
        """Return the regular file of this path, or None where there is nothing.

        Raises:
            InputError: as `folder`; ``change.folder``, ``change.special`` or ``change.too-large``.
        """
        folder = self.folder(parts[:-1])
        return None if folder is None else read_file(folder, parts[-1], "/".join(parts))

    def names(self, parts: Parts) -> list[str]:
        """Return what lies in a folder; nothing where there is none.

        Raises:
            InputError: as `folder`.
        """
        handle = self.folder(parts)
        return [] if handle is None else [entry.name for entry in os.scandir(handle)]

    @contextmanager
    def borrow(self, folders: Iterable[Parts]) -> Iterator[dict[Parts, int]]:
        """Give handles of several folders, all open at once.

        Raises:
            InputError: as `folder`; ``change.moved`` where there is none.
        """
        borrowed: dict[Parts, int] = {}
        try:
            for parts in folders:
                borrowed[parts] = os.dup(self.present(parts))
            yield borrowed
        finally:
            for handle in borrowed.values():
                os.close(handle)

    def present(self, parts: Parts) -> int:
        """Return the handle of a folder that must be there.

        Raises:
            InputError: as `folder`; ``change.moved`` where there is none.
        """
        handle = self.folder(parts)
        if handle is None:
            raise InputError("change.moved", path="/".join(parts))
        return handle

    def mode(self, parts: Parts) -> int:
        """Return the permission bits of a folder that must be there, for one that is made anew.

        Raises:
            InputError: as `present`.
        """
        handle = self.present(parts)
        return without_list(stat.S_IMODE(os.fstat(handle).st_mode), access_list(handle))

    def is_mounted(self, parts: Parts) -> bool:
        """Tell whether a folder that must be there is a mount point, also of the same device.

        Raises:
            InputError: as `present`.
        """
        above, here = self.present(parts[:-1]), self.present(parts)
        return _mount_of(above) != _mount_of(here)

    def nodes(self) -> Mapping[Parts, tuple[int, int]]:
        """Return the identity of every folder below the top that was opened."""
        return dict(self._nodes)

    def check_unmoved(self) -> None:
        """Return when every folder that was opened still bears its name, within this workspace.

        Raises:
            InputError: ``change.moved`` with ``path``.
        """
        if _node_at(self.place.path, None) != (self.place.dev, self.place.ino):
            raise InputError("change.moved", path=".")
        for parts in sorted(self._nodes):
            above = self.folder(parts[:-1])
            if above is None or _node_at(parts[-1], above) != self._nodes[parts]:
                raise InputError("change.moved", path="/".join(parts))

    def forget(self, parts: Parts) -> None:
        """Close a folder that was removed; what comes in its place is another."""
        self._nodes.pop(parts, None)
        handle = self._handles.pop(parts, None)
        if handle is not None:
            os.close(handle)

    def close(self) -> None:
        """Close every handle but that of the workspace."""
        while self._handles:
            os.close(self._handles.popitem()[1])

    def _open(self, above: int, parts: Parts) -> int | None:
        path = "/".join(parts)
        handle = _open_folder(above, parts[-1], path)
        if handle is None:
            return None
        try:
            self._recognise(handle, parts, path)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _recognise(self, handle: int, parts: Parts, path: str) -> None:
        status = os.fstat(handle)
        node = status.st_dev, status.st_ino
        if self._nodes.setdefault(parts, node) != node:
            raise InputError("change.moved", path=path)
        if _exists(".git", handle):
            raise InputError("change.submodule", path=path)

    def _keep(self, parts: Parts, handle: int) -> None:
        self._handles[parts] = handle
        while len(self._handles) > _HANDLES:
            os.close(self._handles.popitem(last=False)[1])


@contextmanager
def open_tree(
    workspace: Path, *, deny: Sequence[str] = (), encoding: str | None = None
) -> Iterator[Tree]:
    """Give the workspace, opened.

    Args:
        workspace: Real path.
        deny: The person's own deny patterns.
        encoding: As of `open_root`.

    Raises:
        InputError: ``path.missing``.
    """
    with open_root(workspace, deny=deny, encoding=encoding) as root:
        tree = Tree(workspace, root)
        try:
            yield tree
        finally:
            tree.close()


def tree_of(workspace: Workspace) -> AbstractContextManager[Tree]:
    """Give a workspace, opened as the person set it (`open_tree`)."""
    return open_tree(workspace.path, deny=workspace.deny, encoding=workspace.encoding)


@lru_cache(maxsize=4096)
def parts_of(path: str) -> Parts:
    """Return the parts of a path that a change may name, whoever named it (R34).

    Raises:
        InputError: ``diff.name``; ``change.too-deep``.
    """
    parts = tuple(checked_path(path.encode("utf-8", "surrogatepass")).split("/"))
    if len(parts) > MAX_DEPTH + 1:
        raise InputError("change.too-deep", path=path, limit=MAX_DEPTH)
    return parts


def read_file(folder: int, name: str, path: str) -> Found | None:
    """Return the regular file of this name in an open folder, or None where there is nothing.

    Args:
        path: The same file for people.

    Raises:
        InputError: ``change.symlink``, ``change.folder``, ``change.special``,
            ``change.too-large`` or ``change.unreadable``, with ``path``.
    """
    try:
        handle = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _obstacle(error, path) from None
    try:
        return _read(handle, path)
    finally:
        os.close(handle)


def _read(handle: int, path: str) -> Found:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        code = "change.folder" if stat.S_ISDIR(status.st_mode) else "change.special"
        raise InputError(code, path=path)
    # One byte more than it should have: a file that grows meanwhile is read to its end or refused.
    chunks, left, wanted = [], MAX_FILE_BYTES + 1, min(status.st_size, MAX_FILE_BYTES) + 1
    while left > 0 and (chunk := os.read(handle, min(wanted, left))):
        chunks.append(chunk)
        left -= len(chunk)
        if len(chunk) < wanted:
            break  # of a regular file, less is given only at its end
    if left <= 0:
        raise InputError("change.too-large", path=path, limit=MAX_FILE_BYTES)
    return Found(
        b"".join(chunks),
        stat.S_IMODE(status.st_mode),
        (status.st_dev, status.st_ino),
        (status.st_uid, status.st_gid),
        access_list(handle),
    )


def _open_folder(above: int, name: str, path: str) -> int | None:
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise _obstacle(error, path) from None
    # ENOTDIR is what is said of a link to a folder, too.
    try:
        mode = os.stat(name, dir_fd=above, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    raise InputError("change.symlink" if stat.S_ISLNK(mode) else "change.not-folder", path=path)


def _obstacle(error: OSError, path: str) -> InputError:
    # ENXIO is what opening a socket says.
    known = {errno.ELOOP: "change.symlink", errno.ENXIO: "change.special"}
    return InputError(known.get(error.errno or 0, "change.unreadable"), path=path)


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _mount_of(handle: int) -> tuple[int, str]:
    """Return the device of an open folder and, on Linux, the number of its mount."""
    try:
        lines = Path(f"/proc/self/fdinfo/{handle}").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    number = next((line for line in lines if line.startswith("mnt_id:")), "")
    return os.fstat(handle).st_dev, number


def _node_at(name: str, folder: int | None) -> tuple[int, int] | None:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return status.st_dev, status.st_ino
