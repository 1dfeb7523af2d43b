"""Serves the simulated WeCom on loopback: the API (`wire`), and the page (`desk`).

They listen apart, so that a line to the API can be cut while the page still answers.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

import aiohttp
from aiohttp import web

from common.clock import SystemClock
from common.home import write_private
from common.page.serving import read_assets
from gateway.simulator.config import SimulatorConfig, save
from gateway.simulator.desk import Assets, page_app
from gateway.simulator.engine import Simulator, Timing
from gateway.simulator.wire import ApiListener, api_app, listen

KIT: Final = {
    "/kit/preact.js": "vendor/preact.js",
    "/kit/kit.js": "kit.js",
    "/kit/kit.css": "kit.css",
}
OWN: Final = {
    "/": "index.html",
    "/icon.svg": "icon.svg",
    "/sim.css": "sim.css",
    **{f"/{name}.js": f"{name}.js" for name in ("sim", "cards", "traffic", "errors", "words")},
}


def read_page() -> Assets:
    """Return the page's files by path; blocks, so call it in a thread or before the loop runs."""
    return read_assets("common.page", KIT) | read_assets("gateway.simulator", OWN)


async def serve(
    config: SimulatorConfig,
    *,
    file: Path,
    port_file: Path | None,
    announce: Callable[[int, int], None],
    timing: Timing,
) -> None:
    """Listen, tell the ports, and run until SIGTERM or SIGINT; ``file`` keeps what is saved.

    Raises:
        ConfigError: ``sim.port-in-use``.
    """
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    assets = await asyncio.to_thread(read_page)
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        simulator = Simulator(config, session, clock=SystemClock(), timing=timing)
        api = ApiListener(api_app(simulator), config.host, config.port)
        app = page_app(simulator, assets, api, keep=lambda saved: save(saved, file))
        runner = web.AppRunner(app, access_log=None, auto_decompress=False, shutdown_timeout=1.0)
        await runner.setup()
        try:
            port = await listen(runner, config.host, config.page_port)
            await api.open()
            if port_file is not None:
                await asyncio.to_thread(write_private, port_file, str(port).encode())
            announce(port, api.port)
            await ended.wait()
        finally:
            await api.close()
            await runner.cleanup()
