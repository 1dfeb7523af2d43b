"""Runs the simulator on loopback until it is told to end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import aiohttp
from aiohttp import web

from common.clock import SystemClock
from common.errors import ConfigError
from common.home import write_private
from gateway.simulator.config import SimulatorConfig
from gateway.simulator.engine import Simulator
from gateway.simulator.faces import make_app, read_page


async def serve(
    config: SimulatorConfig, *, port_file: Path | None, announce: Callable[[int], None]
) -> None:
    """Listen, tell the port, and run until SIGTERM or SIGINT.

    Raises:
        ConfigError: ``config.port-in-use``.
    """
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        simulator = Simulator(config, session, clock=SystemClock())
        page = await asyncio.to_thread(read_page)
        runner = web.AppRunner(make_app(simulator, page), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            site = web.TCPSite(runner, config.host, config.port)
            try:
                await site.start()
            except OSError:
                raise ConfigError(
                    "config.port-in-use", host=config.host, port=config.port
                ) from None
            port: int = runner.addresses[0][1]
            if port_file is not None:
                await asyncio.to_thread(write_private, port_file, str(port).encode())
            announce(port)
            await ended.wait()
        finally:
            await runner.cleanup()
