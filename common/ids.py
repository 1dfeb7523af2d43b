"""Identifiers: UUIDv7 inside, ``T-7K3F`` for people.  An ID names; it never authorises.

Two sides mint short IDs for one agent: the gateway for what comes from a chat, the agent for what
is asked at its own terminal.  They never meet, because each takes its first character from its own
half of the alphabet.
"""

from __future__ import annotations

import os
import re
import threading
import unicodedata
from collections.abc import Callable
from typing import Final, Literal

from common.clock import Clock, SystemClock
from common.errors import InputError

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_FIRST: dict[str, str] = {"gateway": CROCKFORD[:16], "agent": CROCKFORD[16:]}
_LOOKALIKE = str.maketrans({"O": "0", "I": "1", "L": "1"})
# Hyphens, dashes and minus signs that keyboards and chat clients put in place of "-".
_DASHES = re.compile("[\u2010-\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d\u30fc-]")
# A blank only where the dash belongs: "apply the fix" names no task T-HEF1X.
_SHORT = re.compile(rf"(?:T[ _]{{0,2}})?([{CROCKFORD}]{{4,5}})")
_TRAILING = ".,;:!?。，；：！？、)）】」\"'"
_LEADING = "#\"'(（【「"

_RANDOM_BITS: Final = 74  # of a UUIDv7: 12 behind the version, 62 behind the variant
_LOW: Final = (1 << 62) - 1
_STEP: Final = (1 << 32) - 1

Minter = Literal["gateway", "agent"]


class UuidSource:
    """Makes UUIDv7s (RFC 9562, section 5.7), each above the one before it; safe across threads.

    Args:
        clock: Gives their first 48 bits: milliseconds since 1970.
        draw: Returns so many random bytes.
    """

    def __init__(self, clock: Clock, *, draw: Callable[[int], bytes] = os.urandom) -> None:
        self._clock = clock
        self._draw = draw
        self._lock = threading.Lock()
        self._newest = 0

    def __call__(self) -> str:
        """Return one as 36 lower-case characters."""
        drawn = int.from_bytes(self._draw(10), "big")
        fresh = self._clock.now().wall_ms << _RANDOM_BITS | drawn >> (80 - _RANDOM_BITS)
        with self._lock:
            # Within one millisecond, and when the clock goes back, they are counted on in steps
            # that nobody can guess (section 6.2, method 2); what overflows moves into the time.
            if fresh <= self._newest:
                fresh = self._newest + 1 + (drawn & _STEP)
            self._newest = fresh
        high = fresh >> 62
        text = f"{high >> 12:012x}7{high & 0xFFF:03x}{1 << 63 | fresh & _LOW:016x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


new_uuid: Final = UuidSource(SystemClock())


def new_short_id(
    minter: Minter, *, length: int = 4, choose: Callable[[str], str] | None = None
) -> str:
    """Return a random short ID such as ``T-7K3F``.

    Args:
        minter: Which side mints it; decides the half of the alphabet of the first character.
        length: 4, or 5 after repeated conflicts.
        choose: Picks one character of the given alphabet per call; at random when not given.
    """
    choose = choose or _random_choice(length)
    rest = "".join(choose(CROCKFORD) for _ in range(length - 1))
    # "TABCD" typed without its prefix must not be read as T-ABCD, so no long ID begins with T.
    first = _FIRST[minter] if length == 4 else _FIRST[minter].replace("T", "")
    return f"T-{choose(first)}{rest}"


def _random_choice(times: int) -> Callable[[str], str]:
    # Drawn at once: each draw is a call of the system.  That 256 is no multiple of 15 makes some
    # names a little likelier than others, and nothing depends on it.
    drawn = iter(os.urandom(times))
    return lambda alphabet: alphabet[next(drawn) % len(alphabet)]


def minted_by(short_id: str) -> Minter:
    """Return which side minted a short ID in its stored form."""
    return "gateway" if short_id[2] in _FIRST["gateway"] else "agent"


def parse_short_id(text: str) -> str:
    """Return the stored form of a short ID as a person may have typed it.

    Accepts full-width forms, any dash, lower case, ``O`` for ``0``, ``I`` and ``L`` for ``1``, a
    leading ``#`` and closing punctuation.  Call it only where an ID is expected: ordinary words
    can look like one.

    Raises:
        InputError: ``input.task-id``.
    """
    folded = unicodedata.normalize("NFKC", text[:32]).strip().strip(_TRAILING).strip(_LEADING)
    folded = _DASHES.sub("", folded).upper().translate(_LOOKALIKE)
    match = _SHORT.fullmatch(folded)
    if match is None:
        raise InputError("input.task-id", given=text[:32])
    return f"T-{match[1]}"
