"""How one process serves: its port, its signals, its running parts, and an end within bounds.

What is served is `gateway.app`'s matter.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from common.errors import UnavailableError
from common.logs import Log
from gateway.errors import cannot_listen

BACKLOG: Final = 512  # ten thousand agents may come back at once
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


def write_port(file: Path, port: int) -> None:
    """Write a port file whole or not at all.  Blocks."""
    beside = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    beside.write_text(f"{port}\n", encoding="ascii")
    beside.replace(file)


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
    app: web.Application, listener: socket.socket, *, goodbye: Callable[[], None]
) -> AsyncIterator[None]:
    """Answer requests; at the end say goodbye to open connections and give them three seconds."""

    async def say_goodbye(_app: web.Application) -> None:
        goodbye()

    app.on_shutdown.append(say_goodbye)
    runner = web.AppRunner(
        app, access_log=None, handle_signals=False, shutdown_timeout=STOP_SECONDS
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        yield
    finally:
        await runner.cleanup()


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
