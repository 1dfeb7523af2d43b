"""Where something near to a searched text stands: told to a model, never acted on.  Pure."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final

_LINES: Final = 2_000  # that are compared letter by letter
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
    matcher.set_seq2(wanted[:_BYTES].decode("utf-8", "replace"))
    best, number = _NEAR, 0
    for at, line in enumerate(lines, 1):
        matcher.set_seq1(line[:_BYTES].decode("utf-8", "replace"))
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, number = ratio, at
    return number


def _bare(line: bytes) -> bytes:
    return b" ".join(line.split())
