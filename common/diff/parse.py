"""Reads a unified diff from bytes, whole or not at all (R32, R33).

    diff    = section+
    section = header hunk*          (`headers`; hunks of exactly the told size, in their order)

At the end the files are held against each other: each is one file, on any file system.  Whatever is
not exactly this is refused with the number of its line: a text that two programs could read
differently must never be shown to a person.  All work is linear in the size of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from common.diff.headers import Header, read_header
from common.diff.lines import Lines
from common.diff.model import (
    BACKSLASH,
    MAX_BYTES,
    MAX_FILES,
    MAX_HUNKS,
    MINUS,
    PLUS,
    SPACE,
    DiffModel,
    FileDiff,
    Hunk,
)
from common.diff.names import is_recased, twin_key
from common.errors import InputError


def parse_diff(data: bytes) -> DiffModel:
    """Return what a diff says.

    Args:
        data: At most 2 MB, 500 files, 5,000 hunks.

    Raises:
        InputError: ``diff.too-large`` with ``what`` and ``limit``; ``diff.empty``; ``diff.refused``
            or ``diff.name`` with ``why`` and ``line``.
    """
    if len(data) > MAX_BYTES:
        raise InputError("diff.too-large", what="bytes", limit=MAX_BYTES)
    if not data:
        raise InputError("diff.empty")
    if (nul := data.find(b"\0")) >= 0:
        raise InputError("diff.refused", why="nul", line=data.count(b"\n", 0, nul) + 1)
    lines = Lines(data)
    headers: list[Header] = []
    files: list[FileDiff] = []
    while not lines.at_end:
        if len(files) == MAX_FILES:
            raise InputError("diff.too-large", what="files", limit=MAX_FILES)
        header = read_header(lines)
        hunks = _read_hunks(lines) if header.has_hunks else ()
        headers.append(header)
        files.append(_file(header, hunks))
    _check_together(headers)
    return DiffModel(tuple(files))


def _file(header: Header, hunks: tuple[Hunk, ...]) -> FileDiff:
    _check_whole(header, hunks)
    added = removed = 0
    for hunk in hunks:
        added += hunk.added
        removed += hunk.removed
    path = header.new or header.old or ""
    modes = header.old_mode, header.new_mode
    return FileDiff(header.op, path, header.old, *modes, hunks, added, removed)


def _check_whole(header: Header, hunks: tuple[Hunk, ...]) -> None:
    # A file that comes or goes is told in one hunk, with nothing on the other side.
    if header.op not in ("add", "delete") or not hunks:
        return
    hunk = hunks[0]
    other = (
        (hunk.old_start, hunk.old_count) if header.op == "add" else (hunk.new_start, hunk.new_count)
    )
    if len(hunks) > 1 or other != (0, 0):
        raise InputError("diff.refused", why="other-side", line=header.line + 1)


# --- hunks ---

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


def _read_hunks(lines: Lines) -> tuple[Hunk, ...]:
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


# --- the files beside each other ---


def _check_together(headers: Sequence[Header]) -> None:
    """Return when no two sections can mean one file, and no file is another's folder.

    Raises:
        InputError: ``diff.refused`` with ``why``: ``file-twice``, ``twin`` (alike but for case or
            normalisation), ``file-is-folder`` or ``copy-source`` (there only afterwards).
    """
    claimed = _claimed(headers)
    made = {header.new for header in headers if header.op in ("add", "rename", "copy")}
    gone = {header.old for header in headers if header.op in ("delete", "rename")}
    after = [(header.new, header) for header in headers]
    for header in headers:
        if header.op != "copy" or header.old is None:
            continue
        if header.old in made:
            raise _refusal("copy-source", header)
        if claimed.setdefault(twin_key(header.old), header.old) != header.old:
            raise _refusal("twin", header)
        if header.old not in gone:
            after.append((header.old, header))
    _check_folders((header.old, header) for header in headers)
    _check_folders(after)


def _claimed(headers: Sequence[Header]) -> dict[str, str]:
    claimed: dict[str, str] = {}
    for header in headers:
        # The source of a copy stays, and may be changed or copied again besides.
        is_one = header.op == "copy" or is_recased(header.op, header.old, header.new)
        names = {header.new} if is_one else {header.old, header.new}
        for name in sorted(name for name in names if name is not None):
            key = twin_key(name)
            if key in claimed:
                raise _refusal("file-twice" if claimed[key] == name else "twin", header)
            claimed[key] = name
    return claimed


def _check_folders(names: Iterable[tuple[str | None, Header]]) -> None:
    # With the lowest separator a folder sorts directly before what is in it.
    keys = sorted(
        ((twin_key(name).replace("/", "\0"), header) for name, header in names if name),
        key=lambda found: found[0],
    )
    for (folder, _), (key, header) in pairwise(keys):
        if key.startswith(folder + "\0"):
            raise _refusal("file-is-folder", header)


def _refusal(why: str, header: Header) -> InputError:
    return InputError("diff.refused", why=why, line=header.line + 1)
