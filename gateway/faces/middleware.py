"""What surrounds every request of the gateway, whatever its path.

An application from `guarded_app` bounds bodies, tells nobody what software it is, answers
failures without a body, sees the client behind trusted proxies as ``request.remote``, and stops
listening to an address that keeps failing.  What a path does is not here.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, TypeAlias

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from common.clock import Clock
from common.logs import Log

MAX_BODY_BYTES: Final = 65_536
FAILURES: Final = 40  # in a row at full speed
SECONDS_PER_FAILURE: Final = 2.0
MAX_ADDRESSES: Final = 10_000
MAX_HOPS: Final = 16

_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


def guarded_app(*, log: Log, clock: Clock, trusted_proxies: Iterable[str] = ()) -> web.Application:
    """Return an empty application with all bounds around it.

    Run it with ``access_log=None``: the query of a callback belongs in no log.

    Args:
        log: Gets what no handler expected.
        clock: Tells when a failing address may try again.
        trusted_proxies: Networks whose ``X-Forwarded-For`` is believed; empty: nobody's.
    """
    around = [empty_failures(log), limit_failures(FailureLimit(), clock=clock)]
    if proxies := tuple(trusted_proxies):
        around.insert(1, see_client(proxies))
    app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=around)
    app.on_response_prepare.append(_hide_software)
    return app


def empty_failures(log: Log) -> Middleware:
    """Return the outermost middleware: every failure ends here, and says nothing outside."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPException as error:
            return web.Response(status=error.status)
        except Exception:
            # The top of every request: nothing above could do better than to log it.
            log.exception("http.failed", method=request.method, path=request.path)
            if request.writer.output_size:
                raise
            return web.Response(status=500)

    return middleware


def see_client(trusted_proxies: Iterable[str]) -> Middleware:
    """Return the middleware that puts the client's own address into ``request.remote``."""
    networks = tuple(ipaddress.ip_network(network) for network in trusted_proxies)

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if _is_within(request.remote or "", networks):
            hops = ",".join(request.headers.getall("X-Forwarded-For", ())).split(",")
            request = request.clone(remote=client_address(request.remote or "", hops, networks))
        return await handler(request)

    return middleware


def limit_failures(limit: FailureLimit, *, clock: Clock) -> Middleware:
    """Return the middleware that answers 429 to an address that failed too often.

    Only answers of the 4xx kind count: whoever sends what verifies is never held up, however
    much it is.
    """

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        address = request.remote or ""
        if limit.counted and (wait_s := limit.wait(address, clock.now().mono)) > 0:
            return web.Response(status=429, headers={"Retry-After": str(int(wait_s) + 1)})
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = error
        if 400 <= response.status < 500:
            limit.count(address, clock.now().mono)
        if isinstance(response, web.HTTPException):
            raise response
        return response

    return middleware


class FailureLimit:
    """A bucket of failures for each address, emptied at a steady rate.  Times are monotonic.

    An IPv6 client owns its whole /64 network, which therefore counts as one address.
    """

    def __init__(
        self, *, failures: int = FAILURES, seconds_per_failure: float = SECONDS_PER_FAILURE
    ) -> None:
        self._burst_s = failures * seconds_per_failure
        self._cost_s = seconds_per_failure
        # When the bucket of an address will be empty again.
        self._empty_at: OrderedDict[str, float] = OrderedDict()

    @property
    def counted(self) -> bool:
        """Whether any address failed since the start, so that asking makes sense."""
        return bool(self._empty_at)

    def wait(self, address: str, now: float) -> float:
        """Return how long the address must wait before it is heard again, 0 for not at all."""
        full_s = self._burst_s - self._cost_s
        return max(self._empty_at.get(owner_of(address), now) - now - full_s, 0.0)

    def count(self, address: str, now: float) -> None:
        """Count one failure."""
        owner = owner_of(address)
        self._empty_at[owner] = max(self._empty_at.get(owner, now), now) + self._cost_s
        self._empty_at.move_to_end(owner)
        if len(self._empty_at) > MAX_ADDRESSES:
            self._empty_at.popitem(last=False)


def client_address(peer: str, hops: list[str], trusted: tuple[_Network, ...]) -> str:
    """Return the nearest address that no trusted proxy owns.

    Args:
        peer: The other end of the connection, a trusted proxy.
        hops: ``X-Forwarded-For`` in order; only what stands to the right was written by proxies.
        trusted: Networks of the proxies.
    """
    address = peer
    for hop in reversed(hops[-MAX_HOPS:]):
        found = _parse(hop.strip())
        if found is None:
            return address
        address = str(found)
        if not _is_within(address, trusted):
            return address
    return address


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return None
    # A socket for both families shows IPv4 clients in this disguise.
    return getattr(found, "ipv4_mapped", None) or found


@lru_cache(maxsize=1024)
def _is_within(address: str, networks: tuple[_Network, ...]) -> bool:
    found = _parse(address)
    return found is not None and any(found in network for network in networks)


@lru_cache(maxsize=1024)
def owner_of(address: str) -> str:
    """Return the network that one client owns: its address, or its /64 of IPv6."""
    found = _parse(address)
    if found is None:
        return address
    if found.version == 4:
        return str(found)
    return str(ipaddress.ip_network((found, 64), strict=False))


async def _hide_software(_request: web.BaseRequest, response: web.StreamResponse) -> None:
    response.headers.popall("Server", None)
