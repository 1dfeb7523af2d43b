"""One place of a text replaced, where what is searched for stands exactly once.  Pure.

Byte for byte, but for two things that nobody sees: which line ends a file has, and whether its last
line has one.  Both stay as they are.
"""

from __future__ import annotations

from common.errors import InputError
from local_agent.models.http.nearest import nearest_line


def replaced_once(content: bytes, search: bytes, replace: bytes) -> bytes:
    """Return the content with the one place where ``search`` stands replaced.

    Raises:
        InputError: ``edit.not-found`` with ``line``: where something near stands, 0 for nowhere;
            ``edit.not-unique`` with ``lines``: where the first two stand.
    """
    end = _line_end(content, len(content))
    # As a model sees it, every line has an end; one that we lend is taken back.
    is_open = content[-1:] not in (b"", b"\n")
    text = content + end if is_open else content
    plain, wanted = _plain(text), _plain(search)
    at = plain.find(wanted)
    if at < 0:
        raise InputError("edit.not-found", line=nearest_line(plain, wanted))
    if (again := plain.find(wanted, at + 1)) >= 0:
        lines = tuple(plain.count(b"\n", 0, place) + 1 for place in (at, again))
        raise InputError("edit.not-unique", lines=lines)
    first, last = _offset(text, plain, at), _offset(text, plain, at + len(wanted))
    new = _plain(replace).replace(b"\n", _line_end(text, first))
    result = text[:first] + new + text[last:]
    return result.removesuffix(end) if is_open else result


def _plain(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n")


def _offset(text: bytes, plain: bytes, at: int) -> int:
    """Return where in a text the place of its plain form is."""
    if len(text) == len(plain):
        return at
    line = plain.count(b"\n", 0, at)
    column = at - (plain.rfind(b"\n", 0, at) + 1)
    return sum(len(above) + 1 for above in text.split(b"\n")[:line]) + column


def _line_end(text: bytes, at: int) -> bytes:
    """Return the line end that follows a place, or else the last one before it."""
    place = text.find(b"\n", at)
    if place < 0:
        place = text.rfind(b"\n")
    return b"\r\n" if place > 0 and text[place - 1 : place] == b"\r" else b"\n"
