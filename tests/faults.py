"""A TCP proxy that misbehaves: it stands between a real agent and a real gateway, and fails on cue.

Bytes are passed on by whole WebSocket frames, so that a frame can be repeated, swapped or cut in
the middle.  A way that is stalled swallows everything, the end included: the half-open connection
of a router that forgot it.  What a stalled connection lost does not come back; only a new one does.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Literal

Way = Literal["up", "down"]  # to the gateway, to the agent
FrameFault = Literal["duplicate", "swap", "truncate", "drop"]
WAYS: Final[tuple[Way, Way]] = ("up", "down")

_LINGER_OFF: Final = struct.pack("ii", 1, 0)  # closing sends RST
_CHUNK: Final = 65_536


class FaultProxy:
    """Forwards connections to a port of this machine until it is told to do otherwise.

    Attributes:
        delay_s: How long each frame is held.
        partitioned: New connections pass nothing either.
        passed: Frames forwarded so far.
    """

    def __init__(self, target: int) -> None:
        self.delay_s = 0.0
        self.partitioned = False
        self.passed = 0
        self.port = 0
        self._target = target
        self._next: dict[Way, FrameFault] = {}
        self._open: set[_Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[FaultProxy]:
        """Listen on a free port of loopback."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = int(server.sockets[0].getsockname()[1])
        try:
            yield self
        finally:
            server.close()
            self.cut(reset=True)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def fail_next(self, way: Way, fault: FrameFault) -> None:
        """Do this to the next frame that goes that way."""
        self._next[way] = fault

    def stall(self, *ways: Way) -> None:
        """Let nothing more through on the connections that there are."""
        for connection in self._open:
            connection.stalled |= set(ways)

    def partition(self) -> None:
        """Let nothing through at all, until it is healed."""
        self.partitioned = True
        self.stall(*WAYS)

    def heal(self) -> None:
        """Behave from now on; what is stalled is lost."""
        self.partitioned = False
        self.delay_s = 0.0
        self._next.clear()

    def lose_agent(self) -> None:
        """End every connection as a power cut at the agent does: the gateway hears nothing."""
        self.stall(*WAYS)
        for connection in self._open:
            connection.reset_agent()

    def cut(self, *, reset: bool) -> None:
        """Close every connection at both ends, in an orderly way or by RST."""
        for connection in tuple(self._open):
            connection.close(reset=reset)

    def take_fault(self, way: Way) -> FrameFault | None:
        """Return what is to happen to the frame in hand."""
        self.passed += 1
        return self._next.pop(way, None)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(OSError):
                there = await asyncio.open_connection("127.0.0.1", self._target)
                await self._forward(_Connection(self, (reader, writer), there))
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _forward(self, connection: _Connection) -> None:
        if self.partitioned:
            connection.stalled |= set(WAYS)
        self._open.add(connection)
        try:
            await connection.carry()
        finally:
            self._open.discard(connection)
            connection.close(reset=False)


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Connection:
    """One connection through the proxy."""

    def __init__(self, proxy: FaultProxy, agent: Stream, gateway: Stream) -> None:
        self.stalled: set[Way] = set()
        self._proxy = proxy
        self._agent = agent
        self._gateway = gateway

    async def carry(self) -> None:
        """Forward both ways until both have ended."""
        up = self._way("up", self._agent[0], self._gateway[1])
        down = self._way("down", self._gateway[0], self._agent[1])
        await asyncio.gather(up, down)

    def close(self, *, reset: bool) -> None:
        """Close both ends."""
        for _, writer in (self._agent, self._gateway):
            if reset:
                _reset(writer)
            writer.close()

    def reset_agent(self) -> None:
        """Close the agent's end alone, by RST."""
        _reset(self._agent[1])

    async def _way(
        self, way: Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        held = b""
        with contextlib.suppress(OSError):
            async for unit in _units(reader):
                await asyncio.sleep(self._proxy.delay_s)
                if way in self.stalled:
                    continue
                fault = self._proxy.take_fault(way)
                if fault == "swap" and not held:
                    held = unit
                    continue
                await _put(writer, _spoilt(unit, fault) + held)
                held = b""
                if fault == "truncate":
                    break
        if way not in self.stalled:
            self.close(reset=False)


def _reset(writer: asyncio.StreamWriter) -> None:
    if not writer.is_closing():
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_OFF)
        writer.transport.abort()


def _spoilt(unit: bytes, fault: FrameFault | None) -> bytes:
    match fault:
        case "duplicate":
            return unit + unit
        case "drop":
            return b""
        case "truncate":
            return unit[: len(unit) // 2]
    return unit


async def _put(writer: asyncio.StreamWriter, data: bytes) -> None:
    if not writer.is_closing():
        writer.write(data)
        await writer.drain()


async def _units(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Yield the HTTP head, then every WebSocket frame whole."""
    yield await _until_upgraded(reader)
    buffer = bytearray()
    while data := await reader.read(_CHUNK):
        buffer += data
        while 0 < (size := _frame_size(buffer)) <= len(buffer):
            yield bytes(buffer[:size])
            del buffer[:size]


async def _until_upgraded(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as ended:
        return ended.partial


def _frame_size(buffer: bytearray) -> int:
    """Return the size of the first frame (RFC 6455 section 5.2); 0 when it cannot be told yet."""
    if len(buffer) < 2:
        return 0
    length, masked = buffer[1] & 0x7F, bool(buffer[1] & 0x80)
    extended = {126: 2, 127: 8}.get(length, 0)
    head = 2 + extended + 4 * masked
    if len(buffer) < head:
        return 0
    return head + (int.from_bytes(buffer[2 : 2 + extended], "big") if extended else length)
