"""What is sealed of a commit and push, or a push only (P2).  Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from common.seal import (
    CHANGE,
    SealedCommit,
    Shape,
    check_each,
    check_shape,
    is_count,
    is_filled_list,
    is_hash,
    is_mapping,
    is_oid,
    is_text,
    one_of,
    or_none,
    stored_change,
)

StepName = Literal["check", "add", "commit", "push"]
StepEffect = Literal["read-only", "local-write", "remote-write"]

_SYNC: Final[Shape] = {
    "branch": is_text,
    "remote": is_text,
    "url": is_text,
    "ref": is_text,
    "remote_oid": or_none(is_oid),
    "head": or_none(is_oid),
    "ahead": is_count,
    "behind": is_count,
    "commit": or_none(is_mapping),
    "steps": is_filled_list,
    "timeout": is_count,
}
_COMMIT: Final[Shape] = {
    "message": is_text,
    "tree": is_oid,
    "author": is_text,
    "email": is_text,
    "diff_sha256": is_hash,
    "changes": is_filled_list,
}
_STEP: Final[Shape] = {
    "name": one_of("check", "add", "commit", "push"),
    "effect": one_of("read-only", "local-write", "remote-write"),
}


@dataclass(frozen=True, slots=True)
class SyncStep:
    """One planned step and what it touches."""

    name: StepName
    effect: StepEffect


def sync_payload(
    *,
    branch: str,
    remote: str,
    url: str,
    ref: str,
    remote_oid: str | None,
    head: str | None,
    ahead: int,
    behind: int,
    commit: SealedCommit | None,
    steps: Sequence[SyncStep],
    timeout_s: int,
) -> dict[str, Any]:
    """Return the sealed form of a commit and push, or a push only.

    Args:
        branch: Local branch, short.
        remote: Name of the remote, for display.
        url: The exact URL that is pushed to.
        ref: The full reference there, such as ``refs/heads/main``.
        remote_oid: What that reference is known to hold; None when it is to be made.
        head: Commit that the branch is at; None before the first commit.
        ahead: Commits that the upstream does not have, before this one.
        behind: Commits of the upstream that the branch does not have.
        commit: What is committed first; None when there is nothing to commit.
        steps: In their order.
        timeout_s: Seconds until the push is ended.
    """
    return {
        "branch": branch,
        "remote": remote,
        "url": url,
        "ref": ref,
        "remote_oid": remote_oid,
        "head": head,
        "ahead": ahead,
        "behind": behind,
        "commit": _stored_commit(commit) if commit else None,
        "steps": [asdict(step) for step in steps],
        "timeout": timeout_s,
    }


def check_sync(payload: Mapping[str, Any]) -> None:
    """Return when a payload is a sync's.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    check_shape("payload", payload, _SYNC)
    check_each("steps", payload["steps"], _STEP)
    if payload["commit"] is not None:
        check_shape("commit", payload["commit"], _COMMIT)
        check_each("changes", payload["commit"]["changes"], CHANGE)


def _stored_commit(commit: SealedCommit) -> dict[str, Any]:
    return asdict(commit) | {"changes": [stored_change(change) for change in commit.changes]}
