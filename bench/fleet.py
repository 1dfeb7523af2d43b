"""Thousands of scripted agents in one lean process, told what to do over its pipes.

    python -m bench.fleet  < one JSON command a line  > one JSON answer a line

The agents of a gateway are real where it counts: a real `Link` with a real key, every signature
made and checked.  They keep nothing, and acknowledge at once.  The agents of a bare relay only take
texts.  Both speak WebSocket through the same few lines, so that what is measured is the other side.
The fleet also posts the callbacks, so that one clock tells how long a delivery took.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import secrets
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

from bench.enrolment import agent_id, agent_key
from common.clock import SystemClock
from common.ids import new_uuid
from common.protocol.envelope import agent_name, gateway_name, seal_envelope
from common.protocol.link import Closed, Link, LinkEvent, Ready, Received
from common.signing import VerifyKey
from gateway.link.endpoint import LINK_PATH

# R13 lets 64 sockets wait for their proof; who asks for more is told to come again later.
KNOCKING: Final = 48
DAY_S: Final = 86_400
ROUND_S: Final = 1.0  # in which every agent looks at its deadline …
SHARES: Final = 100  # … in turns, so that nothing is held up
LOST_AFTER_S: Final = 20.0
POSTERS: Final = 16  # connections on which callbacks come, unless more are asked for
SPACING_S: Final = 0.002  # between two posts that are late

_CLOCK = SystemClock()


class Line(asyncio.Protocol, ABC):
    """The client's end of one WebSocket, texts only."""

    def __init__(self, fleet: Fleet, number: int) -> None:
        self.fleet = fleet
        self.number = number
        self.ready: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.gone = asyncio.Event()
        self.transport: asyncio.Transport | None = None
        self._upgraded = False
        self._buffer = b""

    path = "/"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the upgrade."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(
            f"GET {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        """Take in the answer to the upgrade, then frames."""
        self._buffer += data
        if not self._upgraded:
            head, end, self._buffer = self._buffer.partition(b"\r\n\r\n")
            if not end:
                self._buffer = head
                return
            if not head.startswith(b"HTTP/1.1 101 "):
                self.close()
                return
            self._upgraded = True
            self.opened()
        while (text := self._next_text()) is not None:
            self.received(text)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the fleet."""
        self.transport = None
        self.gone.set()
        if not self.ready.done():
            self.ready.set_result(False)
        self.fleet.lines.pop(self.number, None)

    def send(self, text: str) -> None:
        """Send a text; the mask is all zeros, which leaves the bytes as they are."""
        data = text.encode()
        size = len(data)
        head = bytes((0x81, 0x80 | size)) if size < 126 else b"\x81\xfe" + size.to_bytes(2, "big")
        assert size < 1 << 16
        if self.transport is not None:
            self.transport.write(head + bytes(4) + data)

    def close(self) -> None:
        """Cut the line."""
        if self.transport is not None:
            self.transport.abort()

    def tick(self) -> None:
        """Do what is due."""

    @abstractmethod
    def opened(self) -> None:
        """The socket is open."""

    @abstractmethod
    def received(self, text: str) -> None:
        """A text came."""

    def _next_text(self) -> str | None:
        while len(self._buffer) >= 2:
            opcode, size, start = self._buffer[0] & 15, self._buffer[1], 2
            if size == 126:
                size, start = int.from_bytes(self._buffer[2:4], "big"), 4
            if len(self._buffer) < start + size:
                return None
            data, self._buffer = self._buffer[start : start + size], self._buffer[start + size :]
            if opcode == 1:
                return data.decode()
            if opcode == 9 and self.transport is not None:  # ping
                self.transport.write(bytes((0x8A, 0x80 | size)) + bytes(4) + data)
            if opcode == 8:
                self.close()
        return None


class GatewayLine(Line):
    """An agent of the product: proves itself, reports on its first task, acknowledges all."""

    path = LINK_PATH

    def opened(self) -> None:
        """Wait for the challenge."""
        self._key = agent_key(self.number)
        self._link = Link.for_agent(
            self._key,
            agent_id=agent_id(self.number),
            gateway_key=self.fleet.gateway_key,
            url=self.fleet.url,
            last_seq=self.fleet.kept.get(self.number, 0),
            nonce=secrets.token_bytes(32),
            at=_CLOCK.now(),
        )

    def received(self, text: str) -> None:
        """Let the link have it."""
        self._link.receive(text, _CLOCK.now())
        for event in self._link.events():
            self._on(event)
        for answer in self._link.data_to_send():
            self.send(answer)

    def tick(self) -> None:
        """Keep the heartbeat."""
        if self.ready.done():
            self._link.tick(_CLOCK.now())
            for text in self._link.data_to_send():
                self.send(text)

    def _on(self, event: LinkEvent) -> None:
        match event:
            case Ready():
                self.ready.set_result(True)
            case Received(envelope):
                self.fleet.delivered(str(envelope.body.get("text", "")))
                self._link.ack(envelope.header.seq)
                self.fleet.kept[self.number] = envelope.header.seq
                if envelope.header.seq == 1:
                    self._link.send(self._report(str(envelope.body["task_id"])))
            case Closed():
                self.close()
            case _:
                pass

    def _report(self, task_id: str) -> bytes:
        now = _CLOCK.now()
        return seal_envelope(
            self._key,
            typ="event",
            iss=agent_name(agent_id(self.number)),
            aud=gateway_name(self.fleet.gateway_key),
            jti=new_uuid(),
            seq=1,
            iat=now.wall_s,
            exp=now.wall_s + DAY_S,
            body={
                "task_id": task_id,
                "state": "ROUTED",
                "message": "",
                "waiting": None,
                "at": now.wall_ms,
            },
        ).frame


class RelayLine(Line):
    """An agent of a bare relay: says hello, hears hello, then takes what comes."""

    @property
    def path(self) -> str:  # type: ignore[override]
        """Where the relay knows the agent by its number."""
        return f"/agent/{self.number}"

    def opened(self) -> None:
        """Say one text, so that one has gone each way."""
        self.send("hello")

    def received(self, text: str) -> None:
        """Note it."""
        if not self.ready.done():
            self.ready.set_result(True)
        self.fleet.delivered(text)


class Poster(asyncio.Protocol):
    """One connection on which callbacks are posted, one after the other."""

    def __init__(self, idle: asyncio.Queue[Poster]) -> None:
        self._idle = idle
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be ready."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._idle.put_nowait(self)

    def post(self, request: bytes) -> None:
        """Send one request."""
        assert self._transport is not None
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Take the answer, which is short and comes whole."""
        assert data.startswith(b"HTTP/1.1 200 "), data
        self._idle.put_nowait(self)


class Fleet:
    """All agents of one server."""

    def __init__(self, *, kind: str, port: int, url: str, gateway_key: str) -> None:
        self.port = port
        self.url = url
        self._gateway_key = VerifyKey(bytes.fromhex(gateway_key)) if gateway_key else None
        self.lines: dict[int, Line] = {}
        self.kept: dict[int, int] = {}
        self._make: Callable[[Fleet, int], Line] = GatewayLine if kind == "gateway" else RelayLine
        self._sent: dict[str, float] = {}
        self._took: list[float] = []
        self._came: list[float] = []
        self._due = 0
        self._posters = 0
        self._all_came = asyncio.Event()
        self._idle: asyncio.Queue[Poster] = asyncio.Queue()
        self._refused = 0
        self._made = 0

    @property
    def gateway_key(self) -> VerifyKey:
        """What its agents pin."""
        assert self._gateway_key is not None
        return self._gateway_key

    async def run(self, commands: asyncio.StreamReader) -> None:
        """Do as told until there is nothing more to read."""
        heart = asyncio.create_task(self._beat())
        while line := await commands.readline():
            command: dict[str, Any] = json.loads(line)
            answer = await getattr(self, "do_" + command.pop("do"))(**command)
            print(json.dumps(answer), flush=True)
        heart.cancel()

    async def do_connect(self, *, first: int, count: int) -> dict[str, float]:
        """Connect agents, each from an address of its own, as many at a time as may knock."""
        begun = time.perf_counter()
        self._refused, self._made = 0, first + count
        numbers = iter(range(first, first + count))
        await asyncio.gather(*(self._connect_each(numbers) for _ in range(KNOCKING)))
        return {"seconds": time.perf_counter() - begun, "refused": self._refused}

    async def do_cut(self) -> dict[str, int]:
        """Cut every line at once."""
        lines = list(self.lines.values())
        for line in lines:
            line.close()
        await asyncio.gather(*(line.gone.wait() for line in lines))
        return {"cut": len(lines)}

    async def do_deliver(
        self, *, requests: list[str], marks: list[str], rate: float, posters: int = POSTERS
    ) -> dict[str, Any]:
        """Post callbacks at a steady rate; return the microseconds until each was delivered.

        Of all together there are the seconds until the first came, and until the last one did.
        """
        self._sent, self._took, self._came, self._due = {}, [], [], len(marks)
        self._all_came.clear()
        await self._open_posters(posters)
        begun = time.perf_counter()
        for number, (request, mark) in enumerate(zip(requests, marks, strict=True)):
            await asyncio.sleep(max(0.0, begun + number / rate - time.perf_counter()))
            poster = await self._idle.get()
            self._sent[mark] = time.perf_counter()
            poster.post(request.encode("latin-1"))
        try:
            async with asyncio.timeout(LOST_AFTER_S):
                await self._all_came.wait()
        except TimeoutError:
            pass
        return {
            "us": [round(seconds * 1e6) for seconds in self._took],
            "lost": len(self._sent),
            "first_s": self._came[0] - begun if self._came else None,
            "last_s": self._came[-1] - begun if self._came else None,
        }

    def delivered(self, text: str) -> None:
        """Note the moment when a text with a mark came."""
        sent = self._sent.pop(text.rpartition(" ")[2], None)
        if sent is not None:
            self._came.append(time.perf_counter())
            self._took.append(self._came[-1] - sent)
            if len(self._took) == self._due:
                self._all_came.set()

    async def _connect_each(self, numbers: Any) -> None:
        for number in numbers:
            while not await self._connect(number):
                self._refused += 1
                await asyncio.sleep(SPACING_S)

    async def _connect(self, number: int) -> bool:
        line = self._make(self, number)
        self.lines[number] = line
        address = f"127.{1 + number // 62_500}.{number // 250 % 250}.{number % 250 + 1}"
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: line, "127.0.0.1", self.port, local_addr=(address, 0)
            )
        except OSError:
            return False
        return await line.ready

    async def _open_posters(self, wanted: int) -> None:
        while self._posters < wanted:
            self._posters += 1
            await asyncio.get_running_loop().create_connection(
                lambda: Poster(self._idle), "127.0.0.1", self.port
            )

    async def _beat(self) -> None:
        for share in itertools.cycle(range(SHARES)):
            await asyncio.sleep(ROUND_S / SHARES)
            for number in range(share, self._made, SHARES):
                if line := self.lines.get(number):
                    line.tick()


async def main() -> None:
    """Read who to be, then obey."""
    gc.disable()  # a pause of ours, with ten thousand agents, would be measured as the server's
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader(limit=1 << 26)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    fleet = Fleet(**json.loads(await commands.readline()))
    await fleet.run(commands)


if __name__ == "__main__":
    asyncio.run(main())
