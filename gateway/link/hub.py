"""Which agent is connected here, how its session is woken, and what its key has sent lately.

The hub holds no messages: a hint that is lost costs one sweep (5 s), never a message.  One timer
looks at each session when its link's deadline may have come: a timer and a task of its own would
cost every idle agent more memory than its link does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Final, Generic, Protocol, TypeVar

from common.clock import Clock
from common.errors import StoreError
from common.logs import Log
from common.protocol.envelope import Envelope
from common.protocol.flow_control import Meter
from common.signing import SigningKey
from gateway.link import Deliveries, Departure, Note
from gateway.link.session import Admission, Session

SWEEP_SECONDS = 5.0  # R14: the session of a revoked agent closes within 5 s
GRAIN_S: Final = 0.05  # how late a look may be; few enough fall into one to hold nobody up


class Hub:
    """The sessions of this process, by agent.

    Attributes:
        admission: What every session of this hub is made with.
    """

    def __init__(
        self,
        deliveries: Deliveries,
        *,
        clock: Clock,
        log: Log,
        note: Note,
        sweep_seconds: float = SWEEP_SECONDS,
    ) -> None:
        self._deliveries = deliveries
        self._clock = clock
        self._log = log
        self._sweep_seconds = sweep_seconds
        # The private half is dropped here and now: nobody can ever sign for a stranger.
        stranger = SigningKey.generate().public
        self.admission = Admission(
            entered=self._enter, meter_of=self._meter_of, note=note, stranger=stranger
        )
        self._proving: dict[Session, Callable[[], None]] = {}
        self._sessions: dict[str, Session] = {}
        self._deadlines: DeadlineTimer[Session] = DeadlineTimer(clock)
        self._unrecorded: set[Departure] = set()
        self._meters: dict[str, Meter] = {}  # of keys that were here and have not run empty

    async def serve(self, session: Session, *, proved: Callable[[], None]) -> None:
        """Run one session from its first byte to its end.

        Args:
            session: Made with this hub's admission.
            proved: Called once, when the session has authenticated.
        """
        self._proving[session] = proved
        self._deadlines.add(session)
        try:
            await session.run()
        finally:
            self._deadlines.discard(session)
            self._proving.pop(session, None)
            if session.epoch is not None:
                self._meters[session.agent_id] = session.meter
            if session.unrecorded is not None:
                self._unrecorded.add(session.unrecorded)
            if self._sessions.get(session.agent_id) is session:
                del self._sessions[session.agent_id]

    def wake(self, agent_id: str, newest: Envelope | None = None) -> None:
        """Hint that something was put into the agent's mailbox.

        Args:
            agent_id: Whose.
            newest: The very thing, when its transaction has just been committed: it need not be
                read back before it is sent.
        """
        session = self._sessions.get(agent_id)
        if session is None:
            return
        if newest is None:
            session.wake()
        else:
            session.offer(newest.header.seq, newest.frame)

    def online(self, agent_id: str) -> bool:
        """Tell whether the agent is connected to this process."""
        return agent_id in self._sessions

    def dismiss(self, agent_id: str, code: str) -> None:
        """Close the agent's session, if there is one, saying why."""
        if session := self._sessions.pop(agent_id, None):
            session.dismiss(code)

    async def run(self) -> None:
        """Sweep the store until cancelled: the slow poll behind the hints, and revocations."""
        while True:
            await asyncio.sleep(self._sweep_seconds)
            try:
                await self.sweep()
            except StoreError as error:
                self._log.error("relay.sweep-failed", code=error.code)

    async def sweep(self) -> None:
        """Record the ends that are owed, wake who has mail, close whose agent was revoked.

        Raises:
            StoreError: what is left to do, the next sweep does.
        """
        mono = self._clock.now().mono
        for agent_id in [name for name, meter in self._meters.items() if meter.is_empty(mono)]:
            del self._meters[agent_id]
        await asyncio.gather(*map(self._record_end, tuple(self._unrecorded)))
        if not self._sessions:
            return
        found = await self._deliveries.sweep()
        for agent_id in found.revoked:
            self.dismiss(agent_id, "revoked")
        for agent_id in found.waiting:
            self.wake(agent_id)

    def close(self) -> None:
        """Tell every session that the gateway goes away; they end by themselves."""
        for session in self._deadlines:
            session.dismiss("shutdown")

    async def _record_end(self, departure: Departure) -> None:
        await self._deliveries.disconnected(departure)
        self._unrecorded.discard(departure)
        self._log.info("agent.gone", agent=departure.agent_id, epoch=departure.epoch)

    def _meter_of(self, agent_id: str) -> Meter:
        # Of the key and not of the connection: hanging up and coming back empties nothing.
        if session := self._sessions.get(agent_id):
            return session.meter
        return self._meters.get(agent_id) or Meter()

    def _enter(self, session: Session) -> None:
        self._proving.pop(session)()
        if other := self._sessions.get(session.agent_id):
            # The store may have let the other one in after us; then we only hear of it later.
            newer, older = session, other
            if (other.epoch or 0) > (session.epoch or 0):
                newer, older = other, session
            self.admission.note(
                "agent.taken-over",
                agent=session.agent_id,
                address=newer.address,
                before=older.address,
            )
            older.dismiss("taken-over")
            if older is session:
                return
        self._sessions[session.agent_id] = session


class HasDeadline(Protocol):
    """A session, as the timer needs it.

    Attributes:
        round: When it is looked at next, in grains; the timer's own mark on it.
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

    A deadline moves on with every word of a peer.  The timer learns of it only when the old one
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
