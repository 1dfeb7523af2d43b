"""What "commit and push" would do now, looked up without writing into the workspace.

    repository ─▶ state ─▶ upstream, URL, distance ─▶ changed files ─▶ tree and diff ─▶ SyncPlan

Made twice from the same inputs: when a sync is proposed and sealed, and again when it was approved.
No program is started and nothing is asked of the remote: what is known of it is the last that was
fetched or pushed.  Blocking.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.diff.model import DiffModel
from common.diff.parse import parse_diff
from common.errors import CodexBridgeError, InputError
from common.seal import SealedCommit
from common.text import has_hidden
from local_agent.workspace.git import config, remote_url
from local_agent.workspace.git.changes import FileChange, read_changes, sha256
from local_agent.workspace.git.clean_repository import CleanRepository
from local_agent.workspace.git.opening import opened_below
from local_agent.workspace.git.remote_url import RemoteUrl
from local_agent.workspace.git.repository import head_of, open_repository
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:
    import pygit2

MAX_MESSAGE_BYTES: Final = 500
MAX_AHEAD: Final = 100_000  # commits that are counted for a branch that is new at the remote
_NAMED_FILES: Final = 3  # in a message that is made from their names

_HEADS: Final = "refs/heads/"
_VERBS: Final = {"add": "Add", "modify": "Update", "delete": "Delete"}


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where a branch is pushed to.

    Attributes:
        remote: Its name, for display.
        url: As git would push, by the person's own rules alone.
        ref: The full reference there.
        tracking: The local reference that remembers it; None where the remote keeps none.
        oid: What that one holds; None when the branch is not there as far as is known.
    """

    remote: str
    url: RemoteUrl
    ref: str
    tracking: str | None
    oid: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncPlan:
    """A commit and a push, or a push alone, as they would be done now.

    Attributes:
        branch: Short name of what is checked out.
        head: Its commit; None before the first one.
        ahead: Commits that the upstream does not have, before this one.
        commit: None when nothing has changed.
        changes: With their contents, in the order of the commit's.
        diff: As it is shown: every changed text; empty where only binary files change, and None
            without a commit.
        model: What that diff says.
    """

    branch: str
    head: str | None
    upstream: Upstream
    ahead: int
    commit: SealedCommit | None = None
    changes: tuple[FileChange, ...] = ()
    diff: bytes | None = None
    model: DiffModel | None = None

    @property
    def base(self) -> Mapping[str, str]:
        """The hash of each file that is committed, or ``absent``, by path."""
        return {change.sealed.path: change.sealed.new_sha256 or "absent" for change in self.changes}


def plan_sync(workspace: Workspace, clean: CleanRepository, *, message: str | None) -> SyncPlan:
    """Return what would be done.

    Args:
        workspace: Whose branch.
        clean: Made for this workspace; the new tree is written there.
        message: Of the commit; None to make it from the names of the files.

    Raises:
        InputError: ``sync.*`` or ``diff.*``: it cannot be done, or not be shown whole;
            ``sync.nothing-to-do``.
    """
    import pygit2

    try:
        return _plan(workspace, clean, message)
    except CodexBridgeError:
        raise
    except (pygit2.GitError, KeyError, ValueError, OSError) as error:
        # What libgit2 does not understand is left to git and the person.
        raise InputError("sync.repository") from error


def open_for_sync(workspace: Path) -> pygit2.Repository:
    """Return the repository whose top this folder is, and which passed `check_plain`.

    Raises:
        InputError: ``sync.repository``.
    """
    repository = open_repository(workspace)
    if repository is None or opened_below(workspace) is None:
        raise InputError("sync.repository")
    return repository


def branch_of(repository: pygit2.Repository) -> str:
    """Return the short name of the branch that is checked out.

    Raises:
        InputError: ``sync.detached``.
    """
    target = repository.lookup_reference("HEAD").target
    if not isinstance(target, str) or not target.startswith(_HEADS):
        raise InputError("sync.detached")
    return target.removeprefix(_HEADS)


def _plan(workspace: Workspace, clean: CleanRepository, message: str | None) -> SyncPlan:
    repository = open_for_sync(workspace.path)
    branch = branch_of(repository)
    _check_state(repository)
    head = head_of(repository)
    upstream = _upstream(repository, branch)
    _check_outside(upstream.url, workspace.path)
    # By the objects alone, as git will push them: grafts of the workspace would change the count.
    borrowed = clean.open()
    ahead, behind = _distance(borrowed, head, upstream.oid)
    if behind:
        raise InputError("sync.behind", count=behind)
    changes = read_changes(repository, workspace)
    if not changes and not ahead:
        raise InputError("sync.nothing-to-do")
    plan = SyncPlan(branch=branch, head=head, upstream=upstream, ahead=ahead)
    if not changes:
        return plan
    name, email = config.author(repository)
    tree, diff, model = _compared(borrowed, head, changes)
    commit = SealedCommit(
        message=_checked(message) if message is not None else _message(changes),
        tree=tree,
        author=name,
        email=email,
        diff_sha256=sha256(diff),
        changes=tuple(change.sealed for change in changes),
    )
    return replace(plan, commit=commit, changes=changes, diff=diff, model=model)


def _check_state(repository: pygit2.Repository) -> None:
    from pygit2.enums import RepositoryState

    state = repository.state()
    if state != RepositoryState.NONE:
        raise InputError("sync.in-progress", what=state.name.lower())
    if config.is_on(repository, "core.sparsecheckout", default=False):
        raise InputError("sync.sparse")


# --- upstream --------------------------------------------------------------------------------


def _upstream(repository: pygit2.Repository, branch: str) -> Upstream:
    remote = config.single(repository, f"branch.{branch}.remote")
    ref = config.single(repository, f"branch.{branch}.merge")
    if remote in (None, ".") or ref is None:
        raise InputError("sync.no-upstream")
    _check_names(remote, ref, branch)
    written = config.single(repository, f"remote.{remote}.url")
    if written is None:
        raise InputError("sync.no-upstream")
    url = remote_url.read_url(remote_url.rewritten(written, config.rewrites(repository)))
    tracking = _tracking(repository, remote, ref)
    known = repository.references.get(tracking) if tracking else None
    return Upstream(remote, url, ref, tracking, str(known.target) if known else None)


def _check_names(remote: str, ref: str, branch: str) -> None:
    import pygit2

    named = (remote, ref, branch)
    odd = any(has_hidden(name) or name.startswith("-") or len(name) > 250 for name in named)
    is_branch = ref.startswith(_HEADS) and pygit2.reference_is_valid_name(ref)
    if odd or not is_branch or any(part.startswith("-") for part in ref.split("/")):
        raise InputError("sync.remote", name=remote)


def _tracking(repository: pygit2.Repository, remote: str, ref: str) -> str | None:
    known = repository.remotes[remote]
    for number in range(known.refspec_count):
        spec = known.get_refspec(number)
        if spec.direction == 0 and spec.src_matches(ref):  # of fetching
            tracking = spec.transform(ref)
            return tracking if tracking.startswith("refs/remotes/") else None
    return None


def _check_outside(url: RemoteUrl, workspace: Path) -> None:
    """Refuse a remote whose own configuration whoever writes the workspace can write."""
    if url.scheme == "file" and Path(os.path.realpath(url.path)).is_relative_to(workspace):
        raise InputError("sync.url", why="inside")


def _distance(
    repository: pygit2.Repository, head: str | None, known: str | None
) -> tuple[int, int]:
    if head is None:
        return 0, 0 if known is None else 1
    if known is None:
        return sum(1 for _ in islice(repository.walk(repository[head].id), MAX_AHEAD)), 0
    ahead, behind = repository.ahead_behind(head, known)
    return ahead, behind


# --- commit ----------------------------------------------------------------------------------


def stage(
    index: pygit2.Index, repository: pygit2.Repository, changes: Sequence[FileChange]
) -> None:
    """Put the changes into an index; their contents are written into the repository's store."""
    import pygit2
    from pygit2.enums import FileMode

    deleted = [change for change in changes if change.content is None]
    for change in deleted:  # first: a folder may take the place of a file
        if change.sealed.path in index:
            index.remove(change.sealed.path)
    for change in changes:
        if change.content is not None:
            executable = change.sealed.new_mode == "100755"
            mode = FileMode.BLOB_EXECUTABLE if executable else FileMode.BLOB
            oid = repository.create_blob(change.content)
            index.add(pygit2.IndexEntry(change.sealed.path, oid, mode))


def new_tree(
    repository: pygit2.Repository, head: str | None, changes: Sequence[FileChange]
) -> pygit2.Oid:
    """Write the tree of the head with the changes into the repository's store."""
    import pygit2

    index = pygit2.Index()
    if head is not None:
        index.read_tree(repository[head].peel(pygit2.Tree))
    stage(index, repository, changes)
    return index.write_tree(repository)


def _compared(
    clean: pygit2.Repository, head: str | None, changes: Sequence[FileChange]
) -> tuple[str, bytes, DiffModel]:
    import pygit2

    tree = clean[new_tree(clean, head, changes)].peel(pygit2.Tree)
    before = clean[head].peel(pygit2.Tree) if head else clean[clean.TreeBuilder().write()]
    diff = b"".join(
        _section(patch)
        for patch in before.peel(pygit2.Tree).diff_to_tree(tree)
        if patch is not None and not patch.delta.is_binary
    )
    return str(tree.id), diff, parse_diff(diff) if diff else DiffModel(())


def _section(patch: pygit2.Patch) -> bytes:
    if patch.hunks:
        return patch.data
    # Of an empty file libgit2 writes the two names, which git leaves out.
    return patch.data.partition(b"\n--- ")[0].rstrip(b"\n") + b"\n"


def _checked(message: str) -> str:
    plain = message.strip()
    bounded = 0 < len(plain.encode("utf-8", "replace")) <= MAX_MESSAGE_BYTES
    if not bounded or has_hidden(plain) or "\n" in plain or "\t" in plain:
        raise InputError("sync.message", limit=MAX_MESSAGE_BYTES)
    return plain


def _message(changes: Sequence[FileChange]) -> str:
    ops = {change.sealed.op for change in changes}
    verb = _VERBS[ops.pop()] if len(ops) == 1 else "Update"
    names = [posixpath.basename(change.sealed.path) for change in changes]
    named = f"{verb} {', '.join(names)}"
    if len(names) <= _NAMED_FILES and len(named.encode()) <= MAX_MESSAGE_BYTES:
        return named
    common = posixpath.commonpath([change.sealed.path for change in changes])
    return f"{verb} {len(names)} files" + (f" in {common}" if common else "")
