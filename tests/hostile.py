"""WebSockets made by hand (RFC 6455) and frames signed by hand, for peers that keep to no rule.

A `Line` sends whatever bytes it is given, and tells with which close code the other side ended it.
A `Talk` is an honest `Link` on a line, up to the moment at which a test takes over.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from common import strict_json
from common.clock import SystemClock
from common.protocol.codec import framed
from common.protocol.link import AgentKnocked, Link, LinkEvent, Ready, Received
from common.signing import ENVELOPE, SigningKey, VerifyKey

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
CANARY = "CANARY-7f3a9c"  # in everything that must be refused: no log may hold it
PATIENCE = 30.0
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CLOCK = SystemClock()
EventT = TypeVar("EventT", bound=LinkEvent)


class Ended(Exception):  # noqa: N818 - it is the expected outcome, not an error
    """The other side ended the connection; ``code`` is 1006 when it did so without a word."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def packet(
    data: str | bytes, *, opcode: int = TEXT, fin: bool = True, rsv: int = 0, masked: bool = False
) -> bytes:
    """Return one WebSocket frame."""
    payload = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    bit, size = (0x80 if masked else 0), len(payload)
    if size < 126:
        head += bytes([bit | size])
    elif size < 65536:
        head += bytes([bit | 126]) + struct.pack(">H", size)
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", size)
    # A mask of zeros is a mask: the payload stays as it is.
    return head + (bytes(4) if masked else b"") + payload


@dataclass(eq=False)
class Line:
    """One end of a WebSocket.

    Attributes:
        masks: Whether this is the client's end.
        said: Every text that came.
    """

    open: ClassVar[list[Line]] = []

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    masks: bool = False
    path: str = ""
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Remember it, so that a test leaves none behind."""
        self.open.append(self)

    async def send(self, *texts: str | bytes) -> None:
        """Send text messages."""
        await self.send_raw(b"".join(packet(text, masked=self.masks) for text in texts))

    async def send_raw(self, data: bytes) -> None:
        """Send bytes; that the other side has gone by then is no failure."""
        with contextlib.suppress(OSError):
            self.writer.write(data)
            await self.writer.drain()

    async def receive(self, *, patience_s: float = PATIENCE) -> str:
        """Return the next text; raises `Ended`."""
        try:
            async with asyncio.timeout(patience_s):
                while True:
                    opcode, payload = await self._packet()
                    if opcode == TEXT:
                        self.said.append(payload.decode())
                        return self.said[-1]
                    if opcode == CLOSE:
                        raise Ended(struct.unpack(">H", payload[:2])[0] if payload else 1005)
        except TimeoutError:
            raise AssertionError("neither a word nor an end") from None
        except (asyncio.IncompleteReadError, OSError):
            raise Ended(1006) from None

    async def end(self, *, patience_s: float = PATIENCE) -> int:
        """Read to the end, hang up, and return the close code."""
        try:
            while True:
                await self.receive(patience_s=patience_s)
        except Ended as ended:
            return ended.code
        finally:
            self.hang_up()

    def stop_reading(self) -> None:
        """Take nothing more from the network."""
        transport = self.writer.transport
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()

    def hang_up(self) -> None:
        """End it at once."""
        self.writer.transport.abort()

    async def _packet(self) -> tuple[int, bytes]:
        first, second = await self.reader.readexactly(2)
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack(">H", await self.reader.readexactly(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", await self.reader.readexactly(8))
        mask = await self.reader.readexactly(4) if second & 0x80 else bytes(4)
        payload = await self.reader.readexactly(size)
        pairs = zip(payload, mask * (size // 4 + 1), strict=False)
        return first & 0x0F, bytes(byte ^ key for byte, key in pairs)


def hang_up_all() -> None:
    """End what a test left open."""
    while Line.open:
        Line.open.pop().hang_up()


async def head_of(reader: asyncio.StreamReader) -> dict[str, str]:
    """Read an HTTP head; ``""`` is its first line."""
    first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in rest if line)
    return {"": first} | {name.lower(): value.strip() for name, _, value in pairs}


async def upgrade(line: Line) -> None:
    """Answer a client's request for a WebSocket."""
    head = await head_of(line.reader)
    line.path = head[""].split()[1]
    key = hashlib.sha1(head["sec-websocket-key"].encode() + _MAGIC, usedforsecurity=False)
    accept = base64.b64encode(key.digest()).decode()
    await line.send_raw(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept.encode() + b"\r\n\r\n"
    )


def request(port: int, path: str, **headers: str) -> bytes:
    """Return a client's request for a WebSocket."""
    key = base64.b64encode(secrets.token_bytes(16)).decode()
    wanted = {
        "Host": f"127.0.0.1:{port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": key,
    } | headers
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in wanted.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def dial(port: int, path: str, *, source: str = "127.0.0.1", **headers: str) -> Line:
    """Open a WebSocket as a client; raises `Ended` with the HTTP status when it is refused."""
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, local_addr=(source, 0), limit=2**20
        )
        line = Line(reader, writer, masks=True)
        await line.send_raw(request(port, path, **headers))
        try:
            status = int((await head_of(reader))[""].split()[1])
        except (asyncio.IncompleteReadError, OSError):
            raise Ended(1006) from None
    if status != 101:
        line.hang_up()
        raise Ended(status)
    return line


class Talk:
    """An honest link on a line.

    Args:
        line: Open.
        link: Fresh.
        admits: For a gateway's end: the agent's key, and the last number kept from it.
    """

    def __init__(
        self, line: Line, link: Link, *, admits: tuple[VerifyKey, int] | None = None
    ) -> None:
        self.line = line
        self.link = link
        self.events: list[LinkEvent] = []
        self.sent: list[str] = []
        self.kept = admits[1] if admits else 0
        self.next_seq = 0
        self._admits = admits

    async def until(self, kind: type[EventT]) -> EventT:
        """Go on until an event of this kind, acknowledging what comes."""
        async with asyncio.timeout(PATIENCE):
            while True:
                await self.flush()
                while self.events:
                    event = self.events.pop(0)
                    if isinstance(event, kind):
                        return event
                self.link.receive(await self.line.receive(), _CLOCK.now())
                self.take_events()

    async def ready(self) -> Ready:
        """Finish the handshake."""
        return await self.until(Ready)

    async def flush(self) -> None:
        """Send what the link has to send."""
        if texts := self.link.data_to_send():
            self.sent += texts
            await self.line.send(*texts)

    async def is_healthy(self) -> bool:
        """Tell whether the other side answers a ping on this very line."""
        await self.line.send(json.dumps({"t": "ping", "n": 4242}))
        await self.flush()
        async with asyncio.timeout(PATIENCE):
            while True:
                text = await self.line.receive()
                if json.loads(text) == {"t": "pong", "n": 4242}:
                    return True
                self.link.receive(text, _CLOCK.now())
                self.take_events()
                await self.flush()

    def take_events(self) -> None:
        """Do what an honest side does with what has come."""
        for event in self.link.events():
            if isinstance(event, AgentKnocked) and self._admits:
                key, last_seq = self._admits
                self.link.admit(key, last_seq=last_seq, at=_CLOCK.now())
                self.take_events()
            if isinstance(event, Received):
                self.kept = event.envelope.header.seq
                self.link.ack(self.kept)
            self.events.append(event)


@dataclass(frozen=True, kw_only=True)
class Forge:
    """Signs envelopes as asked, right or wrong.

    Attributes:
        key: The signer's.
        iss: Of every header, unless changed.
        aud: The same.
    """

    key: SigningKey
    iss: str
    aud: str

    def seal(
        self,
        typ: str,
        seq: int,
        body: Mapping[str, Any] | str,
        *,
        key: SigningKey | None = None,
        label: bytes = ENVELOPE,
        t: str | None = None,
        spoil_body: bool = False,
        **header: Any,
    ) -> str:
        """Return a frame.

        Args:
            typ: Kind in the header.
            seq: Its number.
            body: A record, or the text itself.
            key: Signs; the forge's own when not given.
            label: Under which the signature is made.
            t: Kind on the outside; ``typ`` when not given.
            spoil_body: Change the body after it was signed.
            header: Replaces fields; None takes one out.
        """
        signer = key or self.key
        now = _CLOCK.now().wall_s
        record = {
            "typ": typ,
            "kid": self.key.public.key_id,
            "iss": self.iss,
            "aud": self.aud,
            "jti": secrets.token_hex(8),
            "seq": seq,
            "iat": now,
            "exp": now + 250,
        } | header
        head = strict_json.canonical({k: v for k, v in record.items() if v is not None}).decode()
        text = body if isinstance(body, str) else strict_json.canonical(dict(body)).decode()
        sig = signer.sign(label, framed(head.encode(), text.encode()))
        outside = {
            "t": t or typ,
            "header": head,
            "body": text.replace("{", "{ ", 1) if spoil_body else text,
            "sig": base64.b64encode(sig).decode(),
        }
        return strict_json.canonical(outside).decode()


SIGNATURE = base64.b64encode(bytes(64)).decode()
SHAPES: dict[str, dict[str, Any]] = {
    "challenge": {"body": "{}"},
    "hello": {"body": "{}", "sig": SIGNATURE},
    "ready": {"body": "{}", "sig": SIGNATURE},
    **{
        name: {"header": "{}", "body": "{}", "sig": SIGNATURE}
        for name in ("task", "cancel", "tombstone", "event", "result", "head", "rekey")
    },
    "ack": {"seq": 1, "sig": SIGNATURE},
    "ping": {"n": 1},
    "pong": {"n": 1},
    "error": {"code": "shutdown"},
}


def misshapen(name: str) -> dict[str, str]:
    """Return frames of one type that no reader may take, by what is wrong with them."""
    record = {"t": name, **SHAPES[name]}
    first = next(iter(SHAPES[name]))
    plain = json.dumps(record)
    deep = "[" * 3000 + "]" * 3000
    return {
        "a field more": json.dumps(record | {"extra": CANARY}),
        "a field less": json.dumps({k: v for k, v in record.items() if k != first}),
        "another type": json.dumps(record | {first: [CANARY]}),
        "a key twice": plain[:-1] + f',"{first}":"{CANARY}"}}',
        "NaN": plain[:-1] + ',"x":NaN}',
        "a float": plain[:-1] + ',"x":1e3}',
        "a huge number": plain[:-1] + ',"x":' + "9" * 400 + "}",
        "a lone surrogate": plain[:-1] + ',"x":"\\ud800"}',
        "nested deeply": plain[:-1] + f',"x":{deep}}}',
        "in a list": f"[{plain}]",
        "cut off": plain[: len(plain) // 2],
        "something after it": plain + plain,
        "not JSON": CANARY,
        "nothing": "",
    }
