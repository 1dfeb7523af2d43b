"""Identifiers: UUIDv7 inside, ``T-7K3F`` for people.  An ID names; it never authorises.

Two sides mint short IDs for one agent: the gateway for what comes from a chat, the agent for what
is asked at its own terminal.  They never meet, because each takes its first character from its own
half of the alphabet.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable
from typing import Literal

from common.errors import InputError

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_FIRST: dict[str, str] = {"gateway": CROCKFORD[:16], "agent": CROCKFORD[16:]}
_LOOKALIKE = str.maketrans({"O": "0", "I": "1", "L": "1"})
# Hyphens, dashes and minus signs that keyboards and chat clients put in place of "-".
_DASHES = re.compile("[\u2010-\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d\u30fc_ -]")
_SHORT = re.compile(rf"T?([{CROCKFORD}]{{4,5}})")
_TRAILING = ".,;:!?。，；：！？、)）】」\"'"
_LEADING = "#\"'(（【「"

Minter = Literal["gateway", "agent"]


def new_uuid() -> str:
    """Return a fresh UUIDv7 as 36 lower-case characters (RFC 9562)."""
    from uuid6 import uuid7

    return str(uuid7())


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
    drawn = iter(secrets.token_bytes(times))
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
