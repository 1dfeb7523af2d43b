"""Reads what stands before the hunks of one file: its names, modes, and what happens to it.

    diff --git a/X b/Y
    old mode / new mode / new file mode / deleted file mode / similarity index / dissimilarity index
    rename from, rename to / copy from, copy to / index
    --- a/X      or /dev/null
    +++ b/Y      or /dev/null

A plain diff has the last two lines alone.  Whatever is told twice must be told alike.  Hashes and
percentages are held to their form and say nothing more; so does a mode on the index line, which is
the one that stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, cast

from common.diff.lines import Lines, about_line, why_foreign
from common.diff.model import Mode, Op
from common.diff.names import checked_path, quoted, quoted_prefix, unquote
from common.errors import InputError

_TITLE: Final = b"diff --git "
_INDEX: Final = re.compile(rb"[0-9a-f]{4,64}\.\.[0-9a-f]{4,64}(?: ([0-7]{6}))?")
_PERCENT: Final = re.compile(rb"(?:[0-9]|[1-9][0-9]|100)%")
_OTHER_MODES: Final = {b"120000": "symlink", b"160000": "submodule"}


class Header(NamedTuple):
    """One file before its hunks.

    Attributes:
        line: Index of its first line.
        old: Path before; None for ``add``.
        new: Path afterwards; None for ``delete``.
        has_hunks: Whether the names of both sides were there, so that hunks must follow.
    """

    line: int
    op: Op
    old: str | None
    new: str | None
    old_mode: Mode | None = None
    new_mode: Mode | None = None
    has_hunks: bool = True


def read_header(lines: Lines) -> Header:
    """Read up to the first hunk.

    Raises:
        InputError: ``diff.refused`` or ``diff.name``.
    """
    line = lines.peek()
    if not line.startswith((_TITLE, _OLD_SIDE)):
        raise lines.refusal(why_foreign(line, after_hunk=lines.hunks > 0) or "junk")
    if line.endswith(b"\r"):
        raise lines.refusal("crlf")
    return _git(lines) if line.startswith(_TITLE) else _plain(lines)


def _plain(lines: Lines) -> Header:
    begun = lines.at
    old, new = _read_sides(lines)
    if old is None and new is None:
        raise lines.refusal("header", at=begun)
    if old is not None and new is not None and old != new:
        raise lines.refusal("names-differ", at=begun)
    op: Op = "add" if old is None else "delete" if new is None else "modify"
    return Header(begun, op, old, new)


def _git(lines: Lines) -> Header:
    begun = lines.at
    title = lines.next()[len(_TITLE) :]
    fields = _fields(lines)
    op = _op(fields)
    if op is None:
        raise lines.refusal("header", at=begun)
    old, new = _named(title, op, fields, begun + 1)
    has_hunks = _has_sides(lines, old, new)
    if has_hunks and fields.get("similarity index") == "100%":
        raise lines.refusal("header", at=begun)
    if not has_hunks and op == "modify" and "old mode" not in fields:
        why = why_foreign(lines.peek(), after_hunk=False)
        raise lines.refusal("no-change", at=begun) if why != "binary" else lines.refusal(why)
    old_mode = fields.get("deleted file mode") or fields.get("old mode")
    new_mode = fields.get("new file mode") or fields.get("new mode")
    modes = cast("Mode | None", old_mode), cast("Mode | None", new_mode)
    return Header(begun, op, old, new, *modes, has_hunks)


def _named(title: bytes, op: Op, fields: Mapping[str, str], line: int) -> _Names:
    if op in ("rename", "copy"):
        old, new = fields[f"{op} from"], fields[f"{op} to"]
        about_line(line, lambda told: _check_moved(told, old, new), title)
        return old, new
    name = about_line(line, _same_name, title)
    return None if op == "add" else name, None if op == "delete" else name


# --- the lines between the title and the names ---


def _fields(lines: Lines) -> dict[str, str]:
    found: dict[str, str] = {}
    while match := _FIELD.fullmatch(lines.peek()):
        name = match[1].decode("ascii")
        if name in found:
            raise lines.refusal("header-twice")
        lines.at += 1
        found[name] = about_line(lines.at, _READINGS[name], match[2])
    return found


def _op(fields: Mapping[str, str]) -> Op | None:
    """Return what happens to the file; None where the lines contradict each other."""
    if not fields.keys() - {"index"}:
        return "modify"
    for one, other in (
        ("old mode", "new mode"),
        ("rename from", "rename to"),
        ("copy from", "copy to"),
    ):
        if (one in fields) != (other in fields) or (one in fields and fields[one] == fields[other]):
            return None
    ops = [op for name, op in _OPS if name in fields]
    comes_or_goes = "new file mode" in fields or "deleted file mode" in fields
    if len(ops) > 1 or (comes_or_goes and "old mode" in fields):
        return None
    if fields.get("index") and (comes_or_goes or "old mode" in fields):
        return None  # a mode on the index line is the mode of both sides
    return ops[0] if ops else "modify"


def _mode(value: bytes) -> str:
    if value not in (b"100644", b"100755"):
        raise InputError("diff.refused", why=_OTHER_MODES.get(value, "mode"))
    return value.decode("ascii")


def _index(value: bytes) -> str:
    match = _INDEX.fullmatch(value)
    if match is None:
        raise InputError("diff.refused", why="header")
    return _mode(match[1]) if match[1] else ""


def _percent(value: bytes) -> str:
    if not _PERCENT.fullmatch(value):
        raise InputError("diff.refused", why="header")
    return value.decode("ascii")


def _path(value: bytes) -> str:
    return checked_path(unquote(value))


_READINGS: Final[Mapping[str, Callable[[bytes], str]]] = {
    "index": _index,
    "new file mode": _mode,
    "deleted file mode": _mode,
    "old mode": _mode,
    "new mode": _mode,
    "similarity index": _percent,
    "dissimilarity index": _percent,
    "rename from": _path,
    "rename to": _path,
    "copy from": _path,
    "copy to": _path,
}
_FIELD: Final = re.compile(rb"(" + "|".join(_READINGS).encode() + rb") (.*)", re.DOTALL)
_OPS: Final[tuple[tuple[str, Op], ...]] = (
    ("new file mode", "add"),
    ("deleted file mode", "delete"),
    ("rename from", "rename"),
    ("copy from", "copy"),
)


# --- the lines that name both sides: the title, and the two above the hunks ---

_OLD_SIDE: Final = b"--- "

_NEW_SIDE: Final = b"+++ "
_DEV_NULL: Final = b"/dev/null"
# The time that GNU diff puts behind a name.
_TIME: Final = re.compile(
    rb"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?: [+-][0-9]{4})?"
)
# Near 1970 it says that there is no file, to some programs and not to others.
_NO_FILE: Final = (b"1969-12-31 ", b"1970-01-01 ")

_Names = tuple[str | None, str | None]


def _check_moved(title: bytes, old: str, new: str) -> None:
    """Return when the title names the two sides of a rename or copy.

    Raises:
        InputError: ``diff.refused``: ``names-differ``; ``diff.name``.
    """
    one, other = b"a/" + old.encode(), b"b/" + new.encode()
    if _cut(title, len(quoted_prefix(title) or one)) != (one, b" ", other):
        raise InputError("diff.refused", why="names-differ")


def _same_name(title: bytes) -> str:
    """Return the name of a file that stays where it is, which its title tells twice.

    Raises:
        InputError: ``diff.refused``: ``prefix`` or ``names-differ``; ``diff.name``.
    """
    # a/NAME b/NAME with one NAME, which may hold blanks: the middle is where it must be.
    half = len(title) // 2
    name = title[2:half]
    if title == b"a/" + name + b" b/" + name and b'"' not in name:
        return checked_path(name)
    first, blank, second = _cut(title, len(quoted_prefix(title)) or half)
    if not first.startswith(b"a/") or not second.startswith(b"b/"):
        raise InputError("diff.refused", why="prefix")
    if blank != b" " or first[2:] != second[2:]:
        raise InputError("diff.refused", why="names-differ")
    return checked_path(first[2:])


def _cut(title: bytes, size: int) -> tuple[bytes, bytes, bytes]:
    return unquote(title[:size]), title[size : size + 1], unquote(title[size + 1 :])


def _has_sides(lines: Lines, old: str | None, new: str | None) -> bool:
    """Read the two lines above the hunks, where they are there.

    Raises:
        InputError: as `_read_sides`; ``diff.refused``: ``names-differ``, from the title.
    """
    told = lines.at
    if lines.all[told : told + 2] == _usual(old, new):
        lines.at += 2
        return True
    if not lines.peek().startswith(_OLD_SIDE):
        return False
    if _read_sides(lines) != (old, new):
        raise lines.refusal("names-differ", at=told)
    return True


def _usual(old: str | None, new: str | None) -> list[bytes]:
    one = _DEV_NULL if old is None else quoted(b"a/" + old.encode())
    other = _DEV_NULL if new is None else quoted(b"b/" + new.encode())
    return [_OLD_SIDE + one, _NEW_SIDE + other]


def _read_sides(lines: Lines) -> _Names:
    """Read the two lines above the hunks; None is the side that has no file.

    Raises:
        InputError: ``diff.refused`` or ``diff.name``.
    """
    old = about_line(lines.at + 1, lambda line: _side(line, b"a/"), lines.next()[len(_OLD_SIDE) :])
    if not lines.peek().startswith(_NEW_SIDE):
        raise lines.refusal("header")
    new = about_line(lines.at + 1, lambda line: _side(line, b"b/"), lines.next()[len(_NEW_SIDE) :])
    return old, new


def _side(raw: bytes, prefix: bytes) -> str | None:
    token = quoted_prefix(raw) or raw.partition(b"\t")[0]
    behind = raw[len(token) :]
    if behind not in (b"", b"\t") and not (behind[:1] == b"\t" and _TIME.fullmatch(behind[1:])):
        raise InputError("diff.refused", why="after-name")
    if token == _DEV_NULL:
        return None
    if behind[1:].startswith(_NO_FILE):
        raise InputError("diff.refused", why="no-file-time")
    name = unquote(token)
    if not name.startswith(prefix):
        raise InputError("diff.refused", why="prefix")
    return checked_path(name[len(prefix) :])
