"""Dials the gateway, and dials again, for as long as the agent lives; tells how it stands.

One connection is a `local_agent.relay.session.Session`.  What may be dialled at all (R15) was
decided when the machine was paired.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, Protocol

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from common.clock import Clock
from common.errors import CodexBridgeError
from common.protocol.codec import NONCE_BYTES
from common.protocol.frames import FRAME_BYTES
from common.protocol.link import Link
from common.signing import SigningKey
from local_agent.relay.condition import Backoff, Condition, Ended, Why, after_link_closed
from local_agent.relay.pairing import Pairing
from local_agent.relay.session import Inbound, Outbound, Session

OPEN_SECONDS: Final = 10.0
CLOSE_SECONDS: Final = 2.0


class Log(Protocol):
    """What the client needs of a logger."""

    def info(self, event: str, *args: Any, **facts: Any) -> Any:
        """Record something ordinary."""
        ...

    def warning(self, event: str, *args: Any, **facts: Any) -> Any:
        """Record something that a person may have to look at."""
        ...


class GatewayClient:
    """One machine's connection to its gateway.

    Args:
        pairing: Whom to dial, and who this machine is there.
        key: This machine's private key.
        inbound: Where signed messages go.
        outbound: Where signed reports come from.
        clock: Tells the moment.
        log: Told of every connection and its end.
        backoff: How long to wait between tries.
    """

    def __init__(
        self,
        pairing: Pairing,
        key: SigningKey,
        *,
        inbound: Inbound,
        outbound: Outbound,
        clock: Clock,
        log: Log,
        backoff: Backoff | None = None,
    ) -> None:
        self._pairing = pairing
        self._key = key
        self._inbound = inbound
        self._outbound = outbound
        self._clock = clock
        self._log = log
        self._backoff = backoff or Backoff()
        self._news = asyncio.Event()
        self._condition = Condition("connecting", since_ms=clock.now().wall_ms)
        self._changed = asyncio.Event()
        self._ready_at: float | None = None
        self._tls: ssl.SSLContext | None = None

    @property
    def condition(self) -> Condition:
        """How the connection stands now."""
        return self._condition

    def wake(self) -> None:
        """Say that the journal holds something to send."""
        self._news.set()

    async def wait_until(self, wanted: Callable[[Condition], bool]) -> Condition:
        """Return the first condition that is as wanted."""
        while not wanted(self._condition):
            await self._changed.wait()
        return self._condition

    async def run(self) -> None:
        """Connect, and connect again, until cancelled."""
        if self._pairing.link_url.startswith("wss:"):
            # Reads the system's certificates: tens of milliseconds of disk.
            self._tls = await asyncio.to_thread(ssl.create_default_context)
        while True:
            ended = await self._once()
            delay = self._backoff.next_delay(ended)
            self._become(replace(ended.condition, retry_s=max(1, round(delay))))
            self._log.warning(
                "relay.disconnected",
                state=self._condition.state,
                why=self._condition.why,
                detail=ended.detail,
                skew_s=self._condition.skew_s,
                retry_s=self._condition.retry_s,
            )
            await asyncio.sleep(delay)

    async def _once(self) -> Ended:
        self._ready_at = None
        try:
            condition, detail = await self._connection()
        except (OSError, WebSocketException) as error:
            condition, detail = Condition("waiting", why=_why(error)), type(error).__name__
        except CodexBridgeError as error:
            # The journal refused, or the gateway acknowledged what was never sent.
            condition, detail = Condition("waiting", why="protocol"), error.code
        ready_at, now = self._ready_at, self._clock.now().mono
        return Ended(condition, 0.0 if ready_at is None else now - ready_at, detail)

    async def _connection(self) -> tuple[Condition, str]:
        last_seq = await self._inbound.last_seq()
        async with self._dial() as socket:
            session = Session(
                socket,
                self._link(last_seq),
                inbound=self._inbound,
                outbound=self._outbound,
                news=self._news,
                clock=self._clock,
                on_ready=self._on_ready,
            )
            closed = await session.pump()
        seconds = closed.facts.get("seconds")
        skew_s = seconds if isinstance(seconds, int) else 0
        return after_link_closed(closed.code, skew_s), str(closed.facts.get("why", closed.code))

    def _link(self, last_seq: int) -> Link:
        return Link.for_agent(
            self._key,
            agent_id=self._pairing.agent_id,
            gateway_key=self._pairing.gateway_key,
            url=self._pairing.link_url,
            last_seq=last_seq,
            nonce=secrets.token_bytes(NONCE_BYTES),
            at=self._clock.now(),
        )

    def _dial(self) -> connect:
        return _DirectConnect(
            self._pairing.link_url,
            ssl=self._tls,
            # Loopback needs no proxy; elsewhere TLS goes through one from end to end.
            proxy=True if self._tls else None,
            compression=None,  # costs 90 KiB a connection and buys nothing for small frames
            max_size=FRAME_BYTES,
            open_timeout=OPEN_SECONDS,
            close_timeout=CLOSE_SECONDS,
            ping_interval=None,  # the link has its own heartbeat, at both ends
            user_agent_header=None,
        )

    def _on_ready(self, session_id: str) -> None:
        self._ready_at = self._clock.now().mono
        self._become(Condition("connected"))
        self._log.info("relay.connected", session=session_id)

    def _become(self, condition: Condition) -> None:
        old = self._condition
        same = (old.state, old.why) == (condition.state, condition.why)
        since_ms = old.since_ms if same else self._clock.now().wall_ms
        self._condition = replace(condition, since_ms=since_ms)
        self._changed.set()
        self._changed = asyncio.Event()


class _DirectConnect(connect):
    """Follows no redirect (R15): the address was pinned when the machine was paired."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


def _why(error: Exception) -> Why:
    match error:
        case ssl.SSLError():
            return "tls"
        case TimeoutError():
            return "timeout"
        case ConnectionClosed():
            return "lost"
        case OSError():
            return "connect"
    return "http"
