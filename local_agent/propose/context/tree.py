"""The files of a workspace in a few lines: paths only, folders collapsed with counts.  Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from common.text import clip_bytes, reveal_all

MAX_TREE_BYTES: Final = 2048
_DEEPEST: Final = 6
_NAME_BYTES: Final = 120
_MOST: Final = 1100  # names of a byte and their line ends, in the bytes that there are


def summarise(files: Sequence[str], *, limit: int = MAX_TREE_BYTES) -> str:
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
            shown += map(_name, files[:_MOST])
        else:
            below["/".join(parts[:depth])] += len(files)
    shown += [f"{_name(folder)}/ ({count})" for folder, count in below.items()]
    return sorted(shown)


def _name(path: str) -> str:
    if path.isascii() and path.isprintable() and len(path) <= _NAME_BYTES:
        return path
    return clip_bytes(reveal_all(path), _NAME_BYTES)


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
