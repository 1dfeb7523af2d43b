"""A simulator and a gateway that answers as it is told, on real loopback sockets."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from wechatpy.enterprise.crypto import WeChatCrypto

from common.clock import ManualClock
from gateway.simulator.api import SimulatedApp
from gateway.simulator.config import AppConfig, new_app, new_config
from gateway.simulator.crypto import SimulatedCrypto
from gateway.simulator.engine import Simulator, Timing

QUICK = Timing(deadline_s=5.0, retry_s=0.0, check_s=5.0)


@dataclass
class ScriptedGateway:
    """Answers callbacks as it was told, 200 without a word otherwise, and keeps what it read.

    Attributes:
        answers: Each a status, a body to answer with, or None to say nothing for ever.
    """

    answers: list[int | bytes | None] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    queries: list[dict[str, str]] = field(default_factory=list)
    reply: Callable[[bytes], bytes] | None = None
    crypto: SimulatedCrypto | None = None

    async def handle(self, request: web.Request) -> web.Response:
        """Take one delivery."""
        self.bodies.append(await request.text())
        self.queries.append(dict(request.query))
        answer = self.answers.pop(0) if self.answers else 200
        if answer is None:
            await request.content.wait_eof()
            await _never()
        if isinstance(answer, bytes):
            return web.Response(body=answer)
        return web.Response(status=answer or 200)

    def encrypted(self, number: int = -1) -> str:
        """Return the Encrypt of a delivery."""
        return self.bodies[number].split("<Encrypt><![CDATA[")[1].split("]]>")[0]


async def _never() -> None:
    import asyncio

    await asyncio.get_running_loop().create_future()


@pytest.fixture
async def gateway() -> AsyncIterator[tuple[ScriptedGateway, TestServer]]:
    """Listen on loopback."""
    scripted = ScriptedGateway()
    app = web.Application()
    app.add_routes([web.post("/wecom/app", scripted.handle), web.post("/b", scripted.handle)])
    async with TestServer(app, host="127.0.0.1") as server:
        assert isinstance(server, TestServer)
        yield scripted, server


@pytest.fixture
async def simulator(
    gateway: tuple[ScriptedGateway, TestServer],
) -> AsyncIterator[Simulator]:
    """A simulator of two corps, with one app each."""
    first = new_app(callback_url=str(gateway[1].make_url("/wecom/app")))
    other = new_app("other", callback_url=str(gateway[1].make_url("/b")), app_id=1_000_003)
    config = new_config(first, replace(other, members=("Li", "wang")))
    async with aiohttp.ClientSession() as session:
        yield Simulator(config, session, clock=ManualClock(), timing=QUICK)


def crypto_of(config: AppConfig) -> SimulatedCrypto:
    """Return what reads an app's callbacks."""
    return SimulatedCrypto(config.token, config.encoding_aes_key, config.corp_id)


def passive(config: AppConfig, inner: str) -> bytes:
    """Return a passive reply, encrypted by another implementation."""
    crypto = WeChatCrypto(config.token, config.encoding_aes_key, config.corp_id)
    sealed = crypto.encrypt_message(inner, secrets.token_hex(4), "1760000000")
    return sealed.encode() if isinstance(sealed, str) else bytes(sealed)


def text_reply(config: AppConfig, text: str, *, user: str = "li", kind: str = "text") -> str:
    """Return the plain XML of a passive reply."""
    return (
        f"<xml><ToUserName><![CDATA[{user}]]></ToUserName>"
        f"<FromUserName><![CDATA[{config.corp_id}]]></FromUserName>"
        f"<CreateTime>1760000000</CreateTime><MsgType><![CDATA[{kind}]]></MsgType>"
        f"<Content><![CDATA[{text}]]></Content></xml>"
    )


def text_message(app: SimulatedApp, text: str, **extra: Any) -> dict[str, Any]:
    """Return the body of ``message/send`` for a text."""
    body: dict[str, Any] = {"touser": "li", "msgtype": "text", "agentid": app.config.app_id}
    return body | {"text": {"content": text}} | extra


def button_card(task_id: str = "T-1", **extra: Any) -> dict[str, Any]:
    """Return a card with two buttons."""
    buttons = [{"text": "Stop watching", "key": "stop"}, {"text": "Status", "key": "status"}]
    return {
        "card_type": "button_interaction",
        "main_title": {"title": "T-7K3F", "desc": "waits"},
        "task_id": task_id,
        "button_list": buttons,
    } | extra


def card_message(app: SimulatedApp, card: Any, **extra: Any) -> dict[str, Any]:
    """Return the body of ``message/send`` for a card."""
    return {
        "touser": "li",
        "msgtype": "template_card",
        "agentid": app.config.app_id,
        "template_card": card,
    } | extra
