"""Tells apart what else calls itself a diff, to say why it is refused.

Nothing is accepted here: what no row knows is refused as ``junk``.  Text before, between and after
the sections is among it (a mail header, ``Index:``, the signature of format-patch), because every
program draws the line between such text and a section differently.
"""

from __future__ import annotations

import re
from typing import Final

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
