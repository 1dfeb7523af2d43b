"""When a request that got no answer is made again.  Pure: chance comes in as an argument."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

MAX_TRIES: Final = 3
MAX_PAUSE_S: Final = 20.0  # who asks for more is told to the person instead
_FIRST_PAUSE_S: Final = 0.5
_SECONDS: Final = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", re.ASCII)


def asked_pause_s(header: str | None) -> float | None:
    """Return the seconds of a ``Retry-After``; None where it is missing or a date."""
    return float(header) if header is not None and _SECONDS.fullmatch(header) else None


def pause_s(tries: int, asked_s: float | None, random: Callable[[], float]) -> float | None:
    """Return how long to wait before the next try, or None when there shall be none.

    Args:
        tries: Made so far.
        asked_s: What the provider asked for.
        random: Gives a number from 0 to 1, so that many who were refused do not come back at once.
    """
    if tries >= MAX_TRIES or (asked_s or 0) > MAX_PAUSE_S:
        return None
    grown = _FIRST_PAUSE_S * (1 << (tries - 1)) * (0.5 + random())
    return max(grown, asked_s or 0)
