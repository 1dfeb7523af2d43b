"""What surrounds every request of the gateway, whatever its path, and the two paths of health.

An application from `guarded_app` bounds bodies, tells nobody what software it is, answers
failures without a body, sees the client behind trusted proxies as ``request.remote``, and stops
listening to an address that keeps failing; failures on one path count on no other.  What another
path does is not here.

Health tells whoever operates the gateway whether it lives and may be sent traffic.  Its paths are
open to whoever reaches the listener: they answer names and yes or no, nothing else.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Final, TypeAlias

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from common.clock import Clock
from common.errors import CodexBridgeError
from common.logs import Log
from gateway.base.addresses import (
    LIVE_PATH,
    READY_PATH,
    UNHEARD,
    FailureLimit,
    client_address,
    is_within,
)

MAX_BODY_BYTES: Final = 65_536
READY_S: Final = 2.0
_UNCACHED: Final = {"Cache-Control": "no-store"}

Ready: TypeAlias = Callable[[], Awaitable[Mapping[str, bool]]]
Sending: TypeAlias = Callable[[], Mapping[str, str | None]]


def guarded_app(
    *,
    log: Log,
    clock: Clock,
    trusted_proxies: Iterable[str] = (),
    signed: Collection[str] = (),
) -> web.Application:
    """Return an empty application with all bounds around it.

    Run it with ``access_log=None``: the query of a callback belongs in no log.

    Args:
        log: Gets what no handler expected.
        clock: Tells when a failing address may try again.
        trusted_proxies: Networks whose ``X-Forwarded-For`` is believed; empty: nobody's.
        signed: Paths whose requests prove who sends them, whatever else comes from there.
    """
    # Health is for our own commands and supervisors, and answers nobody with 4xx.
    heard = {*signed, LIVE_PATH, READY_PATH}
    limited = limit_failures(clock=clock, signed=heard)
    around = [empty_failures(log), see_client(trusted_proxies), limited, _take_plain_bodies]
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
        if is_within(request.remote or "", networks):
            hops = ",".join(request.headers.getall("X-Forwarded-For", ())).split(",")
            request = request.clone(remote=client_address(request.remote or "", hops, networks))
        return await handler(request)

    return middleware


def limit_failures(*, clock: Clock, signed: Collection[str] = ()) -> Middleware:
    """Return the middleware that answers 429 to an address that failed too often.

    Only answers of the 4xx kind count: whoever sends what verifies is never held up, however
    much it is.  On a path of ``signed`` requests that holds whatever others send from the same
    address, as from behind one proxy: it is looked at first, and only what fails is refused.
    Each of these paths is counted alone, and all the others together.
    """
    limits = {path: FailureLimit() for path in (*signed, "")}

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        address = request.remote or ""
        limit = limits.get(request.path) or limits[""]
        wait_s = limit.wait(address, clock.now().mono) if limit.counted else 0.0
        if wait_s > 0 and request.path not in signed:
            return _too_often(wait_s)
        request[UNHEARD] = wait_s > 0
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = error
        if 400 <= response.status < 500:
            limit.count(address, clock.now().mono)
            if wait_s > 0:
                return _too_often(wait_s)
        if isinstance(response, web.HTTPException):
            raise response
        return response

    return middleware


@web.middleware
async def _take_plain_bodies(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what is compressed: nobody who has business here sends that, and none is inflated."""
    if "Content-Encoding" in request.headers:
        return web.Response(status=415)
    return await handler(request)


def _too_often(wait_s: float) -> web.Response:
    return web.Response(status=429, headers={"Retry-After": str(int(wait_s) + 1)})


async def _hide_software(_request: web.BaseRequest, response: web.StreamResponse) -> None:
    response.headers.popall("Server", None)
    if response.status == 417 and isinstance(response, web.Response):  # by aiohttp, before us
        response.body = b""
        response.headers["Content-Length"] = "0"


def health_routes(ready: Ready, sending: Sending) -> list[web.RouteDef]:
    """Return the two routes of health.

    Args:
        ready: Returns each part that must work with whether it does; to raise, or to take more
            than two seconds, means that none is known to.
        sending: Returns of each app what keeps it from sending, or None.  It is told, and no part
            of being ready: a gateway that cannot answer still has to take messages in.
    """

    async def answer_live(_request: web.Request) -> web.Response:
        return web.json_response({"status": "live"}, headers=_UNCACHED)

    async def answer_ready(_request: web.Request) -> web.Response:
        try:
            parts = dict(await asyncio.wait_for(ready(), READY_S))
        except (CodexBridgeError, TimeoutError):
            parts = {"gateway": False}
        good = all(parts.values())
        return web.json_response(
            {"status": "ready" if good else "not ready", "parts": parts, "sending": sending()},
            status=200 if good else 503,
            headers=_UNCACHED,
        )

    return [web.get(LIVE_PATH, answer_live), web.get(READY_PATH, answer_ready)]
