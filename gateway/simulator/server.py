"""Serves the simulated WeCom on loopback: the API that a gateway calls, and the chat page.

Any web page in the person's browser can send requests to loopback: Host, Origin and a header of our
own are checked, and the content policy admits nothing from elsewhere.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Final

import aiohttp
from aiohttp import web
from aiohttp.typedefs import Handler

from common import strict_json
from common.clock import SystemClock
from common.errors import ConfigError, RemoteProtocolError
from common.home import write_private
from gateway.simulator.config import SimulatorConfig, save
from gateway.simulator.engine import Simulator, as_json

MAX_BODY: Final = 65_536
WAIT_SECONDS: Final = 20.0
OWN_HEADER: Final = "X-Simulator"
PAGE: Final = {
    "/": ("chat.html", "text/html"),
    "/chat.js": ("chat.js", "text/javascript"),
    "/chat.css": ("chat.css", "text/css"),
}
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def read_page() -> dict[str, bytes]:
    """Return the page's files by path; blocks, so call it in a thread or before the loop runs."""
    folder = files("gateway.simulator").joinpath("static")
    return {path: folder.joinpath(name).read_bytes() for path, (name, _) in PAGE.items()}


async def serve(
    config: SimulatorConfig,
    *,
    file: Path,
    port_file: Path | None,
    announce: Callable[[int], None],
) -> None:
    """Listen, tell the port, and run until SIGTERM or SIGINT; ``file`` keeps what is saved.

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
        app = make_app(simulator, page, keep=lambda saved: save(saved, file))
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
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


def make_app(
    simulator: Simulator,
    page: dict[str, bytes],
    *,
    keep: Callable[[SimulatorConfig], None] = lambda _saved: None,
) -> web.Application:
    """Return the application with both faces; ``page`` is what `read_page` gave."""
    app = web.Application(client_max_size=MAX_BODY, middlewares=[_guard])
    app.add_routes(
        [
            web.get("/cgi-bin/gettoken", _gettoken(simulator)),
            web.get("/cgi-bin/agent/get", _agent_get(simulator)),
            web.post("/cgi-bin/message/send", _message_send(simulator)),
            web.get("/api/messages", _list(simulator)),
            web.post("/api/say", _say(simulator)),
            web.post("/api/console", _console(simulator, keep)),
            *(web.get(path, _file(page[path], kind)) for path, (_, kind) in PAGE.items()),
        ]
    )
    return app


@web.middleware
async def _guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse requests that another web page could have made (R56)."""
    if not _is_ours(request):
        return web.Response(status=421)
    answer = await handler(request)
    answer.headers.update(
        {
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
    )
    return answer


def _is_ours(request: web.Request) -> bool:
    transport = request.transport
    port = transport.get_extra_info("sockname")[1] if transport else 0
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    if request.host not in hosts:
        return False
    origin = request.headers.get("Origin")
    if origin is not None and origin not in {f"http://{host}" for host in hosts}:
        return False
    if request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        return False
    return request.path not in ("/api/say", "/api/console") or OWN_HEADER in request.headers


def _gettoken(simulator: Simulator) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        query = request.query
        return web.json_response(
            simulator.new_token(query.get("corpid", ""), query.get("corpsecret", ""))
        )

    return handle


def _agent_get(simulator: Simulator) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        query = request.query
        return web.json_response(
            simulator.app(
                query.get("access_token", ""),
                query.get("agentid", ""),
                address=request.remote or "",
            )
        )

    return handle


def _message_send(simulator: Simulator) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            body = strict_json.loads(await request.read(), max_bytes=MAX_BODY)
        except RemoteProtocolError:
            return web.json_response({"errcode": 47001, "errmsg": "data format error"})
        token = request.query.get("access_token", "")
        address = request.remote or ""
        return web.json_response(await simulator.take(token, body, address=address))

    return handle


def _list(simulator: Simulator) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        after = request.query.get("after", "0")
        number = int(after) if after.isascii() and after.isdigit() and len(after) < 16 else 0
        wait = WAIT_SECONDS if request.query.get("wait") == "1" else 0.0
        return web.json_response(as_json(await simulator.messages(number, wait_seconds=wait)))

    return handle


def _say(simulator: Simulator) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            body = strict_json.loads(await request.read(), max_bytes=MAX_BODY)
        except RemoteProtocolError:
            return web.Response(status=400)
        match body:
            case {"user": str(user), "text": str(text)} if user.strip() and text.strip():
                return web.json_response({"status": await simulator.say(user[:64], text)})
            case _:
                return web.Response(status=400)

    return handle


def _console(simulator: Simulator, keep: Callable[[SimulatorConfig], None]) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            body = strict_json.loads(await request.read(), max_bytes=MAX_BODY)
        except RemoteProtocolError:
            return web.Response(status=400)
        match body:
            case {"url": str(url), "token": str(token), "encoding_aes_key": str(key)}:
                try:
                    fault = await simulator.save_callback(url, token, key)
                except ConfigError:
                    fault = "URL: 127.0.0.1"
            case {"trusted_ip": str(address)}:
                fault = simulator.trust(address)
            case _:
                return web.Response(status=400)
        if not fault:
            await asyncio.to_thread(keep, simulator.config)
        return web.json_response({"fault": fault})

    return handle


def _file(content: bytes, kind: str) -> Handler:
    async def handle(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=content, content_type=kind, charset="utf-8")

    return handle
