"""How a repository stands, in a few lines for a model: names and counts.  Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from common.text import clip_bytes, reveal_all
from local_agent.workspace import paths
from local_agent.workspace.git.repository import ChangedFile, Changes

MAX_NAMED: Final = 40  # changed files that are named
_NAME_BYTES: Final = 200


def describe(changes: Changes, *, deny: Sequence[str] = ()) -> str:
    """Return branch, distance to the upstream branch, counts, and the names of changed files.

    Args:
        changes: Since the last commit.
        deny: The person's own deny patterns; what may not be read is not named either.
    """
    files = [file for file in changes.files if not paths.is_denied(file.path.split("/"), deny)]
    lines = [f"branch: {_name(changes.branch) if changes.branch else '(detached)'}"]
    if changes.ahead is not None:
        lines.append(f"upstream: {changes.ahead} ahead, {changes.behind} behind")
    counts = Counter(file.status for file in files)
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    lines.append(
        f"changed since the last commit: {changes.total} files, +{changes.added} -{changes.removed}"
        + (f" ({told})" if told else "")
    )
    lines += [_row(file) for file in files[:MAX_NAMED]]
    if (rest := changes.total - min(len(files), MAX_NAMED)) > 0:
        lines.append(f"… and {rest} more")
    return "".join(f"{line}\n" for line in lines)


def _row(file: ChangedFile) -> str:
    counted = "" if file.added is None else f" +{file.added} -{file.removed}"
    return f"{file.status}: {_name(file.path)}{counted}"


def _name(name: str) -> str:
    return clip_bytes(reveal_all(name), _NAME_BYTES)
