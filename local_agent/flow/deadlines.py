"""When approvals are too late: told by both clocks, believed from whichever says so first (R4).

The wall clock may be set back while an approval waits; the monotonic clock stands still while the
machine sleeps.
"""

from __future__ import annotations

import asyncio
import math
from typing import Final

from common.clock import Clock, Instant

_LOOK_S: Final = 30.0  # after a sleep the wall clock may be ahead of the monotonic one


class Deadlines:
    """The moments, by approval id, on the monotonic clock of this process.

    An approval that has none here is late: nothing outlives the process that asked or took it up.
    What was once late stays so: a clock that goes back brings nothing to life again.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at: dict[str, float] = {}
        self._sooner = asyncio.Event()

    def begin(self, approval_id: str, wall_ms: int, now: Instant) -> None:
        """Let it be late from ``wall_ms`` on, or from the same span on the other clock."""
        self._at[approval_id] = now.mono + (wall_ms - now.wall_ms) / 1000
        self._sooner.set()

    def pass_over(self, approval_id: str) -> None:
        """Let it be late from now on: somebody has seen its time come."""
        if approval_id in self._at:
            self._at[approval_id] = -math.inf
            self._sooner.set()

    def forget(self, approval_id: str) -> None:
        """Stop counting for it."""
        self._at.pop(approval_id, None)

    def known(self) -> set[str]:
        """Return the ids that are counted."""
        return set(self._at)

    def next(self) -> float | None:
        """Return when something is late next, by the monotonic clock."""
        return min(self._at.values(), default=None)

    def is_late(self, approval_id: str, now: Instant) -> bool:
        """Tell whether the monotonic clock says so."""
        deadline = self._at.get(approval_id)
        return deadline is None or now.mono >= deadline

    async def reached(self) -> None:
        """Return when something is late, a nearer moment was set, or it is time to look anyway."""
        left, deadline = _LOOK_S, self.next()
        if deadline is not None:
            left = min(max(deadline - self._clock.now().mono, 0.0), _LOOK_S)
        try:
            async with asyncio.timeout(left):
                await self._sooner.wait()
        except TimeoutError:
            pass
        self._sooner.clear()
