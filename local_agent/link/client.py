"""Dials the gateway, and dials again, for as long as the agent lives; shows its state.

One connection is a `local_agent.link.session.Session`.  What may be dialled at all (R15) was
decided when the machine was paired.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol

from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from common.clock import Clock
from common.errors import CodexBridgeError, StoreError
from common.protocol.codec import NONCE_BYTES
from common.protocol.flow_control import DEADLINES, Deadlines
from common.protocol.frames import FRAME_BYTES
from common.protocol.link import Closed, Link
from common.signing import SigningKey, VerifyKey
from local_agent.link.condition import (
    HELD,
    REFUSED,
    Backoff,
    Condition,
    Ended,
    Why,
    after_end,
    after_link_closed,
)
from local_agent.link.keys import LinkKeys
from local_agent.link.pairing import Pairing
from local_agent.link.session import (
    CLOSE_SECONDS,
    DirectConnect,
    Inbound,
    Outbound,
    Session,
    end_of,
    proxy_of,
)


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
        keys: Gives the keys that a try to connect needs.
        inbound: Where signed messages go.
        outbound: Where signed reports come from.
        clock: Tells the moment.
        log: Told of every connection and its end.
        backoff: How long to wait between tries.
        deadlines: How long the gateway may be silent.
    """

    def __init__(
        self,
        pairing: Pairing,
        keys: Callable[[], Awaitable[LinkKeys]],
        *,
        inbound: Inbound,
        outbound: Outbound,
        clock: Clock,
        log: Log,
        backoff: Backoff | None = None,
        deadlines: Deadlines = DEADLINES,
    ) -> None:
        self._pairing = pairing
        self._keys = keys
        self._inbound = inbound
        self._outbound = outbound
        self._clock = clock
        self._log = log
        self._backoff = backoff or Backoff()
        self._deadlines = deadlines
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
        except ConnectionClosed as error:
            condition, detail = after_end(end_of(error)), type(error).__name__
        except (OSError, WebSocketException) as error:
            condition, detail = Condition("waiting", why=_why(error)), type(error).__name__
        except StoreError as error:
            condition, detail = Condition("waiting", why="journal"), error.code
        except CodexBridgeError as error:
            # The gateway acknowledged what was never sent.
            condition, detail = Condition("waiting", why="protocol"), error.code
        ready_at, now = self._ready_at, self._clock.now().mono
        return Ended(condition, 0.0 if ready_at is None else now - ready_at, detail)

    async def _connection(self) -> tuple[Condition, str]:
        keys = await self._keys()
        for key in keys.own:
            closed = await self._talk(key, keys.gateway)
            if (closed.code, closed.by_peer) != ("auth", True):
                break  # else it may know this machine by its next key already
        return after_link_closed(closed), str(closed.facts.get("why", closed.code))

    async def _talk(self, key: SigningKey, gateway: VerifyKey) -> Closed:
        last_seq = await self._inbound.last_seq()
        async with self._dial() as socket:
            session = Session(
                socket,
                self._link(key, gateway, last_seq),
                inbound=self._inbound,
                outbound=self._outbound,
                news=self._news,
                clock=self._clock,
                on_ready=self._on_ready,
                on_held=self._on_held,
            )
            return await session.pump()

    def _link(self, key: SigningKey, gateway: VerifyKey, last_seq: int) -> Link:
        return Link.for_agent(
            key,
            agent_id=self._pairing.agent_id,
            gateway_key=gateway,
            url=self._pairing.link_url,
            last_seq=last_seq,
            nonce=secrets.token_bytes(NONCE_BYTES),
            at=self._clock.now(),
            deadlines=self._deadlines,
        )

    def _dial(self) -> DirectConnect:
        return DirectConnect(
            self._pairing.link_url,
            ssl=self._tls,
            proxy=proxy_of(self._pairing.link_url),
            compression=None,  # costs 90 KiB a connection and buys nothing for small frames
            max_size=FRAME_BYTES,
            open_timeout=self._deadlines.opening_s,
            close_timeout=CLOSE_SECONDS,
            ping_interval=None,  # the link has its own heartbeat, at both ends
            user_agent_header=None,
        )

    def _on_ready(self, session_id: str) -> None:
        self._ready_at = self._clock.now().mono
        self._become(Condition("connected"))
        self._log.info("relay.connected", session=session_id)

    def _on_held(self, code: str) -> None:
        why = HELD.get(code, "")
        if self._condition.why != why:
            self._become(replace(self._condition, why=why))
            self._log.info("relay.held", why=why)

    def _become(self, condition: Condition) -> None:
        old = self._condition
        same = old.state == condition.state and (
            old.state == "connected" or old.why == condition.why
        )
        since_ms = old.since_ms if same else self._clock.now().wall_ms
        self._condition = replace(condition, since_ms=since_ms)
        self._changed.set()
        self._changed = asyncio.Event()


def _why(error: Exception) -> Why:
    match error:
        case ssl.SSLError():
            return "tls"
        case TimeoutError():
            return "timeout"
        case InvalidStatus():
            return REFUSED.get(error.response.status_code, "http")
        case OSError():
            return "connect"
    return "http"
