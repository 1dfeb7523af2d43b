"""Which files the words of a request name: paths, bare names, folders.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from common.model.intent import MAX_FILES

MAX_IN_FOLDER = 50  # files of a named folder that are candidates


@dataclass(frozen=True, slots=True)
class Named:
    """What was found of one name.

    Attributes:
        files: Exact path first, then files that end so.
        inside: Files of a folder of that name, the upper ones first.
    """

    files: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()


def find_named(name: str, known: Sequence[str]) -> Named:
    """Return the files that a name may mean.

    Args:
        name: Relative path or bare name, of a file or a folder.
        known: All files that may be read, sorted.
    """
    plain = name.strip().removeprefix("./").rstrip("/")
    if not plain:
        return Named()
    tail = f"/{plain}"
    # The one condition first that nearly none meets.
    alike = [path for path in known if path.endswith(plain)]
    ends = [path for path in alike if path == plain or path.endswith(tail)]
    if ends:
        return Named(files=tuple(sorted(ends, key=lambda path: (path != plain, path))[:MAX_FILES]))
    inside = [path for path in known if path.startswith(f"{plain}/")]
    if not inside and "/" not in plain:
        inside = [path for path in known if f"/{plain}/" in path]
    upper = sorted(inside, key=lambda path: (path.count("/"), path))
    return Named(inside=tuple(upper[:MAX_IN_FOLDER]))
