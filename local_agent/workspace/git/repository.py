"""The repository of a workspace and its local changes, by libgit2, which runs none of its code.

No hook, filter, textconv, fsmonitor or pager of the repository runs, and the `git` program is not
called.  libgit2 is loaded at the first look, not at start: it takes ten megabytes that an idle
agent does not need.  A workspace that is no repository, or whose repository says that its files
are elsewhere (R41), counts as none.  Blocking functions say so.

The lines of a change are compared by libgit2; the content of the workspace is read here, through
handles and behind the path guard (R52), so that a file swapped for a link is not followed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from common.clock import SystemClock
from common.diff.render import is_wide
from common.errors import InputError
from local_agent.workspace import paths
from local_agent.workspace.git.opening import KeptOpen, load_libgit2, may_hang
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:
    import pygit2
    from pygit2.enums import DiffOption


MAX_FILES: Final = 500  # security limits table, files of a diff
MAX_TREE_FILES: Final = 1_000_000  # of a commit
MAX_TREE_DEPTH: Final = 128
MAX_BOUNDED: Final = 1000  # trees that are known not to unfold too far
MAX_COUNTED_BYTES: Final = 512 * 1024  # of one file; the lines of larger ones are not counted
COUNT_SECONDS: Final = 2.0  # then none are counted: nothing else of this program runs meanwhile

_BOUNDED: Final[set[tuple[str, int, int]]] = set()

Status = Literal["added", "deleted", "modified", "renamed", "untracked", "other"]
STATUS: Final[dict[str, Status]] = {
    "A": "added",
    "D": "deleted",
    "M": "modified",
    "R": "renamed",
    "T": "modified",
    "?": "untracked",
}  # by git's letter


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that is not as in the last commit; lines are None where they are not counted."""

    path: str
    status: Status
    added: int | None
    removed: int | None


@dataclass(frozen=True, slots=True)
class Changes:
    """What was changed since the last commit, staged or not.

    Attributes:
        branch: Short name; None on a detached head.
        head: Commit id; None before the first commit.
        ahead: Commits that the upstream branch does not have; None without an upstream.
        behind: Commits that only the upstream branch has.
        files: At most 500, by path.
        total: How many files there are.
        added: Lines added in the listed files.
        removed: Lines removed in the listed files.
    """

    branch: str | None
    head: str | None
    ahead: int | None
    behind: int | None
    files: tuple[ChangedFile, ...]
    total: int
    added: int
    removed: int


async def local_changes(workspace: Path) -> Changes | None:
    """Return the changes since the last commit, or None where there is no repository."""
    return await asyncio.to_thread(_read_changes, workspace)


def git_head(workspace: Path) -> str | None:
    """Return the commit that is checked out, or None.  Blocking; reads two small files."""
    repository = open_repository(workspace)
    return head_of(repository) if repository is not None else None


def open_repository(workspace: Path) -> pygit2.Repository | None:
    """Return the repository whose top is this very folder, or None.  Blocking.

    None too when libgit2 finds it broken or owned by somebody else (CVE-2022-24765).
    """
    load_libgit2()
    import pygit2
    from pygit2.enums import RepositoryOpenFlag

    if may_hang(workspace / ".git"):
        return None
    try:
        repository = pygit2.Repository(str(workspace), RepositoryOpenFlag.NO_SEARCH)
    except (pygit2.GitError, OSError):
        return None
    # `core.worktree` can point anywhere.
    return repository if _is_same_folder(repository.workdir, workspace) else None


def begins_above(workspace: Path) -> Path | None:
    """Return the folder above a workspace in which its repository begins, if any.  Blocking."""
    ways = (workspace, *workspace.parents)
    top = next((folder for folder in ways if (folder / ".git").exists()), workspace)
    return None if top == workspace else top


def _is_same_folder(workdir: str | None, workspace: Path) -> bool:
    try:
        return workdir is not None and Path(workdir).samefile(workspace)
    except OSError:
        return False


def is_ignored(repository: pygit2.Repository, path: str) -> bool:
    """Tell whether git would leave the path out; what libgit2 cannot judge is not ignored."""
    import pygit2

    try:
        return repository.path_is_ignored(path)
    except (pygit2.GitError, ValueError):
        return False


def index_of(repository: pygit2.Repository) -> pygit2.Index | None:
    """Return what is tracked; None where whoever writes the workspace has spoilt it.  Blocking."""
    import pygit2

    try:
        index: pygit2.Index = repository.index
    except (pygit2.GitError, OSError):
        return None
    return index


def head_of(repository: pygit2.Repository) -> str | None:
    """Return the commit that is checked out; None before the first one.  Blocking."""
    import pygit2

    try:
        return None if repository.head_is_unborn else str(repository.head.target)
    except pygit2.GitError:
        return None


def unfolds_too_far(tree: pygit2.Tree) -> bool:
    """Tell whether a commit claims more files than can be compared.

    The same folder named over and over makes billions of files of a few kilobytes; each is looked
    into once here.
    """
    key = (str(tree.id), MAX_TREE_FILES, MAX_TREE_DEPTH)
    if key in _BOUNDED:  # what an id stands for never changes
        return False
    too_far = _files_below(tree, {}, 0) > MAX_TREE_FILES
    if not too_far:
        if len(_BOUNDED) >= MAX_BOUNDED:
            _BOUNDED.clear()
        _BOUNDED.add(key)
    return too_far


def _files_below(tree: pygit2.Tree, known: dict[pygit2.Oid, int], depth: int) -> int:
    import pygit2

    if depth > MAX_TREE_DEPTH:
        return MAX_TREE_FILES + 1
    count = 0
    for entry in tree:
        if not isinstance(entry, pygit2.Tree):
            count += 1
            continue
        if entry.id not in known:
            known[entry.id] = _files_below(entry, known, depth + 1)
        count += known[entry.id]
    return count


_KEPT: Final = KeptOpen(open_repository)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a work tree stands.

    Attributes:
        branch: Short name; None on a detached head.
        paths: What is not as in the last commit, sorted, at most as many as were asked for.
        total: How many there are.
    """

    branch: str | None
    paths: tuple[str, ...]
    total: int


def read_standing(workspace: Path, *, most: int) -> Standing | None:
    """Return branch and changed paths, no line of them; None where there is no repository.

    Blocking.
    """
    import pygit2

    try:
        with _KEPT.lend(workspace) as repository:
            if repository is None:
                return None
            tree = _head_tree(repository) or empty_tree(repository)
            if unfolds_too_far(tree):
                return None
            diff = _compared(tree, repository.index)
            sides = (delta.new_file.raw_path or delta.old_file.raw_path for delta in diff.deltas)
            named = (path.decode("utf-8", "replace") for path in islice(sides, most))
            return Standing(_branch(repository), tuple(sorted(named)), len(diff))
    except (pygit2.GitError, KeyError, ValueError, OSError):
        return None


def _read_changes(workspace: Path) -> Changes | None:
    import pygit2

    try:
        with _KEPT.lend(workspace) as repository:
            return None if repository is None else _changes(repository, workspace)
    except (pygit2.GitError, KeyError, ValueError, OSError):
        return None


def _changes(repository: pygit2.Repository, workspace: Path) -> Changes | None:
    tree = _head_tree(repository) or empty_tree(repository)
    if unfolds_too_far(tree):
        return None
    diff = _compared(tree, repository.index)
    files = tuple(_files(diff, workspace))
    ahead, behind = _distance(repository)
    return Changes(
        branch=_branch(repository),
        head=head_of(repository),
        ahead=ahead,
        behind=behind,
        files=files,
        total=len(diff),
        added=sum(file.added or 0 for file in files),
        removed=sum(file.removed or 0 for file in files),
    )


def _compared(tree: pygit2.Tree, index: pygit2.Index) -> pygit2.Diff:
    """Return how the work tree differs from a commit.

    By way of the index, whose stamps tell without hashing what has changed.
    """
    from pygit2.enums import DiffOption

    flags = diff_options() | DiffOption.SHOW_UNTRACKED_CONTENT
    diff = tree.diff_to_index(index, flags, 0)
    diff.merge(index.diff_to_workdir(flags, 0))
    return diff


def empty_tree(repository: pygit2.Repository) -> pygit2.Tree:
    """Return the tree without a file; its object is written where there is none."""
    # Its id is known to every git, but the object must exist to be compared with.
    import pygit2

    tree = repository[repository.TreeBuilder().write()]
    return tree.peel(pygit2.Tree)


def diff_options() -> DiffOption:
    """Return how states are compared: all that git would commit, by its names alone."""
    from pygit2.enums import DiffOption

    return (
        DiffOption.INCLUDE_UNTRACKED
        | DiffOption.RECURSE_UNTRACKED_DIRS
        | DiffOption.INCLUDE_TYPECHANGE
        | DiffOption.IGNORE_SUBMODULES
        | DiffOption.DISABLE_PATHSPEC_MATCH
    )


def _files(diff: pygit2.Diff, workspace: Path) -> Iterator[ChangedFile]:
    clock = SystemClock()
    until = clock.now().mono + COUNT_SECONDS
    for index, delta in enumerate(diff.deltas):
        if index >= MAX_FILES:
            return
        path = delta.new_file.path or delta.old_file.path
        # libgit2 keeps 32 bits of a size.
        sizes = (delta.new_file.size, delta.old_file.size, _size(workspace / path))
        counted = max(sizes) <= MAX_COUNTED_BYTES and clock.now().mono < until
        patch = diff[index] if counted else None
        if patch is None or patch.delta.is_binary:
            added = removed = None
        else:
            _, added, removed = patch.line_stats
        yield ChangedFile(path, STATUS.get(delta.status_char(), "other"), added, removed)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except (OSError, ValueError):
        return 0


def _branch(repository: pygit2.Repository) -> str | None:
    if repository.head_is_detached:
        return None
    target = repository.references["HEAD"].target
    return str(target).removeprefix("refs/heads/")


def _distance(repository: pygit2.Repository) -> tuple[int | None, int | None]:
    name = _branch(repository)
    branch = repository.branches.local.get(name) if name else None
    if branch is None or branch.upstream is None:
        return None, None
    ahead, behind = repository.ahead_behind(branch.target, branch.upstream.target)
    return ahead, behind


# --- the lines of the local changes, against the last commit ---------------------------------

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
        changed: Paths of files whose lines `local_changes` has counted: none is very large.
        limit: After so many bytes no further file is compared.
    """
    repository = open_repository(workspace.path)
    if repository is None:
        return []
    tree = _head_tree(repository)
    found: list[FilePatch] = []
    with workspace.opened() as root, paths.Reader(root) as reader:
        for path in changed:
            if limit <= 0:
                break
            found.append(_patch(tree, root, reader, path))
            limit -= len(found[-1].patch)
    return found


_REASONS: Final = {"path.denied": "secret", "path.binary": "binary", "path.too-large": "too-large"}


def _patch(
    tree: pygit2.Tree | None, root: paths.Root, reader: paths.Reader, path: str
) -> FilePatch:
    import pygit2

    try:
        new: bytes | None = reader.read(path, max_bytes=MAX_COMPARED_BYTES)
    except InputError as error:
        if error.code != "path.missing":
            return FilePatch(path, reason=_REASONS.get(error.code, "unreadable"))
        new = None
    old = root.encodings.shown(path, _committed(tree, path))
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
