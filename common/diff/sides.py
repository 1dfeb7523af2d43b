"""Reads the lines that name both sides of a file: its title, and the two above its hunks."""

from __future__ import annotations

import re
from typing import Final

from common.diff.lines import Lines, about_line
from common.diff.names import checked_path, quoted, quoted_prefix, unquote
from common.errors import InputError

OLD_SIDE: Final = b"--- "

_NEW_SIDE: Final = b"+++ "
_DEV_NULL: Final = b"/dev/null"
# The time that GNU diff puts behind a name.
_TIME: Final = re.compile(
    rb"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?: [+-][0-9]{4})?"
)
# Near 1970 it says that there is no file, to some programs and not to others.
_NO_FILE: Final = (b"1969-12-31 ", b"1970-01-01 ")

Names = tuple[str | None, str | None]


def check_moved(title: bytes, old: str, new: str) -> None:
    """Return when the title names the two sides of a rename or copy.

    Raises:
        InputError: ``diff.refused``: ``names-differ``; ``diff.name``.
    """
    one, other = b"a/" + old.encode(), b"b/" + new.encode()
    if _cut(title, len(quoted_prefix(title) or one)) != (one, b" ", other):
        raise InputError("diff.refused", why="names-differ")


def same_name(title: bytes) -> str:
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


def has_sides(lines: Lines, old: str | None, new: str | None) -> bool:
    """Read the two lines above the hunks, where they are there.

    Raises:
        InputError: as `read_sides`; ``diff.refused``: ``names-differ``, from the title.
    """
    told = lines.at
    if lines.all[told : told + 2] == _usual(old, new):
        lines.at += 2
        return True
    if not lines.peek().startswith(OLD_SIDE):
        return False
    if read_sides(lines) != (old, new):
        raise lines.refusal("names-differ", at=told)
    return True


def _usual(old: str | None, new: str | None) -> list[bytes]:
    one = _DEV_NULL if old is None else quoted(b"a/" + old.encode())
    other = _DEV_NULL if new is None else quoted(b"b/" + new.encode())
    return [OLD_SIDE + one, _NEW_SIDE + other]


def read_sides(lines: Lines) -> Names:
    """Read the two lines above the hunks; None is the side that has no file.

    Raises:
        InputError: ``diff.refused`` or ``diff.name``.
    """
    old = about_line(lines.at + 1, lambda line: _side(line, b"a/"), lines.next()[len(OLD_SIDE) :])
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
