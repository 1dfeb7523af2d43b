"""The lines of a diff and how far they were read; every refusal names its line.

What else calls itself a diff is told apart here, to say why it is refused.  Nothing of it is
accepted: what no row knows is refused as ``junk``.  Text before, between and after the sections is
among it (a mail header, ``Index:``, the signature of format-patch), because every program draws the
line between such text and a section differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import itemgetter
from typing import Final, TypeVar

from common.errors import InputError

_T = TypeVar("_T")
_FIRST: Final = itemgetter(0)
_LINE_FEED: Final = 10


class Lines:
    """A text cut at line feeds, and nowhere else (R33).

    Attributes:
        all: The lines without their line feeds.
        kinds: The first byte of each; a line feed for an empty line.
        at: Index of the line that is read next.
        hunks: How many hunks were read so far, in all files.
    """

    __slots__ = ("all", "at", "hunks", "kinds")

    def __init__(self, data: bytes) -> None:
        self.all = data.split(b"\n")
        if not self.all[-1]:
            self.all.pop()  # the end of the last line, not a line
        try:
            self.kinds = bytes(map(_FIRST, self.all))
        except IndexError:  # some line is empty, which is rare in a diff
            self.kinds = bytes([line[0] if line else _LINE_FEED for line in self.all])
        self.at = 0
        self.hunks = 0

    @property
    def at_end(self) -> bool:
        """Whether every line was read."""
        return self.at >= len(self.all)

    def peek(self) -> bytes:
        """Return the line that is read next; empty at the end."""
        return self.all[self.at] if self.at < len(self.all) else b""

    def next(self) -> bytes:
        """Read a line; there must be one."""
        self.at += 1
        return self.all[self.at - 1]

    def refusal(self, why: str, *, at: int | None = None) -> InputError:
        """Return the error for a line, given by its index; for the next one by default."""
        return InputError("diff.refused", why=why, line=(self.at if at is None else at) + 1)


def about_line(number: int, reading: Callable[[bytes], _T], value: bytes) -> _T:
    """Return what ``reading`` makes of a part of a line; its error tells the number of that line.

    Raises:
        InputError: as ``reading`` does.
    """
    try:
        return reading(value)
    except InputError as error:
        raise InputError(error.code, **error.facts | {"line": number}) from None


# --- what else calls itself a diff ---

_PREFIXES: Final[tuple[tuple[bytes, str], ...]] = (
    (b"diff --cc ", "combined"),
    (b"diff --combined ", "combined"),
    (b"@@@", "combined"),
    (b"@@", "no-names"),
    (b"***", "context"),
    (b"GIT binary patch", "binary"),
    (b"Binary files ", "binary"),
    (b"Submodule ", "submodule"),
    (b"From ", "mail"),
    (b"From: ", "mail"),
    (b"Subject: ", "mail"),
    (b"commit ", "mail"),
    (b"Index: ", "index-line"),
    (b"Only in ", "only-in"),
    (b"diff ", "command-line"),
    (b"\xef\xbb\xbf", "byte-order-mark"),
)
_NORMAL: Final = re.compile(rb"[0-9]++(?:,[0-9]++)?[acd][0-9]++(?:,[0-9]++)?")
_ED: Final = re.compile(rb"[0-9]++(?:,[0-9]++)?[acdis]|[ad][0-9]++ [0-9]++")


def why_foreign(line: bytes, *, after_hunk: bool) -> str | None:
    """Return what a line that begins no section belongs to; None when that is not known.

    Args:
        line: Without its line feed.
        after_hunk: Whether it stands behind a hunk.
    """
    if line == b"-- ":
        return "signature"
    if after_hunk and line[:1] in (b" ", b"+", b"-", b"\\"):
        return "hunk-count"
    if _NORMAL.fullmatch(line):
        return "normal"
    if _ED.fullmatch(line):
        return "ed"
    return next((why for prefix, why in _PREFIXES if line.startswith(prefix)), None)
