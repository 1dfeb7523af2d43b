"""The lines of the local changes, for whoever reads them: each file against the last commit.

libgit2 tells what differs and compares; the content of the workspace is read here, through handles
and behind the path guard (R52), so that a file swapped for a link is not followed.  Blocking.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from common.diff.render import is_wide
from common.errors import InputError
from local_agent.workspace import paths
from local_agent.workspace.git import head_of, open_repository
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:
    import pygit2

MAX_COMPARED_BYTES: Final = 256 * 1024  # of each side of a file; larger ones are not compared


@dataclass(frozen=True, slots=True)
class FilePatch:
    """How one file differs from the last commit.

    Attributes:
        patch: As `git diff` would print it; empty where ``reason`` tells why there is none.
        reason: ``secret``, ``binary``, ``too-large`` or ``unreadable``; empty where there is one.
    """

    path: str
    patch: bytes = b""
    reason: str = ""


def read_patches(workspace: Workspace, changed: Iterable[str], *, limit: int) -> list[FilePatch]:
    """Return the patch of each changed file, until they are ``limit`` bytes together.

    Args:
        workspace: The folder, and what the person denies in it.
        changed: Paths of files whose lines `git.local_changes` has counted: none is very large.
        limit: After so many bytes no further file is compared.
    """
    repository = open_repository(workspace.path)
    if repository is None:
        return []
    tree = _head_tree(repository)
    found: list[FilePatch] = []
    with paths.open_root(workspace.path, deny=workspace.deny) as root, paths.Reader(root) as reader:
        for path in changed:
            if limit <= 0:
                break
            found.append(_patch(tree, reader, path))
            limit -= len(found[-1].patch)
    return found


_REASONS: Final = {"path.denied": "secret", "path.binary": "binary", "path.too-large": "too-large"}


def _patch(tree: pygit2.Tree | None, reader: paths.Reader, path: str) -> FilePatch:
    import pygit2

    try:
        new: bytes | None = reader.read(path, max_bytes=MAX_COMPARED_BYTES)
    except InputError as error:
        if error.code != "path.missing":
            return FilePatch(path, reason=_REASONS.get(error.code, "unreadable"))
        new = None
    old = _committed(tree, path)
    if len(old) > MAX_COMPARED_BYTES or is_wide(old, new or b""):
        return FilePatch(path, reason="too-large")
    if b"\0" in old:
        return FilePatch(path, reason="binary")
    made = pygit2.Patch.create_from(old, new or b"", old_as_path=path, new_as_path=path)
    return FilePatch(path, made.data or b"")


def _head_tree(repository: pygit2.Repository) -> pygit2.Tree | None:
    import pygit2

    head = head_of(repository)
    return repository[head].peel(pygit2.Tree) if head else None


def _committed(tree: pygit2.Tree | None, path: str) -> bytes:
    """Return what the last commit has of a file; nothing where it has none."""
    import pygit2

    try:
        entry = tree[path] if tree is not None else None
    except KeyError:
        return b""
    return entry.data if isinstance(entry, pygit2.Blob) else b""
