"""The marks that a model was shown, found in what it writes.  Pure.

A mark that stands where a secret was taken out (R54) would stand in a file in its place, so nothing
with such a mark that the true text does not have is ever taken.  A mark that shows a hidden
character (R26) becomes that character again where the true text has it, and only there.
"""

from __future__ import annotations

import re
from typing import Final

MARK: Final = b"[redacted"

_MARK: Final = re.compile(rb"\[redacted[^\]\n]{0,40}\]?")
_SHOWN: Final = re.compile(rb"\xe2\x9f\xa8U\+([0-9A-F]{4,6})\xe2\x9f\xa9")  # as `reveal` writes it


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
