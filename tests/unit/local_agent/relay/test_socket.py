"""`relay.socket`: what the library would take without end is bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Close

from common.protocol.flow_control import FRAMES
from common.protocol.link_events import ENDINGS, websocket_code
from local_agent.relay.socket import BoundedConnection, DirectConnect, end_of
from tests.each import each
from tests.hostile import PING, packet

pytestmark = pytest.mark.heavy

PATIENCE = 30.0


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


@each("code", ENDINGS)
def test_a_close_code_of_ours_is_understood_from_either_side(code: str) -> None:
    close = Close(websocket_code(code), "")
    assert end_of(ConnectionClosed(close, None)) == code
    assert end_of(ConnectionClosed(None, close)) == code


@each("number", [1002, 1007, 1009])
def test_what_the_library_refuses_broke_the_protocol(number: int) -> None:
    assert end_of(ConnectionClosed(None, Close(number, ""))) == "protocol"


@each("number", [1000, 1011, 3000, 4999])
def test_any_other_end_is_a_lost_connection(number: int) -> None:
    assert end_of(ConnectionClosed(Close(number, ""), None)) == "lost"
    assert end_of(ConnectionClosed(None, None)) == "lost"
