"""Numbers and silence on one connection: what is next, what is kept, how long since a word.

Two small records of `link.Link`, which turns what they say into frames and events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from common.errors import LocalProtocolError, RemoteProtocolError


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long a peer may be silent, in seconds.

    Attributes:
        opening_s: Between two frames of the handshake (R13).
        ping_s: Afterwards, before it is asked …
        dead_s: … and before it is given up (security limits, "heartbeat / dead after").
    """

    opening_s: float = 10.0
    ping_s: float = 20.0
    dead_s: float = 40.0


DEADLINES: Final = Deadlines()


class Order:
    """The numbers of both directions.

    Attributes:
        taken: The last number taken from the peer, in order.
        kept: The last of those that the caller keeps durably; never above ``taken``.
        peer_kept: The last number of ours that the peer keeps durably.
    """

    __slots__ = ("kept", "peer_kept", "taken")

    def __init__(self, *, kept: int, peer_kept: int) -> None:
        self.taken = self.kept = kept
        self.peer_kept = peer_kept

    def take(self, seq: int) -> bool:
        """Count a number in when it is the next; return False when it was taken before.

        Raises:
            RemoteProtocolError: ``sequence-gap``.
        """
        expected = self.taken + 1
        if seq > expected:
            raise RemoteProtocolError("sequence-gap", expected=expected, seq=seq)
        if seq < expected:
            return False
        self.taken = seq
        return True

    def keep(self, seq: int) -> bool:
        """Note that everything up to ``seq`` is kept; return False when that was known.

        Raises:
            LocalProtocolError: ``link.ack-ahead`` of what was taken.
        """
        if seq > self.taken:
            raise LocalProtocolError("link.ack-ahead", seq=seq, taken=self.taken)
        known, self.kept = self.kept, max(self.kept, seq)
        return seq > known

    def peer_keeps(self, seq: int) -> bool:
        """Note that the peer keeps everything up to ``seq``; return False when that was known."""
        known, self.peer_kept = self.peer_kept, max(self.peer_kept, seq)
        return seq > known


class Pulse:
    """How long the peer has been silent, in seconds of the monotonic clock."""

    __slots__ = ("asked", "deadlines", "heard")

    def __init__(self, mono: float, deadlines: Deadlines = DEADLINES) -> None:
        self.deadlines = deadlines
        self.hear(mono)

    def hear(self, mono: float) -> None:
        """Note a sign of life."""
        self.heard = mono
        self.asked = False  # since then

    def next_deadline(self) -> float:
        """Return when a ping is due, or the end when one was sent."""
        return self.heard + (self.deadlines.dead_s if self.asked else self.deadlines.ping_s)

    def is_dead(self, mono: float) -> bool:
        """Tell whether the silence was too long."""
        return mono >= self.heard + self.deadlines.dead_s
