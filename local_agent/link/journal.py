"""The link's two ends in the journal: where messages are kept and where reports come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from common.clock import Clock
from common.protocol.envelope import Envelope, agent_name, gateway_name, rekey_body, seal_envelope
from common.records import decode_bytes
from local_agent.link.keys import AgentKeys
from local_agent.link.pairing import Pairing
from local_agent.store.inbox import Accepted
from local_agent.store.journal import JournalThread
from local_agent.store.outbox import Kind, Peer


class Engine(Protocol):
    """What messages need of the engine."""

    def begin(self, task_id: str) -> None:
        """Carry a task that is in the journal."""
        ...

    def stop(self, task_id: str) -> None:
        """Act on a cancel that is in the journal."""
        ...


def gateway_peer(pairing: Pairing, keys: AgentKeys, clock: Clock) -> Peer:
    """Return the paired gateway as the journal needs it: its name, and how to sign for it."""
    iss = agent_name(pairing.agent_id)

    def sign(
        kind: Kind,
        seq: int,
        jti: str,
        body: Mapping[str, Any],
        exp: int,
        *,
        own: str | None,
        gateway: bytes | None,
    ) -> bytes:
        key, aud = keys.named(own), gateway_name(keys.gateway(gateway))
        if kind == "rekey":
            new = keys.holding(decode_bytes(body["public_key"]))
            body = rekey_body(new, iss=iss, aud=aud, old_key_id=key.public.key_id)
        return seal_envelope(
            key,
            typ=kind,
            iss=iss,
            aud=aud,
            jti=jti,
            seq=seq,
            iat=clock.now().wall_s,
            exp=exp,
            body=body,
        ).frame

    return Peer(pairing.peer_name, sign, on_open=keys.begin, holds=keys.holds)


class Rotation(Protocol):
    """What an acknowledgement means to keys that were rotated."""

    async def acked(self) -> None:
        """Throw away what is spent by now."""
        ...


class JournalInbound:
    """Keeps messages, and begins what they ask for once they are acknowledged.

    Args:
        db: The journal's thread.
        engine: Begins and stops tasks.

    Attributes:
        on_fork: Called when the gateway signed what contradicts an audit log: an alarm.
    """

    def __init__(self, db: JournalThread, engine: Engine) -> None:
        self._db = db
        self._engine = engine
        self.on_fork: Callable[[], None] = lambda: None
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

    async def obey_ahead(self, envelope: Envelope) -> None:
        """Act on a cancel before its turn."""
        if await self._db.run(self._db.journal.inbox.obey_ahead, envelope):
            self._engine.stop(str(envelope.body["task_id"]))

    async def begin(self, envelope: Envelope) -> None:
        """Act on a message that was kept.

        Lost by a crash in between, it is found in the journal at the next start.
        """
        task_id = str(envelope.body.get("task_id", ""))
        match self._accepted.pop(envelope.header.seq, "noted"):
            case "new":
                self._engine.begin(task_id)
            case "cancel":
                self._engine.stop(task_id)
            case "forked":
                self.on_fork()


class JournalOutbound:
    """Gives reports to send, and forgets those that arrived.

    Args:
        db: The journal's thread.
        rotation: Clears away what the gateway has acknowledged the successor of.
    """

    def __init__(self, db: JournalThread, rotation: Rotation) -> None:
        self._db = db
        self._rotation = rotation

    async def unsent(self, after: int, limit: int) -> Sequence[tuple[int, bytes]]:
        """Return ``(seq, frame)`` above ``after``, in order."""
        return await self._db.run(self._db.journal.outbox.unsent, after, limit=limit)

    async def acked(self, seq: int) -> None:
        """Forget everything up to ``seq``.

        Raises:
            RemoteProtocolError: ``outbox.ack-unsent``.
        """
        await self._db.run(self._db.journal.acked, seq)
        await self._rotation.acked()
