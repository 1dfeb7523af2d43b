"""What a file becomes by its part of a diff: applied, moved to where its lines stand, taken back.

A hunk fits where its old lines stand byte for byte, and nowhere else: no fuzz; where there is a
common reason why a part does not fit, `misfit` tells it.  All of it is computed in memory, in time
linear to the file and the diff.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

from common.diff.model import MINUS, PLUS, SPACE, DiffModel, FileDiff, Hunk, Mode
from common.errors import InputError

# How much text is looked through for the hunks of one file that are not where they say they are.
SEARCHED_BYTES: Final = 200_000_000
_LINE_FEED: Final = 10

# Which hunks of a file are chosen, by its path; their indexes count from 0.
Hunks = Mapping[str, Sequence[int]]
ALL_HUNKS: Final[Hunks] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Text:
    """A file as lines without their line feeds; ``is_open`` where the last one has none."""

    lines: list[bytes]
    is_open: bool


def patched(file: FileDiff, old: bytes) -> bytes:
    """Return what the file becomes.

    Args:
        file: One file of a diff.
        old: What is there: the content of ``file.old_path``; empty for an added file.

    Raises:
        InputError: ``diff.context`` with ``path``, ``hunk`` (from 1; 0 where no hunk is to blame)
            and ``line``, the first line of the old file that is not as the diff has it.
    """
    if not file.hunks:
        return _unpatched(file, old)
    if (spliced := _spliced(file, old)) is not None:
        return spliced
    text = _text(old)
    result: list[bytes] = []
    at, is_open = 0, text.is_open
    for number, hunk in enumerate(file.hunks, 1):
        first, end = hunk.old_first, hunk.old_first + hunk.old_count
        side = hunk.old_side()
        if first < at or not _fits(hunk, side, text, first):
            raise _misfit(file, number, _first_difference(side, text, first))
        result += text.lines[at:first]
        result += hunk.new_side()
        at = end
        if end == len(text.lines):
            is_open = hunk.new_open
    result += text.lines[at:]
    if file.op == "delete" and result:
        raise _misfit(file, 1, file.hunks[0].old_count + 1)
    if file.op == "add" and text.lines:
        raise _misfit(file, 1, 1)
    return _joined(result, is_open=is_open)


def relocated(file: FileDiff, old: bytes) -> tuple[FileDiff, int]:
    """Return the file with the true line numbers of its hunks, and how many of them moved.

    A hunk that fits where it says stays there.  Any other is looked for in the whole file; it moves
    only when its old lines stand there exactly once, after the hunk before it.

    Args:
        file: One file of a diff.
        old: What is there, as for `patched`.

    Raises:
        InputError: ``diff.context``, as by `patched`.
    """
    text = _text(old)
    searches = SEARCHED_BYTES // (len(old) + 1)
    hunks: list[Hunk] = []
    at = grown = moved = 0
    for number, hunk in enumerate(file.hunks, 1):
        side, first = hunk.old_side(), hunk.old_first
        if not _fits(hunk, side, text, first):
            moved += 1
            found = _only_place(hunk, side, old) if moved <= searches else None
            if found is None or not _fits(hunk, side, text, found):
                raise _misfit(file, number, _first_difference(side, text, first))
            first = found
        if first < at:
            raise _misfit(file, number, first + 1)
        hunks.append(_placed(hunk, first, grown))
        at = first + hunk.old_count
        grown += hunk.added - hunk.removed
    return (replace(file, hunks=tuple(hunks)) if moved else file), moved


def reverse(model: DiffModel) -> DiffModel:
    """Return the diff that takes this one back.

    Raises:
        InputError: ``diff.irreversible`` with ``path``: a copy, whose removal would have to tell
            content that the diff does not hold; `deletion` makes that from the content.
    """
    return DiffModel(tuple(_reversed(file) for file in model.files))


def select(model: DiffModel, paths: Collection[str], hunks: Hunks = ALL_HUNKS) -> DiffModel:
    """Return the diff of these files alone, in its own order.

    Args:
        model: The whole diff.
        paths: Of the files.
        hunks: Of these files, the hunks that are wanted; all of a file that is not named here.

    Raises:
        InputError: ``diff.unknown-path`` with ``path``; ``diff.empty`` where no path is given;
            ``diff.unknown-hunk`` with ``path``: of this file such hunks cannot be chosen.
    """
    wanted = set(paths)
    files = tuple(file for file in model.files if file.path in wanted)
    if unknown := wanted - {file.path for file in files}:
        raise InputError("diff.unknown-path", path=min(unknown))
    if not files:
        raise InputError("diff.empty")
    if beside := hunks.keys() - wanted:
        raise InputError("diff.unknown-hunk", path=min(beside))
    return DiffModel(
        tuple(_with_hunks(file, hunks[file.path]) if file.path in hunks else file for file in files)
    )


def has_choice(file: FileDiff) -> bool:
    """Tell whether hunks of a file can be chosen: whatever else becomes of it is done whole."""
    is_content_alone = file.old_mode is None and file.new_mode is None
    return file.op == "modify" and is_content_alone and bool(file.hunks)


def deletion(path: str, content: bytes, mode: Mode | None) -> FileDiff:
    """Return what removes a file of this content.

    Raises:
        InputError: ``diff.refused`` with ``why`` ``binary``: no diff of text can tell it.
    """
    if b"\0" in content:
        raise InputError("diff.refused", why="binary", line=1)
    text = _text(content)
    lines = tuple(b"-" + line for line in text.lines)
    hunk = Hunk(1, len(lines), 0, 0, lines, old_open=text.is_open)
    return FileDiff("delete", path, path, mode, None, (hunk,) if lines else (), 0, len(lines))


def _with_hunks(file: FileDiff, chosen: Sequence[int]) -> FileDiff:
    """Return a file with some of its hunks, where these stand without the others."""
    indexes = set(chosen)
    is_known = indexes and indexes <= set(range(len(file.hunks)))
    if not is_known or len(indexes) < len(chosen) or not has_choice(file):
        raise InputError("diff.unknown-hunk", path=file.path)
    hunks: list[Hunk] = []
    added = removed = 0
    for index in sorted(indexes):
        hunk = file.hunks[index]
        hunks.append(_placed(hunk, hunk.old_first, added - removed))
        added += hunk.added
        removed += hunk.removed
    return replace(file, hunks=tuple(hunks), added=added, removed=removed)


# --- where a hunk fits ---


def _spliced(file: FileDiff, old: bytes) -> bytes | None:
    """Return what a file becomes whose hunks all fit, with context around; None for any other.

    The file is not taken apart into lines: where the old side first stands is mostly where the hunk
    says, and counting the line feeds before it tells.
    """
    if file.op in ("add", "delete"):
        return None
    pieces: list[bytes] = []
    line = at = 0  # of the file, after the last hunk: so many lines, and bytes
    for hunk in file.hunks:
        if not _is_between_lines(hunk):
            return None
        side = b"".join([line[1:] + b"\n" for line in hunk.lines if line[0] != PLUS])
        place = old.find(side, at)
        is_at_line = place == at or (place > at and old[place - 1] == _LINE_FEED)
        if not is_at_line or old.count(b"\n", at, place) != hunk.old_first - line:
            return None
        new = b"".join([line[1:] + b"\n" for line in hunk.lines if line[0] != MINUS])
        pieces += old[at:place], new
        line, at = hunk.old_first + hunk.old_count, place + len(side)
    pieces.append(old[at:])
    return b"".join(pieces)


def _is_between_lines(hunk: Hunk) -> bool:
    """Tell whether a hunk has context above and below, all of it whole lines."""
    has_context = hunk.lines[:1] and hunk.lines[0][0] == SPACE == hunk.lines[-1][0]
    return bool(has_context) and not (hunk.old_open or hunk.new_open)


def _text(content: bytes) -> _Text:
    lines = content.split(b"\n")  # at line feeds alone (R33), not where str or bytes.splitlines do
    if lines[-1]:
        return _Text(lines, is_open=True)
    lines.pop()
    return _Text(lines, is_open=False)


def _joined(lines: list[bytes], *, is_open: bool) -> bytes:
    if not is_open and lines:
        lines.append(b"")
    return b"\n".join(lines)


def _fits(hunk: Hunk, side: list[bytes], text: _Text, first: int) -> bool:
    end = first + hunk.old_count
    if text.lines[first:end] != side or end > len(text.lines):
        return False
    if end < len(text.lines):
        # Without context below, git takes a hunk for the end of the file, and others do not.
        return hunk.lines[-1][0] == SPACE and not (hunk.old_open or hunk.new_open)
    # At the end of the file: nothing may be glued to a last line that has no line feed.
    return hunk.old_open == text.is_open


def _only_place(hunk: Hunk, side: list[bytes], old: bytes) -> int | None:
    if not side:
        return None
    # Between line feeds, so that every find is at the start of a line and the work stays linear.
    text = b"\n" + old
    wanted = b"\n" + b"\n".join(side) + (b"" if hunk.old_open else b"\n")
    if hunk.old_open:
        place = len(text) - len(wanted) if text.endswith(wanted) else -1
    else:
        place = text.find(wanted)
    if place < 0 or (not hunk.old_open and text.find(wanted, place + 1) >= 0):
        return None
    return text.count(b"\n", 0, place)


def _placed(hunk: Hunk, first: int, grown: int) -> Hunk:
    old_start = first + bool(hunk.old_count)
    new_start = first + grown + bool(hunk.new_count)
    return hunk._replace(old_start=old_start, new_start=new_start)


def _first_difference(side: list[bytes], text: _Text, first: int) -> int:
    here = text.lines[first : first + len(side)]
    shared = min(len(side), len(here))
    same = next((n for n in range(shared) if side[n] != here[n]), shared)
    last = len(text.lines)
    if same == len(side) and first + same == last:
        return last  # its text is right, its end is not
    return min(first + same, last) + 1


def _misfit(file: FileDiff, hunk: int, line: int) -> InputError:
    return InputError("diff.context", path=file.old_path or file.path, hunk=hunk, line=line)


def _unpatched(file: FileDiff, old: bytes) -> bytes:
    if old and file.op in ("add", "delete"):
        raise _misfit(file, 0, 1)
    return old


# --- taken back ---


def _reversed(file: FileDiff) -> FileDiff:
    if file.op == "copy":
        raise InputError("diff.irreversible", path=file.path)
    hunks = tuple(_reversed_hunk(hunk) for hunk in file.hunks)
    modes = file.new_mode, file.old_mode
    if file.op == "add":
        return FileDiff("delete", file.path, file.path, *modes, hunks, file.removed, file.added)
    if file.op == "delete":
        return FileDiff("add", file.path, None, *modes, hunks, file.removed, file.added)
    before = file.old_path or file.path
    return FileDiff(file.op, before, file.path, *modes, hunks, file.removed, file.added)


def _reversed_hunk(hunk: Hunk) -> Hunk:
    lines: list[bytes] = []
    put_back: list[bytes] = []  # after what they take the place of
    for line in hunk.lines:
        if line[0] == PLUS:
            lines.append(b"-" + line[1:])
        elif line[0] == MINUS:
            put_back.append(b"+" + line[1:])
        else:
            lines += [*put_back, line]
            put_back.clear()
    return Hunk(
        old_start=hunk.new_start,
        old_count=hunk.new_count,
        new_start=hunk.old_start,
        new_count=hunk.old_count,
        lines=(*lines, *put_back),
        old_open=hunk.new_open,
        new_open=hunk.old_open,
        section=hunk.section,
    )


# --- why one does not fit ---

Misfit = Literal["applied", "line-ends", "last-line"]
_CR: Final = b"\r"


def misfit(file: FileDiff, old: bytes) -> Misfit | None:
    """Return why a modification does not fit.

    Args:
        file: One file of a diff, which `patched` and `relocated` refused.
        old: What is there.

    Returns:
        ``applied``: the file is already as the diff would leave it; ``line-ends``: only CR LF
        stands against LF; ``last-line``: the last line ends with a line feed in one alone; None
        for any other reason, and for what is no modification.
    """
    if file.op != "modify":
        return None
    if _can_apply(reverse(DiffModel((file,))).files[0], old):
        return "applied"
    if _can_apply(_with_plain_ends(file), old.replace(b"\r\n", b"\n")):
        return "line-ends"
    # The last line of one of them has no line feed.
    last = old.removesuffix(b"\n") if old.endswith(b"\n") else old + b"\n"
    return "last-line" if _can_apply(file, last) else None


def _can_apply(file: FileDiff, old: bytes) -> bool:
    try:
        patched(relocated(file, old)[0], old)
    except InputError:
        return False
    return True


def _with_plain_ends(file: FileDiff) -> FileDiff:
    return replace(file, hunks=tuple(map(_with_plain_lines, file.hunks)))


def _with_plain_lines(hunk: Hunk) -> Hunk:
    return hunk._replace(lines=tuple(line.removesuffix(_CR) for line in hunk.lines))
