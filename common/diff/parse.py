"""Reads a unified diff from bytes, whole or not at all (R32, R33).

    diff    = section+
    section = header hunk*          (`headers`, `hunks`; `together` holds them against each other)

Whatever is not exactly this is refused with the number of its line: a text that two programs could
read differently must never be shown to a person.  All work is linear in the size of the text.
"""

from __future__ import annotations

from common.diff.headers import Header, read_header
from common.diff.hunks import read_hunks
from common.diff.lines import Lines
from common.diff.model import MAX_BYTES, MAX_FILES, DiffModel, FileDiff, Hunk
from common.diff.together import check_together
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
        hunks = read_hunks(lines) if header.has_hunks else ()
        headers.append(header)
        files.append(_file(header, hunks))
    check_together(headers)
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
