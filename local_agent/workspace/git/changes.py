"""What a commit of everything would hold: each changed file, by the bytes in the workspace.

libgit2 tells which files differ, from the index and without hashing what its stamps call unchanged;
the content itself is read here, through handles and behind the path guard (R52), and is committed
as it is.  Where git would commit other bytes than those (filters, line ends, encodings), or
something else than a file, the whole commit is refused: it must hold what git would have put there.

Submodules stay at the commit that is recorded, and repositories inside are left out.  Blocking.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from common.encodings import UTF8
from common.errors import InputError
from common.seal import Mode, SealedChange
from local_agent.workspace import paths
from local_agent.workspace.git import config
from local_agent.workspace.git.repository import diff_options, unfolds_too_far
from local_agent.workspace.paths import Root
from local_agent.workspace.registry import Workspace
from local_agent.workspace.temporary_files import is_reserved

if TYPE_CHECKING:
    import pygit2

MAX_FILES: Final = 500  # security limits table, files of a diff
MAX_FILE_BYTES: Final = 8 * 1024 * 1024
MAX_BYTES: Final = 32 * 1024 * 1024
MAX_HASHED_BYTES: Final = 512 * 1024 * 1024  # of large files, which libgit2 may have to hash

_GITLINK: Final = 0o160000
_LINK: Final = 0o120000
_CONVERTING: Final = ("filter", "working-tree-encoding", "ident")
_EMPTY_BLOB: Final = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed file.

    Attributes:
        sealed: As a person approves it.
        content: Its bytes afterwards; None where it is deleted.
    """

    sealed: SealedChange
    content: bytes | None


def read_changes(repository: pygit2.Repository, workspace: Workspace) -> tuple[FileChange, ...]:
    """Return what differs from the last commit, staged or not, by path.

    Raises:
        InputError: ``sync.conflict``, ``sync.partly-staged``, ``sync.submodule``, ``sync.link``,
            ``sync.secret``, ``sync.converted``, ``sync.name`` or ``sync.file``, each with ``path``;
            ``sync.too-large``, ``sync.too-many``; ``sync.repository``: it claims too many files.
    """
    index = repository.index
    index.read()
    tree = _head_tree(repository)
    found: list[FileChange] = []
    left = MAX_BYTES
    with workspace.opened() as root:
        _check_sizes(index, root)
        for path in _candidates(index, tree):
            change = _change(repository, tree, root, path)
            if change is not None:
                found.append(change)
                left -= len(change.content or b"")
            if left < 0:
                raise InputError("sync.too-large", path=path, limit=MAX_BYTES)
    return tuple(found)


# --- which files -----------------------------------------------------------------------------


def _check_sizes(index: pygit2.Index, root: Root) -> None:
    # A file whose stamp has changed is hashed by libgit2, however large it is.
    total = 0
    for entry in index:
        try:
            size = os.stat(entry.path, dir_fd=root.handle, follow_symlinks=False).st_size
        except (OSError, ValueError):
            continue
        total += size if size > MAX_FILE_BYTES else 0
        if total > MAX_HASHED_BYTES:
            raise InputError("sync.too-large", path=entry.path, limit=MAX_HASHED_BYTES)


def _head_tree(repository: pygit2.Repository) -> pygit2.Tree | None:
    import pygit2

    if repository.head_is_unborn:
        return None
    tree = repository.head.peel(pygit2.Tree)
    if unfolds_too_far(tree):
        raise InputError("sync.repository")
    return tree


def _candidates(index: pygit2.Index, tree: pygit2.Tree | None) -> list[str]:
    if index.conflicts is not None:
        path = next(entry.path for sides in index.conflicts for entry in sides if entry)
        raise InputError("sync.conflict", path=path)
    staged = _staged(index, tree)
    unstaged = {path for path, _ in _paths(index.diff_to_workdir(diff_options(), 0))}
    for path in sorted(staged.keys() & unstaged):
        # What is staged would be lost in a commit of what lies there now.
        if not staged[path]:
            raise InputError("sync.partly-staged", path=path)
    found = sorted(path for path in staged.keys() | unstaged if not _is_ours(path, tree))
    if len(found) > MAX_FILES:
        raise InputError("sync.too-many", limit=MAX_FILES)
    return found


def _is_ours(path: str, tree: pygit2.Tree | None) -> bool:
    """Tell whether a path is a file beside that a crash of ours left; git was never given it."""
    return is_reserved(posixpath.basename(path)) and (tree is None or path not in tree)


def _staged(index: pygit2.Index, tree: pygit2.Tree | None) -> dict[str, bool]:
    """Return the staged paths, and of each whether it is only announced (``git add -N``)."""
    if tree is None:
        return {entry.path: str(entry.id) == _EMPTY_BLOB for entry in index}
    return dict(_paths(tree.diff_to_index(index, diff_options(), 0)))


def _paths(diff: pygit2.Diff) -> Iterator[tuple[str, bool]]:
    from pygit2.enums import DeltaStatus

    for delta in diff.deltas:
        raw = delta.new_file.raw_path or delta.old_file.raw_path
        try:
            path = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError("sync.name", path=raw.decode("utf-8", "replace")) from None
        if path.endswith("/"):
            continue  # a repository inside
        if _GITLINK in (delta.old_file.mode, delta.new_file.mode):
            raise InputError("sync.submodule", path=path)
        is_new = delta.status == DeltaStatus.ADDED
        yield path, is_new and str(delta.new_file.id) == _EMPTY_BLOB


# --- one file --------------------------------------------------------------------------------


def _change(
    repository: pygit2.Repository, tree: pygit2.Tree | None, root: Root, path: str
) -> FileChange | None:
    old = _committed(repository, tree, path)
    new = _present(repository, root, path, old[1] if old else "100644")
    if old == new:
        return None
    if new is not None:
        _check_as_it_is(repository, path, new[0])
    content = new[0] if new else None
    sealed = SealedChange(
        op="add" if old is None else "delete" if new is None else "modify",
        path=path,
        old_path=path if old else None,
        old_sha256=sha256(old[0]) if old else None,
        old_mode=old[1] if old else None,
        new_sha256=sha256(new[0]) if new else None,
        new_mode=new[1] if new else None,
        size=len(content or b""),
        encoding=_encoding(root, path, [side[0] for side in (old, new) if side]),
    )
    return FileChange(sealed, content)


def _encoding(root: Root, path: str, sides: Sequence[bytes]) -> str | None:
    found = {root.encodings.of(path, side) for side in sides if not side.isascii()}
    return found.pop() if len(found) == 1 and found != {UTF8} else None


def sha256(content: bytes) -> str:
    """Return the hash of a content, as it is sealed."""
    return hashlib.sha256(content).hexdigest()


def _committed(
    repository: pygit2.Repository, tree: pygit2.Tree | None, path: str
) -> tuple[bytes, Mode] | None:
    import pygit2

    if tree is None or path not in tree:
        return None
    entry = tree[path]
    if not isinstance(entry, pygit2.Blob) or entry.filemode == _LINK:
        raise InputError("sync.link", path=path)
    # By its header: a few kilobytes in the store can be gigabytes of content.
    if repository.odb.read_header(entry.id)[1] > MAX_FILE_BYTES:
        raise InputError("sync.too-large", path=path, limit=MAX_FILE_BYTES)
    return entry.data, "100755" if entry.filemode & 0o100 else "100644"


def _present(
    repository: pygit2.Repository, root: Root, path: str, known: Mode
) -> tuple[bytes, Mode] | None:
    try:
        handle = paths.open_file(root, paths.check_relative(path))
    except InputError as error:
        if error.code == "path.missing" or _is_folder(root, path):
            return None
        raise InputError(_REFUSED.get(error.code, "sync.file"), path=path) from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise InputError("sync.too-large", path=path, limit=MAX_FILE_BYTES)
    if not config.is_on(repository, "core.filemode", default=True):
        return content, known
    return content, "100755" if status.st_mode & stat.S_IXUSR else "100644"


def _is_folder(root: Root, path: str) -> bool:
    try:
        status = os.stat(path, dir_fd=root.handle, follow_symlinks=False)
    except (OSError, ValueError):
        return False
    return stat.S_ISDIR(status.st_mode)


_REFUSED: Final = {
    "path.malformed": "sync.name",
    "path.denied": "sync.secret",
    "path.link": "sync.link",
}


def _check_as_it_is(repository: pygit2.Repository, path: str, content: bytes) -> None:
    """Refuse a content that git would not commit as it is.

    Raises:
        InputError: ``sync.converted``.
    """
    marked = [repository.get_attr(path, name) for name in _CONVERTING]
    # A repository without these attributes, or with them taken away, converts nothing.
    if any(value not in (None, False) for value in marked):
        raise InputError("sync.converted", path=path)
    if b"\r\n" in content and _ends_lines(repository, path):
        raise InputError("sync.converted", path=path)


def _ends_lines(repository: pygit2.Repository, path: str) -> bool:
    marks = [repository.get_attr(path, name) for name in ("text", "crlf", "eol")]
    text, crlf, _ = marks
    if text is False or (text is None and crlf is False):
        return False  # `-text`, `binary`
    if any(value is not None for value in marks):
        return True
    return config.text_of(repository, "core.autocrlf").casefold() not in (
        "",
        "false",
        "no",
        "off",
        "0",
    )
