"""A workspace in a few lines for a model: its files, and how its repository stands.  Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from common.text import clip_bytes, reveal_all
from local_agent.workspace import paths
from local_agent.workspace.git.repository import ChangedFile, Changes

MAX_TREE_BYTES: Final = 2048
MAX_NAMED: Final = 40  # changed files that are named
_DEEPEST: Final = 6
_TREE_NAME_BYTES: Final = 120
_CHANGED_NAME_BYTES: Final = 200
_MOST: Final = 1100  # names of a byte and their line ends, in the bytes that there are


def summarise_tree(files: Sequence[str], *, limit: int = MAX_TREE_BYTES) -> str:
    """Return as much of the tree as fits: one line for each file and each folder, sorted.

    The deepest view of which all lines fit is taken; where not even the top does, it is cut and
    says so.
    """
    folders: dict[str, list[str]] = {}
    for path in files:
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    view = _view(folders, 1)
    for depth in range(2, _DEEPEST + 1):
        deeper = _view(folders, depth)
        if deeper == view or _size(deeper) > limit:
            break
        view = deeper
    return _cut(view, limit)


def describe_repository(changes: Changes, *, deny: Sequence[str] = ()) -> str:
    """Return branch, distance to the upstream branch, counts, and the names of changed files.

    Args:
        changes: Since the last commit.
        deny: The person's own deny patterns; what may not be read is not named either.
    """
    files = [file for file in changes.files if not paths.is_denied(file.path.split("/"), deny)]
    branch = _name(changes.branch, _CHANGED_NAME_BYTES) if changes.branch else "(detached)"
    lines = [f"branch: {branch}"]
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


def _view(folders: Mapping[str, Sequence[str]], depth: int) -> list[str]:
    """Return the files of the first levels, and each folder below with how many files it holds.

    Args:
        folders: Files by the folder that they are in; "" for the workspace itself.
        depth: Levels of names that are shown.
    """
    shown: list[str] = []
    below: Counter[str] = Counter()
    for folder, files in folders.items():
        parts = folder.split("/") if folder else []
        if len(parts) < depth:
            # More of one folder than could ever be shown are not looked at.
            shown += (_name(path, _TREE_NAME_BYTES) for path in files[:_MOST])
        else:
            below["/".join(parts[:depth])] += len(files)
    shown += [f"{_name(folder, _TREE_NAME_BYTES)}/ ({count})" for folder, count in below.items()]
    return sorted(shown)


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _cut(lines: Sequence[str], limit: int) -> str:
    if _size(lines) <= limit:
        return "".join(f"{line}\n" for line in lines)
    kept: list[str] = []
    left = limit - len("… and more\n".encode())
    for line in lines:
        left -= len(line.encode()) + 1
        if left < 0:
            break
        kept.append(f"{line}\n")
    return "".join(kept) + "… and more\n"


def _row(file: ChangedFile) -> str:
    counted = "" if file.added is None else f" +{file.added} -{file.removed}"
    return f"{file.status}: {_name(file.path, _CHANGED_NAME_BYTES)}{counted}"


def _name(name: str, limit: int) -> str:
    if name.isascii() and name.isprintable() and len(name) <= limit:
        return name
    return clip_bytes(reveal_all(name), limit)
