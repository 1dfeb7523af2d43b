"""Which agent is connected here, and how its session is woken; plus the bounds before that.

The hub holds no messages: a hint that is lost costs one sweep (5 s), never a message.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from common.errors import StoreError
from common.logs import Log
from common.signing import SigningKey
from gateway.relay.ports import Deliveries, Departure
from gateway.relay.session import Session, Threshold

SWEEP_SECONDS = 5.0  # R14: the session of a revoked agent closes within 5 s
PREAUTH_SOCKETS = 64  # R13
PREAUTH_PER_ADDRESS = 8  # R13


class Lobby:
    """Counts the sockets that have not proved anything yet (R13)."""

    def __init__(
        self, *, total: int = PREAUTH_SOCKETS, per_address: int = PREAUTH_PER_ADDRESS
    ) -> None:
        self._total = total
        self._per_address = per_address
        self._waiting: Counter[str] = Counter()

    def enter(self, address: str) -> Callable[[], None] | None:
        """Take a place; None when there is none, else the call that gives it back (once)."""
        if self._waiting.total() >= self._total or self._waiting[address] >= self._per_address:
            return None
        self._waiting[address] += 1
        left = False

        def leave() -> None:
            nonlocal left
            if not left:
                left = True
                self._waiting[address] -= 1
                if not self._waiting[address]:
                    del self._waiting[address]

        return leave


class Hub:
    """The sessions of this process, by agent."""

    def __init__(
        self,
        deliveries: Deliveries,
        *,
        log: Log,
        wrong_key: Callable[[str], Awaitable[None]],
        sweep_seconds: float = SWEEP_SECONDS,
    ) -> None:
        self._deliveries = deliveries
        self._log = log
        self._wrong_key = wrong_key
        self._sweep_seconds = sweep_seconds
        # The private half is dropped here and now: nobody can ever sign for a stranger.
        self._stranger = SigningKey.generate().public
        self._sessions: dict[str, Session] = {}
        self._everyone: set[Session] = set()
        self._unrecorded: set[Departure] = set()

    async def serve(
        self, session_of: Callable[[Threshold], Session], *, proved: Callable[[], None]
    ) -> None:
        """Run one session from its first byte to its end.

        Args:
            session_of: Makes the session for the threshold it is handed.
            proved: Called once, when the session has authenticated.
        """

        def entered(session: Session) -> None:
            proved()
            self._enter(session)

        session = session_of(
            Threshold(entered=entered, wrong_key=self._wrong_key, stranger=self._stranger)
        )
        self._everyone.add(session)
        try:
            await session.run()
        finally:
            self._everyone.discard(session)
            if session.unrecorded is not None:
                self._unrecorded.add(session.unrecorded)
            if self._sessions.get(session.agent_id) is session:
                del self._sessions[session.agent_id]

    def wake(self, agent_id: str) -> None:
        """Hint that something was put into the agent's mailbox."""
        if session := self._sessions.get(agent_id):
            session.wake()

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
        for session in tuple(self._everyone):
            session.dismiss("shutdown")

    async def _record_end(self, departure: Departure) -> None:
        await self._deliveries.disconnected(departure)
        self._unrecorded.discard(departure)
        self._log.info("agent.gone", agent=departure.agent_id, epoch=departure.epoch)

    def _enter(self, session: Session) -> None:
        if older := self._sessions.get(session.agent_id):
            if (older.epoch or 0) > (session.epoch or 0):
                # The store let the other one in after us; we only heard of it later.
                return session.dismiss("taken-over")
            self._log.warning("agent.taken-over", agent=session.agent_id)
            older.dismiss("taken-over")
        self._sessions[session.agent_id] = session
        return None
