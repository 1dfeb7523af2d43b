"""Writing a planned commit into the repository of a workspace, and finding it again.

Objects first, then the index, then the branch by compare-and-swap: whatever is cut off in between
leaves the branch as it was.  No hook runs and nothing is signed.  Blocking.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from common.errors import StateError
from common.seal import SealedCommit
from local_agent.workspace.git.preflight import (
    SyncPlan,
    Upstream,
    branch_of,
    new_tree,
    open_for_sync,
    stage,
)
from local_agent.workspace.git.repository import head_of, open_repository

if TYPE_CHECKING:
    import pygit2

MAX_LOOKED_AT: Final = 1000  # commits, from the tip of the branch back


@dataclass(frozen=True, slots=True)
class Found:
    """What of a sealed sync can be proved from the repository alone.

    Attributes:
        commit: The commit that it made, or for a push alone the one to be pushed; None where the
            branch does not hold it.
        untouched: The branch is where it was before.
        pushed: The upstream is known to hold the commit.
    """

    commit: str | None
    untouched: bool
    pushed: bool


def write_commit(workspace: Path, plan: SyncPlan, commit: SealedCommit, *, at_s: int) -> str:
    """Make the planned commit and return its id.

    Args:
        workspace: Real path; its repository was looked at for this very plan a moment ago.
        plan: As it was approved.
        commit: The plan's own.
        at_s: Seconds since the epoch, for author and committer.

    Raises:
        StateError: ``sync.moved``: the branch is no longer where it was planned from;
            ``sync.locked``: another program holds the index or the branch;
            ``sync.repository``: it cannot be written.
        InputError: ``sync.repository`` or ``sync.detached``.
    """
    import pygit2

    repository = open_for_sync(workspace)
    if branch_of(repository) != plan.branch or head_of(repository) != plan.head:
        raise StateError("sync.moved")
    try:
        tree = new_tree(repository, plan.head, plan.changes)
        if str(tree) != commit.tree:
            raise StateError("sync.moved")
        _write_index(repository, plan)
        oid = _write_object(repository, plan, commit, tree, at_s)
    except (pygit2.GitError, OSError, ValueError) as error:
        raise StateError("sync.repository") from error
    _move_branch(repository, plan, oid, commit.message)
    return str(oid)


def remember_pushed(workspace: Path, upstream: Upstream, oid: str) -> None:
    """Move the local reference that remembers the upstream, as git does after a push."""
    import pygit2

    repository = open_repository(workspace)
    if repository is None or upstream.tracking is None:
        return
    # It is a memory: a fetch that came first, or a lock, leaves what is true until the next fetch.
    with suppress(pygit2.GitError, ValueError, OSError):
        known = repository.references.get(upstream.tracking)
        if known is None:
            repository.references.create(upstream.tracking, oid)
        elif str(known.target) == upstream.oid:
            known.set_target(oid, "update by push")


def find_sealed(workspace: Path, payload: Mapping[str, Any]) -> Found | None:
    """Return what can be proved of a sealed sync; None where the repository cannot be read.

    Args:
        workspace: Real path.
        payload: As sealed (`local_agent.actions.git_sync.payload`).
    """
    import pygit2

    repository = open_repository(workspace)
    if repository is None:
        return None
    try:
        branch = repository.references.get(f"refs/heads/{payload['branch']}")
        tip = str(branch.target) if branch else None
        made = _commit_of(repository, tip, payload)
        pushed = made is not None and _is_upstream(repository, payload, made)
        return Found(made, tip == payload["head"], pushed)
    except (pygit2.GitError, KeyError, ValueError, OSError):
        return None


def _write_index(repository: pygit2.Repository, plan: SyncPlan) -> None:
    import pygit2

    index = repository.index
    index.read()
    stage(index, repository, plan.changes)
    try:
        index.write()
    except (pygit2.GitError, OSError) as error:
        raise StateError("sync.locked") from error


def _write_object(
    repository: pygit2.Repository,
    plan: SyncPlan,
    commit: SealedCommit,
    tree: pygit2.Oid,
    at_s: int,
) -> pygit2.Oid:
    import pygit2

    zone = datetime.fromtimestamp(at_s, tz=UTC).astimezone().utcoffset()
    minutes = round(zone.total_seconds() / 60) if zone else 0
    who = pygit2.Signature(commit.author, commit.email, at_s, minutes)
    repository.set_ident(who.name, who.email)  # for the reflog
    parents: list[str | pygit2.Oid] = [plan.head] if plan.head else []
    return repository.create_commit(None, who, who, f"{commit.message}\n", tree, parents)


def _move_branch(
    repository: pygit2.Repository, plan: SyncPlan, oid: pygit2.Oid, message: str
) -> None:
    import pygit2

    name = f"refs/heads/{plan.branch}"
    try:
        if plan.head is None:
            repository.create_reference_direct(name, oid, False, f"commit (initial): {message}")
            return
        reference = repository.lookup_reference(name)
        # libgit2 swaps only from the value that this object holds.
        if str(reference.target) != plan.head:
            raise StateError("sync.moved")
        reference.set_target(oid, f"commit: {message}")
    except OSError as error:
        raise StateError("sync.locked") from error
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise StateError("sync.moved") from error


def _commit_of(
    repository: pygit2.Repository, tip: str | None, payload: Mapping[str, Any]
) -> str | None:
    sealed, head = payload["commit"], payload["head"]
    if tip is None:
        return None
    commits = islice(repository.walk(repository[tip].id), MAX_LOOKED_AT)
    if sealed is None:
        return next((str(found.id) for found in commits if str(found.id) == head), None)
    parents = [head] if head else []
    wanted = (sealed["tree"], f"{sealed['message']}\n", sealed["author"], sealed["email"])
    for found in commits:
        said = (str(found.tree_id), found.message, found.author.name, found.author.email)
        if said == wanted and [str(parent) for parent in found.parent_ids] == parents:
            return str(found.id)
    return None


def _is_upstream(repository: pygit2.Repository, payload: Mapping[str, Any], made: str) -> bool:
    short = payload["ref"].removeprefix("refs/heads/")
    known = repository.references.get(f"refs/remotes/{payload['remote']}/{short}")
    if known is None:
        return False
    target = str(known.target)
    return target == made or repository.descendant_of(target, made)
