"""Reads the hunks of one file: their headers, their order, and bodies of exactly the told size."""

from __future__ import annotations

import re
from typing import Final

from common.diff.lines import Lines
from common.diff.model import BACKSLASH, MAX_HUNKS, MINUS, PLUS, SPACE, Hunk
from common.errors import InputError

_NUMBER: Final = rb"(0|[1-9][0-9]{0,8})"
_SPAN: Final = _NUMBER + rb"(?:," + _NUMBER + rb")?"
_HEADER: Final = re.compile(rb"@@ -" + _SPAN + rb" \+" + _SPAN + rb" @@(?: (.*))?", re.DOTALL)
_RUN: Final = re.compile(rb"[ +\n-]*+")
_AT: Final = ord("@")
# "\ No newline at end of file", in any language: git takes no shorter one for it.
_MARKER_BYTES: Final = 12
# First bytes of the lines that each side has; an empty line is an empty one of both sides, whose
# blank was cut off.
_OLD: Final = b" -\n"
_NEW: Final = b" +\n"
_COUNTED: Final = b" +-\n"

_Body = tuple[tuple[bytes, ...], bool, bool]


def read_hunks(lines: Lines) -> tuple[Hunk, ...]:
    """Read the hunks that follow the names of a file.

    Raises:
        InputError: ``diff.refused`` or ``diff.too-large``.
    """
    found: list[Hunk] = []
    kinds, end = lines.kinds, len(lines.kinds)
    old_end = new_end = 0
    is_open = False
    while (header := lines.at) < end and kinds[header] == _AT:
        if lines.hunks == MAX_HUNKS:
            raise InputError("diff.too-large", what="hunks", limit=MAX_HUNKS)
        if is_open:
            raise lines.refusal("after-end")
        hunk = _hunk(lines, header)
        # As `Hunk.old_first` has it, without asking twice: this runs for every hunk.
        old_first = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        new_first = hunk.new_start - 1 if hunk.new_count else hunk.new_start
        if old_first < old_end:
            raise lines.refusal("hunk-order", at=header)
        # What lies between two hunks is the same on both sides, as is what lies before the first.
        if old_first - old_end != new_first - new_end:
            raise lines.refusal("hunk-numbers", at=header)
        old_end, new_end = old_first + hunk.old_count, new_first + hunk.new_count
        is_open = hunk.old_open or hunk.new_open
        lines.hunks += 1
        found.append(hunk)
    if not found:
        raise lines.refusal("no-hunks")
    return tuple(found)


def _hunk(lines: Lines, header: int) -> Hunk:
    match = _HEADER.fullmatch(lines.all[header])
    if match is None:
        combined = lines.all[header].startswith(b"@@@")
        raise lines.refusal("combined" if combined else "hunk-header", at=header)
    old, old_size, new, new_size, section = match.groups()
    old_start, new_start = int(old), int(new)
    old_count = 1 if old_size is None else int(old_size)
    new_count = 1 if new_size is None else int(new_size)
    if (old_count and not old_start) or (new_count and not new_start):
        raise lines.refusal("hunk-header", at=header)
    lines.at = header + 1
    body, old_open, new_open = _body(lines, old_count, new_count)
    if len(body) == old_count == new_count:
        raise lines.refusal("no-change", at=header)
    return Hunk(
        old_start, old_count, new_start, new_count, body, old_open, new_open, section or b""
    )


def _body(lines: Lines, old_count: int, new_count: int) -> _Body:
    """Read lines until both sides have as many as the header says, and what marks their ends."""
    kinds, begun = lines.kinds, lines.at
    match = _RUN.match(kinds, begun)
    end = match.end() if match else begun
    removed, added = kinds.count(b"-", begun, end), kinds.count(b"+", begun, end)
    same = end - begun - removed - added
    # Mostly the next line that is none of a body follows exactly where the counts end it.
    if (
        same + removed == old_count
        and same + added == new_count
        and kinds[end : end + 1] != b"\\"
        and kinds.find(b"+-", begun, end) < 0
    ):
        lines.at = end
        body = lines.all[begun:end]
        if kinds.find(b"\n", begun, end) >= 0:
            body = [line or b" " for line in body]
        return tuple(body), False, False
    return _careful_body(lines, old_count, new_count)


def _careful_body(lines: Lines, old_left: int, new_left: int) -> _Body:
    """Read a body line by line: one with marks, or one that does not end by itself."""
    every, kinds, at = lines.all, lines.kinds, lines.at
    begun, last = at, SPACE
    old_open = new_open = False
    while old_left > 0 or new_left > 0:
        if at >= len(every):
            raise lines.refusal("cut", at=at)
        kind = kinds[at]
        if kind == BACKSLASH:
            left = old_left, new_left
            old_open, new_open = _ends(lines, at, last, left, (old_open, new_open))
        elif kind not in _COUNTED:
            raise lines.refusal("hunk-line", at=at)
        old_left -= kind in _OLD
        new_left -= kind in _NEW
        if old_left < 0 or new_left < 0:
            raise lines.refusal("hunk-count", at=at)
        last = kind
        at += 1
    if kinds[at : at + 1] == b"\\":
        old_open, new_open = _ends(lines, at, last, (0, 0), (old_open, new_open))
        at += 1
    lines.at = at
    return tuple(_ordered(every[begun:at])), old_open, new_open


def _ends(
    lines: Lines, at: int, kind: int, left: tuple[int, int], is_open: tuple[bool, bool]
) -> tuple[bool, bool]:
    """Return which sides are open after a marker, which speaks of the line before it."""
    old, new = kind in _OLD, kind in _NEW
    over = (old and (left[0] or is_open[0])) or (new and (left[1] or is_open[1]))
    marked = lines.all[at]
    if not (old or new) or over or not marked.startswith(b"\\ ") or len(marked) < _MARKER_BYTES:
        raise lines.refusal("after-end", at=at)
    if len(lines.all[at - 1]) <= 1:
        raise lines.refusal("after-end", at=at)  # an empty line is there by its line feed alone
    return is_open[0] or old, is_open[1] or new


def _ordered(body: list[bytes]) -> list[bytes]:
    """Return the body without markers, with removals before what takes their place."""
    ordered: list[bytes] = []
    added: list[bytes] = []
    for line in body:
        if not line or line[0] == SPACE:
            ordered += added
            added.clear()
            ordered.append(line or b" ")
        elif line[0] == PLUS:
            added.append(line)
        elif line[0] == MINUS:
            ordered.append(line)
    return ordered + added
