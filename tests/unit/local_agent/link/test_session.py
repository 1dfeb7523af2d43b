"""`link.session`: journal first, then the acknowledgement, then the engine; nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Close

from common.clock import ManualClock
from common.errors import RemoteProtocolError, StoreError, UnavailableError
from common.protocol.envelope import Envelope, agent_name, gateway_name, rekey_body, seal_envelope
from common.protocol.flow_control import FRAMES
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
from common.protocol.link_events import ENDINGS, websocket_code
from common.signing import SigningKey
from local_agent.link import session as session_module
from local_agent.link.session import BoundedConnection, DirectConnect, Session, end_of
from tests.each import each
from tests.hostile import PING, packet
from tests.sealed import AGENT, AGENT_ID, GATEWAY, from_gateway

URL = "https://gw.example"
PATIENCE = 30.0


class Journal:
    """Both ports at once; tells in which order things happened."""

    def __init__(self, *, reports: int = 0) -> None:
        self.told: list[str] = []
        self.kept: list[Envelope] = []
        self.begun: list[Envelope] = []
        self.reports = reports
        self.forgotten = 0
        self.failure: Exception | None = None
        self.obeyed: list[str] = []
        self.happened = asyncio.Condition()

    async def last_seq(self) -> int:
        return len(self.kept)

    async def keep(self, envelope: Envelope) -> None:
        await self._tell("keep")
        if self.failure:
            raise self.failure
        self.kept.append(envelope)

    async def obey_ahead(self, envelope: Envelope) -> None:
        if envelope.header.typ == "cancel":
            self.obeyed.append(envelope.body["task_id"])
            await self._tell(f"obeyed {envelope.header.seq}")

    async def begin(self, envelope: Envelope) -> None:
        self.begun.append(envelope)
        await self._tell("begin")

    async def unsent(self, after: int, limit: int) -> Sequence[tuple[int, bytes]]:
        last = min(self.reports, after + limit)
        return [(seq, a_report(seq)) for seq in range(after + 1, last + 1)]

    async def acked(self, seq: int) -> None:
        if seq > self.reports:
            raise RemoteProtocolError("outbox.ack-unsent", seq=seq)
        if seq < self.forgotten:
            raise RemoteProtocolError("outbox.ack-lost", seq=seq)
        self.forgotten = seq
        await self._tell(f"acked {seq}")

    async def _tell(self, what: str) -> None:
        async with self.happened:
            self.told.append(what)
            self.happened.notify_all()

    async def until(self, what: str) -> None:
        async with asyncio.timeout(PATIENCE), self.happened:
            await self.happened.wait_for(lambda: what in self.told)


def a_report(seq: int) -> bytes:
    now = ManualClock().now().wall_s
    return seal_envelope(
        AGENT,
        typ="event",
        iss=agent_name(AGENT_ID),
        aud=gateway_name(GATEWAY.public),
        jti=f"r-{seq}",
        seq=seq,
        iat=now,
        exp=now + 600,
        body={"task_id": "t", "state": "ROUTED", "message": "", "waiting": None, "at": 1},
    ).frame


class Wire:
    """A socket with the gateway's real Link at its other end."""

    def __init__(self, clock: ManualClock, journal: Journal, *, keeps: int = 0) -> None:
        self._clock = clock
        self._journal = journal
        self._keeps = keeps
        self._to_agent: asyncio.Queue[str] = asyncio.Queue()
        self.link = Link.for_gateway(
            GATEWAY, URL, nonce=bytes(32), session_id="s-1", at=clock.now()
        )
        self.events: list[LinkEvent] = []
        self.closed_with: int | None = None
        self.cut = False
        self.full = False  # its buffer, for good
        self.breaks_at = ""
        self._changed = asyncio.Event()
        self.flush()

    def flush(self) -> None:
        for text in self.link.data_to_send():
            self._to_agent.put_nowait(text)

    def deliver(self, envelope: Envelope) -> None:
        self.link.send(envelope.frame)
        self.flush()

    async def recv(self) -> str:
        return await self._to_agent.get()

    async def send(self, message: str) -> None:
        if self.cut:
            return
        if self.full:
            await asyncio.Event().wait()
        if self.breaks_at and self.breaks_at in message:
            raise ConnectionResetError
        self.link.receive(message, self._clock.now())
        for event in self.link.events():
            self.events.append(event)
            if isinstance(event, AgentKnocked):
                self.link.admit(AGENT.public, last_seq=self._keeps, at=self._clock.now())
                self.events += self.link.events()
            if isinstance(event, Received):
                self.link.ack(event.envelope.header.seq)
            if isinstance(event, Acked):
                await self._journal._tell(f"gateway heard ack {event.seq}")
        self.flush()
        self._changed.set()

    async def close(self, code: int = 1000) -> None:
        self.closed_with = code

    async def until(self, kind: type, count: int = 1) -> None:
        async with asyncio.timeout(PATIENCE):
            while sum(isinstance(event, kind) for event in self.events) < count:
                self._changed.clear()
                await self._changed.wait()


class Desk:
    """A running session and all that belongs to it."""

    def __init__(self, journal: Journal, *, keeps: int = 0) -> None:
        self.clock = ManualClock()
        self.journal = journal
        self.wire = Wire(self.clock, journal, keeps=keeps)
        self.news = asyncio.Event()
        self.ready: list[str] = []
        self.held: list[str] = []
        link = Link.for_agent(
            AGENT,
            agent_id=AGENT_ID,
            gateway_key=GATEWAY.public,
            url=URL,
            last_seq=len(journal.kept),
            nonce=bytes(32),
            at=self.clock.now(),
        )
        self.session = Session(
            self.wire,
            link,
            inbound=journal,
            outbound=journal,
            news=self.news,
            clock=self.clock,
            on_ready=self.ready.append,
            on_held=self.held.append,
        )


@asynccontextmanager
async def pumping(
    journal: Journal, **options: Any
) -> AsyncIterator[tuple[Desk, asyncio.Task[Any]]]:
    desk = Desk(journal, **options)
    pump = asyncio.create_task(desk.session.pump())
    try:
        yield desk, pump
    finally:
        pump.cancel()
        await asyncio.gather(pump, return_exceptions=True)


async def test_both_sides_prove_themselves_and_the_session_is_ready() -> None:
    async with pumping(Journal()) as (desk, _):
        await desk.wire.until(Ready)
        await desk.journal.until("acked 0")
        assert desk.ready == ["s-1"]


@pytest.mark.requirement("P3")
@pytest.mark.requirement("R17")
async def test_a_message_is_kept_then_acknowledged_then_begun() -> None:
    async with pumping(Journal()) as (desk, _):
        await desk.wire.until(Ready)
        desk.wire.deliver(from_gateway(desk.clock, 1))
        await desk.journal.until("begin")
        told = [what for what in desk.journal.told if what != "acked 0"]
        assert told == ["keep", "gateway heard ack 1", "begin"]


@pytest.mark.requirement("P3")
async def test_what_the_journal_refuses_is_not_acknowledged() -> None:
    journal = Journal()
    journal.failure = StoreError("store.failed")
    async with pumping(journal) as (desk, pump):
        await desk.wire.until(Ready)
        desk.wire.deliver(from_gateway(desk.clock, 1))
        with pytest.raises(StoreError):
            await pump
    assert "begin" not in journal.told
    assert not any(isinstance(event, Acked) for event in desk.wire.events)


@pytest.mark.requirement("P3")
async def test_a_kept_message_is_begun_even_when_the_line_breaks_at_its_acknowledgement() -> None:
    async with pumping(Journal()) as (desk, pump):
        await desk.wire.until(Ready)
        desk.wire.breaks_at = '"t":"ack"'
        desk.wire.deliver(from_gateway(desk.clock, 1))
        with pytest.raises(ConnectionResetError):
            await pump
    assert [envelope.header.seq for envelope in desk.journal.begun] == [1]


async def test_a_message_that_came_before_is_neither_kept_nor_begun_again() -> None:
    async with pumping(Journal()) as (desk, _):
        await desk.wire.until(Ready)
        desk.wire.deliver(from_gateway(desk.clock, 1))
        await desk.journal.until("begin")
        desk.wire.deliver(from_gateway(desk.clock, 1))
        desk.wire.deliver(from_gateway(desk.clock, 2))
        await desk.journal.until("gateway heard ack 2")
        assert [envelope.header.seq for envelope in desk.journal.kept] == [1, 2]


async def test_reports_are_sent_in_order_and_forgotten_once_acknowledged() -> None:
    async with pumping(Journal(reports=150)) as (desk, _):
        await desk.wire.until(Received, 150)
        seqs = [e.envelope.header.seq for e in desk.wire.events if isinstance(e, Received)]
        assert seqs == list(range(1, 151))
        await desk.journal.until("acked 150")


async def test_sending_goes_on_after_what_the_gateway_already_keeps() -> None:
    async with pumping(Journal(reports=5), keeps=3) as (desk, _):
        await desk.wire.until(Received, 2)
        seqs = [e.envelope.header.seq for e in desk.wire.events if isinstance(e, Received)]
        assert seqs == [4, 5]
        assert "acked 3" in desk.journal.told


async def test_news_are_sent_at_once() -> None:
    async with pumping(Journal()) as (desk, _):
        await desk.wire.until(Ready)
        await desk.journal.until("acked 0")
        desk.journal.reports = 1
        desk.news.set()
        await desk.wire.until(Received)
        (sent,) = [event for event in desk.wire.events if isinstance(event, Received)]
        assert sent.envelope.header.seq == 1


@pytest.mark.requirement("R17")
async def test_a_gateway_that_keeps_more_than_was_ever_sent_is_an_alarm() -> None:
    async with pumping(Journal(reports=1), keeps=9) as (_, pump):
        assert (await pump).code == "sequence-gap"


@pytest.mark.requirement("R17")
@pytest.mark.requirement("P3")
async def test_a_gateway_that_no_longer_keeps_what_it_acknowledged_is_an_alarm() -> None:
    journal = Journal(reports=5)
    journal.forgotten = 5
    async with pumping(journal, keeps=3) as (_, pump):
        assert (await pump).code == "sequence-gap"


async def test_a_gap_ends_the_session_and_keeps_nothing() -> None:
    async with pumping(Journal()) as (desk, pump):
        await desk.wire.until(Ready)
        desk.wire.deliver(from_gateway(desk.clock, 2))
        closed = await pump
    assert (closed.code, desk.wire.closed_with) == ("sequence-gap", 4410)
    assert desk.journal.kept == []
    assert any(isinstance(event, Closed) and event.by_peer for event in desk.wire.events)


async def test_another_gateway_than_the_pinned_one_is_left_unanswered() -> None:
    desk = Desk(Journal())
    desk.wire.link = Link.for_gateway(
        AGENT, URL, nonce=bytes(32), session_id="s", at=desk.clock.now()
    )
    while not desk.wire._to_agent.empty():
        desk.wire._to_agent.get_nowait()
    desk.wire.flush()
    closed = await desk.session.pump()
    assert (closed.code, closed.facts["why"]) == ("auth", "auth.wrong-gateway")
    assert desk.ready == []


async def test_a_clock_that_is_off_by_an_hour_is_told_with_the_seconds() -> None:
    desk = Desk(Journal())
    desk.clock.jump_wall(3600)
    closed = await desk.session.pump()
    assert (closed.code, closed.facts["seconds"]) == ("clock-skew", -3600)


async def test_a_silent_gateway_is_given_up() -> None:
    async with pumping(Journal()) as (desk, pump):
        await desk.wire.until(Ready)
        await desk.journal.until("acked 0")
        desk.wire.cut = True
        desk.clock.advance(41)
        desk.news.set()  # whatever wakes it, it looks at the clock
        desk.clock.advance(41)
        assert (await pump).code == "dead"


async def test_stopping_says_goodbye_so_that_the_gateway_knows_at_once() -> None:
    async with pumping(Journal()) as (desk, pump):
        await desk.wire.until(Ready)
        pump.cancel()
        await asyncio.gather(pump, return_exceptions=True)
        assert desk.wire.link.state is LinkState.CLOSED


@pytest.mark.requirement("P3")
async def test_more_keys_than_the_journal_takes_are_left_with_the_gateway() -> None:
    journal = Journal()
    journal.failure = UnavailableError("inbox.too-many-keys")
    async with pumping(journal) as (desk, pump):
        await desk.wire.until(Ready)
        desk.wire.deliver(from_gateway(desk.clock, 1))
        assert (await pump).code == "congested"
        await desk.wire.until(Closed)
    assert (journal.kept, journal.begun) == ([], [])
    assert not any(isinstance(event, Acked) for event in desk.wire.events)


@pytest.mark.requirement("P3")
@pytest.mark.requirement("P7")
async def test_what_the_journal_may_not_grow_by_waits_and_cancels_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_module, "RETRY_SECONDS", 0.01)
    journal = Journal()
    journal.failure = UnavailableError("inbox.too-fast")
    async with pumping(journal) as (desk, _):
        await desk.wire.until(Ready)
        desk.wire.deliver(from_gateway(desk.clock, 1))
        desk.wire.deliver(from_gateway(desk.clock, 2))
        desk.wire.deliver(from_gateway(desk.clock, 3, typ="cancel", task_id="task-0"))
        desk.wire.deliver(from_gateway(desk.clock, 4, typ="cancel", task_id="task-2"))
        await journal.until("obeyed 4")
        assert (journal.obeyed, journal.kept) == (["task-0", "task-2"], [])
        assert (desk.wire.closed_with, set(desk.held)) == (None, {"inbox.too-fast"})
        assert not any(isinstance(event, Acked) for event in desk.wire.events)
        desk.clock.jump_wall(300)
        journal.failure = None
        await journal.until("gateway heard ack 4")
        assert [envelope.header.seq for envelope in journal.begun] == [1, 2, 3, 4]
        assert all(envelope.expired for envelope in journal.kept), "by now, not when it came"
        assert journal.obeyed == ["task-0", "task-2", "task-2"], "once its task is in the journal"
        assert desk.held[-1] == ""


@pytest.mark.requirement("P4")
@pytest.mark.parametrize("bound", ["HELD", "HELD_BYTES"])
async def test_a_gateway_that_sends_on_fills_no_memory(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, bound, 2)
    journal = Journal()
    journal.failure = UnavailableError("inbox.too-fast")
    async with pumping(journal) as (desk, _):
        await desk.wire.until(Ready)
        await journal.until("acked 0")
        for seq in range(1, 6):
            desk.wire.deliver(from_gateway(desk.clock, seq, typ="cancel", task_id="task-0"))
        held = 2 if bound == "HELD" else 1
        await journal.until(f"obeyed {held}")
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(journal.obeyed) <= held + 1
        assert desk.wire._to_agent.qsize() >= 5 - held - 1, "the rest is not even read"


async def test_a_gateway_that_reads_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "SEND_SECONDS", 0.01)
    async with pumping(Journal(reports=1)) as (desk, pump):
        desk.wire.full = True
        with pytest.raises(TimeoutError):
            await pump


async def test_stopping_while_the_line_breaks_stops_all_the_same() -> None:
    async with pumping(Journal()) as (desk, pump):
        await desk.wire.until(Ready)
        await desk.journal.until("acked 0")
        desk.wire.breaks_at = '"t":"error"'
        pump.cancel()
        await asyncio.gather(pump, return_exceptions=True)
        assert pump.cancelled()


async def test_the_gateways_next_key_is_kept_acknowledged_and_ends_the_connection() -> None:
    async with pumping(Journal()) as (desk, pump):
        await desk.wire.until(Ready)
        iss, aud = gateway_name(GATEWAY.public), agent_name(AGENT_ID)
        body = rekey_body(SigningKey.generate(), iss=iss, aud=aud, old_key_id=GATEWAY.public.key_id)
        desk.wire.deliver(from_gateway(desk.clock, 1, typ="rekey", **body))
        closed = await asyncio.wait_for(pump, PATIENCE)
    assert closed == Closed("rekeyed")
    assert [envelope.header.typ for envelope in desk.journal.begun] == ["rekey"]
    assert desk.wire.events[-2:] == [Acked(1), Closed("rekeyed", by_peer=True)]


async def test_a_line_that_is_lost_while_we_stop_does_not_keep_us_from_stopping() -> None:
    async with pumping(Journal()) as (desk, pump):
        await desk.wire.until(Ready)
        desk.wire.breaks_at = "shutdown"
        pump.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pump


# --- what the library would take without end is bounded --------------------------------------


@asynccontextmanager
async def dialled(
    gateway: Callable[[ServerConnection], Awaitable[None]],
) -> AsyncIterator[BoundedConnection]:
    """Connect to a gateway that is one function."""
    async with serve(gateway, "127.0.0.1", 0, compression=None) as server:
        port = server.sockets[0].getsockname()[1]
        url = f"ws://127.0.0.1:{port}/"
        options = {"proxy": None, "compression": None, "ping_interval": None, "close_timeout": 1}
        async with asyncio.timeout(PATIENCE), DirectConnect(url, **options) as socket:
            assert isinstance(socket, BoundedConnection)
            yield socket


async def read_to_the_end(socket: BoundedConnection) -> None:
    """Take whatever comes."""
    while True:
        await socket.recv()


@pytest.mark.heavy
@pytest.mark.requirement("R13")
@pytest.mark.parametrize(
    "flood",
    [packet(b"x", opcode=PING), packet("", opcode=10), packet("x" * 30_000)],
    ids=["pings", "pongs", "text"],
)
async def test_a_flood_below_the_link_ends_the_connection(flood: bytes) -> None:
    async def gateway(connection: ServerConnection) -> None:
        connection.transport.write(flood * (FRAMES + 100))
        await connection.wait_closed()

    async with dialled(gateway) as socket:
        with pytest.raises(ConnectionClosed) as caught:
            await read_to_the_end(socket)
    assert end_of(caught.value) == "too-fast"


@pytest.mark.heavy
@pytest.mark.requirement("R13")
async def test_answers_that_nobody_reads_end_the_connection() -> None:
    async def gateway(connection: ServerConnection) -> None:
        connection.transport.pause_reading()
        try:
            for _ in range(3000):
                connection.transport.write(packet(b"x" * 125, opcode=PING))
                await asyncio.sleep(0)
        finally:
            connection.transport.abort()

    async with dialled(gateway) as socket:
        with pytest.raises(ConnectionClosed):
            await read_to_the_end(socket)


@pytest.mark.heavy
@each("code", ENDINGS)
def test_a_close_code_of_ours_is_understood_from_either_side(code: str) -> None:
    close = Close(websocket_code(code), "")
    assert end_of(ConnectionClosed(close, None)) == code
    assert end_of(ConnectionClosed(None, close)) == code


@pytest.mark.heavy
@each("number", [1002, 1007, 1009])
def test_what_the_library_refuses_broke_the_protocol(number: int) -> None:
    assert end_of(ConnectionClosed(None, Close(number, ""))) == "protocol"


@pytest.mark.heavy
@each("number", [1000, 1011, 3000, 4999])
def test_any_other_end_is_a_lost_connection(number: int) -> None:
    assert end_of(ConnectionClosed(Close(number, ""), None)) == "lost"
    assert end_of(ConnectionClosed(None, None)) == "lost"
