"""Listening on loopback, and nowhere else, under both of its addresses.

A browser that is told ``localhost`` may ask either: whoever held the other one would be given the
cookie.  So both are taken, under the same port, or none.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from typing import Any, Final, TypeAlias

from aiohttp import web

from common.page.guards import MAX_CONNECTIONS

ADDRESSES: Final = (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6))
TRIES: Final = 20
_LEAVE_S: Final = 1.0
_KEPT_S: Final = 30.0
_SILENT_S: Final = 30.0  # until a first request is whole
_NONE_HERE: Final = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
_TYPES: Final = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}

Admits: TypeAlias = Callable[[asyncio.BaseTransport], Awaitable[bool]]


def bind(port: int) -> list[socket.socket]:
    """Return sockets on both addresses of loopback.

    Args:
        port: Which; 0 for any that is free.

    Raises:
        OSError: the port is taken, or there is no loopback.
    """
    wanted, tries = port, TRIES if port == 0 else 1
    taken: list[socket.socket] = []
    for left in reversed(range(tries)):
        try:
            for address, family in ADDRESSES:
                if found := _listening(address, family, wanted):
                    taken.append(found)
                    wanted = found.getsockname()[1]
            break
        except OSError:
            for one in taken:
                one.close()
            if not left:
                raise
            taken, wanted = [], port
    if not taken:
        raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
    return taken


def _listening(address: str, family: socket.AddressFamily, port: int) -> socket.socket | None:
    try:
        found = socket.socket(family, socket.SOCK_STREAM)
    except OSError:  # no IPv6 at all: then nobody else listens there either
        return None
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family is socket.AF_INET6:
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        found.bind((address, port))
        found.listen(MAX_CONNECTIONS)
        found.setblocking(False)
    except OSError as error:
        found.close()
        if error.errno in _NONE_HERE:
            return None
        raise
    return found


class Listening:
    """An application that is being served; `close` ends it."""

    def __init__(self, runner: web.AppRunner, servers: list[asyncio.Server], port: int) -> None:
        self._runner = runner
        self._servers = servers
        self.port = port

    async def close(self) -> None:
        """Stop listening, and end what is open."""
        for server in self._servers:
            server.close()
        await self._runner.cleanup()


async def listen(app: web.Application, *, admits: Admits, port: int = 0) -> Listening:
    """Serve an application on loopback.

    Args:
        app: What is served.
        admits: Asked about each connection before it has said anything.
        port: As `bind` has it.

    Raises:
        OSError: the port is taken.
    """
    sockets = await asyncio.to_thread(bind, port)
    runner = web.AppRunner(app, access_log=None, auto_decompress=False, shutdown_timeout=_LEAVE_S)
    await runner.setup()
    answering = runner.server
    assert answering is not None  # noqa: S101 - it is set up

    def protocol() -> asyncio.Protocol:
        return _Connection(answering, loop, admits)

    loop = asyncio.get_running_loop()
    servers = [await loop.create_server(protocol, sock=one) for one in sockets]
    return Listening(runner, servers, sockets[0].getsockname()[1])


class _Connection(web.RequestHandler):
    """One connection; what comes before every guard is looked at here.

    The library answers what is no HTTP by itself: it would name itself, give back what was sent,
    and log it, whoever sent it and whatever it holds, such as a cookie.
    """

    __slots__ = ("_admits", "_answered", "_checking", "_server", "_silent")

    def __init__(self, server: web.Server, loop: asyncio.AbstractEventLoop, admits: Admits) -> None:
        super().__init__(
            server,
            loop=loop,
            access_log=None,  # type: ignore[arg-type]  # the library's own way to turn it off
            keepalive_timeout=_KEPT_S,
        )
        self._server = server
        self._admits = admits
        self._checking: asyncio.Task[None] | None = None
        self._silent: asyncio.TimerHandle | None = None
        self._answered = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Turn it away where there are too many; find out whose it is."""
        super().connection_made(transport)
        # Every user of the machine may connect; that must not take the agent's file descriptors.
        # Counted here: several are accepted at once before any of them has been made.
        if len(self._server.connections) > MAX_CONNECTIONS:
            _abort(transport)
            return
        loop = asyncio.get_running_loop()
        self._silent = loop.call_later(_SILENT_S, self._end_silence, transport)
        self._checking = loop.create_task(self._check(transport))

    def connection_lost(self, exc: BaseException | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        if self._silent is not None:
            self._silent.cancel()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Close without an answer.

        Raises:
            ConnectionError: always.
        """
        raise ConnectionError

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Answer; what is refused before the guards, such as an unknown Expect, says no more."""
        if isinstance(resp, web.HTTPException):
            resp = web.Response(status=resp.status)
        self._answered = True
        return await super().finish_response(request, resp, start_time)

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log nothing: what goes wrong behind the guards is logged by them."""

    def _end_silence(self, transport: asyncio.BaseTransport) -> None:
        if not self._answered and self._current_request is None:
            _abort(transport)

    async def _check(self, transport: asyncio.BaseTransport) -> None:
        if not await self._admits(transport):
            _abort(transport)


def _abort(transport: asyncio.BaseTransport) -> None:
    assert isinstance(transport, asyncio.WriteTransport)  # noqa: S101 - as all connections are
    transport.abort()


def read_assets(package: str, names: Mapping[str, str]) -> dict[str, tuple[bytes, str]]:
    """Return the named files of a package and their media types, by the path they are served at.

    A path that is not named leads nowhere: none is made of what a request says.  Blocking.
    """
    folder = files(package).joinpath("static")
    found = {}
    for path, name in names.items():
        kind = _TYPES[name[name.rindex(".") :]]
        found[path] = (folder.joinpath(*name.split("/")).read_bytes(), kind)
    return found
