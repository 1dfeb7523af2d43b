"""Where something near to a searched text stands: told to a model, never acted on.  Pure."""

from __future__ import annotations

from difflib import SequenceMatcher
from heapq import nlargest
from typing import Final

_LINES: Final = 2_000  # whose letters are counted
_LIKELY: Final = 30  # of these that are compared letter by letter: some milliseconds each
_BYTES: Final = 200  # of each
_NEAR: Final = 0.6


def nearest_line(content: bytes, search: bytes) -> int:
    """Return the number, from 1, of the line most like the first one searched for; 0 for none."""
    wanted = next((_bare(line) for line in search.split(b"\n") if line.strip()), b"")
    if not wanted:
        return 0
    lines = [_bare(line) for line in content.split(b"\n")]
    if wanted in lines:
        return lines.index(wanted) + 1  # it differs in blanks alone
    return _most_alike(lines[:_LINES], wanted)


def _most_alike(lines: list[bytes], wanted: bytes) -> int:
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(_shown(wanted))
    bounds: list[tuple[float, int]] = []
    for at, line in enumerate(lines):
        matcher.set_seq1(_shown(line))
        if matcher.real_quick_ratio() > _NEAR and (bound := matcher.quick_ratio()) > _NEAR:
            bounds.append((bound, -at))
    best, number = _NEAR, 0
    for bound, at in nlargest(_LIKELY, bounds):
        if bound <= best:
            break
        matcher.set_seq1(_shown(lines[-at]))
        if (ratio := matcher.ratio()) > best:
            best, number = ratio, 1 - at
    return number


def _shown(line: bytes) -> str:
    return line[:_BYTES].decode("utf-8", "replace")


def _bare(line: bytes) -> bytes:
    return b" ".join(line.split())
