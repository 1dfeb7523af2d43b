"""The WebSocket endpoint that agents dial: refusals before the upgrade, then one session.

Browsers have no business here: any ``Origin`` header is refused (R13).  Compression is off: it
would cost seven times the memory per agent, and opens the door to compression bombs.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from typing import Final

from aiohttp import WSMsgType, web

from common.clock import Clock
from common.logs import Log
from common.protocol.flow_control import DEADLINES, Deadlines
from common.protocol.link import Link
from common.protocol.link_events import UNSUPPORTED
from common.signing import SigningKey
from gateway.base.addresses import FailureLimit, owner_of
from gateway.link.hub import Hub
from gateway.link.ports import Deliveries
from gateway.link.preauth import PreauthPool
from gateway.link.session import Session

LINK_PATH: Final = "/agent/v1/link"
# After authentication (security limits).  Before it the Link itself allows 8 KiB; aiohttp fixes
# this bound when the socket opens, so 64 waiting sockets could make it hold 16 MiB at most.
MAX_FRAME_BYTES: Final = 256 * 1024
CLOSE_SECONDS: Final = 2.0
RETRY_AFTER: Final = "2"  # seconds; by then a place can be taken back (`PreauthPool`)
# Of one address, at once and afterwards: each costs us a look into the store and a signature.  Far
# beyond what an office full of revoked machines makes, and far below what holds others up.
FAILED_HANDSHAKES: Final = 400
FAILED_PER_SECOND: Final = 10
NONCE_BYTES: Final = 32
SESSION_ID_BYTES: Final = 16
_NEVER_SAID: Final = frozenset({WSMsgType.BINARY, WSMsgType.PING, WSMsgType.PONG})


class SocketWire:
    """An aiohttp WebSocket as the session wants it.

    Attributes:
        malformed: Whether anything came that an agent never sends, such as a binary message.
    """

    __slots__ = ("_socket", "_transport", "malformed")

    def __init__(self, socket: web.WebSocketResponse, transport: asyncio.Transport | None) -> None:
        self._socket = socket
        self._transport = transport
        self.malformed = False

    async def receive(self) -> str | None:
        """Return the next text; None at the end and for anything that is not text."""
        message = await self._socket.receive()
        if message.type is WSMsgType.TEXT:
            return str(message.data)
        self.malformed = message.type in _NEVER_SAID or message.type is WSMsgType.ERROR
        if message.type in _NEVER_SAID:
            await self.close(UNSUPPORTED)
        return None

    async def send(self, text: str) -> None:
        """Send one text.

        Raises:
            OSError: the peer is gone.
        """
        await self._socket.send_str(text)

    async def close(self, code: int) -> None:
        """Close within four seconds: politely, or, when the peer reads nothing, by force."""
        try:
            # Beyond aiohttp's own wait for the answer: the close frame itself may find no room.
            async with asyncio.timeout(2 * CLOSE_SECONDS):
                await self._socket.close(code=code)
        except TimeoutError:
            if self._transport is not None:
                self._transport.abort()


class AgentEndpoint:
    """Answers one path with sessions.

    Args:
        keys: Gives the gateway's own keys, the current one first.
        url: The public URL that the agent must have dialled; it is part of the transcript.
        deadlines: How long an agent may be silent.
    """

    def __init__(
        self,
        keys: Callable[[], Sequence[SigningKey]],
        url: str,
        *,
        hub: Hub,
        preauth: PreauthPool,
        deliveries: Deliveries,
        clock: Clock,
        log: Log,
        deadlines: Deadlines = DEADLINES,
    ) -> None:
        self._keys = keys
        self._url = url
        self._hub = hub
        self._preauth = preauth
        self._deliveries = deliveries
        self._clock = clock
        self._log = log
        self._deadlines = deadlines
        self._failures = FailureLimit(
            failures=FAILED_HANDSHAKES, seconds_per_failure=1 / FAILED_PER_SECOND
        )

    def routes(self) -> list[web.RouteDef]:
        """Return the one route."""
        return [web.get(LINK_PATH, self.handle, allow_head=False)]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one agent from its handshake to its end."""
        if "Origin" in request.headers:
            return web.Response(status=403)
        transport = request.transport
        if transport is None:
            return web.Response(status=400)  # it is gone already
        address, mono = owner_of(request.remote or ""), self._clock.now().mono
        if self._failures.wait(address, mono) > 0:
            return web.Response(status=503, headers={"Retry-After": RETRY_AFTER})
        leave = self._preauth.enter(address, mono=mono, evict=transport.abort)
        if leave is None:
            return web.Response(status=503, headers={"Retry-After": RETRY_AFTER})
        try:
            socket = web.WebSocketResponse(
                compress=False,
                autoping=False,  # the link has its own heartbeat; this one anybody could flood
                max_msg_size=MAX_FRAME_BYTES + 1,  # aiohttp refuses what reaches it
                timeout=CLOSE_SECONDS,
            )
            await socket.prepare(request)
            wire = SocketWire(socket, request.transport)
            session = self._session(wire, request.remote or "")
            try:
                await self._hub.serve(session, proved=leave)
            finally:
                if session.epoch is None:
                    self._failures.count(address, self._clock.now().mono)
                if wire.malformed and not session.agent_id:
                    self._hub.admission.note("agent.malformed-frame", address=session.address)
            return socket
        finally:
            leave()

    def _session(self, wire: SocketWire, address: str) -> Session:
        current, *older = self._keys()
        link = Link.for_gateway(
            current,
            self._url,
            nonce=secrets.token_bytes(NONCE_BYTES),
            session_id=secrets.token_hex(SESSION_ID_BYTES),
            at=self._clock.now(),
            older=older,
            deadlines=self._deadlines,
        )
        return Session(
            wire,
            link,
            address=address,
            deliveries=self._deliveries,
            admission=self._hub.admission,
            clock=self._clock,
            log=self._log,
        )
