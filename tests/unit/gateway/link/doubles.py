"""Stand-ins for both neighbours of a session: a store in memory, and an agent at the other end."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO, TypeVar

from common import strict_json
from common.audit import Fact
from common.clock import Clock, ManualClock
from common.errors import StoreError
from common.logs import Log, open_log
from common.protocol.envelope import (
    Envelope,
    EventBody,
    agent_name,
    gateway_name,
    seal_envelope,
)
from common.protocol.link import Closed, Link, LinkEvent, Ready
from common.signing import SigningKey
from gateway.link import Connected, Departure, Known, Sweep, Taken
from gateway.link.hub import Hub
from gateway.link.session import Session

URL = "http://127.0.0.1:8787"
AGENT_ID = "0199c0de-0000-7000-8000-000000000001"
ADDRESS = "192.0.2.1"
EventT = TypeVar("EventT", bound=LinkEvent)


def silent_log(stream: TextIO | None = None) -> Log:
    """Return a log that nobody reads, unless a stream is given."""
    return open_log("gateway", stream=stream or io.StringIO())


@dataclass
class Record:
    """One agent's row and mailbox."""

    key: SigningKey
    epoch: int = 0
    recv_seq: int = 0
    acked: int = 0
    revoked: bool = False
    pinned: str = ""
    frames: list[bytes] = field(default_factory=list)
    received: list[Envelope] = field(default_factory=list)
    online: bool = False
    left_at_ms: int | None = None


class MemoryDeliveries:
    """A `Deliveries` that keeps everything in one dictionary.

    Attributes:
        failing: Every call raises StoreError while it is set.
        storing: Cleared, it holds `received` back.
        reading: Cleared, it holds `pending` back.
        recording: Cleared, it holds `acked` back.
    """

    def __init__(self, gateway_key: SigningKey, clock: Clock) -> None:
        self.agents: dict[str, Record] = {}
        self.failing = False
        self.storing = asyncio.Event()
        self.storing.set()
        self.reading = asyncio.Event()
        self.reading.set()
        self.recording = asyncio.Event()
        self.recording.set()
        self.recorded = 0
        self.reads = 0
        self.syncs = 0
        self.goodbyes = 0
        self.on_lookup: Callable[[], None] = lambda: None
        self._key = gateway_key
        self._clock = clock

    def enrol(self, key: SigningKey, agent_id: str = AGENT_ID) -> Record:
        """Add an agent."""
        self.agents[agent_id] = Record(key)
        return self.agents[agent_id]

    def put(self, agent_id: str = AGENT_ID) -> Envelope:
        """Put one more cancel frame into an agent's mailbox and return it."""
        record = self.agents[agent_id]
        now = self._clock.now().wall_s
        envelope = seal_envelope(
            self._key,
            typ="cancel",
            iss=gateway_name(self._key.public),
            aud=agent_name(agent_id),
            jti=f"jti-{len(record.frames) + 1}",
            seq=len(record.frames) + 1,
            iat=now,
            exp=now + 60,
            body={"task_id": "task-1", "claimed_user": "li.lei"},
        )
        record.frames.append(envelope.frame)
        return envelope

    async def lookup(self, agent_id: str) -> Known | None:
        """Return what is on record."""
        self._check()
        record = self.agents.get(agent_id)
        if record is None or record.revoked:
            return None
        known = Known(record.key.public, record.recv_seq)
        self.on_lookup()
        return known

    async def connect(
        self, agent_id: str, *, gateway_key_id: str, last_seq: int
    ) -> Connected | None:
        """Bump the epoch."""
        self._check()
        record = self.agents[agent_id]
        if record.revoked:
            return None
        if last_seq > len(record.frames):
            raise StoreError("mailbox.agent-ahead")
        record.acked = max(record.acked, last_seq)
        record.epoch += 1
        record.pinned = gateway_key_id
        record.online = True
        return Connected(
            record.epoch, record.key.public, record.recv_seq, len(record.frames) > last_seq
        )

    async def pending(
        self, agent_id: str, *, after_seq: int, limit: int
    ) -> Sequence[tuple[int, bytes]]:
        """Return frames above ``after_seq``."""
        self._check()
        self.reads += 1
        await self.reading.wait()
        frames = self.agents[agent_id].frames[after_seq : after_seq + limit]
        return [(after_seq + number, frame) for number, frame in enumerate(frames, 1)]

    async def acked(self, agent_id: str, *, epoch: int, seq: int) -> bool:
        """Note an ack, if the epoch is current."""
        await self.recording.wait()
        self._check()
        self.recorded += 1
        record = self.agents[agent_id]
        if record.epoch == epoch:
            record.acked = max(record.acked, seq)
        return record.epoch == epoch

    async def received(self, agent_id: str, *, epoch: int, envelope: Envelope) -> Taken:
        """Keep an envelope, if the epoch is current; an event that asks nothing unsynced."""
        await self.storing.wait()
        self._check()
        record = self.agents[agent_id]
        if record.epoch != epoch:
            return "stale"
        record.received.append(envelope)
        record.recv_seq = max(record.recv_seq, envelope.header.seq)
        quiet = isinstance(envelope.content, EventBody) and envelope.content.waiting is None
        return "unsynced" if quiet else "synced"

    async def sync(self) -> None:
        """Count a flush."""
        self._check()
        self.syncs += 1

    async def disconnected(self, departure: Departure) -> None:
        """Note the end."""
        self.goodbyes += 1
        self._check()
        record = self.agents[departure.agent_id]
        if record.epoch == departure.epoch:
            record.online = False
            record.left_at_ms = departure.at_ms

    async def sweep(self) -> Sweep:
        """Look at everyone."""
        self._check()
        return Sweep(
            waiting=[name for name, r in self.agents.items() if len(r.frames) > r.acked],
            revoked=[name for name, r in self.agents.items() if r.revoked],
        )

    def _check(self) -> None:
        if self.failing:
            raise StoreError("store.failed")


class PipeWire:
    """A `Wire` whose other end is in the same process.

    Attributes:
        reading: Cleared, the agent reads nothing more and `send` waits.
        broken: Set, `send` finds the peer gone.
    """

    def __init__(self) -> None:
        self.to_gateway: asyncio.Queue[str | None] = asyncio.Queue()
        self.to_agent: asyncio.Queue[str | None] = asyncio.Queue()
        self.reading = asyncio.Event()
        self.reading.set()
        self.broken = False
        self.closed = False
        self.code = 0

    async def receive(self) -> str | None:
        """Return what the agent sent."""
        return await self.to_gateway.get()

    async def send(self, text: str) -> None:
        """Hand a text to the agent."""
        await self.reading.wait()
        if self.broken:
            raise ConnectionResetError
        self.to_agent.put_nowait(text)

    async def close(self, code: int) -> None:
        """End both directions."""
        self.closed = True
        self.code = code
        self.to_gateway.put_nowait(None)
        self.to_agent.put_nowait(None)


class AgentEnd:
    """The agent's end of one pipe: a real `Link`, driven by the test.

    Attributes:
        texts: Every text that the gateway sent, as it was.
        events: Every event of the agent's link.
    """

    def __init__(self, wire: PipeWire, link: Link, clock: Clock) -> None:
        self.wire = wire
        self.link = link
        self.texts: list[str] = []
        self.events: list[LinkEvent] = []
        self._clock = clock
        self._seen = 0

    def flush(self) -> None:
        """Send what the link has to send."""
        for text in self.link.data_to_send():
            self.wire.to_gateway.put_nowait(text)

    async def next(self, kind: type[EventT]) -> EventT:
        """Read until the next event of ``kind``."""
        async with asyncio.timeout(30):
            while True:
                while self._seen < len(self.events):
                    event = self.events[self._seen]
                    self._seen += 1
                    if isinstance(event, kind):
                        return event
                await self.read_one()

    async def read_one(self) -> str | None:
        """Take in one text of the gateway."""
        text = await self.wire.to_agent.get()
        if text is None:
            raise AssertionError("the gateway closed without the expected event")
        self.texts.append(text)
        self.link.receive(text, self._clock.now())
        self.events += self.link.events()
        self.flush()
        return text

    async def end(self) -> list[str]:
        """Read to the end, and return every text of the gateway."""
        async with asyncio.timeout(30):
            while (text := await self.wire.to_agent.get()) is not None:
                self.texts.append(text)
        return self.texts

    async def closed_with(self) -> str:
        """Read until the gateway says why it ends."""
        return (await self.next(Closed)).code

    def say(self, record: dict[str, Any]) -> None:
        """Send a frame past the link."""
        self.wire.to_gateway.put_nowait(strict_json.canonical(record).decode())


class Scene:
    """A gateway's hub over a store in memory, and agents that dial in."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.gateway_key = SigningKey.generate()
        self.agent_key = SigningKey.generate()
        self.store = MemoryDeliveries(self.gateway_key, self.clock)
        self.record = self.store.enrol(self.agent_key)
        self.alarms: list[tuple[str, dict[str, Fact]]] = []
        self.hub = Hub(self.store, clock=self.clock, log=silent_log(), note=self.note_alarm)
        self.sessions: list[Session] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.proved = 0

    def dial(
        self,
        *,
        key: SigningKey | None = None,
        agent_id: str = AGENT_ID,
        last_seq: int = 0,
        address: str = ADDRESS,
    ) -> AgentEnd:
        """Connect an agent; nothing is read or sent by it yet."""
        wire = PipeWire()
        at = self.clock.now()
        agent = Link.for_agent(
            key or self.agent_key,
            agent_id=agent_id,
            gateway_key=self.gateway_key.public,
            url=URL,
            last_seq=last_seq,
            nonce=bytes(32),
            at=at,
        )
        self.tasks.append(
            asyncio.create_task(self.hub.serve(self._session(wire, address), proved=self._prove))
        )
        return AgentEnd(wire, agent, self.clock)

    async def connect(self, *, last_seq: int = 0, address: str = ADDRESS) -> AgentEnd:
        """Connect an agent and finish the handshake."""
        agent = self.dial(last_seq=last_seq, address=address)
        await agent.next(Ready)
        return agent

    def event(
        self, seq: int, *, state: str = "ROUTED", waiting: dict[str, Any] | None = None
    ) -> Envelope:
        """Return an event envelope that the agent signed."""
        now = self.clock.now().wall_s
        return seal_envelope(
            self.agent_key,
            typ="event",
            iss=agent_name(AGENT_ID),
            aud=gateway_name(self.gateway_key.public),
            jti=f"event-{seq}",
            seq=seq,
            iat=now,
            exp=now + 600,
            body={
                "task_id": "task-1",
                "state": state,
                "message": "",
                "waiting": waiting,
                "at": now * 1000,
            },
        )

    async def settle(self) -> None:
        """Wait until every session has ended."""
        async with asyncio.timeout(30):
            await asyncio.gather(*self.tasks)

    def note_alarm(self, event: str, **facts: Fact) -> None:
        """Take an alarm in."""
        self.alarms.append((event, facts))

    def _prove(self) -> None:
        self.proved += 1

    def _session(self, wire: PipeWire, address: str) -> Session:
        link = Link.for_gateway(
            self.gateway_key, URL, nonce=bytes(32), session_id="session-1", at=self.clock.now()
        )
        session = Session(
            wire,
            link,
            address=address,
            deliveries=self.store,
            admission=self.hub.admission,
            clock=self.clock,
            log=silent_log(),
        )
        self.sessions.append(session)
        return session
