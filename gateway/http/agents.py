"""The WebSocket endpoint that agents dial: refusals before the upgrade, then one session.

Browsers have no business here: any ``Origin`` header is refused (R13).  Compression is off: it
would cost seven times the memory per agent, and opens the door to compression bombs.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

from aiohttp import WSMsgType, web

from common.clock import Clock
from common.logs import Log
from common.protocol.link import Link
from common.signing import SigningKey
from gateway.http.middleware import owner_of
from gateway.relay.hub import Hub, Lobby
from gateway.relay.ports import Deliveries
from gateway.relay.session import Session, Threshold

LINK_PATH: Final = "/agent/v1/link"
# After authentication (security limits).  Before it the Link itself allows 8 KiB; aiohttp fixes
# this bound when the socket opens, so 64 waiting sockets could make it hold 16 MiB at most.
MAX_FRAME_BYTES: Final = 256 * 1024
CLOSE_SECONDS: Final = 2.0
NONCE_BYTES: Final = 32
SESSION_ID_BYTES: Final = 16


class SocketWire:
    """An aiohttp WebSocket as the session wants it."""

    __slots__ = ("_socket", "_transport")

    def __init__(self, socket: web.WebSocketResponse, transport: asyncio.Transport | None) -> None:
        self._socket = socket
        self._transport = transport

    async def receive(self) -> str | None:
        """Return the next text; None at the end and for anything that is not text."""
        message = await self._socket.receive()
        return message.data if message.type is WSMsgType.TEXT else None

    async def send(self, text: str) -> None:
        """Send one text.

        Raises:
            OSError: the peer is gone.
        """
        await self._socket.send_str(text)

    async def close(self) -> None:
        """Close within four seconds: politely, or, when the peer reads nothing, by force."""
        try:
            # Beyond aiohttp's own wait for the answer: the close frame itself may find no room.
            async with asyncio.timeout(2 * CLOSE_SECONDS):
                await self._socket.close()
        except TimeoutError:
            if self._transport is not None:
                self._transport.abort()


class AgentEndpoint:
    """Answers one path with sessions.

    Args:
        key: The gateway's own key.
        url: The public URL that the agent must have dialled; it is part of the transcript.
    """

    def __init__(
        self,
        key: SigningKey,
        url: str,
        *,
        hub: Hub,
        lobby: Lobby,
        deliveries: Deliveries,
        clock: Clock,
        log: Log,
    ) -> None:
        self._key = key
        self._url = url
        self._hub = hub
        self._lobby = lobby
        self._deliveries = deliveries
        self._clock = clock
        self._log = log

    def routes(self) -> list[web.RouteDef]:
        """Return the one route."""
        return [web.get(LINK_PATH, self.handle, allow_head=False)]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one agent from its handshake to its end."""
        if "Origin" in request.headers:
            return web.Response(status=403)
        leave = self._lobby.enter(owner_of(request.remote or ""))
        if leave is None:
            return web.Response(status=503, headers={"Retry-After": "10"})
        try:
            socket = web.WebSocketResponse(
                compress=False, max_msg_size=MAX_FRAME_BYTES, timeout=CLOSE_SECONDS
            )
            await socket.prepare(request)
            wire = SocketWire(socket, request.transport)
            await self._hub.serve(lambda at: self._session(wire, at), proved=leave)
            return socket
        finally:
            leave()

    def _session(self, wire: SocketWire, threshold: Threshold) -> Session:
        link = Link.for_gateway(
            self._key,
            self._url,
            nonce=secrets.token_bytes(NONCE_BYTES),
            session_id=secrets.token_hex(SESSION_ID_BYTES),
            at=self._clock.now(),
        )
        return Session(
            wire,
            link,
            deliveries=self._deliveries,
            threshold=threshold,
            clock=self._clock,
            log=self._log,
        )
