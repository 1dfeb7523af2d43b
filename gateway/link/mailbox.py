"""The relay's port to the store: one agent's row and mailbox, as its session uses them.

What an agent says is not understood here: it goes up to `gateway.flow.results`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from common.clock import Clock, Instant
from common.protocol.envelope import (
    Envelope,
)
from common.protocol.frames import envelope_type
from common.signing import VerifyKey
from gateway.base.identity import Seal
from gateway.link import Connected, Deliveries, Departure, Known, Sweep, Taken
from gateway.store import Connection, Store, agents, audit, mailbox, tasks

CONNECTIONS: Final = 60  # audited of one machine in ten minutes


class Receive(Protocol):
    """Takes in what an agent says; see `Deliveries.received`."""

    async def __call__(self, agent_id: str, *, epoch: int, envelope: Envelope) -> Taken:
        """Store one verified envelope."""
        ...


class Mailbox(Deliveries):
    """`Deliveries` on the store.

    Args:
        store: The store.
        seal: Signs cancels that are asked for again.
        clock: Tells the moment.
        receive: Gets what agents say.
        recheck: Takes back, in the transaction in which an agent connects, what is queued for it by
            people who may not ask it (any more).
        reload_keys: Reads again which keys the gateway has; an admin's command may have added or
            dropped one.  Blocks; it is called where the store may block too.
    """

    def __init__(
        self,
        store: Store,
        *,
        seal: Seal,
        clock: Clock,
        receive: Receive,
        recheck: Callable[[Connection, Seal, str, Instant], None],
        reload_keys: Callable[[], object],
    ) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._receive = receive
        self._recheck = recheck
        self._reload_keys = reload_keys
        self._connections = audit.Allowance(CONNECTIONS)

    async def lookup(self, agent_id: str) -> Known | None:
        """Return the record to check a handshake against; None when unknown or revoked."""
        agent = await self._store.read(agents.find, agent_id)
        if agent is None or agent.revoked_at is not None:
            return None
        await self._store.sync()  # after it was read: an agent forgets what it is told we hold
        return Known(VerifyKey(agent.public_key), agent.recv_seq)

    async def connect(
        self, agent_id: str, *, gateway_key_id: str, last_seq: int
    ) -> Connected | None:
        """Take ownership after full authentication; None when it was revoked meanwhile."""
        return await self._store.write(
            self._connect,
            agent_id,
            self._clock.now(),
            gateway_key_id=gateway_key_id,
            last_seq=last_seq,
        )

    async def pending(
        self, agent_id: str, *, after_seq: int, limit: int
    ) -> Sequence[tuple[int, bytes]]:
        """Return up to ``limit`` (seq, frame) above ``after_seq``, in order, without a hole."""
        found = await self._store.read(self._pending, agent_id, after_seq=after_seq, limit=limit)
        if found:
            # A number that was seen outside and lost with the power would be given out twice.
            await self._store.sync()
        return found

    async def acked(self, agent_id: str, *, epoch: int, seq: int) -> bool:
        """Record that the agent holds everything up to ``seq``; False when ``epoch`` is over."""
        at_ms = self._clock.now().wall_ms
        # Lost with the power, it is told again when the agent connects.
        return await self._store.write_unsynced(
            mailbox.ack, agent_id, epoch=epoch, seq=seq, at_ms=at_ms
        )

    async def received(self, agent_id: str, *, epoch: int, envelope: Envelope) -> Taken:
        """Pass one verified envelope up."""
        return await self._receive(agent_id, epoch=epoch, envelope=envelope)

    async def sync(self) -> None:
        """Make durable what was taken in unsynced, of every agent."""
        await self._store.sync()

    async def disconnected(self, departure: Departure) -> None:
        """Note the end of a connection, unless a newer one owns the row; may be told again."""
        await self._store.write(
            agents.disconnect, departure.agent_id, epoch=departure.epoch, at_ms=departure.at_ms
        )

    async def sweep(self) -> Sweep:
        """Return what waits and who was revoked, over all agents."""
        return await self._store.read(self._sweep)

    def _sweep(self, conn: Connection) -> Sweep:
        self._reload_keys()
        return Sweep(mailbox.waiting(conn), agents.revoked_online(conn))

    def _pending(
        self, conn: Connection, agent_id: str, *, after_seq: int, limit: int
    ) -> list[tuple[int, bytes]]:
        found = mailbox.pending(conn, agent_id, after_seq=after_seq, limit=limit)
        if any(envelope_type(frame) == "rekey" for _, frame in found):
            self._reload_keys()  # whoever is told of a key comes back and names it
        return found

    def _connect(
        self, conn: Connection, agent_id: str, at: Instant, *, gateway_key_id: str, last_seq: int
    ) -> Connected | None:
        # Before it takes the agent over, so that what was queued meanwhile is known to be unsent.
        self._recheck(conn, self._seal, agent_id, at)
        agent = agents.connect(conn, agent_id, at_ms=at.wall_ms, gateway_key_id=gateway_key_id)
        if agent is None:
            return None
        mailbox.resume(conn, agent, seq=last_seq, at_ms=at.wall_ms)
        unacked = agent.next_seq - 1 > last_seq
        if unacked:
            mailbox.bury_ahead(conn, self._seal, agent_id, at=at)
        if self._connections.take(agent_id, at.wall_ms) > 0:
            audit.append(conn, "agent.connected", at.wall_ms, agent=agent_id, epoch=agent.epoch)
        # A cancel lives five minutes; a machine that was away for longer is told anew.
        told = [
            mailbox.enqueue_cancel(
                conn,
                self._seal,
                agent_id=agent_id,
                task_id=task.task_id,
                claimed_user=str(task.person),
                at=at,
            )
            for task in tasks.to_cancel(conn, agent_id)
        ]
        return Connected(
            epoch=agent.epoch,
            public_key=VerifyKey(agent.public_key),
            recv_seq=agent.recv_seq,
            waits=unacked or any(told),
        )
