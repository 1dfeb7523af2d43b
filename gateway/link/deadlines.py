"""One timer for all sessions: looks at each of them when its link's deadline may have come.

A timer and a task of its own would cost every idle agent more memory than its link does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final, Generic, Protocol, TypeVar

from common.clock import Clock

GRAIN_S: Final = 0.05  # how late a look may be; few enough fall into one to hold nobody up


class HasDeadline(Protocol):
    """A session, as the watch needs it.

    Attributes:
        round: When it is looked at next, in grains; the watch's own mark on it.
    """

    round: int

    def next_deadline(self) -> float | None:
        """Return by when it must be rung, on the monotonic clock; None when that is over."""
        ...

    def ring(self) -> object:
        """Have what is due done.  Returns at once."""
        ...


SessionT = TypeVar("SessionT", bound=HasDeadline)


class DeadlineTimer(Generic[SessionT]):
    """Rings sessions at their deadlines.

    A deadline moves on with every word of a peer.  The watch learns of it only when the old one
    has come, so a word costs it nothing.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rounds: dict[int, set[SessionT]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_round = 0

    def __iter__(self) -> Iterator[SessionT]:
        """Yield everyone whose link is open or was when last looked at."""
        return iter([session for together in self._rounds.values() for session in together])

    def add(self, session: SessionT) -> None:
        """Watch a session whose link has just opened."""
        self._place(session, self._clock.now().mono)
        self._wind()

    def discard(self, session: SessionT) -> None:
        """Forget a session; one that is not watched is no harm."""
        together = self._rounds.get(session.round)
        if together is not None:
            together.discard(session)
            if not together:
                del self._rounds[session.round]

    def look(self) -> None:
        """Ring whose deadline has come; see to the others again at theirs."""
        now = self._clock.now().mono
        for number in [number for number in self._rounds if number * GRAIN_S <= now]:
            for session in self._rounds.pop(number):
                self._place(session, now)
        self._wind()

    def _place(self, session: SessionT, now: float) -> None:
        deadline = session.next_deadline()
        if deadline is None:
            return
        if deadline <= now:
            session.ring()
            deadline = now  # what the ring brings is seen in the next round
        session.round = int(deadline / GRAIN_S) + 1
        self._rounds.setdefault(session.round, set()).add(session)

    def _wind(self) -> None:
        first = min(self._rounds, default=None)
        if first is None or (self._timer is not None and self._timer_round <= first):
            return
        if self._timer is not None:
            self._timer.cancel()
        delay = max(0.0, first * GRAIN_S - self._clock.now().mono)
        self._timer_round = first
        self._timer = asyncio.get_running_loop().call_later(delay, self._strike)

    def _strike(self) -> None:
        self._timer = None
        self.look()
