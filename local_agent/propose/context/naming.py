"""Which files the words of a request name: paths, bare names, folders, plain words.  Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from common.model.intent import MAX_FILES

MAX_IN_FOLDER = 50  # files of a named folder that are candidates
MAX_ALIKE: Final = 3  # files of one name: a word that more of them bear names none
_SPOKEN_IN: Final = 2000  # characters of a request
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{2,40}")


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


def find_spoken(text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return the files that a plain word of a request is the name of, such as "login" or "readme".

    Args:
        text: The request.
        known: All files that may be meant, sorted.
    """
    words = dict.fromkeys(word.casefold() for word in _WORD.findall(text[:_SPOKEN_IN]))
    alike: dict[str, list[str]] = {word: [] for word in words}
    for path in known:
        if (found := alike.get(path.rpartition("/")[2].partition(".")[0].casefold())) is not None:
            found.append(path)
    few = [path for paths in alike.values() if len(paths) <= MAX_ALIKE for path in paths]
    return tuple(few[:MAX_FILES])
