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

from common.diff.foreign import why_foreign
from common.diff.lines import Lines, about_line
from common.diff.model import Mode, Op
from common.diff.names import checked_path, unquote
from common.diff.sides import OLD_SIDE, Names, check_moved, has_sides, read_sides, same_name
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
    if not line.startswith((_TITLE, OLD_SIDE)):
        raise lines.refusal(why_foreign(line, after_hunk=lines.hunks > 0) or "junk")
    if line.endswith(b"\r"):
        raise lines.refusal("crlf")
    return _git(lines) if line.startswith(_TITLE) else _plain(lines)


def _plain(lines: Lines) -> Header:
    begun = lines.at
    old, new = read_sides(lines)
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
    has_hunks = has_sides(lines, old, new)
    if has_hunks and fields.get("similarity index") == "100%":
        raise lines.refusal("header", at=begun)
    if not has_hunks and op == "modify" and "old mode" not in fields:
        why = why_foreign(lines.peek(), after_hunk=False)
        raise lines.refusal("no-change", at=begun) if why != "binary" else lines.refusal(why)
    old_mode = fields.get("deleted file mode") or fields.get("old mode")
    new_mode = fields.get("new file mode") or fields.get("new mode")
    modes = cast("Mode | None", old_mode), cast("Mode | None", new_mode)
    return Header(begun, op, old, new, *modes, has_hunks)


def _named(title: bytes, op: Op, fields: Mapping[str, str], line: int) -> Names:
    if op in ("rename", "copy"):
        old, new = fields[f"{op} from"], fields[f"{op} to"]
        about_line(line, lambda told: check_moved(told, old, new), title)
        return old, new
    name = about_line(line, same_name, title)
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
