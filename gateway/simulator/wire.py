"""The simulated API over HTTP: whose token it is, what goes wrong, and what is noted of each call.

It wants the secrets of an app, as WeCom's does, and answers no web page.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from common import strict_json
from common.errors import ConfigError, RemoteProtocolError
from common.page.guards import hosts
from gateway.simulator.api import Answer, SimulatedApp, refusal
from gateway.simulator.engine import Simulator
from gateway.simulator.faults import APP, FAULTS, NOT_SEEN, SEND, TOKEN, UPDATE, Switched
from gateway.simulator.feed import Exchange, laid_out

MAX_BODY: Final = 65_536
CUT_S: Final = 0.1  # for an answer that is on its way
_HTML: Final = "<html><head><title>502 Bad Gateway</title></head><body>proxy</body></html>"
_SECRETS: Final = ("corpsecret", "access_token")


def api_app(simulator: Simulator) -> web.Application:
    """Return the application of WeCom's API."""
    app = web.Application(client_max_size=MAX_BODY)
    app.add_routes(
        [
            *(web.get(f"/cgi-bin/{call}", _call(simulator, call)) for call in (TOKEN, APP)),
            *(web.post(f"/cgi-bin/{call}", _call(simulator, call)) for call in (SEND, UPDATE)),
        ]
    )
    return app


def _call(simulator: Simulator, call: str) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        if not _is_no_page(request):
            return web.Response(status=421)
        begun, clock = simulator.clock.now(), simulator.clock
        body = await request.read()
        app, wrong = _caller(simulator, call, request)
        fault = app.switches.hit(call, begun.wall_ms) if app is not None else None
        answer = await _answer(app, wrong, call, request, body, fault)
        simulator.feed.put(
            Exchange(
                number=simulator.feed.next_number(),
                app=app.config.name if app is not None else "",
                kind="api",
                what=call,
                at_ms=begun.wall_ms,
                took_ms=clock.now().wall_ms - begun.wall_ms,
                attempt=1,
                status=answer.status if answer is not None else 0,
                errcode=_errcode(answer),
                sent=f"{request.method} {_masked(request)}\n\n{body.decode('utf-8', 'replace')}",
                sent_plain=_plain(body),
                answered=_shown(answer),
                answered_plain=_plain(_bytes(answer)),
                note=fault[0] if fault else "",
            )
        )
        if answer is None and request.transport is not None:
            request.transport.abort()
        return answer or web.Response()  # which nobody gets once the line is cut

    return handle


async def _answer(
    app: SimulatedApp | None,
    wrong: Answer | None,
    call: str,
    request: web.Request,
    body: bytes,
    fault: tuple[str, Switched] | None,
) -> web.Response | None:
    """Return what WeCom says; None where it only closes the line."""
    name, switched = fault or ("", Switched())
    address = request.remote or ""
    match name:
        case "closed":
            return None
        case "html":
            return web.Response(text=_HTML, content_type="text/html")
        case "" | "slow" | "answer-lost" | "81013":  # the last names who was meant
            said = wrong or _done(app, call, request, body, is_seen=name != NOT_SEEN)
        case _:
            kind = FAULTS[name]
            if kind.errcode is None:
                return web.Response(status=kind.status, text=_HTML, content_type="text/html")
            shown = switched.address or address
            said = refusal(kind.errcode, kind.errmsg.format(address=shown))
    if name == "slow":
        await asyncio.sleep(switched.delay_s)
    return None if name == "answer-lost" else web.json_response(said)


def _caller(
    simulator: Simulator, call: str, request: web.Request
) -> tuple[SimulatedApp | None, Answer | None]:
    """Return whose secret or token it is, or what WeCom says to a wrong one."""
    query = request.query
    if call != TOKEN:
        token = query.get("access_token", "")
        app = next((app for app in simulator.apps.values() if app.knows(token)), None)
        # A token that was forgotten is nobody's: with one app alone it must have been that one's.
        if app is None and len(simulator.apps) == 1:
            app = simulator.app()
        return app, app.token_fault(token) if app else simulator.app().token_fault(token)
    corp, secret = query.get("corpid", ""), query.get("corpsecret", "")
    of_corp = [app for app in simulator.apps.values() if app.config.corp_id == corp]
    if not of_corp:
        return None, refusal(40013, "invalid corpid")
    for app in of_corp:
        if _is_same(secret, app.config.corp_secret):
            return app, None
    foreign = any(_is_same(secret, app.config.corp_secret) for app in simulator.apps.values())
    of_other = refusal(40091, "provider_secret is invalid")
    return None, of_other if foreign else refusal(40001, "invalid credential")


def _done(
    app: SimulatedApp | None, call: str, request: web.Request, body: bytes, *, is_seen: bool
) -> Answer:
    assert app is not None  # noqa: S101 - `_caller` names one unless something is wrong
    if call == TOKEN:
        return app.new_token()
    if refused := app.address_fault(request.remote or ""):
        return refused
    if call == APP:
        return app.describe(request.query.get("agentid", ""))
    try:
        read = strict_json.loads(body, max_bytes=MAX_BODY, floats="read")
    except RemoteProtocolError:
        return refusal(47001, "data format error")
    return (app.send if call == SEND else app.update_card)(read, is_seen=is_seen)


def _is_same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _masked(request: web.Request) -> str:
    query = [
        f"{name}={'***' if name in _SECRETS else value}" for name, value in request.query.items()
    ]
    return f"{request.path}?{'&'.join(query)}"


def _errcode(answer: web.Response | None) -> int | None:
    try:
        found = strict_json.loads(_bytes(answer), max_bytes=MAX_BODY)["errcode"]
    except (RemoteProtocolError, TypeError, KeyError):
        return None
    return int(found)


def _bytes(answer: web.Response | None) -> bytes:
    return bytes(answer.body) if answer is not None and isinstance(answer.body, bytes) else b""


def _shown(answer: web.Response | None) -> str:
    if answer is None:
        return ""
    return f"HTTP {answer.status}\n\n{_hidden_token(_bytes(answer).decode())}"


def _plain(body: bytes) -> str:
    try:
        return _hidden_token(laid_out(strict_json.loads(body, max_bytes=MAX_BODY, floats="read")))
    except RemoteProtocolError:
        return ""


def _hidden_token(text: str) -> str:
    return re.sub(r'("access_token": ")[^"]*', r"\1***", text)


def _is_no_page(request: web.Request) -> bool:
    """Tell whether it is a program's request, not one that a web page had its browser send."""
    if request.host not in hosts(_port(request)) or "Origin" in request.headers:
        return False
    return request.headers.get("Sec-Fetch-Site", "none") == "none"


def _port(request: web.Request) -> int:
    transport = request.transport
    return int(transport.get_extra_info("sockname")[1]) if transport else 0


class ApiListener:
    """The simulated API where it listens; `close` refuses connections until it is opened again."""

    def __init__(self, app: web.Application, host: str, port: int) -> None:
        self._runner = web.AppRunner(
            app, access_log=None, auto_decompress=False, shutdown_timeout=1.0
        )
        self._host = host
        self.port = port
        self.is_open = False

    async def open(self) -> None:
        """Listen, on the same port as before.

        Raises:
            ConfigError: ``sim.port-in-use``.
        """
        if self.is_open:
            return
        if self._runner.server is None:
            await self._runner.setup()
        self.port = await listen(self._runner, self._host, self.port)
        self.is_open = True

    async def close(self) -> None:
        """Listen no more, and cut what is connected."""
        self.is_open = False
        for site in list(self._runner.sites):
            await site.stop()
        if self._runner.server is not None:
            await self._runner.server.shutdown(CUT_S)


async def listen(runner: web.AppRunner, host: str, port: int) -> int:
    """Listen, and return the port.

    Raises:
        ConfigError: ``sim.port-in-use``.
    """
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
    except OSError:
        raise ConfigError("sim.port-in-use", host=host, port=port) from None
    found: int = runner.addresses[-1][1]
    return found
