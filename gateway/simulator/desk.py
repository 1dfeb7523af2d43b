"""The page of the simulator and its commands over HTTP: what they see, and what they ask for.

Any web page in the person's browser can send requests to loopback, and so can other users of the
machine: only the person's own processes and the page's own origin are answered (R56).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any, Final, TypeAlias

from aiohttp import web
from aiohttp.typedefs import Handler

from common import strict_json
from common.errors import ConfigError, InputError, RemoteProtocolError
from common.page import peers
from common.page.guards import HEADERS, refusal
from gateway.simulator import sentences as S  # noqa: N812 - a table of constants
from gateway.simulator.config import SimulatorConfig
from gateway.simulator.engine import Simulator, is_address
from gateway.simulator.faults import FAULTS, SLOW_S, UNREACHABLE, Switched, ends_at
from gateway.simulator.wire import ApiListener

MAX_BODY: Final = 65_536
WAIT_SECONDS: Final = 20.0
MAX_SECONDS: Final = 604_800
_OWNERS_ARE_TOLD: Final = peers.is_told()

Assets: TypeAlias = dict[str, tuple[bytes, str]]
Keep: TypeAlias = Callable[[SimulatorConfig], None]


def page_app(
    simulator: Simulator,
    assets: Assets,
    api: ApiListener,
    *,
    keep: Keep = lambda _saved: None,
) -> web.Application:
    """Return the application of the page; ``assets`` is what `read_page` gave."""
    app = web.Application(client_max_size=MAX_BODY, middlewares=[_guard])
    app.on_response_prepare.append(_dress)
    desk = _Desk(simulator, api, keep)
    app.add_routes(
        [
            web.get("/api/messages", desk.messages),
            web.get("/api/feed", desk.feed),
            web.get("/api/state", desk.state),
            *(
                web.post(f"/api/{act.__name__}", desk.asked(act))
                for act in (
                    *(desk.say, desk.event, desk.click, desk.repeat, desk.fault, desk.tokens),
                    *(desk.forget, desk.call, desk.timing, desk.console),
                )
            ),
            *(web.get(path, _asset(*found)) for path, found in assets.items()),
        ]
    )
    return app


@web.middleware
async def _guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    if (status := refusal(request)) is not None:
        return web.Response(status=status)
    if not await _is_own_process(request):
        return web.Response(status=403)
    return await handler(request)


async def _is_own_process(request: web.Request) -> bool:
    if request.transport is None:
        return False
    if not _OWNERS_ARE_TOLD:
        return True
    client = request.transport.get_extra_info("peername")
    server = request.transport.get_extra_info("sockname")
    owner = await asyncio.to_thread(peers.owner_of, client[:2], server[:2])
    return owner in (os.getuid(), 0)


async def _dress(_request: web.BaseRequest, response: web.StreamResponse) -> None:
    response.headers.popall("Server", None)
    response.headers.update(HEADERS)


def _asset(body: bytes, kind: str) -> Handler:
    async def handle(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=body, content_type=kind, charset="utf-8")

    return handle


class _Desk:
    """What the page and the commands ask for."""

    def __init__(self, simulator: Simulator, api: ApiListener, keep: Keep) -> None:
        self._simulator = simulator
        self._api = api
        self._keep = keep

    def asked(self, act: Callable[[dict[str, Any]], Awaitable[Any]]) -> Handler:
        """Return the handler of a request that does something."""

        async def handle(request: web.Request) -> web.StreamResponse:
            try:
                body = strict_json.loads(await request.read(), max_bytes=MAX_BODY, floats="read")
                return web.json_response(await act(body))
            except InputError as error:
                told = {"code": error.code}
                told |= {name: str(value) for name, value in error.facts.items()}
                return web.json_response({"error": told}, status=409)
            except (RemoteProtocolError, TypeError, KeyError, ValueError, AttributeError):
                return web.Response(status=400)

        return handle

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """The bubbles after a number."""
        after, wait_s = _after(request)
        await self._simulator.feed.wait(after, wait_s, chat_only=True)
        found = self._simulator.feed.messages(after)
        return web.json_response([asdict(one) for one in found])

    async def feed(self, request: web.Request) -> web.StreamResponse:
        """Bubbles and exchanges after a number."""
        feed = self._simulator.feed
        after, wait_s = _after(request)
        await feed.wait(after, wait_s)
        return web.json_response(
            {
                "messages": [asdict(one) for one in feed.messages(after)],
                "exchanges": [asdict(one) for one in feed.exchanges(after)],
            }
        )

    async def state(self, _request: web.Request) -> web.StreamResponse:
        """The apps, and what is switched on."""
        return web.json_response(self._state())

    def _state(self) -> dict[str, Any]:
        told = self._simulator.state() | {"unreachable": not self._api.is_open}
        labels = [{"name": name, **asdict(label)} for name, label in S.FAULTS.items()]
        return told | {"faults": labels, "api_port": self._api.port}

    async def say(self, body: dict[str, Any]) -> Any:
        """Write as a member."""
        app = self._simulator.app(_text(body.get("app", "")))
        user, text = _text(body["user"]).strip(), _text(body["text"])
        if not user or not text.strip():
            raise ValueError("empty")
        return {"status": await self._simulator.say(app, user[:64], text)}

    async def event(self, body: dict[str, Any]) -> Any:
        """Send an event, such as ``enter_agent``."""
        app = self._simulator.app(_text(body.get("app", "")))
        fields = {_text(name): _text(value) for name, value in body.get("fields", {}).items()}
        if not all(name.isascii() and name.isalpha() for name in fields):
            raise ValueError("fields")
        user, name = _text(body["user"]), _text(body["name"])
        callback = self._simulator.event(app, user[:64], name[:64], **fields)
        return {"status": await self._simulator.deliver(callback)}

    async def click(self, body: dict[str, Any]) -> Any:
        """Click on a card."""
        app = self._simulator.app(_text(body.get("app", "")))
        selected = {
            _text(name): [_text(one) for one in options]
            for name, options in body.get("selected", {}).items()
        }
        user, key = _text(body["user"]), _text(body["key"])
        return {"status": await self._simulator.click(app, user, body["id"], key, selected)}

    async def repeat(self, body: dict[str, Any]) -> Any:
        """Send a callback again."""
        number, renewed = body.get("number", 0), body.get("renewed", False)
        return {"status": await self._simulator.repeat(number, renewed=renewed is True)}

    async def fault(self, body: dict[str, Any]) -> Any:
        """Switch a fault on or off; an empty name switches all off."""
        app = self._simulator.app(_text(body.get("app", "")))
        name, on = _text(body["name"]), body["on"] is True
        if name and name not in FAULTS:
            raise InputError("sim.unknown-fault", name=name)
        if name == UNREACHABLE or (not name and not on):
            await (self._api.close() if on else self._api.open())
        if on and name != UNREACHABLE:
            now_ms = self._simulator.clock.now().wall_ms
            seconds = body.get("seconds")
            count = body.get("count")
            delay_s = body.get("delay", SLOW_S)
            for number in (seconds, count, delay_s):
                if number is not None and not 0 < number <= MAX_SECONDS:
                    raise ValueError("number")
            until_ms = ends_at(FAULTS[name], now_ms, seconds)
            address = _text(body.get("address", ""))
            if address and not is_address(address):
                raise InputError("sim.address")
            app.switches.turn_on(name, Switched(until_ms, count, address, delay_s))
        elif name != UNREACHABLE:
            app.switches.turn_off(name)
        return self._state()

    async def tokens(self, body: dict[str, Any]) -> Any:
        """End the tokens of an app: ``expire`` (42001) or ``forget`` (40014); or their lifetime."""
        app = self._simulator.app(_text(body.get("app", "")))
        if "seconds" in body:
            if not 0 < body["seconds"] <= MAX_SECONDS:
                raise ValueError("seconds")
            app.token_seconds = int(body["seconds"])
        match body.get("how"):
            case "expire":
                app.expire_tokens()
            case "forget":
                app.forget_tokens()
        return {}

    async def forget(self, _body: dict[str, Any]) -> Any:
        """Forget which messages there were: a scenario played twice sends no duplicates."""
        for app in self._simulator.apps.values():
            app.forget_sent()
        return {}

    async def call(self, body: dict[str, Any]) -> Any:
        """Do what the app itself would do by the API: send a message, or change a card."""
        app = self._simulator.app(_text(body.get("app", "")))
        message = body["message"] | {"agentid": app.config.app_id}
        return app.update_card(message) if "response_code" in message else app.send(message)

    async def timing(self, body: dict[str, Any]) -> Any:
        """Choose whether retries are encrypted and signed anew."""
        renewed = body["renewed"] is True
        self._simulator.timing = replace(self._simulator.timing, renewed=renewed)
        return self._state()

    async def console(self, body: dict[str, Any]) -> Any:
        """Save what the console would."""
        app = self._simulator.app(_text(body.get("app", "")))
        if "trusted_ip" in body:
            fault = self._simulator.trust(app, _text(body["trusted_ip"]))
        else:
            url, token, key = (_text(body[name]) for name in ("url", "token", "encoding_aes_key"))
            try:
                fault = await self._simulator.save_callback(app, url, token, key)
            except ConfigError:
                fault = "elsewhere"
        if not fault:
            await asyncio.to_thread(self._keep, self._simulator.config)
        return {"fault": fault}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def _after(request: web.Request) -> tuple[int, float]:
    after = request.query.get("after", "0")
    number = int(after) if after.isascii() and after.isdigit() and len(after) < 16 else 0
    return number, WAIT_SECONDS if request.query.get("wait") == "1" else 0.0
