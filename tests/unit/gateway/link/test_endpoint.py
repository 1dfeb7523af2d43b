"""The agent endpoint on a loopback server, and the few places for those who proved nothing yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from common.audit import Fact
from common.clock import SystemClock
from common.protocol.envelope import agent_name, gateway_name, seal_envelope
from common.protocol.link import Acked, Closed, Link, LinkEvent, Ready, Received
from common.protocol.link_events import UNSUPPORTED
from common.signing import SigningKey
from gateway.faces.http import guarded_app
from gateway.link import endpoint as agents_module
from gateway.link.endpoint import (
    ENOUGH_SECONDS,
    LINK_PATH,
    MAX_FRAME_BYTES,
    PREAUTH_PER_ADDRESS,
    PREAUTH_SOCKETS,
    AgentEndpoint,
    PreauthPool,
    Slot,
    SocketWire,
)
from gateway.link.hub import Hub
from tests.unit.gateway.link.doubles import AGENT_ID, MemoryDeliveries, silent_log

NOW = 1000.0


class Gateway:
    """A gateway that answers agents and nothing else."""

    def __init__(self, *, trusted_proxies: tuple[str, ...] = ()) -> None:
        self.clock = SystemClock()
        self.noted: asyncio.Queue[tuple[str, dict[str, Fact]]] = asyncio.Queue()
        self.key = SigningKey.generate()
        self.agent_key = SigningKey.generate()
        self.store = MemoryDeliveries(self.key, self.clock)
        self.record = self.store.enrol(self.agent_key)
        self.hub = Hub(self.store, clock=self.clock, log=silent_log(), note=self.note)
        self.preauth = PreauthPool(total=3, per_address=2)
        app = guarded_app(log=silent_log(), clock=self.clock, trusted_proxies=trusted_proxies)
        server = TestServer(app)
        self.url = "http://127.0.0.1:1"
        endpoint = AgentEndpoint(
            lambda: (self.key,),
            self.url,
            hub=self.hub,
            preauth=self.preauth,
            deliveries=self.store,
            clock=self.clock,
            log=silent_log(),
        )
        app.add_routes(endpoint.routes())
        self.client: TestClient[Any, Any] = TestClient(server)

    def note(self, event: str, **facts: Fact) -> None:
        """Take an alarm in; what becomes of it is the application's."""
        self.noted.put_nowait((event, facts))

    async def dial(self, **headers: str) -> aiohttp.ClientWebSocketResponse[Any]:
        """Open a socket."""
        return await self.client.ws_connect(LINK_PATH, headers=headers)

    async def status(self, **headers: str) -> int:
        """Return the status that an upgrade is refused with."""
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await self.dial(**headers)
        return caught.value.status

    def link(self) -> Link:
        """Return the agent's end."""
        return Link.for_agent(
            self.agent_key,
            agent_id=AGENT_ID,
            gateway_key=self.key.public,
            url=self.url,
            last_seq=0,
            nonce=bytes(32),
            at=self.clock.now(),
        )

    async def until(
        self, socket: aiohttp.ClientWebSocketResponse[Any], link: Link, kind: type[LinkEvent]
    ) -> LinkEvent:
        """Pump until an event of ``kind``."""
        async with asyncio.timeout(30):
            while True:
                for text in link.data_to_send():
                    await socket.send_str(text)
                for event in link.events():
                    if isinstance(event, kind):
                        return event
                link.receive(await socket.receive_str(), self.clock.now())


@pytest.fixture
async def gateway() -> AsyncIterator[Gateway]:
    gateway = Gateway()
    async with gateway.client:
        yield gateway


async def test_an_agent_gets_its_mail_and_its_acks_over_a_real_socket(gateway: Gateway) -> None:
    gateway.store.put()
    socket, link = await gateway.dial(), gateway.link()
    await gateway.until(socket, link, Ready)
    received = await gateway.until(socket, link, Received)
    assert isinstance(received, Received)
    assert received.envelope.frame == gateway.record.frames[0]
    now = gateway.clock.now().wall_s
    envelope = seal_envelope(
        gateway.agent_key,
        typ="event",
        iss=agent_name(AGENT_ID),
        aud=gateway_name(gateway.key.public),
        jti="event-1",
        seq=1,
        iat=now,
        exp=now + 60,
        body={"task_id": "t", "state": "ROUTED", "message": "", "waiting": None, "at": now},
    )
    link.send(envelope.frame)
    assert await gateway.until(socket, link, Acked) == Acked(1)
    assert gateway.record.recv_seq == 1
    await socket.close()


@pytest.mark.requirement("R13")
async def test_a_browser_is_refused_before_the_upgrade(gateway: Gateway) -> None:
    assert await gateway.status(Origin="https://gw.example") == 403
    assert await gateway.status(Origin="null") == 403


@pytest.mark.requirement("R13")
async def test_sockets_that_prove_nothing_are_few(gateway: Gateway) -> None:
    first, second = await gateway.dial(), await gateway.dial()
    assert await gateway.status() == 503
    await first.close()
    await second.close()


@pytest.mark.requirement("R13")
async def test_who_has_proved_itself_takes_no_place_from_others(gateway: Gateway) -> None:
    proved, link = await gateway.dial(), gateway.link()
    await gateway.until(proved, link, Ready)
    first, second = await gateway.dial(), await gateway.dial()
    assert await gateway.status() == 503
    for socket in (first, second, proved):
        await socket.close()


@pytest.mark.requirement("P3")
@pytest.mark.requirement("R13")
async def test_where_many_fail_fewer_may_try_and_whoever_proves_itself_is_let_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agents_module, "FAILED_HANDSHAKES", 3)
    monkeypatch.setattr(agents_module, "PREAUTH_REFUTED", 1)
    gateway = Gateway(trusted_proxies=("127.0.0.0/8",))
    office, home = ({"X-Forwarded-For": f"192.0.2.{number}"} for number in (1, 2))
    async with gateway.client:
        for say in ("", "", "", "{}", "{}", "{}"):
            first, second = await gateway.dial(**office), await gateway.dial(**office)
            await second.close()  # whoever hangs up has failed at nothing
            await first.receive_str()
            if say:
                await first.send_str(say)
                while not first.closed:
                    await first.receive()
            await first.close()
        waiting = await gateway.dial(**office)
        assert await gateway.status(**office) == 503
        other = await gateway.dial(**home)
        assert await gateway.until(other, gateway.link(), Ready), "nobody else waits for it"
        await waiting.close()
        honest = await gateway.dial(**office)
        assert await gateway.until(honest, gateway.link(), Ready)


async def test_behind_a_trusted_proxy_each_client_has_its_own_places() -> None:
    gateway = Gateway(trusted_proxies=("127.0.0.0/8",))
    async with gateway.client:
        waiting = [await gateway.dial(**{"X-Forwarded-For": "192.0.2.1"}) for _ in range(2)]
        assert await gateway.status(**{"X-Forwarded-For": "192.0.2.1"}) == 503
        proved = await gateway.dial(**{"X-Forwarded-For": "192.0.2.2"})
        await gateway.until(proved, gateway.link(), Ready)
        for socket in (*waiting, proved):
            await socket.close()


@pytest.mark.requirement("R13")
async def test_a_first_frame_of_more_than_8_kib_ends_it(gateway: Gateway) -> None:
    socket = await gateway.dial()
    await socket.receive_str()
    await socket.send_str(" " * 8193)
    assert "auth" in await socket.receive_str()
    assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE


async def test_a_frame_beyond_every_bound_is_not_even_read(gateway: Gateway) -> None:
    socket = await gateway.dial()
    await socket.receive_str()
    await socket.send_str(" " * (MAX_FRAME_BYTES + 1))
    closing = await socket.receive()
    assert closing.type is aiohttp.WSMsgType.CLOSE
    assert closing.data == 1009


async def test_binary_is_not_spoken_here(gateway: Gateway) -> None:
    socket = await gateway.dial()
    await socket.receive_str()
    await socket.send_bytes(b"{}")
    assert (await socket.receive()).data == UNSUPPORTED
    noted = await asyncio.wait_for(gateway.noted.get(), 30)
    assert noted == ("agent.malformed-frame", {"address": "127.0.0.1"})


@pytest.mark.requirement("R13")
async def test_a_ping_of_the_websocket_is_answered_by_the_end(gateway: Gateway) -> None:
    socket = await gateway.dial()
    await socket.receive_str()
    await socket.ping()
    assert (await socket.receive()).data == UNSUPPORTED


async def test_compression_is_never_agreed_to(gateway: Gateway) -> None:
    socket = await gateway.client.ws_connect(LINK_PATH, compress=15)
    assert socket.compress == 0
    await socket.close()


async def test_a_goodbye_of_the_gateway_reaches_the_agent(gateway: Gateway) -> None:
    socket, link = await gateway.dial(), gateway.link()
    await gateway.until(socket, link, Ready)
    gateway.hub.close()
    closed = await gateway.until(socket, link, Closed)
    assert isinstance(closed, Closed)
    assert closed.code == "shutdown"
    await socket.close()


async def test_a_plain_request_is_no_agent(gateway: Gateway) -> None:
    async with gateway.client.get(LINK_PATH) as answer:
        assert answer.status == 400
        assert await answer.read() == b""


async def test_a_socket_that_cannot_even_be_closed_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stuck(web.WebSocketResponse):
        async def close(self, **_: object) -> bool:  # it never answers
            await asyncio.Event().wait()
            return True

    class Line(asyncio.Transport):
        aborted = False

        def abort(self) -> None:
            self.aborted = True

    monkeypatch.setattr(agents_module, "CLOSE_SECONDS", 0.005)
    line = Line()
    async with asyncio.timeout(30):
        await SocketWire(Stuck(), line).close(1000)
    assert line.aborted


class Door:
    """A pool, and a list of those who were shown out."""

    def __init__(self, *, total: int = PREAUTH_SOCKETS, per_address: int = PREAUTH_PER_ADDRESS):
        self.pool = PreauthPool(total=total, per_address=per_address)
        self.evicted: list[str] = []

    def enter(self, name: str, *, after: float = 0.0) -> Slot | None:
        """Let ``address`` or ``address/number`` in."""
        address, _, _ = name.partition("/")
        return self.pool.enter(address, mono=NOW + after, evict=lambda: self.evicted.append(name))

    def fill(self, addresses: int, each: int) -> None:
        """Take so many places from so many addresses, round after round."""
        for number in range(each):
            for address in range(addresses):
                assert self.enter(f"192.0.2.{address}/{number}")


@pytest.mark.requirement("R13")
def test_one_address_gets_eight_slots() -> None:
    door = Door()
    door.fill(1, 8)
    assert door.enter("192.0.2.0") is None
    assert door.enter("192.0.2.1") is not None
    assert door.evicted == []


@pytest.mark.requirement("R13")
def test_all_addresses_together_get_sixty_four_slots() -> None:
    door = Door()
    door.fill(64, 1)
    assert door.enter("198.51.100.1") is None
    assert door.evicted == []


@pytest.mark.requirement("R13")
def test_who_holds_the_most_slots_makes_room_for_a_newcomer() -> None:
    door = Door()
    door.fill(8, 8)
    assert door.enter("198.51.100.1")
    assert len(door.evicted) == 1
    assert door.evicted[0].endswith("/0"), "the oldest"


@pytest.mark.requirement("R13")
def test_a_newcomer_never_takes_more_than_its_share() -> None:
    door = Door(total=8, per_address=8)
    door.fill(1, 8)
    came = [door.enter("198.51.100.1") for _ in range(8)]
    assert sum(place is not None for place in came) == 4
    assert set(door.evicted) == {f"192.0.2.0/{number}" for number in range(4)}


@pytest.mark.requirement("R13")
def test_between_equals_the_oldest_goes_once_it_had_time_enough() -> None:
    door = Door()
    door.fill(64, 1)
    assert door.enter("198.51.100.1", after=ENOUGH_SECONDS - 0.1) is None
    assert door.enter("198.51.100.1", after=ENOUGH_SECONDS)
    assert door.evicted == ["192.0.2.0/0"]


@pytest.mark.requirement("R13")
def test_a_full_address_makes_room_of_its_own_and_not_of_others() -> None:
    door = Door()
    door.enter("198.51.100.1/0")
    door.fill(1, 8)
    assert door.enter("192.0.2.0/new", after=ENOUGH_SECONDS)
    assert door.evicted == ["192.0.2.0/0"]


@pytest.mark.requirement("R13")
def test_ten_thousand_at_once_do_not_throw_each_other_out() -> None:
    door = Door()
    let_in = sum(
        door.enter(f"10.0.{number // 250}.{number % 250}") is not None for number in range(10_000)
    )
    assert (let_in, door.evicted) == (PREAUTH_SOCKETS, [])


def test_a_place_is_given_back_once_however_often_it_is_left() -> None:
    door = Door(total=2, per_address=1)
    leave = door.enter("a")
    assert leave is not None
    assert door.enter("b") is not None
    leave()
    leave()
    leave.evict()
    assert door.evicted == []
    assert door.enter("a") is not None
    assert door.enter("c") is None


def test_who_was_shown_out_gives_no_place_back_that_is_another_ones() -> None:
    door = Door(total=1, per_address=1)
    first = door.enter("a")
    assert first is not None
    assert door.enter("b", after=ENOUGH_SECONDS) is not None
    first()
    assert door.enter("c") is None
