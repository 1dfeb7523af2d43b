"""The ends of a link: one table of every code that either side can give, and what it stands for.

A code travels in the last frame (`frames.ErrorFrame`) and, for proxies and packet captures, as the
close code of the WebSocket: those of RFC 6455 where one fits, else 4000 and the HTTP status that
comes nearest.  The sentence that a person reads for it is `local_agent.cli.words.LINK_WHY`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

NORMAL: Final = 1000  # RFC 6455 section 7.4.1: the other side said why, we only agree
UNSUPPORTED: Final = 1003  # anything but text


@dataclass(frozen=True, slots=True)
class Ending:
    """What one code stands for.

    Attributes:
        websocket: Close code of the WebSocket.
        by_hand: Only a person can mend it: trying again soon is of no use.
    """

    websocket: int
    by_hand: bool = False


ENDINGS: Final[Mapping[str, Ending]] = {
    # Said by either side.
    "auth": Ending(4401, by_hand=True),  # not proven; the same for every reason
    "protocol": Ending(1002),  # broke a rule of the link
    "timeout": Ending(4408),  # the handshake took too long
    "dead": Ending(4504),  # silent beyond every deadline
    "sequence-gap": Ending(4410, by_hand=True),  # a number is missing: lost, cut out or restored
    "clock-skew": Ending(4425, by_hand=True),
    "version": Ending(4426, by_hand=True),  # no version in common
    "too-fast": Ending(4429),
    "shutdown": Ending(1001),
    "rekeyed": Ending(4205),  # one side has a new key now; come back at once
    # Said by the gateway alone.
    "revoked": Ending(4403, by_hand=True),
    "taken-over": Ending(4409, by_hand=True),  # by a newer connection with the same key
    "store-unavailable": Ending(4503),
    # Said by the agent alone.
    "congested": Ending(4507),  # its journal takes in no more work for now; it comes back later
}

_CODES: Final = {ending.websocket: code for code, ending in ENDINGS.items()}


def websocket_code(code: str) -> int:
    """Return the close code of the WebSocket that goes with a code of ours."""
    return ENDINGS[code].websocket


def code_of(websocket: int) -> str | None:
    """Return the code that a close code stands for; None when it is none of ours."""
    return _CODES.get(websocket)
