"""Callbacks as WeCom sends them, made before anything is measured, and a client that posts them.

The encryption is the simulator's, which shares no code with the gateway's.  The client costs about
a quarter of what it asks of a server: bytes made beforehand go out, and an answer is not parsed.
"""

from __future__ import annotations

import asyncio
import random
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.simulator.config import AppConfig
from gateway.simulator.crypto import SimulatedCrypto

TEXTS: Final = (
    "@dev run the tests of the payment module",
    "@dev search parse_config",
    "@dev review the changes since yesterday, please",
    "@dev 跑一下支付模块的测试",
)
_GOOD: Final = b"HTTP/1.1 200 "


def messages_of(users: Sequence[str], each: int, order: random.Random) -> list[tuple[str, int]]:
    """Return so many numbered messages of each user, no number twice, in a random order."""
    messages = [
        (user, index * each + number) for index, user in enumerate(users) for number in range(each)
    ]
    order.shuffle(messages)
    return messages


def plain_of(config: AppConfig, user: str, number: int) -> bytes:
    """Return the message of a member as WeCom writes it (page 90239)."""
    return (
        f"<xml><ToUserName><![CDATA[{config.corp_id}]]></ToUserName>"
        f"<FromUserName><![CDATA[{user}]]></FromUserName>"
        f"<CreateTime>{int(time.time())}</CreateTime><MsgType><![CDATA[text]]></MsgType>"
        f"<Content><![CDATA[{TEXTS[number % len(TEXTS)]} ({number})]]></Content>"
        f"<MsgId>{7_000_000_000_000_000_000 + number}</MsgId>"
        f"<AgentID>{config.app_id}</AgentID></xml>"
    ).encode()


def callbacks(config: AppConfig, messages: Sequence[tuple[str, int]]) -> list[bytes]:
    """Return one HTTP request for each ``(user, number)``, signed and encrypted for now."""
    crypto = SimulatedCrypto(config.token, config.encoding_aes_key, config.corp_id)
    made = []
    for user, number in messages:
        random16 = number.to_bytes(16, "big")
        encrypted = crypto.encrypt(plain_of(config, user, number), random16)
        timestamp, nonce = str(int(time.time())), f"{number:016x}"
        signature = crypto.signature(timestamp, nonce, encrypted)
        query = f"msg_signature={signature}&timestamp={timestamp}&nonce={nonce}"
        body = (
            f"<xml><ToUserName><![CDATA[{config.corp_id}]]></ToUserName>"
            f"<AgentID><![CDATA[{config.app_id}]]></AgentID>"
            f"<Encrypt><![CDATA[{encrypted}]]></Encrypt></xml>"
        ).encode()
        made.append(_post(f"/wecom/app?{query}", body))
    return made


def _post(target: str, body: bytes) -> bytes:
    head = (
        f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Mozilla/4.0\r\nAccept: */*\r\n"
        f"Content-Type: text/xml\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


BARE_REQUEST: Final = _post(f"/wecom/app?nonce={'x' * 120}", b"x" * 700)  # nobody looks at it


@dataclass
class Load:
    """What came of one slice of requests.

    Attributes:
        good: Answers with status 200.
        seconds: From the first request to the last answer.
        apart: The seconds that each answer took: where ``look`` said no, and where it said yes.
    """

    good: int = 0
    bad: int = 0
    seconds: float = 0.0
    apart: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))


class _Client(asyncio.Protocol):
    """One connection that is never idle until the slice is over."""

    def __init__(
        self, load: Load, requests: Iterator[bytes], until: float, look: Callable[[], bool]
    ) -> None:
        self._load = load
        self._look = look
        self._requests = requests
        self._until = until
        self._sent_at = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the first time."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        """Note the answer, which is so short that it comes in one piece, and ask again."""
        self._load.apart[self._look()].append(time.perf_counter() - self._sent_at)
        if data.startswith(_GOOD):
            self._load.good += 1
        else:
            self._load.bad += 1
        self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        """End, also when the server ended it."""
        if not self.done.done():
            self.done.set_result(None)

    def _ask(self) -> None:
        self._sent_at = time.perf_counter()
        request = next(self._requests, None) if self._sent_at < self._until else None
        if request is None:
            self._transport.close()
        else:
            self._transport.write(request)


def press(
    port: int,
    requests: Iterator[bytes],
    *,
    connections: int,
    seconds: float,
    look: Callable[[], bool],
) -> Load:
    """Post on all connections at once until the time is up or nothing is left to post.

    Args:
        port: Where to.
        requests: What to post.
        connections: How many.
        seconds: For how long.
        look: Asked at each answer.
    """

    async def run() -> Load:
        load = Load()
        begun = time.perf_counter()
        clients = [_Client(load, requests, begun + seconds, look) for _ in range(connections)]
        loop = asyncio.get_running_loop()
        for client in clients:
            await loop.create_connection(lambda client=client: client, "127.0.0.1", port)  # type: ignore[misc]  # mypy cannot type a lambda's default
        await asyncio.gather(*(client.done for client in clients))
        load.seconds = time.perf_counter() - begun
        return load

    return asyncio.run(run())


def one_by_one(
    port: int, requests: Iterator[bytes], *, seconds: float, look: Callable[[], bool]
) -> tuple[list[float], list[float]]:
    """Post one after the other on one connection.

    Args:
        port: Where to.
        requests: What to post.
        seconds: For how long.
        look: Asked right before each request and right after its answer.

    Returns:
        The seconds to each answer: where ``look`` said no both times, and where it did not.
    """
    apart: tuple[list[float], list[float]] = ([], [])
    until = time.perf_counter() + seconds
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for request in requests:
            before = look()
            begun = time.perf_counter()
            connection.sendall(request)
            answer = connection.recv(4096)
            took = time.perf_counter() - begun
            assert answer.startswith(_GOOD), answer[:200]
            apart[before or look()].append(took)
            if time.perf_counter() > until:
                break
    return apart
