"""What a `link.Link` tells the shell around it, what that must do with each, and how links end.

`ENDINGS` is the one table of every code that either side can give, and what it stands for.  A code
travels in the last frame (`frames.ErrorFrame`) and, for proxies and packet captures, as the close
code of the WebSocket: those of RFC 6455 where one fits, else 4000 and the HTTP status that comes
nearest.  The sentence that a person reads for it is `local_agent.cli.status.LINK_WHY`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from common.errors import AuthError, RemoteProtocolError
from common.protocol.envelope import Envelope

# Told as they are: raised only after the peer was proven, or by an agent about a gateway's
# challenge, from which nobody learns anything.
TELLING: Final = frozenset({"clock-skew", "version", "sequence-gap", "too-fast"})


class LinkState(Enum):
    """Where a link is."""

    OPENING = "opening"
    READY = "ready"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class AgentKnocked:
    """Gateway only: someone claims to be this agent.  Answer with `Link.admit` or `Link.refuse`.

    Attributes:
        agent_id: The claim; look its enrolled key up.
        last_seq: The last number it says it keeps of ours.
    """

    agent_id: str
    last_seq: int


@dataclass(frozen=True, slots=True)
class Ready:
    """Both sides are proven.  Send what the peer has not got.

    Attributes:
        session_id: The gateway's name of this connection, for both logs.
        peer_last_seq: The last number the peer keeps of ours: it counts as acknowledged, and
            sending goes on with the one after it.
        gateway_key_id: The gateway's key that this connection rests on: the one the agent pins.
    """

    session_id: str
    peer_last_seq: int
    gateway_key_id: str


@dataclass(frozen=True, slots=True)
class Received:
    """The next envelope in order, verified.  Keep it durably, then `Link.ack` its number.

    It may be ``expired``: then record that it came too late, and never act on it.  After a
    ``rekey``, close the link once it is acknowledged: nothing more is taken on it.
    """

    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An envelope that was received before.  Nothing is left to do: for the log."""

    seq: int


@dataclass(frozen=True, slots=True)
class Acked:
    """The peer keeps everything up to and including ``seq``.  Each is told once, and rising."""

    seq: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The link ended, and this is its last event.  Send what is left, close the socket.

    Attributes:
        code: One of `ENDINGS`; by the peer it may be any word.
        by_peer: The peer said it.  Before `Ready` its word is not proven.
        facts: For the log and for sentences: ``why`` (code of the error), ``seconds`` the peer's
            clock is ahead, ``expected`` and ``seq`` of a gap, ``ours`` and ``theirs``.
    """

    code: str
    by_peer: bool = False
    facts: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def because_of(cls, error: AuthError | RemoteProtocolError) -> Closed:
        """Return the end that an error of the peer leads to."""
        if error.code in TELLING:
            return cls(error.code, facts=error.facts)
        code = "auth" if isinstance(error, AuthError) else "protocol"
        return cls(code, facts=error.facts | {"why": error.code})


LinkEvent = AgentKnocked | Ready | Received | Duplicate | Acked | Closed


# --- how links end ---

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
    "congested": Ending(4507),  # it takes in no more keys for now; it comes back later
}

_CODES: Final = {ending.websocket: code for code, ending in ENDINGS.items()}


def websocket_code(code: str) -> int:
    """Return the close code of the WebSocket that goes with a code of ours."""
    return ENDINGS[code].websocket


def code_of(websocket: int) -> str | None:
    """Return the code that a close code stands for; None when it is none of ours."""
    return _CODES.get(websocket)
