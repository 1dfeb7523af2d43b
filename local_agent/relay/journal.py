"""The link's two ends in the journal: where messages are kept and where reports come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from common.clock import Clock
from common.protocol.envelope import Envelope, agent_name, gateway_name, seal_envelope
from common.signing import SigningKey
from local_agent.relay.pairing import Pairing
from local_agent.store.inbox import Accepted
from local_agent.store.outbox import Kind, Peer
from local_agent.store.runner import JournalThread


class Engine(Protocol):
    """What messages need of the engine."""

    def begin(self, task_id: str) -> None:
        """Carry a task that is in the journal."""
        ...

    async def cancel(self, task_id: str) -> bool:
        """Stop a task; False when it has ended."""
        ...


def gateway_peer(pairing: Pairing, key: SigningKey, clock: Clock) -> Peer:
    """Return the paired gateway as the journal needs it: its name, and how to sign for it."""
    own, other = agent_name(pairing.agent_id), gateway_name(pairing.gateway_key)

    def sign(typ: Kind, seq: int, jti: str, body: Mapping[str, Any], exp: int) -> bytes:
        return seal_envelope(
            key,
            typ=typ,
            iss=own,
            aud=other,
            jti=jti,
            seq=seq,
            iat=clock.now().wall_s,
            exp=exp,
            body=body,
        ).frame

    return Peer(pairing.peer_name, sign)


class JournalInbound:
    """Keeps messages, and begins what they ask for once they are acknowledged.

    Args:
        db: The journal's thread.
        engine: Begins and stops tasks.

    Attributes:
        on_report: Called when a message by itself left something to report.
    """

    def __init__(self, db: JournalThread, engine: Engine) -> None:
        self._db = db
        self._engine = engine
        self.on_report: Callable[[], None] = lambda: None
        self._accepted: dict[int, Accepted] = {}

    async def last_seq(self) -> int:
        """Return the number of the last message that is in the journal."""
        return await self._db.run(self._db.journal.inbox.last_seq)

    async def keep(self, envelope: Envelope) -> None:
        """Write the message to the journal.

        Raises:
            StoreError: nothing was written; it must not be acknowledged.
        """
        accepted = await self._db.run(self._db.journal.inbox.accept, envelope)
        self._accepted[envelope.header.seq] = accepted

    async def begin(self, envelope: Envelope) -> None:
        """Act on a message that was kept.

        Lost by a crash in between, it is found in the journal at the next start.
        """
        task_id = str(envelope.body["task_id"])
        match self._accepted.pop(envelope.header.seq, "noted"):
            case "new":
                self._engine.begin(task_id)
            case "cancel":
                await self._engine.cancel(task_id)
            case "refused" | "expired":
                self.on_report()


class JournalOutbound:
    """Gives reports to send, and forgets those that arrived."""

    def __init__(self, db: JournalThread) -> None:
        self._db = db

    async def unsent(self, after: int, limit: int) -> Sequence[tuple[int, bytes]]:
        """Return ``(seq, frame)`` above ``after``, in order."""
        return await self._db.run(self._db.journal.outbox.unsent, after, limit=limit)

    async def acked(self, seq: int) -> None:
        """Forget everything up to ``seq``.

        Raises:
            RemoteProtocolError: ``outbox.ack-unsent``.
        """
        await self._db.run(self._db.journal.outbox.acked, seq)
