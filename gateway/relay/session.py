"""One connected agent: pumps a `Link` over one WebSocket and keeps its books in the store.

Two coroutines share the Link.  `_read` takes what the agent sends, lets the store have it, and only
then lets the Link acknowledge; `_pump` alone writes to the socket, fills the window from the
mailbox and keeps the Link's deadlines with a single timer.  What a frame means is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from common.clock import Clock
from common.errors import StoreError
from common.logs import Log
from common.protocol.link import (
    Acked,
    AgentKnocked,
    Closed,
    Link,
    LinkEvent,
    LinkState,
    Ready,
    Received,
)
from common.signing import VerifyKey
from gateway.relay.ports import Deliveries, Departure, Known, Wire

WINDOW = 32  # frames sent and not yet acknowledged
REFILL = 8  # room in the window that makes another read worth it
SEND_SECONDS = 10.0  # a peer that reads nothing for so long is gone
ALARMS = frozenset({"mailbox.agent-behind", "mailbox.agent-ahead", "store.sequence-gap"})
MAX_UNFLUSHED = 256  # texts taken in while the answers to earlier ones still wait to be written


@dataclass(frozen=True, slots=True)
class Threshold:
    """Who has just been let in: the hub's notice that the session is authenticated.

    Attributes:
        entered: Called once with the session; displaces an older one of the same agent.
        wrong_key: Awaited with the id of a known agent whose key was not proved.
        stranger: A key that nobody holds; an unknown agent is checked against it, so that the
            answer and the work are those for a bad key (R13).
    """

    entered: Callable[[Session], None]
    wrong_key: Callable[[str], Awaitable[None]]
    stranger: VerifyKey


class Session:
    """The books of one connection.

    Attributes:
        agent_id: Set when the agent has knocked; proved only once `authenticated`.
        epoch: Number of this ownership, None before authentication.
        unrecorded: Its end, until the store knows of it.
    """

    __slots__ = (
        "_acked",
        "_bell",
        "_clock",
        "_deliveries",
        "_flushed",
        "_known",
        "_link",
        "_log",
        "_maybe_more",
        "_over",
        "_sent",
        "_threshold",
        "_unflushed",
        "_wire",
        "agent_id",
        "epoch",
        "unrecorded",
    )

    def __init__(
        self,
        wire: Wire,
        link: Link,
        *,
        deliveries: Deliveries,
        threshold: Threshold,
        clock: Clock,
        log: Log,
    ) -> None:
        self._wire = wire
        self._link = link
        self._deliveries = deliveries
        self._threshold = threshold
        self._clock = clock
        self._log = log
        self._bell = asyncio.Event()
        self._known: Known | None = None
        self._over = False
        self._maybe_more = False
        self._sent = 0
        self._acked = 0
        self._unflushed = 0
        self._flushed: asyncio.Future[None] | None = None
        self.agent_id = ""
        self.epoch: int | None = None
        self.unrecorded: Departure | None = None

    async def run(self) -> None:
        """Serve the connection until it ends; returns when the socket is closed."""
        pump = asyncio.create_task(self._pump())
        try:
            await self._read()
        finally:
            self._over = True
            self._bell.set()
            await self._leave(pump)

    def wake(self) -> None:
        """Hint that the mailbox may hold something new."""
        self._maybe_more = True
        self._bell.set()

    def dismiss(self, code: str) -> None:
        """Tell the agent why and close; returns at once."""
        self._link.close(code)
        self._bell.set()

    async def _leave(self, pump: asyncio.Task[None]) -> None:
        try:
            await pump
        finally:
            pump.cancel()
            if self.epoch is not None:
                await self._record_end(self.epoch)

    async def _record_end(self, epoch: int) -> None:
        self.unrecorded = Departure(self.agent_id, epoch, self._clock.now().wall_ms)
        try:
            await self._deliveries.disconnected(self.unrecorded)
        except StoreError as error:
            # The hub has it recorded later; until then the chat takes the machine for online.
            self._log.warning("agent.end-unrecorded", agent=self.agent_id, code=error.code)
        else:
            self.unrecorded = None
            self._log.info("agent.gone", agent=self.agent_id, epoch=epoch)

    async def _read(self) -> None:
        while not self._over and (text := await self._wire.receive()) is not None:
            self._link.receive(text, self._clock.now())
            # Taken before anything is awaited: what the pump's tick finds is the pump's own.
            events = self._link.events()
            try:
                for event in events:
                    await self._on(event)
            except StoreError as error:
                self._give_up(error)
            self._bell.set()
            await self._hold_back()

    async def _hold_back(self) -> None:
        # An agent that writes and never reads must not fill our memory with answers.
        self._unflushed += 1
        if self._unflushed >= MAX_UNFLUSHED and not self._over:
            self._flushed = asyncio.get_running_loop().create_future()
            await self._flushed

    async def _on(self, event: LinkEvent) -> None:
        match event:
            case AgentKnocked():
                await self._on_knock(event)
            case Ready():
                await self._on_ready(event)
            case Received():
                await self._on_received(event)
            case Acked(seq) if seq > self._sent:
                self._link.close("protocol")
            case Acked(seq):
                await self._on_acked(seq)
            case Closed():
                await self._note_end(event)
            case _:
                pass

    async def _on_knock(self, knock: AgentKnocked) -> None:
        self.agent_id = knock.agent_id
        self._known = await self._deliveries.lookup(knock.agent_id)
        if self._known is None:
            self._link.admit(self._threshold.stranger, last_seq=0, at=self._clock.now())
        else:
            known = self._known
            self._link.admit(known.public_key, last_seq=known.recv_seq, at=self._clock.now())
        for event in self._link.events():
            await self._on(event)

    async def _on_ready(self, ready: Ready) -> None:
        connected = await self._deliveries.connect(self.agent_id)
        # Revoked, or paired again with another key, between the knock and now.
        known, self._known = self._known, None
        if connected is None or known is None or connected.public_key != known.public_key:
            return self._link.close("revoked")
        if ready.peer_last_seq > connected.assigned_seq:
            # Our store is older than what the agent saw of it: numbers would be given out twice,
            # and the agent would drop new tasks as old ones.  An alarm, never silence.
            self._log.error("agent.ahead-of-store", agent=self.agent_id, seq=ready.peer_last_seq)
            return self._link.close("sequence-gap")
        self.epoch = connected.epoch
        self._sent = self._acked = ready.peer_last_seq
        self._threshold.entered(self)
        self._log.info("agent.connected", agent=self.agent_id, epoch=self.epoch)
        if ready.peer_last_seq:
            await self._on_acked(ready.peer_last_seq)
        self.wake()
        return None

    async def _on_received(self, received: Received) -> None:
        if self.epoch is None:
            return
        envelope = received.envelope
        if await self._deliveries.received(self.agent_id, epoch=self.epoch, envelope=envelope):
            self._link.ack(envelope.header.seq)
        else:
            self._link.close("taken-over")

    async def _on_acked(self, seq: int) -> None:
        if self.epoch is None:
            return
        if await self._deliveries.acked(self.agent_id, epoch=self.epoch, seq=seq):
            self._acked = max(self._acked, seq)
        else:
            self._link.close("taken-over")

    def _give_up(self, error: StoreError) -> None:
        self._log.error("agent.store-failed", agent=self.agent_id, code=error.code)
        # Two stores that disagree about numbers are an alarm for people, not a passing trouble.
        self._link.close("sequence-gap" if error.code in ALARMS else "store-unavailable")

    async def _note_end(self, closed: Closed) -> None:
        if self.epoch is None and self._known is not None and closed.code == "auth":
            await self._threshold.wrong_key(self.agent_id)
        self._log.info(
            "agent.link-closed",
            agent=self.agent_id,
            code=closed.code,
            by_peer=closed.by_peer,
            why=closed.facts.get("why"),
        )

    async def _pump(self) -> None:
        try:
            while not self._over:
                self._bell.clear()
                self._link.tick(self._clock.now())
                for event in self._link.events():
                    await self._on(event)
                await self._fill()
                await self._flush()
                if self._link.state is LinkState.CLOSED:
                    break
                await self._rest()
        except TimeoutError:
            self._log.warning("agent.does-not-read", agent=self.agent_id)
        except OSError:
            pass  # The peer went away while we wrote; the reader sees the same.
        finally:
            self._over = True
            self._let_read()
            await self._wire.close()

    async def _flush(self) -> None:
        if texts := self._link.data_to_send():
            async with asyncio.timeout(SEND_SECONDS):
                for text in texts:
                    await self._wire.send(text)
        self._let_read()

    def _let_read(self) -> None:
        self._unflushed = 0
        if self._flushed is not None and not self._flushed.done():
            self._flushed.set_result(None)

    async def _fill(self) -> None:
        in_flight = self._sent - self._acked
        room = WINDOW - in_flight
        # A nearly full window waits for more acks, else every ack would cost one read of the store.
        if self.epoch is None or not self._maybe_more or room < REFILL:
            return None
        # Lowered first: a hint that comes while we read must not be forgotten.
        self._maybe_more = False
        try:
            rows = await self._deliveries.pending(self.agent_id, after_seq=self._sent, limit=room)
        except StoreError as error:
            return self._give_up(error)
        for seq, frame in rows:
            self._link.send(frame)  # on a link that closed meanwhile this does nothing
            self._sent = seq
        self._maybe_more = self._maybe_more or len(rows) == room
        return None

    async def _rest(self) -> None:
        deadline = self._link.next_deadline()
        if deadline is None:
            await self._bell.wait()
            return
        # A timer that rings the bell costs one handle; waiting with a timeout costs a task.
        delay = max(0.0, deadline - self._clock.now().mono)
        timer = asyncio.get_running_loop().call_later(delay, self._bell.set)
        try:
            await self._bell.wait()
        finally:
            timer.cancel()
