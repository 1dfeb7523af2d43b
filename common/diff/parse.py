"""Reads a unified diff from bytes, whole or not at all (R32, R33).

    diff    = section*
    section = "diff --git a/X b/X" extended-header* [ names hunk+ ]  |  names hunk+
    names   = "--- " old  "+++ " new

Lines end at a line feed and nowhere else.  Whatever is not exactly this is refused with the number
of its line: a text that two programs could read differently must never be shown to a person.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn, cast

from common.diff.model import MODES, DiffModel, FileDiff, Hunk, Mode, Op
from common.diff.names import checked_path, twin_key, unquote
from common.errors import InputError

MAX_BYTES: Final = 2_000_000
MAX_FILES: Final = 500
MAX_HUNKS: Final = 5_000
_MAX_DIGITS: Final = 9

_HUNK: Final = re.compile(
    rb"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@(?: (.*))?", re.DOTALL
)
_INDEX: Final = re.compile(rb"([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?")
_PERCENT: Final = re.compile(rb"(?:[0-9]{1,2}|100)%")
_QUOTED: Final = rb'"(?:[^"\\]|\\.)*"'
_TWO_NAMES: Final = re.compile(rb"(" + _QUOTED + rb"|a/.*?) (" + _QUOTED + rb"|b/.*)", re.DOTALL)
_DEV_NULL: Final = b"/dev/null"
_SPACE, _PLUS, _MINUS, _BACKSLASH = b" +-\\"

# What else begins a diff, and is told apart to say why it is refused.
_FOREIGN: Final = (
    (b"diff --cc ", "combined"),
    (b"diff --combined ", "combined"),
    (b"@@@ ", "combined"),
    (b"*** ", "context"),
    (b"GIT binary patch", "binary"),
    (b"Binary files ", "binary"),
    (b"Submodule ", "submodule"),
)


def parse_diff(data: bytes) -> DiffModel:
    """Return what a diff says.

    Args:
        data: At most 2 MB, 500 files, 5,000 hunks.

    Raises:
        InputError: ``diff.too-large``, ``diff.empty``, or ``diff.refused`` with ``why`` and
            ``line``; ``diff.name`` with ``why`` and ``line``.
    """
    if len(data) > MAX_BYTES:
        raise InputError("diff.too-large", limit=MAX_BYTES)
    if not data:
        raise InputError("diff.empty")
    reader = _Reader(data)
    files: list[FileDiff] = []
    while not reader.at_end:
        if len(files) == MAX_FILES:
            raise InputError("diff.too-large", files=MAX_FILES)
        files.append(reader.section())
    _check_together(files)
    return DiffModel(tuple(files))


@dataclass(slots=True)
class _Header:
    """What the extended headers of one section say."""

    old: bytes | None = None
    new: bytes | None = None
    old_mode: bytes | None = None
    new_mode: bytes | None = None
    created: bytes | None = None
    deleted: bytes | None = None
    rename_from: bytes | None = None
    rename_to: bytes | None = None
    copy_from: bytes | None = None
    copy_to: bytes | None = None
    index_mode: bytes | None = None
    similarity: bytes | None = None
    indexed: bytes | None = None


_EXTENDED: Final[tuple[tuple[bytes, str], ...]] = (
    (b"old mode ", "old_mode"),
    (b"new mode ", "new_mode"),
    (b"new file mode ", "created"),
    (b"deleted file mode ", "deleted"),
    (b"rename from ", "rename_from"),
    (b"rename to ", "rename_to"),
    (b"copy from ", "copy_from"),
    (b"copy to ", "copy_to"),
    (b"similarity index ", "similarity"),
    (b"dissimilarity index ", "similarity"),
    (b"index ", "indexed"),
)


class _Reader:
    """The lines of one diff and how far they were read."""

    def __init__(self, data: bytes) -> None:
        self._lines = data.split(b"\n")
        if not self._lines[-1]:
            self._lines.pop()  # the end of the last line, not a line
        self._at = 0
        self._hunks = 0

    @property
    def at_end(self) -> bool:
        """Whether every line was read."""
        return self._at >= len(self._lines)

    def section(self) -> FileDiff:
        """Read one file's part.

        Raises:
            InputError: it is refused.
        """
        begun = self._at
        try:
            if self._peek().startswith(b"diff --git "):
                return self._git_section()
            return self._plain_section()
        except InputError as error:
            if "line" in error.facts:
                raise
            raise InputError(error.code, **error.facts, line=begun + 1) from None

    # --- sections ---

    def _git_section(self) -> FileDiff:
        rest = self._next()[len(b"diff --git ") :]
        header = self._extended()
        header.old, header.new = _named(rest, header) or self._refuse("header", back=1)
        names = self._names() if self._peek().startswith(b"--- ") else None
        hunks = self._all_hunks() if names else ()
        return _git_file(header, names, hunks)

    def _plain_section(self) -> FileDiff:
        if not self._peek().startswith(b"--- "):
            self._refuse(_foreign(self._peek()))
        old, new = self._names()
        hunks = self._all_hunks()
        if old is None and new is None:
            self._refuse("header")
        if old is not None and new is not None and old != new:
            raise InputError("diff.refused", why="names-differ")
        op: Op = "add" if old is None else "delete" if new is None else "modify"
        return _file(op, old, new, None, None, hunks)

    def _extended(self) -> _Header:
        header = _Header()
        while True:
            line = self._peek()
            found = next((row for row in _EXTENDED if line.startswith(row[0])), None)
            if found is None:
                break
            prefix, name = found
            if getattr(header, name) is not None:
                self._refuse("header-twice")
            setattr(header, name, line[len(prefix) :])
            self._at += 1
        if foreign := _foreign_or_none(self._peek()):
            self._refuse(foreign)
        _check_header(header)
        return header

    def _names(self) -> tuple[bytes | None, bytes | None]:
        old = _side_name(self._next()[4:], b"a/")
        if not self._peek().startswith(b"+++ "):
            self._refuse("header")
        new = _side_name(self._next()[4:], b"b/")
        return old, new

    # --- hunks ---

    def _all_hunks(self) -> tuple[Hunk, ...]:
        found: list[Hunk] = []
        while self._peek().startswith(b"@@"):
            if self._hunks == MAX_HUNKS:
                raise InputError("diff.too-large", hunks=MAX_HUNKS)
            self._hunks += 1
            if found and (found[-1].old_open or found[-1].new_open):
                self._refuse("after-end")
            found.append(self._hunk(found[-1] if found else None))
        if not found:
            self._refuse("no-hunks")
        return tuple(found)

    def _hunk(self, before: Hunk | None) -> Hunk:
        match = _HUNK.fullmatch(self._next())
        if match is None:
            self._refuse("hunk-header", back=1)
        old_start, new_start = int(match[1]), int(match[3])
        old_count = 1 if match[2] is None else int(match[2])
        new_count = 1 if match[4] is None else int(match[4])
        if not _follows(before, (old_start, old_count), (new_start, new_count)):
            self._refuse("hunk-order", back=1)
        lines, old_open, new_open = self._body(old_count, new_count)
        section = match[5] or b""
        return Hunk(old_start, old_count, new_start, new_count, lines, old_open, new_open, section)

    def _body(self, old_left: int, new_left: int) -> tuple[tuple[bytes, ...], bool, bool]:
        lines, at, end = self._lines, self._at, len(self._lines)
        begun, found = at, []
        old_open = new_open = False
        changed = False
        while True:
            if old_left <= 0 and new_left <= 0 and not _is_marker(lines, at):
                break
            if at >= end:
                self._refuse_at("cut", at)
            line = lines[at]
            kind = line[0] if line else _SPACE
            if kind == _SPACE and not old_open and not new_open:
                old_left -= 1
                new_left -= 1
            elif kind == _MINUS and not old_open:
                old_left -= 1
                changed = True
            elif kind == _PLUS and not new_open:
                new_left -= 1
                changed = True
            elif kind == _BACKSLASH and at > begun:
                old_open, new_open = self._open_end(
                    found[-1][0], (old_left, new_left), (old_open, new_open), at
                )
                at += 1
                continue
            else:
                self._refuse_at("hunk-line", at)
            if old_left < 0 or new_left < 0:
                self._refuse_at("hunk-count", at)
            found.append(line or b" ")
            at += 1
        if not changed:
            self._refuse_at("no-change", begun - 1)
        self._at = at
        return tuple(found), old_open, new_open

    def _open_end(
        self, kind: int, left: tuple[int, int], is_open: tuple[bool, bool], at: int
    ) -> tuple[bool, bool]:
        # "\ No newline at end of file" speaks of the line before it, which must be its side's last.
        old, new = kind != _PLUS, kind != _MINUS
        if (old and (left[0] or is_open[0])) or (new and (left[1] or is_open[1])):
            self._refuse_at("after-end", at)
        return is_open[0] or old, is_open[1] or new

    # --- lines ---

    def _peek(self) -> bytes:
        return self._lines[self._at] if self._at < len(self._lines) else b""

    def _next(self) -> bytes:
        if self.at_end:
            self._refuse("cut")
        self._at += 1
        return self._lines[self._at - 1]

    def _refuse(self, why: str, *, back: int = 0) -> NoReturn:
        self._refuse_at(why, self._at - back)

    def _refuse_at(self, why: str, at: int) -> NoReturn:
        raise InputError("diff.refused", why=why, line=at + 1)


def _is_marker(lines: list[bytes], at: int) -> bool:
    return at < len(lines) and lines[at].startswith(b"\\ ")


def _follows(before: Hunk | None, old: tuple[int, int], new: tuple[int, int]) -> bool:
    # A side without lines names the line before it; so its first line would be the next.
    if (old[1] and not old[0]) or (new[1] and not new[0]):
        return False
    old_first, new_first = old[0] + (not old[1]), new[0] + (not new[1])
    if before is None:
        return old_first == new_first or min(old[0], new[0]) == 0
    old_end = before.old_start + (not before.old_count) + before.old_count
    new_end = before.new_start + (not before.new_count) + before.new_count
    return old_first >= old_end and old_first - old_end == new_first - new_end


def _foreign(line: bytes) -> str:
    return _foreign_or_none(line) or "junk"


def _foreign_or_none(line: bytes) -> str | None:
    return next((why for prefix, why in _FOREIGN if line.startswith(prefix)), None)


# --- names ---


def _side_name(raw: bytes, side: bytes) -> bytes | None:
    if not raw.startswith(b'"'):
        raw = raw.split(b"\t", 1)[0]  # GNU diff puts the time there; git puts a bare tab
    elif raw.endswith(b"\t"):
        raw = raw[:-1]
    name = unquote(raw)
    if name == _DEV_NULL:
        return None
    if not name.startswith(side):
        raise InputError("diff.refused", why="prefix")
    return name[len(side) :]


def _named(rest: bytes, header: _Header) -> tuple[bytes, bytes] | None:
    """Return the two names of the first line; they decide nothing that other headers say too."""
    moved = header.rename_from or header.copy_from, header.rename_to or header.copy_to
    if moved[0] is not None and moved[1] is not None:
        old, new = unquote(moved[0]), unquote(moved[1])
        return (old, new) if _reads(rest, old, new) else None
    if rest.startswith(b'"'):
        match = _TWO_NAMES.fullmatch(rest)
        if match is None:
            return None
        old, new = unquote(match[1]), unquote(match[2])
        same = old[:2] == b"a/" and new[:2] == b"b/" and old[2:] == new[2:]
        return (old[2:], new[2:]) if same else None
    # a/NAME b/NAME with one NAME, which may hold blanks: the middle is where it must be.
    half = (len(rest) - 1) // 2
    old, new = rest[:half], rest[half + 1 :]
    if rest[half : half + 1] != b" " or old[:2] != b"a/" or new[:2] != b"b/" or old[2:] != new[2:]:
        return None
    return old[2:], new[2:]


def _reads(rest: bytes, old: bytes, new: bytes) -> bool:
    if rest == b"a/" + old + b" b/" + new:
        return True
    match = _TWO_NAMES.fullmatch(rest)
    while match is not None:
        if unquote(match[1]) == b"a/" + old and unquote(match[2]) == b"b/" + new:
            return True
        return False
    return False


# --- one file ---


def _check_header(header: _Header) -> None:
    for mode in (header.old_mode, header.new_mode, header.created, header.deleted):
        _check_mode(mode)
    if header.indexed is not None:
        match = _INDEX.fullmatch(header.indexed)
        if match is None:
            raise InputError("diff.refused", why="header")
        header.index_mode = match[3]
        _check_mode(header.index_mode)
    if header.similarity is not None and not _PERCENT.fullmatch(header.similarity):
        raise InputError("diff.refused", why="header")
    pairs = (
        (header.old_mode, header.new_mode),
        (header.rename_from, header.rename_to),
        (header.copy_from, header.copy_to),
    )
    kinds = (header.created, header.deleted, header.rename_from, header.copy_from)
    halves = any((one is None) != (other is None) for one, other in pairs)
    if halves or sum(kind is not None for kind in kinds) > 1:
        raise InputError("diff.refused", why="header")
    if header.old_mode is not None and (header.created or header.deleted):
        raise InputError("diff.refused", why="header")


def _check_mode(mode: bytes | None) -> None:
    if mode is None or mode in MODES:
        return
    why = {b"120000": "symlink", b"160000": "submodule"}.get(mode, "mode")
    raise InputError("diff.refused", why=why)


def _git_file(
    header: _Header, names: tuple[bytes | None, bytes | None] | None, hunks: tuple[Hunk, ...]
) -> FileDiff:
    old, new = header.old, header.new
    op = _op(header)
    if names is not None:
        expected = (None if op == "add" else old, None if op == "delete" else new)
        if names != expected:
            raise InputError("diff.refused", why="names-differ")
    elif op == "modify" and header.old_mode is None:
        raise InputError("diff.refused", why="no-change")
    old_mode = header.deleted or header.old_mode or header.index_mode
    new_mode = header.created or header.new_mode or header.index_mode
    return _file(
        op,
        None if op == "add" else old,
        None if op == "delete" else new,
        None if op == "add" else old_mode,
        None if op == "delete" else new_mode,
        hunks,
    )


def _op(header: _Header) -> Op:
    if header.created is not None:
        return "add"
    if header.deleted is not None:
        return "delete"
    if header.rename_from is not None:
        return "rename"
    return "copy" if header.copy_from is not None else "modify"


def _file(
    op: Op,
    old: bytes | None,
    new: bytes | None,
    old_mode: bytes | None,
    new_mode: bytes | None,
    hunks: tuple[Hunk, ...],
) -> FileDiff:
    old_path = None if old is None else checked_path(old)
    path = checked_path(new) if new is not None else cast("str", old_path)
    if op in ("rename", "copy") and old_path == path:
        raise InputError("diff.refused", why="names-differ")
    _check_whole(op, hunks)
    added = removed = 0
    for hunk in hunks:
        added += sum(line[0] == _PLUS for line in hunk.lines)
        removed += sum(line[0] == _MINUS for line in hunk.lines)
    return FileDiff(op, path, old_path, _mode(old_mode), _mode(new_mode), hunks, added, removed)


def _check_whole(op: Op, hunks: tuple[Hunk, ...]) -> None:
    # A file that comes or goes is told in one hunk, with nothing on the other side.
    if op == "add" and hunks:
        if len(hunks) != 1 or hunks[0].old_count or hunks[0].old_start:
            raise InputError("diff.refused", why="add-has-old")
    elif op == "delete" and hunks:
        if len(hunks) != 1 or hunks[0].new_count or hunks[0].new_start:
            raise InputError("diff.refused", why="delete-has-new")


def _mode(mode: bytes | None) -> Mode | None:
    return None if mode is None else cast("Mode", mode.decode("ascii"))


def _check_together(files: list[FileDiff]) -> None:
    """Refuse a diff in which two sections speak of one file, or one's target is another's folder."""
    touched: dict[str, int] = {}
    for file in files:
        names = {file.path} if file.op == "copy" else {file.path, file.old_path or file.path}
        for name in names:
            if twin_key(name) in touched:
                raise InputError("diff.refused", why="file-twice", path=name)
            touched[twin_key(name)] = 1
    kept = {twin_key(file.path) for file in files if file.op != "delete"}
    for file in files:
        parts = twin_key(file.path).split("/")
        if file.op != "delete" and any("/".join(parts[:n]) in kept for n in range(1, len(parts))):
            raise InputError("diff.refused", why="file-is-folder", path=file.path)
