"""How one process serves: its port, its signals, its running parts, and an end within bounds.

What is served is `gateway.app.assembly`'s matter.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import resource
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Handler

from common.errors import UnavailableError
from common.logs import Log
from gateway.base.addresses import cannot_listen

BACKLOG: Final = 512  # ten thousand agents may come back at once
HEAD_SECONDS: Final = 15.0  # for a new connection to say what it wants
COLLECT_AFTER: Final = 10_000  # objects more than were freed; a few megabytes at most
KEEPALIVE_SECONDS: Final = 75.0  # for the next request; longer than the usual proxy keeps one
LOOK_SECONDS: Final = 5.0
CROWD: Final = 500  # connections that have asked for nothing; the more, the less time each gets
DESCRIPTORS: Final = 65_536  # as many connections as the system allows, up to this
QUIET_SECONDS: Final = 60.0  # between two words about the same shortage
STOP_SECONDS: Final = 3.0  # for requests and sessions to end; supervisors wait longer than that


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; a second start finds out here, before it disturbs anything.

    Args:
        host: An address of this machine, not a name.
        port: 0 takes any free one.

    Raises:
        ConfigError: ``config.port-in-use`` and the like (host, port, why).
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise cannot_listen(error, host=host, port=port) from None
    return listener


def allow_connections() -> None:
    """Raise this process's own limit of open files: the usual 1024 is less than one flood."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def spare_collector() -> None:
    """Have the cycle collector leave the program's own objects alone, and look less often.

    At Python's 700 it walks all that lives while thousands of machines come back, for the little
    that one connection leaves behind in cycles: a fifth of what a connection costs.  Call it once
    everything is imported.
    """
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


def stop_signal() -> asyncio.Event:
    """Return what is set once SIGTERM or SIGINT has come."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


@asynccontextmanager
async def running(
    parts: Mapping[str, Coroutine[Any, Any, None]],
) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Run parts that never end by themselves; they are cancelled at the end."""
    tasks = [asyncio.create_task(part, name=name) for name, part in parts.items()]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def listening(
    app: web.Application,
    listener: socket.socket,
    *,
    goodbye: Callable[[], None],
    head_seconds: float = HEAD_SECONDS,
) -> AsyncIterator[None]:
    """Answer requests; at the end say goodbye to open connections and give them three seconds.

    Args:
        app: What answers; not yet started.
        listener: From `bind`.
        goodbye: Called first at the end.
        head_seconds: How long a new connection may take to make its first request.
    """

    async def say_goodbye(_app: web.Application) -> None:
        goodbye()

    app.on_shutdown.append(say_goodbye)
    patience = _Patience(head_seconds)
    app.middlewares.insert(0, patience.note)
    logger = logging.getLogger("gateway.server")
    logger.addFilter(_is_our_fault)
    runner = web.AppRunner(
        app,
        access_log=None,
        auto_decompress=False,  # a few bytes would cost a second of everybody's
        handle_signals=False,
        keepalive_timeout=KEEPALIVE_SECONDS,
        logger=logger,
        shutdown_timeout=STOP_SECONDS,
    )
    await runner.setup()
    asyncio.get_running_loop().set_exception_handler(_Shortage())
    try:
        await web.SockSite(runner, listener).start()
        async with running({"patience": patience.run(runner)}):
            yield
    finally:
        await runner.cleanup()


class _Wordless(web.Response):
    """Says nothing of the software, where no application is asked that would see to it."""

    async def _prepare_headers(self) -> None:
        await super()._prepare_headers()
        self.headers.popall("Server", None)


def _refuse(
    handler: web.RequestHandler,
    request: web.BaseRequest,
    status: int = 500,
    exc: BaseException | None = None,
    message: str | None = None,
) -> web.StreamResponse:
    """Answer what is no request with its status alone: the library repeats what it cannot read."""
    usual = _usual_refusal(handler, request, status, exc, message)
    answer = _Wordless(status=usual.status)
    answer.force_close()
    return answer


_usual_refusal: Final = web.RequestHandler.handle_error
web.RequestHandler.handle_error = _refuse  # type: ignore[method-assign,assignment]


class _Patience:
    """Closes connections on which no request comes to its end: the server waits for ever."""

    def __init__(self, head_seconds: float) -> None:
        self._head_s = head_seconds
        self._busy: set[asyncio.BaseTransport] = set()
        self._until: dict[asyncio.BaseTransport, float] = {}

    @web.middleware
    async def note(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Tell when a connection is at work."""
        transport = request.transport
        if transport is None:
            return await handler(request)
        self._busy.add(transport)
        try:
            return await handler(request)
        finally:
            self._busy.discard(transport)
            self._until[transport] = _now() + KEEPALIVE_SECONDS

    async def run(self, runner: web.AppRunner) -> None:
        """Look around until cancelled."""
        while True:
            is_crowded = len(self._until) >= CROWD
            await asyncio.sleep(min(1.0 if is_crowded else LOOK_SECONDS, self._head_s))
            self._look(runner, _now())

    def _look(self, runner: web.AppRunner, now: float) -> None:
        # Thousands of sockets that only wait use up what others need to connect at all.
        early_s = self._head_s * (1 - 1 / (1 + len(self._until) // CROWD))
        until: dict[asyncio.BaseTransport, float] = {}
        for connection in runner.server.connections if runner.server else ():
            transport = connection.transport
            if transport is None or transport in self._busy:
                continue
            until[transport] = self._until.get(transport, now + self._head_s)
            if now + early_s >= until[transport]:
                transport.abort()
        self._until = until


class _Shortage:
    """Tells of it once a minute when no more connections fit; asyncio does 500 times a second."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if str(context.get("message")).startswith("socket.accept() out of"):
            if loop.time() < self._quiet_until:
                return
            self._quiet_until = loop.time() + QUIET_SECONDS
        loop.default_exception_handler(context)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _is_our_fault(record: logging.LogRecord) -> bool:
    # What is no HTTP is answered 400; anyone can send it, and its own words belong in no log.
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError)


async def until_stopped(stop: asyncio.Event, tasks: list[asyncio.Task[None]], *, log: Log) -> None:
    """Wait for the signal.

    Raises:
        UnavailableError: ``gateway.part-failed`` (part): one ended, which none ever should.
    """
    stopping = asyncio.create_task(stop.wait())
    done, _ = await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    for task in tasks:
        if task in done:
            log.error("part.ended", part=task.get_name(), exc_info=task.exception())
            raise UnavailableError("gateway.part-failed", part=task.get_name())
