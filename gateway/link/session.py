"""One connected agent: pumps a `Link` over one WebSocket and keeps its books in the store.

Two coroutines share the Link.  `run` takes what the agent sends, lets the store have it, and only
then lets the Link acknowledge; `_pump` alone writes to the socket, fills the window from the
mailbox and keeps the Link's deadlines.  The reader is there for good; the pump is a task only while
something is to be done, for ten thousand agents are idle at one time: whoever gives it work rings.
What a frame means is not known here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from common.clock import Clock
from common.errors import StoreError
from common.logs import Log
from common.protocol.flow_control import CONNECTION, Meter
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
from gateway.link import Deliveries, Departure, Known, Note, Wire

WINDOW = 32  # frames sent and not yet acknowledged …
# … and to an agent that acknowledges slowly: all that may wait, so that it finds cancels among it.
WIDE = 2_048
SLOW_SECONDS = 1.0
READ = 128  # frames read from the mailbox at a time
REFILL = 8  # room in the window that makes another read worth it
ACK_SECONDS = 0.1  # within which an acknowledgement waits for a flush that comes anyway
SEND_SECONDS = 10.0  # a peer that reads nothing for so long is gone
ALARMS = frozenset({"mailbox.agent-behind", "mailbox.agent-ahead", "store.sequence-gap"})
MAX_UNFLUSHED = 256  # texts taken in while the answers to earlier ones still wait to be written


@dataclass(frozen=True, slots=True)
class Admission:
    """What the hub does for every session while it is being let in.

    Attributes:
        entered: Called once with a session that is authenticated; displaces an older one of the
            same agent.
        meter_of: Gives what the key of a proven agent has sent lately.
        note: Told of ``agent.wrong-key`` and ``agent.too-fast``: the key of a known agent was not
            proved, or it was and sends more than it may; and of ``agent.malformed-frame``.
        stranger: A key that nobody holds; an unknown agent is checked against it, so that the
            answer and the work are those for a bad key (R13).
    """

    entered: Callable[[Session], None]
    meter_of: Callable[[str], Meter]
    note: Note
    stranger: VerifyKey


class Session:
    """The books of one connection.

    Attributes:
        address: Where it dialled from.
        agent_id: Set when the agent has knocked; proved only once `authenticated`.
        epoch: Number of this ownership, None before authentication.
        is_refuted: It said something that proves nothing.
        unrecorded: Its end, until the store knows of it.
        round: The watch's mark.
    """

    __slots__ = (
        "_ack_is_due",
        "_acked",
        "_admission",
        "_clock",
        "_deliveries",
        "_flushed",
        "_is_quiet",
        "_is_slow",
        "_known",
        "_link",
        "_log",
        "_maybe_more",
        "_moved",
        "_over",
        "_owed",
        "_pumping",
        "_recording",
        "_rung",
        "_sent",
        "_unflushed",
        "_wire",
        "address",
        "agent_id",
        "epoch",
        "is_refuted",
        "round",
        "unrecorded",
    )

    def __init__(
        self,
        wire: Wire,
        link: Link,
        *,
        address: str,
        is_quiet: bool = False,
        deliveries: Deliveries,
        admission: Admission,
        clock: Clock,
        log: Log,
    ) -> None:
        self._wire = wire
        self._link = link
        self._deliveries = deliveries
        self._admission = admission
        self._clock = clock
        self._log = log
        self._rung = False
        self._pumping: asyncio.Task[None] | None = None
        self._recording: asyncio.Task[None] | None = None
        self._known: Known | None = None
        self._over = False
        self._maybe_more = False
        self._sent = 0
        self._acked = 0
        self._moved = 0.0  # when it last acknowledged something, or had nothing to
        self._is_slow = False
        self._owed = 0  # up to here it is kept and not acknowledged
        self._ack_is_due = False
        self._unflushed = 0
        self._flushed: asyncio.Future[None] | None = None
        self.address = address
        self._is_quiet = is_quiet
        self.agent_id = ""
        self.epoch: int | None = None
        self.is_refuted = False
        self.unrecorded: Departure | None = None
        self.round = 0

    async def run(self) -> None:
        """Serve the connection until it ends; returns when the socket is closed."""
        self.ring()  # the Link has a challenge to send
        try:
            while not self._over and await self._take(await self._wire.receive()):
                await self._hold_back()
        finally:
            self._over = True
            await self._leave(self.ring())

    def wake(self) -> None:
        """Hint that the mailbox may hold something new."""
        self._maybe_more = True
        self.ring()

    def offer(self, seq: int, frame: bytes) -> None:
        """Send what was committed a moment ago; wake instead when something comes before it."""
        ready = self.epoch is not None and self._link.state is LinkState.READY
        is_next = seq == self._sent + 1 and not self._maybe_more
        if not ready or not is_next or self._room() <= 0:
            return self.wake()
        self._link.send(frame)
        self._sent = seq
        self.ring()
        return None

    def dismiss(self, code: str) -> None:
        """Tell the agent why and close; returns at once."""
        self._link.close(code)
        self.ring()

    @property
    def meter(self) -> Meter:
        """What the agent has sent lately; its key's, once it is proven."""
        return self._link.meter

    def next_deadline(self) -> float | None:
        """Return by when the session must be rung, on the monotonic clock; None when closed."""
        return self._link.next_deadline()

    def ring(self) -> asyncio.Task[None]:
        """Have what is due done, by the pump that runs or by a new one."""
        self._rung = True
        if self._pumping is None:
            self._pumping = asyncio.create_task(self._pump())
        return self._pumping

    async def _leave(self, pump: asyncio.Task[None]) -> None:
        try:
            await pump
        finally:
            pump.cancel()
            if self._recording is not None:
                await self._recording
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

    async def _take(self, text: str | None) -> bool:
        # Not in the loop of `run`, whose frame would keep the last envelope while nothing comes.
        if text is None:
            return False
        self._link.receive(text, self._clock.now())
        # Taken before anything is awaited: what the pump's tick finds is the pump's own.
        events = self._link.events()
        try:
            for event in events:
                await self._on(event)
        except StoreError as error:
            self._give_up(error)
        self.ring()
        return True

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
                self._on_acked(seq)
            case Closed():
                self._note_end(event)
            case _:
                pass

    async def _on_knock(self, knock: AgentKnocked) -> None:
        self.agent_id = knock.agent_id
        self._known = await self._deliveries.lookup(knock.agent_id)
        if self._known is None:
            self._link.admit(self._admission.stranger, last_seq=0, at=self._clock.now())
        else:
            known = self._known
            self._link.admit(known.public_key, last_seq=known.recv_seq, at=self._clock.now())
        for event in self._link.events():
            await self._on(event)

    async def _on_ready(self, ready: Ready) -> None:
        self._link.meter = self._admission.meter_of(self.agent_id)
        mono = self._clock.now().mono
        if not self._link.meter.spend(frames=CONNECTION, size=0, mono=mono):
            return self._link.close("too-fast")
        connected = await self._deliveries.connect(
            self.agent_id, gateway_key_id=ready.gateway_key_id, last_seq=ready.peer_last_seq
        )
        known, self._known = self._known, None
        if connected is None or known is None:
            return self._link.close("revoked")
        self.epoch = connected.epoch  # from here on its end is to be recorded
        if connected.public_key != known.public_key:
            # Its rotation was stored between the knock and now: it comes again with the new key.
            return self._link.close("auth")
        self._sent = self._acked = ready.peer_last_seq
        self._admission.entered(self)
        self._log.info("agent.connected", agent=self.agent_id, epoch=self.epoch)
        if connected.waits:  # what comes from now on is hinted at
            self.wake()
        return None

    async def _on_received(self, received: Received) -> None:
        if self.epoch is None:
            return None
        envelope = received.envelope
        seq = envelope.header.seq
        taken = await self._deliveries.received(self.agent_id, epoch=self.epoch, envelope=envelope)
        if taken == "stale":
            return self._link.close("taken-over")
        if taken == "unsynced":
            return self._ack_later(seq)
        # What is on the disk now, everything before it is too.
        self._link.ack(max(seq, self._owed))
        self._owed = 0
        if envelope.header.typ == "rekey":
            self._link.close("rekeyed")
        elif envelope.header.typ == "head":
            self.wake()  # it is answered through the mailbox
        return None

    def _ack_later(self, seq: int) -> None:
        # What comes next usually takes it to the disk; else it is taken there for the ack alone.
        if not self._owed:
            asyncio.get_running_loop().call_later(ACK_SECONDS, self._ack_now)
        self._owed = seq

    def _ack_now(self) -> None:
        self._ack_is_due = True
        self.ring()

    async def _pay_acks(self) -> None:
        if not self._ack_is_due:
            return None
        self._ack_is_due = False
        owed, self._owed = self._owed, 0
        if not owed:
            return None
        try:
            await self._deliveries.sync()
        except StoreError as error:
            return self._give_up(error)
        return self._link.ack(owed)

    def _on_acked(self, seq: int) -> None:
        # The window opens at once; the store hears of all that came while it was busy together.
        self._room()
        self._acked = seq
        self._moved = self._clock.now().mono
        if self._recording is None:
            self._recording = asyncio.create_task(self._record_acks())

    async def _record_acks(self) -> None:
        recorded = 0
        try:
            while self.epoch is not None and (seq := self._acked) > recorded:
                if not await self._deliveries.acked(self.agent_id, epoch=self.epoch, seq=seq):
                    return self.dismiss("taken-over")
                recorded = seq
        except StoreError as error:
            self._give_up(error)
            self.ring()
        finally:
            self._recording = None
        return None

    def _give_up(self, error: StoreError) -> None:
        self._log.error("agent.store-failed", agent=self.agent_id, code=error.code)
        # Two stores that disagree about numbers are an alarm for people, not a passing trouble.
        self._link.close("sequence-gap" if error.code in ALARMS else "store-unavailable")

    def _note_end(self, closed: Closed) -> None:
        note, where = self._admission.note, {"agent": self.agent_id, "address": self.address}
        if self.epoch is None and not closed.by_peer:
            self.is_refuted = closed.code in ("auth", "protocol")
        if self.epoch is None and self._known is not None and closed.code == "auth":
            note("agent.wrong-key", **where)
        if closed.code == "too-fast" and not closed.by_peer:
            note("agent.too-fast", **where)
        if not (self.agent_id or closed.by_peer) and closed.code in ("auth", "protocol"):
            note("agent.malformed-frame", address=self.address)
        if self._is_quiet and self.epoch is None:  # of an address where many fail
            return
        self._log.info(
            "agent.link-closed",
            agent=self.agent_id,
            code=closed.code,
            by_peer=closed.by_peer,
            why=closed.facts.get("why"),
        )

    async def _pump(self) -> None:
        resting = False
        try:
            resting = await self._do_what_is_due()
        except TimeoutError:
            self._log.warning("agent.does-not-read", agent=self.agent_id)
        except OSError:
            pass  # The peer went away while we wrote; the reader sees the same.
        finally:
            if resting:
                self._pumping = None
            else:
                self._over = True
                self._let_read()
                await self._wire.close(self._link.close_code)

    async def _do_what_is_due(self) -> bool:
        """Return True when nothing is left to do for now, False when the session is over."""
        while self._rung and not self._over:
            self._rung = False
            self._link.tick(self._clock.now())
            for event in self._link.events():
                await self._on(event)
            await self._pay_acks()
            await self._fill()
            await self._flush()
            if self._link.state is LinkState.CLOSED:
                return False
        return not self._over

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

    def _room(self) -> int:
        """Return how many frames more may be on their way."""
        in_flight, mono = self._sent - self._acked, self._clock.now().mono
        if not in_flight:
            self._is_slow, self._moved = False, mono
        elif mono - self._moved > SLOW_SECONDS:
            self._is_slow = True
        return (WIDE if self._is_slow else WINDOW) - in_flight

    async def _fill(self) -> None:
        room = min(self._room(), READ)
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
            if seq > self._sent:  # else it was offered while we read
                self._link.send(frame)  # on a link that closed meanwhile this does nothing
                self._sent = seq
        if len(rows) == room:
            self._maybe_more = self._rung = True
        return None
