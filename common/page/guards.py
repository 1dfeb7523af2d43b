"""What surrounds every request to a page on loopback, in this order (R56).

Any web page in the person's browser can send requests to loopback, and so can every user of the
machine.  A request is answered when it comes from a process of the person's own, names our host and
no other, was made by our own page or by the person's hand, and carries both halves of a session.
Whatever is refused is refused alike: a status, and nothing that says more.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from common.clock import Clock
from common.logs import Log
from common.page import peers
from common.page.sessions import Session, Sessions, has_token

MAX_BODY_BYTES: Final = 256 * 1024
MAX_CONNECTIONS: Final = 64
API: Final = "/api/"
LIVE: Final = "/api/live"  # the one path of a socket, which checks the token itself
TOKEN_HEADER: Final = "X-CSRF-Token"  # noqa: S105 - the name of a header
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), usb=(), serial=(), "
    "publickey-credentials-get=(self), publickey-credentials-create=(self)",
    "Cache-Control": "no-store",
}
SESSION: Final = web.RequestKey("session", Session)
_EMBEDDED: Final = frozenset({"iframe", "frame", "embed", "object", "fencedframe"})
_SAME: Final = frozenset({"same-origin", "none"})

OwnerOf: TypeAlias = Callable[[peers.Address, peers.Address], int | None]


@dataclass(frozen=True, slots=True)
class Guard:
    """Decides which requests reach a page.

    Attributes:
        sessions: Whose sessions count.
        cookie: Its name; of this one installation, since browsers share cookies among ports.
        open_paths: What is shown to who has no session yet: the way to get one.
        closed: Answers a person who has none.
        owner_of: Gives the owner of the other end of a connection; None where no system tells.
    """

    sessions: Sessions
    cookie: str
    clock: Clock
    log: Log
    open_paths: Collection[str]
    closed: Callable[[], Awaitable[web.StreamResponse]]
    owner_of: OwnerOf | None = peers.owner_of if peers.is_told() else None
    _asked: weakref.WeakKeyDictionary[asyncio.BaseTransport, asyncio.Task[bool]] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    _told: set[int] = field(default_factory=set)
    # One after the other: whoever connects again and again must not take the agent's threads.
    _asking: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    def new_app(self) -> web.Application:
        """Return an empty application with all of it around; run it without an access log."""
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[self._middleware()])
        app.on_response_prepare.append(_dress)
        return app

    def _middleware(self) -> Middleware:
        @web.middleware
        async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
            try:
                return await self._answer(request, handler)
            except web.HTTPException as error:
                return web.Response(status=error.status)
            except web.RequestPayloadError:  # its message holds what was sent
                return web.Response(status=400)
            except Exception:  # the top of every request: nothing above could do better
                self.log.exception("page.failed", method=request.method, path=request.path)
                if request.writer.output_size:
                    raise
                return web.Response(status=500)

        return middleware

    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.transport is None or not await self.admits(request.transport):
            return web.Response(status=403)
        if (status := refusal(request)) is not None:
            return web.Response(status=status)
        if request.path in self.open_paths:
            return await handler(request)
        session = self.sessions.find(request.cookies.get(self.cookie, ""), self.clock.now().wall_ms)
        if session is None:
            is_person = request.path == "/" and request.method == "GET"
            return await self.closed() if is_person else web.Response(status=403)
        # A socket of the browser cannot send it as a header: it is the first that it says there.
        needs_token = request.path.startswith(API) and request.path != LIVE
        if needs_token and not has_token(session, request.headers.get(TOKEN_HEADER, "")):
            return web.Response(status=403)
        request[SESSION] = session
        return await handler(request)

    async def admits(self, transport: asyncio.BaseTransport) -> bool:
        """Tell whether a process of the person's own is at the other end; the kernel is asked once.

        Ask as soon as a connection is there: those that never say anything would fill the page.
        """
        if self.owner_of is None:
            return True
        if (asked := self._asked.get(transport)) is None:
            asked = asyncio.create_task(self._is_own_process(self.owner_of, transport))
            self._asked[transport] = asked
        return await asyncio.shield(asked)

    async def _is_own_process(self, owner_of: OwnerOf, transport: asyncio.BaseTransport) -> bool:
        client = transport.get_extra_info("peername")
        server = transport.get_extra_info("sockname")
        if not client or not server:  # it has gone already
            return False
        async with self._asking:
            if transport.is_closing():
                return False
            owner = await asyncio.to_thread(owner_of, client[:2], server[:2])
        if owner in (os.getuid(), 0):
            return True
        # None has closed it already.  Once for each: a stranger shall not fill the log.
        if owner is not None and owner not in self._told:
            self._told.add(owner)
            self.log.warning("page.foreign-process", owner=owner)
        return False


def refusal(request: web.Request) -> int | None:
    """Return the status for what another web page could have sent; None for what is ours."""
    transport = request.transport
    port = transport.get_extra_info("sockname")[1] if transport else 0
    if len(request.headers.getall("Host", ())) != 1 or request.host not in hosts(port):
        return 421
    if not request.raw_path.startswith("/") or request.raw_path.startswith("//"):
        return 400
    if request.method not in ("GET", "POST"):
        return 405
    if not _is_same_origin(request):
        return 403
    if request.method == "POST" and (
        request.content_type != "application/json" or "Content-Encoding" in request.headers
    ):
        return 415
    return None


def hosts(port: int) -> frozenset[str]:
    """Return the names under which a page on this port may be asked for."""
    return frozenset({f"localhost:{port}", f"127.0.0.1:{port}"})


def _is_same_origin(request: web.Request) -> bool:
    origins = request.headers.getall("Origin", ())
    ours = f"http://{request.host}"
    if any(origin != ours for origin in origins) or len(origins) > 1:
        return False
    acts = request.method == "POST" or _is_upgrade(request)
    if acts and not origins:
        return False
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None and site not in (("same-origin",) if acts else _SAME):
        return False
    return request.headers.get("Sec-Fetch-Dest") not in _EMBEDDED


def _is_upgrade(request: web.Request) -> bool:
    return "upgrade" in request.headers.get("Connection", "").lower() or (
        "Upgrade" in request.headers
    )


async def _dress(_request: web.BaseRequest, response: web.StreamResponse) -> None:
    response.headers.popall("Server", None)
    response.headers.update(HEADERS)
