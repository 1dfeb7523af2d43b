"""Whether comparing two texts line by line would take long.  Pure, in linear time.

libgit2 holds every other thread of the program up while it compares, and takes time by far more
than the number of lines where these are of a few kinds in no order.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Final

MAX_LINES: Final = 50_000  # of one side, between the first and the last line that differ
_FEW: Final = 1000  # lines of the other side that are compared with any number soon


def is_wide(old: bytes, new: bytes) -> bool:
    """Tell whether more lines than may be lie between the first and the last that differ."""
    if max(len(old), len(new)) <= MAX_LINES:
        return False
    sides = old.split(b"\n"), new.split(b"\n")
    shorter, longer = sorted(map(len, sides))
    if longer <= MAX_LINES:
        return False
    first = _same(zip(*sides, strict=False))
    last = _same(zip(*map(reversed, sides), strict=False))
    same = min(first + last, shorter)
    return longer - same > MAX_LINES and shorter - same > _FEW


def _same(pairs: Iterable[tuple[bytes, bytes]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
