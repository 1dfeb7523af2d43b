"""What one connection counts: numbers, silence, and how much one side may send.

Small records of `link.Link`, which turns what they say into frames and events.

A `Meter` is two buckets that leak at a steady rate, each kept as one moment: when it will be empty
again (the generic cell rate algorithm).  It is a fresh one for a new connection on the agent; on
the gateway it belongs to the machine's key, so that hanging up empties nothing.  The burst is what
an honest peer may have to say after a long absence.  An honest sender stays at half of it all: it
spends on a meter of its own with `HONEST` times the cost.
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


# --- how much one side may send ---

FRAMES: Final = 4_000  # at once …
FRAMES_PER_SECOND: Final = 200  # … and afterwards: each may cost a signature and a commit
BYTES: Final = 32 * 1024 * 1024
BYTES_PER_SECOND: Final = 1024 * 1024
CONNECTION: Final = 64  # frames that one connection counts for: its signatures and its commit
HONEST: Final = 2

_FRAMES_S: Final = FRAMES / FRAMES_PER_SECOND  # from full to empty
_BYTES_S: Final = BYTES / BYTES_PER_SECOND


class Meter:
    """How full the buckets of one sender are.  All moments are of the monotonic clock."""

    __slots__ = ("_bytes_until", "_frames_until")

    def __init__(self) -> None:
        self._frames_until = 0.0
        self._bytes_until = 0.0

    def spend(self, *, frames: int, size: int, mono: float) -> bool:
        """Count frames and bytes in; return False, counting nothing, when they are too many.

        Args:
            frames: How many.
            size: Of all of them, in bytes.
            mono: Now.
        """
        frames_until = max(self._frames_until, mono) + frames / FRAMES_PER_SECOND
        bytes_until = max(self._bytes_until, mono) + size / BYTES_PER_SECOND
        if frames_until - mono > _FRAMES_S or bytes_until - mono > _BYTES_S:
            return False
        self._frames_until, self._bytes_until = frames_until, bytes_until
        return True

    def wait_s(self, *, frames: int, size: int, mono: float) -> float:
        """Return in how many seconds `spend` would count this in; 0 for now."""
        over_frames = max(self._frames_until - mono, 0.0) + frames / FRAMES_PER_SECOND - _FRAMES_S
        over_bytes = max(self._bytes_until - mono, 0.0) + size / BYTES_PER_SECOND - _BYTES_S
        return max(over_frames, over_bytes, 0.0)

    def is_empty(self, mono: float) -> bool:
        """Tell whether a new one would be no different."""
        return self._frames_until <= mono and self._bytes_until <= mono
