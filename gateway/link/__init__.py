"""The way to the machines: one session per connected agent, a hub over them, a mailbox below.

Here stands what they need from the store and from a socket, and nothing else of either:
`Deliveries` is provided by `gateway.link.mailbox`, `Wire` by `gateway.link.endpoint`.

The relay moves signed frames and keeps the books of one connection.  It never looks into a body:
what a frame means is decided above it, by intake on the way down and by results on the way up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from common.audit import Fact
from common.protocol.envelope import Envelope
from common.signing import VerifyKey


@dataclass(frozen=True, slots=True)
class Known:
    """An enrolled agent that has not proved anything yet (R11: rights come from this record).

    Attributes:
        public_key: The key its handshake must be signed with.
        recv_seq: Highest contiguous sequence durably received from it.
    """

    public_key: VerifyKey
    recv_seq: int


@dataclass(frozen=True, slots=True)
class Connected:
    """An agent whose connection now owns its row.

    Attributes:
        epoch: Number of this ownership; every write of the session is fenced by it.
        public_key: The key on record when ownership was taken; a different one than at the
            handshake means that the machine rotated its key in between.
        recv_seq: Highest contiguous sequence durably received from the agent.
        waits: Something waits that the agent does not hold yet.
    """

    epoch: int
    public_key: VerifyKey
    recv_seq: int
    waits: bool


@dataclass(frozen=True, slots=True)
class Departure:
    """The end of one connection.

    Attributes:
        epoch: The ownership that ended.
        at_ms: When, in milliseconds since the epoch of 1970.
    """

    agent_id: str
    epoch: int
    at_ms: int


Taken = Literal["synced", "unsynced", "stale"]


@dataclass(frozen=True, slots=True)
class Sweep:
    """What one slow poll over all agents found; a hint that was lost costs one poll, no message.

    Attributes:
        waiting: Agents that have something in their mailbox that they have not acknowledged.
        revoked: Agents whose record was revoked; their sessions must close (R14: within 5 s).
    """

    waiting: Sequence[str]
    revoked: Sequence[str]


class Deliveries(Protocol):
    """The mailbox and the agent's row, as one session uses them.

    Every method may raise StoreError: nothing was changed, and the session closes; the agent
    comes back by itself.  ``mailbox.agent-behind``, ``mailbox.agent-ahead`` and
    ``store.sequence-gap`` say that the two stores disagree about numbers, and the agent is told so.
    """

    async def lookup(self, agent_id: str) -> Known | None:
        """Return the record to check a handshake against; None when unknown or revoked.

        Changes nothing: whoever knocks has proved nothing yet, and must not be able to fence out
        the connection that has (R14).
        """
        ...

    async def connect(
        self, agent_id: str, *, gateway_key_id: str, last_seq: int
    ) -> Connected | None:
        """Take ownership after full authentication: bump the epoch, note what the agent holds.

        It is one transaction, for ten thousand may come back at once.

        Args:
            agent_id: Who connected.
            gateway_key_id: The gateway's key that it pins.
            last_seq: It holds everything up to this number; 0 for nothing.

        Returns:
            None when the agent was revoked meanwhile.

        Raises:
            StoreError: ``mailbox.agent-ahead``: it holds what was never sent to it, so it has seen
                a newer store than this one.  Nothing was changed.
        """
        ...

    async def pending(
        self, agent_id: str, *, after_seq: int, limit: int
    ) -> Sequence[tuple[int, bytes]]:
        """Return up to ``limit`` (seq, frame) above ``after_seq``, in order, without a hole.

        A frame is the stored text of a signed envelope or tombstone, byte for byte.
        """
        ...

    async def acked(self, agent_id: str, *, epoch: int, seq: int) -> bool:
        """Record that the agent holds everything up to ``seq`` durably.

        Returns:
            False when ``epoch`` is no longer current: this session was taken over and must close.
        """
        ...

    async def received(self, agent_id: str, *, epoch: int, envelope: Envelope) -> Taken:
        """Store one verified envelope of the agent and move ``recv_seq``, in one transaction.

        An envelope whose sequence was stored before changes nothing; one whose content is not
        allowed (R18) is audited and passes no further: sending it again would not mend it.

        Returns:
            ``synced``: the session may acknowledge it and all before it; ``unsynced``: it may after
            the next one that is synced, or `sync`; ``stale``: ``epoch`` is no longer current, and
            nothing was stored.
        """
        ...

    async def sync(self) -> None:
        """Make durable what was taken in unsynced, of every agent."""
        ...

    async def disconnected(self, departure: Departure) -> None:
        """Note the end of a connection, unless a newer one owns the row; may be told again."""
        ...

    async def sweep(self) -> Sweep:
        """Return what waits and who was revoked, over all agents; one cheap query each."""
        ...


class Note(Protocol):
    """Takes an alarm in.  It never waits, and whatever becomes of it disturbs nobody."""

    def __call__(self, event: str, **facts: Fact) -> None:
        """Note what happened; alarms of one ``agent`` or one ``pairing`` are counted together."""
        ...


class Wire(Protocol):
    """One open WebSocket, reduced to texts."""

    async def receive(self) -> str | None:
        """Return the next text; None when the peer closed or sent anything but text."""
        ...

    async def send(self, text: str) -> None:
        """Send one text; waits while the peer does not read.  Raises OSError when it is gone."""
        ...

    async def close(self, code: int) -> None:
        """Close, within a bound, with this close code of RFC 6455."""
        ...
