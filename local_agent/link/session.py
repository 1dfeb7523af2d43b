"""One connection to the gateway, from its first frame to its last: moves frames, decides nothing.

What is received is journaled before it is acknowledged, and begun only after that; what is to be
sent comes from the journal and stays there until it is acknowledged.  So a connection may break at
any instant and nothing is lost (P3).  The rules of the link are in `common.protocol.link`.

What the journal may not grow by for now is held here, unacknowledged, and tried again; a cancel
among it is obeyed at once.  When too much is held, nothing more is read.

The WebSocket is bounded where the library trusts the other side.  It answers pings and puts
fragments together by itself, before a `Link` sees anything: a gateway that sends those without end,
or never reads the answers, must cost no memory and no time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidProxy
from websockets.frames import Frame
from websockets.http11 import Response
from websockets.protocol import State

from common.clock import Clock, Instant
from common.errors import RemoteProtocolError, UnavailableError
from common.protocol import link_events
from common.protocol.envelope import SKEW_S, Envelope
from common.protocol.flow_control import HONEST, Meter
from common.protocol.link import Acked, Closed, Link, LinkState, Ready, Received

BATCH: Final = 64  # reports read from the journal at a time
SEND_SECONDS: Final = 10.0  # a gateway that reads nothing for so long is gone
RETRY_SECONDS: Final = 1.0  # between two tries to take in what is held
HELD: Final = 2_048  # messages; an honest gateway has that many on their way at most …
HELD_BYTES: Final = 4 * 1024 * 1024  # … and frames of so many bytes


class Inbound(Protocol):
    """Where signed messages go."""

    async def last_seq(self) -> int:
        """Return the number of the last message that is in the journal."""
        ...

    async def keep(self, envelope: Envelope) -> None:
        """Write it to the journal; when this returns it may be acknowledged.

        Raises:
            UnavailableError: nothing was written; it is to be tried again later.
        """
        ...

    async def obey_ahead(self, envelope: Envelope) -> None:
        """Act on a cancel that cannot be kept yet; on anything else, do nothing."""
        ...

    async def begin(self, envelope: Envelope) -> None:
        """Act on what was kept and acknowledged; must not wait for the outcome."""
        ...


class Outbound(Protocol):
    """Where signed reports come from."""

    async def unsent(self, after: int, limit: int) -> Sequence[tuple[int, bytes]]:
        """Return ``(seq, frame)`` above ``after``, in order."""
        ...

    async def acked(self, seq: int) -> None:
        """Forget everything up to ``seq``.

        Raises:
            RemoteProtocolError: the gateway acknowledged what was never sent.
        """
        ...


class Socket(Protocol):
    """What a session needs of a WebSocket."""

    async def recv(self) -> str | bytes:
        """Return the next message."""
        ...

    async def send(self, message: str) -> None:
        """Send one text message."""
        ...

    async def close(self, code: int = 1000) -> None:
        """Say goodbye."""
        ...


class Session:
    """One `Link` on one socket.

    Args:
        socket: Open, and its own.
        link: Fresh.
        inbound: Where signed messages go.
        outbound: Where signed reports come from.
        news: Set when the journal holds something new to send.
        clock: Tells the moment.
        on_ready: Called once both sides are proven, with the gateway's name of the connection.
        on_held: Called with why messages are held, an error's code, or "" when no longer.
    """

    def __init__(
        self,
        socket: Socket,
        link: Link,
        *,
        inbound: Inbound,
        outbound: Outbound,
        news: asyncio.Event,
        clock: Clock,
        on_ready: Callable[[str], None],
        on_held: Callable[[str], None],
    ) -> None:
        self._socket = socket
        self._link = link
        self._inbound = inbound
        self._outbound = outbound
        self._news = news
        self._clock = clock
        self._on_ready = on_ready
        self._on_held = on_held
        self._held: deque[Envelope] = deque()
        self._held_bytes = 0
        self._retry: asyncio.TimerHandle | None = None
        self._pace = Meter()
        self._sent = 0

    async def pump(self) -> Closed:
        """Move frames until the link closes, and return how it did.

        Raises:
            websockets.ConnectionClosed: the socket went away first.
            TimeoutError: the gateway does not read.
            CodexBridgeError: the journal refused; nothing was acknowledged.
        """
        receiving = asyncio.ensure_future(self._socket.recv())
        waking = asyncio.ensure_future(self._news.wait())
        try:
            while True:
                is_full = len(self._held) >= HELD or self._held_bytes >= HELD_BYTES
                await self._wait(*([] if is_full else [receiving]), waking)
                if receiving.done() and not is_full:
                    self._take(receiving.result())
                    receiving = asyncio.ensure_future(self._socket.recv())
                self._link.tick(self._now())
                if (closed := await self._settle()) is not None:
                    return closed
                if waking.done():
                    self._news.clear()
                    waking = asyncio.ensure_future(self._news.wait())
                    await self._take_held()
                    await self._send_reports()
        except asyncio.CancelledError:
            self._link.close("shutdown")
            # A line that is lost at this very moment must not keep us from stopping.
            with suppress(ConnectionClosed, OSError):
                await self._flush()
            raise
        finally:
            receiving.cancel()
            waking.cancel()
            await asyncio.gather(receiving, waking, return_exceptions=True)

    async def _wait(self, *reasons: asyncio.Future[Any]) -> None:
        deadline = self._link.next_deadline()
        timeout = None if deadline is None else max(0.0, deadline - self._now().mono)
        await asyncio.wait(reasons, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)

    def _take(self, message: str | bytes) -> None:
        if isinstance(message, str):
            self._link.receive(message, self._now())
        else:
            self._link.close("protocol")  # the link is text

    async def _settle(self) -> Closed | None:
        await self._flush()
        while events := self._link.events():
            for event in events:
                match event:
                    case Ready():
                        await self._begin(event)
                    case Received():
                        await self._receive(event.envelope)
                    case Acked(seq) if seq > self._sent:
                        self._link.close("protocol")  # of what was never sent
                    case Acked(seq):
                        await self._outbound.acked(seq)
                    case Closed():
                        await self._socket.close(self._link.close_code)
                        return event
        return None

    async def _begin(self, ready: Ready) -> None:
        try:
            await self._outbound.acked(ready.peer_last_seq)
        except RemoteProtocolError:
            # The gateway keeps more of ours than this journal ever sent, or less than it once
            # acknowledged: one of the two was put back to an older state.  Numbers would be given
            # out twice: an alarm, never silence.
            return self._link.close("sequence-gap")
        self._sent = ready.peer_last_seq
        self._on_ready(ready.session_id)
        return await self._send_reports()

    async def _receive(self, envelope: Envelope) -> None:
        self._held.append(envelope)
        self._held_bytes += len(envelope.frame)
        if len(self._held) > 1:
            await self._inbound.obey_ahead(envelope)
        else:
            await self._take_held()

    async def _take_held(self) -> None:
        while self._held:
            envelope = self._held[0]
            if self._now().wall_s > envelope.header.exp + SKEW_S:  # by now
                envelope = replace(envelope, expired=True)
            try:
                await self._take_in(envelope)
            except UnavailableError as error:
                if error.code == "inbox.too-many-keys":
                    self._link.close("congested")
                    return await self._flush()
                self._on_held(error.code)
                if self._retry is not None:
                    self._retry.cancel()
                self._retry = asyncio.get_running_loop().call_later(RETRY_SECONDS, self._news.set)
                return await self._inbound.obey_ahead(envelope)
            self._held.popleft()
            self._held_bytes -= len(envelope.frame)
            for later in self._held:
                if later.body.get("task_id") == envelope.body.get("task_id"):
                    await self._inbound.obey_ahead(later)
        return self._on_held("")

    async def _take_in(self, envelope: Envelope) -> None:
        await self._inbound.keep(envelope)
        self._link.ack(envelope.header.seq)
        try:
            await self._flush()
        finally:
            # What is in the journal never comes again: begun now, whatever became of the line.
            await self._inbound.begin(envelope)
        if envelope.header.typ == "rekey":
            self._link.close("rekeyed")  # what follows is signed with the key that is pinned now
            await self._flush()

    async def _send_reports(self) -> None:
        while self._link.state is LinkState.READY:
            batch = await self._outbound.unsent(self._sent, BATCH)
            paced = list(takewhile(self._is_in_time, batch))
            for seq, frame in paced:
                self._link.send(frame)
                self._sent = seq
            await self._flush()
            if len(paced) < BATCH:
                return

    def _is_in_time(self, report: tuple[int, bytes]) -> bool:
        # After a long absence there may be more to say than the gateway takes at once.
        mono, size = self._now().mono, HONEST * len(report[1])
        if self._pace.spend(frames=HONEST, size=size, mono=mono):
            return True
        wait_s = self._pace.wait_s(frames=HONEST, size=size, mono=mono)
        asyncio.get_running_loop().call_later(wait_s, self._news.set)
        return False

    async def _flush(self) -> None:
        if texts := self._link.data_to_send():
            # The link's own deadlines stand still meanwhile: nobody looks at the clock.
            async with asyncio.timeout(SEND_SECONDS):
                for text in texts:
                    await self._socket.send(text)

    def _now(self) -> Instant:
        return self._clock.now()


# --- the WebSocket, bounded ------------------------------------------------------------------

CLOSE_SECONDS: Final = 2.0
_PROXIES: Final = ("http", "https")  # SOCKS takes a library that is not here
MAX_UNREAD: Final = 1024 * 1024  # bytes written that the gateway has not read; four whole frames


class BoundedConnection(ClientConnection):
    """Counts every frame, also those that no caller ever sees, against a `Meter`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._meter = Meter()

    def process_event(self, event: Frame | Response | Any) -> None:
        """Pass a frame on, or end the connection when it is one too many."""
        if isinstance(event, Frame) and not self._meter.spend(
            frames=1, size=len(event.data), mono=self.loop.time()
        ):
            self._fail("too-fast")
        else:
            super().process_event(event)

    def data_received(self, data: bytes) -> None:
        """Take bytes in, unless what they asked for is not read."""
        super().data_received(data)
        if self.transport.get_write_buffer_size() > MAX_UNREAD:
            self.transport.abort()

    def _fail(self, code: str) -> None:
        if self.protocol.state is State.OPEN:  # once, of the thousands that one read may bring
            self.protocol.fail(link_events.websocket_code(code))
            self.send_data()
            self.transport.close()  # reads no more from here on …
            self.loop.call_later(CLOSE_SECONDS, self.transport.abort)  # … and waits no longer


class DirectConnect(connect):
    """Follows no redirect (R15): the address was pinned when the machine was paired."""

    def __init__(self, uri: str, **options: Any) -> None:
        super().__init__(uri, create_connection=BoundedConnection, **options)

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Refuse it."""
        return exc


def proxy_of(link_url: str) -> str | None:
    """Return the HTTP proxy that the environment names on the way to a gateway; None for none.

    Loopback needs none; elsewhere TLS goes through one from end to end.

    Raises:
        InvalidProxy: what is named is no address of one; it may hold a password, so it is not told.
    """
    parts = urlsplit(link_url)
    if parts.scheme != "wss" or proxy_bypass(f"{parts.hostname}:{parts.port or 443}"):
        return None
    proxies = getproxies()
    named = proxies.get("wss") or proxies.get("https")
    try:
        usable = not named or (urlsplit(named).scheme in _PROXIES and urlsplit(named).port != 0)
    except ValueError:  # no number for a port
        usable = False
    if not usable:
        raise InvalidProxy("…", "it is not that of an HTTP proxy")
    return named


def end_of(error: ConnectionClosed) -> str:
    """Return the code of a connection that the WebSocket ended before the link did.

    Returns:
        One of `link_events.ENDINGS`, or ``lost``.
    """
    for close in (error.rcvd, error.sent):
        if close is not None and (code := link_events.code_of(close.code)) is not None:
            return code
    # The library's own verdicts: not text, not UTF-8, too large.
    if error.sent is not None and error.sent.code in (1002, 1003, 1007, 1009):
        return "protocol"
    return "lost"
