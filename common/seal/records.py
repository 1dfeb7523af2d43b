"""How each sealed action writes its payload (P2, R21).

One function for each action; `common.seal.shape` holds the closed shape of what they return.  Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal

from common.errors import InputError
from common.strict_json import canonical

Op = Literal["add", "modify", "delete", "rename", "copy"]
Mode = Literal["100644", "100755"]
StepName = Literal["check", "add", "commit", "push"]
StepEffect = Literal["read-only", "local-write", "remote-write"]


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder by name and by identity, so that a swap shows."""

    path: str
    dev: int
    ino: int


@dataclass(frozen=True, slots=True)
class Executable:
    """The program that will run, resolved.

    Attributes:
        sha256: Hash of its content when it lies in the workspace, else None.
    """

    path: str
    dev: int
    ino: int
    sha256: str | None


@dataclass(frozen=True, slots=True)
class SealedCopy:
    """That a command runs on a copy of the workspace, with a proposed change applied to it.

    Attributes:
        approval_id: The approval that asks for the change.
        short_id: The task it belongs to.
        diff_sha256: Of the change's diff.
    """

    approval_id: str
    short_id: str
    diff_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedChange:
    """What becomes of one file, by content.

    Attributes:
        path: Where the content is afterwards; for ``delete`` where it was.
        old_path: Where the content comes from; None for ``add``.
        old_sha256: Of the content there before; None for ``add``.
        old_mode: As it was; None for ``add``.
        new_sha256: Of the content afterwards; None for ``delete``.
        new_mode: As it will be; None for ``delete``.
        size: Bytes afterwards; 0 for ``delete``.
    """

    op: Op
    path: str
    old_path: str | None
    old_sha256: str | None
    old_mode: Mode | None
    new_sha256: str | None
    new_mode: Mode | None
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCommit:
    """The commit that a sync makes before it pushes.

    Attributes:
        tree: Id of the tree it will hold; the commit's own id depends on its time.
        diff_sha256: Of the diff from the head to that tree, as shown.
    """

    message: str
    tree: str
    author: str
    email: str
    diff_sha256: str
    changes: tuple[SealedChange, ...]


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that an answer is based on.

    Attributes:
        sha256: Of what was shown of it, secrets taken out; None where only its name was used.
    """

    path: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class SyncStep:
    """One planned step and what it touches."""

    name: StepName
    effect: StepEffect


def command_payload(
    *,
    argv: Sequence[str] | None = None,
    shell: str | None = None,
    script: str | None = None,
    cwd: str,
    env: Mapping[str, str],
    executable: Executable,
    sandbox_level: str,
    profile_sha256: str,
    network: bool,
    timeout_s: int,
    output_cap: int,
    copy: SealedCopy | None = None,
) -> dict[str, Any]:
    """Return the sealed form of a command: ``argv``, or ``shell`` and ``script``, never both.

    Args:
        argv: Program and arguments, run without a shell (R42).
        shell: Absolute path of the shell that reads ``script``.
        script: The shell line.
        cwd: Relative to the workspace, ``.`` for its top.
        env: The whole environment; its names are shown, its values only hashed.
        executable: What ``argv[0]`` or ``shell`` resolves to.
        sandbox_level: ``bubblewrap`` or ``none``.
        profile_sha256: Hash of the sandbox profile.
        network: Whether the command can reach the network (R51).
        timeout_s: Seconds until it is ended.
        output_cap: Bytes kept of each stream.
        copy: What it runs on in place of the workspace's files; None for these themselves.

    Raises:
        InputError: ``seal.command-form`` when neither or both forms are given.
    """
    if (argv is None) == (script is None) or (shell is None) != (script is None):
        raise InputError("seal.command-form")
    what: dict[str, Any] = (
        {"argv": list(argv)} if argv is not None else {"shell": shell, "script": script}
    )
    if copy is not None:
        what["copy"] = asdict(copy)
    return what | {
        "cwd": cwd,
        "env_names": sorted(env),
        "env_sha256": hashlib.sha256(canonical(dict(env))).hexdigest(),
        "executable": stored_place(executable) | {"sha256": executable.sha256},
        "sandbox": {"level": sandbox_level, "profile_sha256": profile_sha256},
        "network": network,
        "timeout": timeout_s,
        "output_cap": output_cap,
    }


def change_payload(diff_sha256: str, changes: Sequence[SealedChange]) -> dict[str, Any]:
    """Return the sealed form of a change: the hash of its diff, and each file by content.

    Args:
        diff_sha256: Of the diff's bytes, which lie in the blob store under that name.
        changes: One for each file of the diff, in its order.
    """
    return {"diff_sha256": diff_sha256, "changes": [_stored_change(change) for change in changes]}


def undo_payload(
    diff_sha256: str, changes: Sequence[SealedChange], *, approval_id: str, short_id: str
) -> dict[str, Any]:
    """Return the sealed form of an undo: the reverse change, and what it takes back.

    Args:
        diff_sha256: Of the reverse diff.
        changes: Of the reverse diff.
        approval_id: The approval whose effect is undone.
        short_id: The task it belonged to.
    """
    undoes = {"approval_id": approval_id, "short_id": short_id}
    return change_payload(diff_sha256, changes) | {"undoes": undoes}


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


def disclose_payload(
    answer: bytes,
    files: Sequence[ReadFile],
    *,
    more: int,
    channel: str,
    claimed_user: str,
) -> dict[str, Any]:
    """Return the sealed form of a release: the hash of an answer, and to whom it would go.

    Args:
        answer: The exact bytes that would leave; they lie in the blob store under their hash.
        files: What it is based on.
        more: Files that it is based on besides.
        channel: Where it would go.
        claimed_user: Who is said to have asked; never verified on this machine.
    """
    return {
        "answer_sha256": hashlib.sha256(answer).hexdigest(),
        "bytes": len(answer),
        "files": [asdict(file) for file in files],
        "more": more,
        "to": {"channel": channel, "claimed_user": claimed_user},
    }


def read_changes(payload: Mapping[str, Any]) -> tuple[SealedChange, ...]:
    """Return the changes of a sealed change, undo, or commit."""
    return tuple(SealedChange(**change) for change in payload["changes"])


def stored_place(place: Place | Executable) -> dict[str, str]:
    """Return name and identity as they are sealed."""
    # 64-bit inode numbers do not fit a JSON integer, so they are decimal text.
    return {"path": place.path, "dev": str(place.dev), "ino": str(place.ino)}


def _stored_commit(commit: SealedCommit) -> dict[str, Any]:
    return asdict(commit) | {"changes": [_stored_change(change) for change in commit.changes]}


def _stored_change(change: SealedChange) -> dict[str, Any]:
    # `asdict` copies deeply, and takes longer for 500 changes than to read their files.
    return {name: getattr(change, name) for name in _CHANGE_FIELDS}


_CHANGE_FIELDS: Final = tuple(field.name for field in fields(SealedChange))
