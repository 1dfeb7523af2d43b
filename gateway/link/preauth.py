"""The places for sockets that have not proved anything yet (R13): few, and held by nobody alone.

When a place is wanted and none is free, one is taken back: from the address that holds most of
them, so that somebody with a few addresses cannot keep others out; between equals, from whoever has
had time enough to prove itself.  An honest handshake takes two round trips.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

PREAUTH_SOCKETS: Final = 64  # R13
PREAUTH_PER_ADDRESS: Final = 8  # R13
ENOUGH_SECONDS: Final = 2.0  # for a handshake, while others wait for the place


class Slot:
    """One place; called, it is given back, however often that is.

    Kept as long as its connection, so it lets go of everything then.
    """

    __slots__ = ("_evict", "_pool", "address", "since")

    def __init__(
        self, pool: PreauthPool, address: str, *, since: float, evict: Callable[[], None]
    ) -> None:
        self.address = address
        self.since = since
        self._pool: PreauthPool | None = pool
        self._evict: Callable[[], None] | None = evict

    def __call__(self) -> None:
        """Give it back."""
        pool, self._pool, self._evict = self._pool, None, None
        if pool is not None:
            pool.forget(self)

    def evict(self) -> None:
        """Take it back, and close the socket that had it."""
        evict = self._evict
        self()
        if evict is not None:
            evict()


class PreauthPool:
    """Who waits, and from where.  All moments are of the monotonic clock."""

    def __init__(
        self, *, total: int = PREAUTH_SOCKETS, per_address: int = PREAUTH_PER_ADDRESS
    ) -> None:
        self._total = total
        self._per_address = per_address
        self._slots: dict[Slot, None] = {}  # the oldest first
        self._of: Counter[str] = Counter()

    def enter(self, address: str, *, mono: float, evict: Callable[[], None]) -> Slot | None:
        """Take a place; None when there is none.

        Args:
            address: Whose socket it is.
            mono: Now.
            evict: Called at most once, when the place is taken back: the socket must close.
        """
        if not self._has_room(address):
            if (victim := self._victim(address, mono)) is None:
                return None
            victim.evict()
        place = Slot(self, address, since=mono, evict=evict)
        self._slots[place] = None
        self._of[address] += 1
        return place

    def forget(self, place: Slot) -> None:
        """Free what `Slot` gives back."""
        del self._slots[place]
        self._of[place.address] -= 1
        if not self._of[place.address]:
            del self._of[place.address]

    def _has_room(self, address: str) -> bool:
        return len(self._slots) < self._total and self._of[address] < self._per_address

    def _victim(self, address: str, mono: float) -> Slot | None:
        own = self._of[address]
        if own < self._per_address:
            busiest, most = self._of.most_common(1)[0]
            if most > own + 1:
                return self._oldest(busiest)
        oldest = self._oldest(address if own >= self._per_address else None)
        return oldest if mono - oldest.since >= ENOUGH_SECONDS else None

    def _oldest(self, address: str | None) -> Slot:
        return next(place for place in self._slots if address in (None, place.address))
