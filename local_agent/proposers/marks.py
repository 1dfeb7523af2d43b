"""The marks that stand where a secret was taken out (R54), found in what a model writes.  Pure.

A model that was shown a mark may write it back.  In a file it would stand where a secret was, so
nothing with a mark that the true text does not have is ever taken.
"""

from __future__ import annotations

import re
from typing import Final

MARK: Final = b"[redacted"

_MARK: Final = re.compile(rb"\[redacted[^\]\n]{0,40}\]?")


def has_new_marks(written: bytes, true: bytes) -> bool:
    """Tell whether what was written holds a mark that the true text does not hold."""
    if MARK not in written:
        return False
    return any(mark not in true for mark in set(_MARK.findall(written)))
