"""The WebSocket endpoint that agents dial: refusals before the upgrade, then one session.

Browsers have no business here: any ``Origin`` header is refused (R13).  Compression is off: it
would cost seven times the memory per agent, and opens the door to compression bombs.

The places for sockets that have not proved anything yet (R13) are few, and held by nobody alone.
When a place is wanted and none is free, one is taken back: from the address that holds most of
them, so that somebody with a few addresses cannot keep others out; between equals, from whoever has
had time enough to prove itself.  An honest handshake takes two round trips.

Nobody is refused for where they dial from: many share an address, and each proves itself.  From an
address where many failed to, fewer at a time may try.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
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
from gateway.link import Deliveries
from gateway.link.hub import Hub
from gateway.link.session import Session

LINK_PATH: Final = "/agent/v1/link"
# After authentication (security limits).  Before it the Link itself allows 8 KiB; aiohttp fixes
# this bound when the socket opens, so 64 waiting sockets could make it hold 16 MiB at most.
MAX_FRAME_BYTES: Final = 256 * 1024
CLOSE_SECONDS: Final = 2.0
RETRY_AFTER: Final = "2"  # seconds; by then a place can be taken back (`PreauthPool`)
# Of one address, at once and afterwards, before fewer may try: each costs us a look into the store
# and a signature.  Far beyond what an office full of revoked machines makes.
FAILED_HANDSHAKES: Final = 400
FAILED_PER_SECOND: Final = 10
NONCE_BYTES: Final = 32
SESSION_ID_BYTES: Final = 16
_NEVER_SAID: Final = frozenset({WSMsgType.BINARY, WSMsgType.PING, WSMsgType.PONG})
PREAUTH_SOCKETS: Final = 64  # R13
PREAUTH_PER_ADDRESS: Final = 8  # R13 …
PREAUTH_REFUTED: Final = 2  # … and of one where too many failed
ENOUGH_SECONDS: Final = 2.0  # for a handshake, while others wait for the place


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
        refuted = self._failures.wait(address, mono) > 0
        leave = self._preauth.enter(address, mono=mono, evict=transport.abort, refuted=refuted)
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
            session = self._session(wire, request.remote or "", is_quiet=refuted)
            try:
                await self._hub.serve(session, proved=leave)
            finally:
                if session.is_refuted:
                    self._failures.count(address, self._clock.now().mono)
                if wire.malformed and not session.agent_id:
                    self._hub.admission.note("agent.malformed-frame", address=session.address)
            return socket
        finally:
            leave()

    def _session(self, wire: SocketWire, address: str, *, is_quiet: bool) -> Session:
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
            is_quiet=is_quiet,
            deliveries=self._deliveries,
            admission=self._hub.admission,
            clock=self._clock,
            log=self._log,
        )


class Slot:
    """One place; called, it is given back, however often that is.

    Kept as long as its connection, so it lets go of everything then.
    """

    __slots__ = ("_evict", "_pool", "address", "since")

    def __init__(
        self, pool: PreauthPool, address: str, *, since: float, evict: Callable[[], None]
    ) -> None:
        self.address = address
        self.since = since
        self._pool: PreauthPool | None = pool
        self._evict: Callable[[], None] | None = evict

    def __call__(self) -> None:
        """Give it back."""
        pool, self._pool, self._evict = self._pool, None, None
        if pool is not None:
            pool.forget(self)

    def evict(self) -> None:
        """Take it back, and close the socket that had it."""
        evict = self._evict
        self()
        if evict is not None:
            evict()


class PreauthPool:
    """Who waits, and from where.  All moments are of the monotonic clock."""

    def __init__(
        self, *, total: int = PREAUTH_SOCKETS, per_address: int = PREAUTH_PER_ADDRESS
    ) -> None:
        self._total = total
        self._per_address = per_address
        self._slots: dict[Slot, None] = {}  # the oldest first
        self._of: Counter[str] = Counter()

    def enter(
        self, address: str, *, mono: float, evict: Callable[[], None], refuted: bool = False
    ) -> Slot | None:
        """Take a place; None when there is none.

        Args:
            address: Whose socket it is.
            mono: Now.
            evict: Called at most once, when the place is taken back: the socket must close.
            refuted: Too many from there have failed.
        """
        limit = min(self._per_address, PREAUTH_REFUTED) if refuted else self._per_address
        if len(self._slots) >= self._total or self._of[address] >= limit:
            if (victim := self._victim(address, limit, mono)) is None:
                return None
            victim.evict()
        place = Slot(self, address, since=mono, evict=evict)
        self._slots[place] = None
        self._of[address] += 1
        return place

    def forget(self, place: Slot) -> None:
        """Free what `Slot` gives back."""
        del self._slots[place]
        self._of[place.address] -= 1
        if not self._of[place.address]:
            del self._of[place.address]

    def _victim(self, address: str, limit: int, mono: float) -> Slot | None:
        own = self._of[address]
        if own < limit:
            busiest, most = self._of.most_common(1)[0]
            if most > own + 1:
                return self._oldest(busiest)
        oldest = self._oldest(address if own >= limit else None)
        return oldest if mono - oldest.since >= ENOUGH_SECONDS else None

    def _oldest(self, address: str | None) -> Slot:
        return next(place for place in self._slots if address in (None, place.address))
