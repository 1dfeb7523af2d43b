"""Diffs made: as text in the one form of git that `parse_diff` reads back as the same diff.

Before two texts are compared, `is_wide` tells whether that would take long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Final

from common.diff.model import MINUS, PLUS, DiffModel, FileDiff, Hunk
from common.diff.names import quoted

_OPEN_END = b"\\ No newline at end of file"


def render(model: DiffModel) -> bytes:
    """Return the text of a diff; the same model always gives the same bytes."""
    lines: list[bytes] = []
    for file in model.files:
        lines += _headers(file)
        for hunk in file.hunks:
            lines.append(hunk_header(hunk))
            lines += _body(hunk)
    return b"\n".join([*lines, b""])


def hunk_header(hunk: Hunk) -> bytes:
    """Return the line that begins a hunk."""
    old = _span(hunk.old_start, hunk.old_count)
    new = _span(hunk.new_start, hunk.new_count)
    section = b" " + hunk.section if hunk.section else b""
    return b"@@ -%s +%s @@%s" % (old, new, section)


def _span(start: int, count: int) -> bytes:
    return b"%d" % start if count == 1 else b"%d,%d" % (start, count)


def _headers(file: FileDiff) -> Iterator[bytes]:
    old, new = (file.old_path or file.path).encode(), file.path.encode()
    # Without a mode an added or deleted file can only be told as a plain diff tells it.
    if file.op not in ("add", "delete") or file.old_mode or file.new_mode:
        yield b"diff --git %s %s" % (quoted(b"a/" + old), quoted(b"b/" + new))
        yield from _extended(file, old, new)
    if file.hunks:
        yield b"--- " + (b"/dev/null" if file.op == "add" else _side(b"a/" + old))
        yield b"+++ " + (b"/dev/null" if file.op == "delete" else _side(b"b/" + new))


def _extended(file: FileDiff, old: bytes, new: bytes) -> Iterator[bytes]:
    if file.op == "add":
        yield f"new file mode {file.new_mode}".encode()
    elif file.op == "delete":
        yield f"deleted file mode {file.old_mode}".encode()
    elif file.old_mode:
        yield f"old mode {file.old_mode}".encode()
        yield f"new mode {file.new_mode}".encode()
    if file.op in ("rename", "copy"):
        yield b"%s from %s" % (file.op.encode(), quoted(old))
        yield b"%s to %s" % (file.op.encode(), quoted(new))


def _side(name: bytes) -> bytes:
    # A name with a blank is ended by a tab, as git does it: other programs look for a time there.
    shown = quoted(name)
    return shown + b"\t" if b" " in name and shown == name else shown


def _body(hunk: Hunk) -> list[bytes]:
    if not (hunk.old_open or hunk.new_open):
        return list(hunk.lines)
    last = {
        max(n for n, line in enumerate(hunk.lines) if line[0] != other)
        for is_open, other in ((hunk.old_open, PLUS), (hunk.new_open, MINUS))
        if is_open
    }
    body: list[bytes] = []
    for n, line in enumerate(hunk.lines):
        body.append(line)
        if n in last:
            body.append(_OPEN_END)
    return body


# --- whether comparing would take long ---

# libgit2 holds every other thread of the program up while it compares, and takes time by far more
# than the number of lines where these are of a few kinds in no order.  This takes linear time.
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
