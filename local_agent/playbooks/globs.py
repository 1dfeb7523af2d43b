"""Which paths a pattern means.  Pure.

A pattern is compared part by part, as a shell with ``globstar`` does, and like `pathlib`: ``*``,
``?`` and ``[..]`` (``[!..]``: none of these) stay within one name; ``**`` as a whole part stands
for any number of folders, also none, and at the end for every file below.  A name that begins with
a dot is like any other, and case matters.  There is no escape but ``[*]``.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from typing import Final

from common.errors import InputError

MAX_CHARS: Final = 1024
MAX_PARTS: Final = 64
_ANY: Final = "**"


class Glob:
    """A pattern, read once for many paths.

    Raises:
        InputError: ``playbook.glob``: it is empty, too long, absolute, or has a part that is empty,
            ``.`` or ``..``.
    """

    def __init__(self, pattern: str) -> None:
        parts = pattern.split("/")
        odd = any(part in ("", ".", "..") for part in parts) or "\0" in pattern
        if odd or len(pattern) > MAX_CHARS or len(parts) > MAX_PARTS:
            raise InputError("playbook.glob", glob=pattern)
        if parts[-1] == _ANY:
            parts.append("*")
        self._parts = [
            None if part == _ANY else re.compile(fnmatch.translate(part)) for part in parts
        ]

    def matches(self, path: str) -> bool:
        """Tell whether a relative path is meant."""
        # The places in the pattern that the path has come to: never more than it has parts.
        places = self._passing({0})
        for name in path.split("/"):
            places = self._passing(self._after(places, name))
            if not places:
                return False
        return len(self._parts) in places

    def _after(self, places: set[int], name: str) -> Iterable[int]:
        for place in places:
            if place == len(self._parts):
                continue
            part = self._parts[place]
            if part is None:
                yield place
            elif part.match(name):
                yield place + 1

    def _passing(self, places: Iterable[int]) -> set[int]:
        """Return the places, and those behind every ``**`` that stands for no folder."""
        found: set[int] = set()
        for place in places:
            behind = place
            found.add(behind)
            while behind < len(self._parts) and self._parts[behind] is None:
                behind += 1
                found.add(behind)
        return found
