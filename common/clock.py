"""The one place that reads the clock.  Everything else is handed an `Instant`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Instant:
    """One moment, told by two clocks.

    Attributes:
        wall_ms: Milliseconds since 1970-01-01 UTC.  May jump.  For expiries and records.
        mono: Seconds of the monotonic clock.  For deadlines within one process.
    """

    wall_ms: int
    mono: float

    @property
    def wall_s(self) -> int:
        """Whole seconds since 1970-01-01 UTC."""
        return self.wall_ms // 1000


class Clock(Protocol):
    """Tells the moment."""

    def now(self) -> Instant:
        """Return the present moment."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now(self) -> Instant:
        """Return the present moment."""
        return Instant(wall_ms=time.time_ns() // 1_000_000, mono=time.monotonic())


class ManualClock:
    """A clock that stands until it is moved: for tests and for scripted Links."""

    def __init__(self, wall_ms: int = 1_760_000_000_000, mono: float = 1000.0) -> None:
        self._now = Instant(wall_ms, mono)

    def now(self) -> Instant:
        """Return the moment that was last set."""
        return self._now

    def advance(self, seconds: float) -> Instant:
        """Move both clocks forward together and return the new moment."""
        self._now = Instant(self._now.wall_ms + round(seconds * 1000), self._now.mono + seconds)
        return self._now

    def jump_wall(self, seconds: float) -> Instant:
        """Move the wall clock alone, as an administrator or NTP would."""
        self._now = Instant(self._now.wall_ms + round(seconds * 1000), self._now.mono)
        return self._now
