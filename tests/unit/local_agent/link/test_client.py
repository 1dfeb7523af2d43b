"""`link.client`: dials, dials again, and says truthfully how it stands."""

from __future__ import annotations

import asyncio
import http
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from common.clock import ManualClock
from common.protocol.envelope import Envelope
from common.protocol.link import AgentKnocked, Link, LinkState
from common.protocol.link_events import websocket_code
from common.signing import SigningKey
from local_agent.link.client import GatewayClient
from local_agent.link.condition import Backoff, Condition
from local_agent.link.keys import LinkKeys
from local_agent.link.pairing import LINK_PATH, Pairing
from tests.sealed import AGENT, AGENT_ID, GATEWAY

PATIENCE = 30.0


class AtOnce(Backoff):
    """Waits no longer than the loop needs, and remembers how often."""

    tries = 0

    def next_delay(self, ended: Any) -> float:
        self.tries += 1
        return 0.001


class Ports:
    async def last_seq(self) -> int:
        return 0

    async def keep(self, envelope: Envelope) -> None:
        raise AssertionError

    async def obey_ahead(self, envelope: Envelope) -> None:
        raise AssertionError

    async def begin(self, envelope: Envelope) -> None:
        raise AssertionError

    async def unsent(self, after: int, limit: int) -> Sequence[tuple[int, bytes]]:
        return []

    async def acked(self, seq: int) -> None:
        pass


OTHER = SigningKey(bytes([8]) * 32)


class Lines:
    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def info(self, event: str, *_: Any, **facts: Any) -> None:
        self.seen.append((event, facts))

    warning = info


class Dialling:
    def __init__(self, port: int, clock: ManualClock, scheme: str) -> None:
        self.clock = clock
        self.log = Lines()
        self.backoff = AtOnce()
        pairing = Pairing(
            url=f"{scheme}://127.0.0.1:{port}",
            agent_id=AGENT_ID,
            machine="m",
            gateway_key=GATEWAY.public,
            agent_key_id=AGENT.public.key_id,
            paired_at=0,
        )
        self.own = [AGENT]
        self.client = GatewayClient(
            pairing,
            self.keys,
            inbound=Ports(),
            outbound=Ports(),
            clock=clock,
            log=self.log,
            backoff=self.backoff,
        )

    async def keys(self) -> LinkKeys:
        return LinkKeys(GATEWAY.public, self.own)

    async def becomes(self, state: str, why: str = "") -> Condition:
        async with asyncio.timeout(PATIENCE):
            return await self.client.wait_until(lambda now: (now.state, now.why) == (state, why))


@asynccontextmanager
async def dialling(port: int, *, scheme: str = "http") -> AsyncIterator[Dialling]:
    dialled = Dialling(port, ManualClock(), scheme)
    running = asyncio.create_task(dialled.client.run())
    try:
        yield dialled
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class Gateway:
    """Plays the gateway's end of the link on loopback."""

    def __init__(
        self,
        *,
        key: SigningKey = GATEWAY,
        agent: SigningKey = AGENT,
        admits: bool = True,
        skew_s: int = 0,
    ) -> None:
        self.key = key
        self.agent = agent
        self.admits = admits
        self.clock = ManualClock()
        self.clock.jump_wall(skew_s)
        self.url = ""
        self.headers: list[dict[str, str]] = []
        self.sockets: list[ServerConnection] = []

    async def __call__(self, socket: ServerConnection) -> None:
        assert socket.request
        self.headers.append({**dict(socket.request.headers), "path": socket.request.path})
        self.sockets.append(socket)
        at = self.clock.now()
        link = Link.for_gateway(self.key, self.url, nonce=bytes(32), session_id="s", at=at)
        try:
            while True:
                for text in link.data_to_send():
                    await socket.send(text)
                if link.state is LinkState.CLOSED:
                    return
                link.receive(await socket.recv(), at)
                if any(isinstance(event, AgentKnocked) for event in link.events()):
                    if self.admits:
                        link.admit(self.agent.public, last_seq=0, at=at)
                    else:
                        link.refuse(at)
        except ConnectionClosed:
            return


@asynccontextmanager
async def listening(
    gateway: Gateway,
    process_request: Callable[[ServerConnection, Request], Awaitable[Response | None]]
    | None = None,
) -> AsyncIterator[int]:
    server = await serve(gateway, "127.0.0.1", 0, compression=None, process_request=process_request)
    async with server:
        port = int(server.sockets[0].getsockname()[1])
        gateway.url = f"http://127.0.0.1:{port}"
        yield port


async def test_a_connection_is_made_and_told() -> None:
    gateway = Gateway()
    async with listening(gateway) as port, dialling(port) as dialled:
        assert dialled.client.condition.state == "connecting"
        await dialled.becomes("connected")
    assert gateway.headers[0]["path"] == LINK_PATH
    assert "Origin" not in gateway.headers[0]
    assert "Sec-WebSocket-Extensions" not in gateway.headers[0]
    assert ("relay.connected", {"session": "s"}) in dialled.log.seen


async def test_a_lost_connection_is_told_and_made_again() -> None:
    gateway = Gateway()
    async with listening(gateway) as port, dialling(port) as dialled:
        await dialled.becomes("connected")
        lost = asyncio.create_task(dialled.becomes("waiting", "lost"))
        await asyncio.sleep(0)
        await gateway.sockets[0].close()
        await lost
        await dialled.becomes("connected")
    assert len(gateway.sockets) >= 2


async def test_a_gateway_that_is_not_there_is_tried_again_since_when_it_was_lost() -> None:
    async with listening(Gateway()) as port:
        pass
    async with dialling(port) as dialled:
        first = await dialled.becomes("waiting", "connect")
        dialled.clock.advance(60)
        async with asyncio.timeout(PATIENCE):
            while dialled.backoff.tries < 3:
                await dialled.client.wait_until(lambda _: True)
                await asyncio.sleep(0)
        assert dialled.client.condition.since_ms == first.since_ms


@pytest.mark.requirement("R10")
async def test_another_gateway_at_the_same_address_is_not_trusted() -> None:
    stranger = Gateway(key=SigningKey(bytes([9]) * 32))
    async with listening(stranger) as port, dialling(port) as dialled:
        await dialled.becomes("refused", "wrong-gateway")
    assert dialled.log.seen[0][1]["detail"] == "auth.wrong-gateway"


async def test_a_gateway_that_does_not_admit_this_machine_is_told_as_that() -> None:
    async with listening(Gateway(admits=False)) as port, dialling(port) as dialled:
        await dialled.becomes("refused", "auth")
    assert dialled.log.seen[0][1]["detail"] == "auth"


@pytest.mark.parametrize("skew_s", [3600, -3600])
async def test_a_clock_off_by_an_hour_is_told_with_its_seconds(skew_s: int) -> None:
    async with listening(Gateway(skew_s=skew_s)) as port, dialling(port) as dialled:
        assert (await dialled.becomes("clock", "clock-skew")).skew_s == skew_s


@pytest.mark.requirement("R15")
@pytest.mark.parametrize(
    "proxy",
    ["socks5h://me:hunter2@127.0.0.1:9", "http://me:hunter2@127.0.0.1:port", "me:hunter2@[::1]:9"],
)
async def test_a_proxy_that_cannot_be_used_ends_no_agent(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with dialling(443, scheme="https") as dialled:
        await dialled.becomes("waiting", "http")
    assert dialled.log.seen, "and it is said"
    assert "hunter2" not in str(dialled.log.seen)


async def test_a_redirect_is_not_followed() -> None:
    elsewhere = Gateway()

    async def redirect(connection: ServerConnection, _: Request) -> Response:
        answer = connection.respond(http.HTTPStatus.FOUND, "")
        answer.headers["Location"] = f"{elsewhere.url.replace('http', 'ws')}{LINK_PATH}"
        return answer

    async with (
        listening(elsewhere),
        listening(Gateway(), redirect) as port,
        dialling(port) as dialled,
    ):
        await dialled.becomes("waiting", "http")
    assert elsewhere.sockets == []


async def test_something_else_at_the_address_is_told_as_no_gateway() -> None:
    async def page(connection: ServerConnection, _: Request) -> Response:
        return connection.respond(http.HTTPStatus.OK, "a page")

    async with listening(Gateway(), page) as port, dialling(port) as dialled:
        assert (await dialled.becomes("waiting", "http")).retry_s >= 1


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(("status", "why"), [(429, "limited"), (503, "busy")])
async def test_why_a_gateway_refuses_for_now_is_told(status: int, why: str) -> None:
    async def full(connection: ServerConnection, _: Request) -> Response:
        return connection.respond(status, "")

    async with listening(Gateway(), full) as port, dialling(port) as dialled:
        assert (await dialled.becomes("waiting", why)).retry_s >= 1


async def test_an_end_that_only_the_websocket_tells_is_understood() -> None:
    gateway = Gateway()
    async with listening(gateway) as port, dialling(port) as dialled:
        await dialled.becomes("connected")
        told = asyncio.create_task(dialled.becomes("refused", "revoked"))
        await asyncio.sleep(0)
        await gateway.sockets[0].close(websocket_code("revoked"))
        assert (await told).retry_s >= 1


@pytest.mark.requirement("R13")
async def test_binary_is_not_spoken_here() -> None:
    gateway = Gateway()
    async with listening(gateway) as port, dialling(port) as dialled:
        await dialled.becomes("connected")
        told = asyncio.create_task(dialled.becomes("waiting", "protocol"))
        await asyncio.sleep(0)
        await gateway.sockets[0].send(b'{"n":1,"t":"ping"}')
        assert (await told).retry_s >= 1


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("known", [AGENT, OTHER], ids=["old", "new"])
async def test_while_a_key_is_handed_over_the_gateway_may_know_either(known: SigningKey) -> None:
    gateway = Gateway(agent=known)
    async with listening(gateway) as port, dialling(port) as dialled:
        dialled.own = [AGENT, OTHER]
        await dialled.becomes("connected")
    assert len(gateway.sockets) == (1 if known is AGENT else 2)


async def test_where_neither_key_is_known_the_machine_is_refused() -> None:
    gateway = Gateway(agent=SigningKey.generate())
    async with listening(gateway) as port, dialling(port) as dialled:
        dialled.own = [AGENT, OTHER]
        await dialled.becomes("refused", "auth")
    assert len(gateway.sockets) >= 2
