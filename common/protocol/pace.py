"""How much one side may send: so many frames and bytes at once, and so many a second afterwards.

A `Meter` is two buckets that leak at a steady rate, each kept as one moment: when it will be empty
again (the generic cell rate algorithm).  It is a fresh one for a new connection on the agent; on
the gateway it belongs to the machine's key, so that hanging up empties nothing.

The burst is what an honest peer may have to say after a long absence.  An honest sender stays at
half of it all: it spends on a meter of its own with `HONEST` times the cost.
"""

from __future__ import annotations

from typing import Final

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
