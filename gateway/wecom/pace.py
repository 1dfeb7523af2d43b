"""How fast one member may be written to: WeCom drops the excess without a word (page 90454).

Pure: time comes in.  Counts tries, not successes, since a try whose answer was lost may count
at WeCom.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Final

PER_MINUTE: Final = 30
PER_HOUR: Final = 1000
MINUTE_S: Final = 60.0
HOUR_S: Final = 3600.0
MAX_MEMBERS: Final = 10_000


class Pace:
    """Sliding windows of one minute and one hour for each member."""

    def __init__(self) -> None:
        self._tries: OrderedDict[str, deque[float]] = OrderedDict()

    def take(self, user: str, now: float) -> float:
        """Count one try, or say how long to wait for it.

        Args:
            user: Member id; WeCom does not tell upper from lower case in it.
            now: Monotonic seconds.

        Returns:
            0 when the try is counted and may go out, else seconds to wait; nothing was counted.
        """
        tries = self._of(user.lower())
        while tries and tries[0] <= now - HOUR_S:
            tries.popleft()
        if len(tries) >= PER_HOUR:
            return tries[0] + HOUR_S - now
        if len(tries) >= PER_MINUTE and (wait_s := tries[-PER_MINUTE] + MINUTE_S - now) > 0:
            return wait_s
        tries.append(now)
        return 0.0

    def _of(self, user: str) -> deque[float]:
        tries = self._tries.setdefault(user, deque())
        self._tries.move_to_end(user)
        # Whoever was not written to for longest is forgotten first.
        if len(self._tries) > MAX_MEMBERS:
            self._tries.popitem(last=False)
        return tries
