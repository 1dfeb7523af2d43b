"""When a decision counts: not at once, and not while the window still changes (R28).  Pure.

A window that appears under a moving hand must not take its click, nor the key that was meant for
something else.  So a hand counts only when nothing has happened to the window for a while; and lest
a restless desktop put that off for ever, one unrest has an end.
"""

from __future__ import annotations

from typing import Final

QUIET_S: Final = 1.5
UNREST_S: Final = 15.0


class Arming:
    """One hand of the person: the pointer, or the keys.

    Args:
        now: Seconds of a monotonic clock; the window appears now.
    """

    def __init__(self, now: float) -> None:
        self._began = self._last = now

    def disturb(self, now: float) -> None:
        """Wait again: the window was moved, uncovered or entered."""
        if now - self._last >= QUIET_S:
            self._began = now
        self._last = now

    def armed(self, now: float) -> bool:
        """Tell whether what the hand does counts."""
        return self.left(now) == 0

    def left(self, now: float) -> float:
        """Return the seconds until it counts; 0 when it does."""
        quiet_at = min(self._last + QUIET_S, self._began + UNREST_S)
        return max(quiet_at - now, 0.0)
