"""What is sealed of a commit and push, or a push only (P2).  Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, Literal, get_args

from common.records import (
    COUNT,
    LIST,
    OID,
    RECORD,
    TEXT,
    Fields,
    fields_of,
    filled,
    one_of,
    or_none,
)
from common.seal import SealedCommit, check_changes, check_each, check_record, stored_change

StepName = Literal["check", "add", "commit", "push"]
StepEffect = Literal["read-only", "local-write", "remote-write"]

_SYNC: Final[Fields] = {
    "branch": TEXT,
    "remote": TEXT,
    "url": TEXT,
    "ref": TEXT,
    "remote_oid": or_none(OID),
    "head": or_none(OID),
    "ahead": COUNT,
    "behind": COUNT,
    "commit": or_none(RECORD),
    "steps": filled(LIST),
    "timeout": COUNT,
}


@dataclass(frozen=True, slots=True)
class SyncStep:
    """One planned step and what it touches."""

    name: Annotated[StepName, one_of(get_args(StepName))]
    effect: Annotated[StepEffect, one_of(get_args(StepEffect))]


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
    check_record("payload", payload, _SYNC)
    check_each("steps", payload["steps"], fields_of(SyncStep))
    if payload["commit"] is not None:
        check_record("commit", payload["commit"], fields_of(SealedCommit))
        check_changes(payload["commit"]["changes"])


def _stored_commit(commit: SealedCommit) -> dict[str, Any]:
    return asdict(commit) | {"changes": [stored_change(change) for change in commit.changes]}
