"""What a model writes of a text, brought to the true text.  Pure.

One place is replaced where what is searched for stands exactly once: byte for byte, but for two
things that nobody sees, which line ends a file has and whether its last line has one.  Both stay as
they are.

A mark that stands where a secret was taken out (R54) would stand in a file in its place, so nothing
with such a mark that the true text does not have is ever taken.  A mark that shows a hidden
character (R26) becomes that character again where the true text has it, and only there.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from heapq import nlargest
from typing import Final

from common.errors import InputError

_LINES: Final = 2_000  # whose letters are counted
_LIKELY: Final = 30  # of these that are compared letter by letter: some milliseconds each
_BYTES: Final = 200  # of each
_NEAR: Final = 0.6
MARK: Final = b"[redacted"

_MARK: Final = re.compile(rb"\[redacted[^\]\n]{0,40}\]?")
_SHOWN: Final = re.compile(rb"\xe2\x9f\xa8U\+([0-9A-F]{4,6})\xe2\x9f\xa9")  # as `reveal` writes it


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


def nearest_line(content: bytes, search: bytes) -> int:
    """Return the number, from 1, of the line most like the first one searched for; 0 for none.

    It is told to a model, and never acted on.
    """
    wanted = next((_bare(line) for line in search.split(b"\n") if line.strip()), b"")
    if not wanted:
        return 0
    lines = [_bare(line) for line in content.split(b"\n")]
    if wanted in lines:
        return lines.index(wanted) + 1  # it differs in blanks alone
    return _most_alike(lines[:_LINES], wanted)


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


def _most_alike(lines: list[bytes], wanted: bytes) -> int:
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(_shown(wanted))
    bounds: list[tuple[float, int]] = []
    for at, line in enumerate(lines):
        matcher.set_seq1(_shown(line))
        if matcher.real_quick_ratio() > _NEAR and (bound := matcher.quick_ratio()) > _NEAR:
            bounds.append((bound, -at))
    best, number = _NEAR, 0
    for bound, at in nlargest(_LIKELY, bounds):
        if bound <= best:
            break
        matcher.set_seq1(_shown(lines[-at]))
        if (ratio := matcher.ratio()) > best:
            best, number = ratio, 1 - at
    return number


def _shown(line: bytes) -> str:
    return line[:_BYTES].decode("utf-8", "replace")


def _bare(line: bytes) -> bytes:
    return b" ".join(line.split())


def has_new_marks(written: bytes, true: bytes) -> bool:
    """Tell whether what was written holds a mark that the true text does not hold."""
    if MARK not in written:
        return False
    return any(mark not in true for mark in set(_MARK.findall(written)))


def with_hidden(search: bytes, replace: bytes, true: bytes) -> tuple[bytes, bytes]:
    """Return both texts with the hidden characters that the model was shown as marks.

    A mark that the true text itself holds stays one, unless what is searched for is only found
    with the character.  A character that the true text does not have is never made.

    Args:
        search: What the model says stands there.
        replace: What it wants there instead.
        true: The content of the file.
    """
    marks = {mark[0]: _character(mark[1]) for mark in _SHOWN.finditer(search + b"\n" + replace)}
    hidden = {mark: char for mark, char in marks.items() if char and char in true}
    alone = {mark: char for mark, char in hidden.items() if mark not in true}
    found = _restored(search, alone)
    if found.replace(b"\r\n", b"\n") not in true.replace(b"\r\n", b"\n"):
        alone = hidden
    return _restored(search, alone), _restored(replace, alone)


def _character(number: bytes) -> bytes:
    code = int(number, 16)
    return chr(code).encode("utf-8", "ignore") if code <= 0x10FFFF else b""


def _restored(text: bytes, characters: dict[bytes, bytes]) -> bytes:
    return _SHOWN.sub(lambda mark: characters.get(mark[0], mark[0]), text)
