"""The simulated WeCom: tokens, sending, and delivering callbacks as the real one does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from common.clock import ManualClock
from common.errors import ConfigError
from gateway.simulator import engine as engine_module
from gateway.simulator.config import SimulatorConfig, new_config
from gateway.simulator.crypto import SimulatedCrypto
from gateway.simulator.engine import Simulator


class FakeGateway:
    """Answers callbacks with the statuses it was given, and keeps what it read."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.bodies: list[str] = []
        self.queries: list[dict[str, str]] = []

    async def handle(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.text())
        self.queries.append(dict(request.query))
        return web.Response(status=self.statuses.pop(0) if self.statuses else 200)


@pytest.fixture
async def gateway() -> AsyncIterator[tuple[FakeGateway, TestServer]]:
    fake = FakeGateway()
    app = web.Application()
    app.add_routes([web.post("/wecom/app", fake.handle)])
    server = TestServer(app, host="127.0.0.1")
    async with server:
        yield fake, server


@pytest.fixture
async def simulator(
    gateway: tuple[FakeGateway, TestServer], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Simulator]:
    monkeypatch.setattr(engine_module, "RETRY_SECONDS", 0.0)
    config = replace(
        new_config(port=0, callback_url="http://127.0.0.1:1/"),
        callback_url=str(gateway[1].make_url("/wecom/app")),
    )
    async with aiohttp.ClientSession() as session:
        yield Simulator(config, session, clock=ManualClock())


def _send(config: SimulatorConfig, text: str, **extra: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"touser": "li", "msgtype": "text", "agentid": config.app_id}
    return body | {"text": {"content": text}} | extra


async def test_a_member_s_words_arrive_signed_and_encrypted(
    simulator: Simulator, gateway: tuple[FakeGateway, TestServer]
) -> None:
    assert await simulator.say("li", "@dev <test> & 中文 ]]>") == 200
    fake = gateway[0]
    config = simulator.config
    crypto = SimulatedCrypto(config.token, config.encoding_aes_key, config.corp_id)
    encrypted = fake.bodies[0].split("<Encrypt><![CDATA[")[1].split("]]>")[0]
    query = fake.queries[0]
    assert query["msg_signature"] == crypto.signature(query["timestamp"], query["nonce"], encrypted)
    plain = crypto.decrypt(encrypted).decode()
    assert "@dev &lt;test&gt; &amp; 中文 ]]&gt;" in plain
    assert "<FromUserName>li</FromUserName>" in plain


async def test_a_member_s_name_cannot_add_elements() -> None:
    config = new_config(port=0, callback_url="http://127.0.0.1:1/")
    async with aiohttp.ClientSession() as session:
        simulator = Simulator(config, session, clock=ManualClock())
        plain = simulator.text_message("a]]></FromUserName><MsgId>1</MsgId>", "x").decode()
    assert plain.count("<MsgId>") == 1


async def test_a_callback_is_delivered_again_until_it_is_taken(
    simulator: Simulator, gateway: tuple[FakeGateway, TestServer]
) -> None:
    gateway[0].statuses = [503, 500]
    assert await simulator.say("li", "hello") == 200
    assert len(gateway[0].bodies) == 3


async def test_after_four_deliveries_wecom_gives_up_and_the_chat_shows_it(
    simulator: Simulator, gateway: tuple[FakeGateway, TestServer]
) -> None:
    gateway[0].statuses = [503] * 9
    assert await simulator.say("li", "hello") == 503
    assert len(gateway[0].bodies) == 4
    assert [bubble.sender for bubble in await simulator.messages(0)] == ["member", "system"]


async def test_sending_needs_a_live_token_and_the_right_app(simulator: Simulator) -> None:
    config = simulator.config
    token = simulator.new_token(config.corp_id, config.corp_secret)["access_token"]
    cases = [
        ("", _send(config, "x"), 41001),
        ("wrong", _send(config, "x"), 40014),
        (token, _send(config, "x", agentid=str(config.app_id)), 40056),
        (token, _send(config, "x", msgtype="nothing"), 40008),
        (token, _send(config, " "), 44004),
        (token, _send(config, "x", touser=""), 81013),
        (token, [], 40008),
        (token, _send(config, "x"), 0),
    ]
    for given, body, errcode in cases:
        assert (await simulator.take(given, body))["errcode"] == errcode
    assert [bubble.text for bubble in await simulator.messages(0)] == ["x"]


async def test_tokens_are_refused_to_strangers_and_shared_while_they_live(
    simulator: Simulator,
) -> None:
    config = simulator.config
    assert simulator.new_token("other", config.corp_secret)["errcode"] == 40013
    assert simulator.new_token(config.corp_id, "wrong")["errcode"] == 40001
    first = simulator.new_token(config.corp_id, config.corp_secret)["access_token"]
    assert simulator.new_token(config.corp_id, config.corp_secret)["access_token"] == first
    simulator.forget_tokens()
    assert (await simulator.take(first, _send(config, "x")))["errcode"] == 40014


async def test_a_repeated_text_is_suppressed_only_when_that_was_asked_for(
    simulator: Simulator,
) -> None:
    config = simulator.config
    token = simulator.new_token(config.corp_id, config.corp_secret)["access_token"]
    for extra in ({}, {}, {"enable_duplicate_check": 1}, {"enable_duplicate_check": 1}):
        await simulator.take(token, _send(config, "same", **extra))
    assert len(await simulator.messages(0)) == 3


async def test_more_than_thirty_a_minute_are_dropped_in_silence(simulator: Simulator) -> None:
    config = simulator.config
    token = simulator.new_token(config.corp_id, config.corp_secret)["access_token"]
    for number in range(35):
        assert (await simulator.take(token, _send(config, str(number))))["errcode"] == 0
    assert len(await simulator.messages(0)) == 30


async def test_long_texts_are_cut_at_2048_bytes_on_a_character(simulator: Simulator) -> None:
    config = simulator.config
    token = simulator.new_token(config.corp_id, config.corp_secret)["access_token"]
    await simulator.take(token, _send(config, "中" * 1000))
    (bubble,) = await simulator.messages(0)
    assert bubble.text == "中" * 682


def test_the_configuration_s_representation_holds_no_secret() -> None:
    config = new_config(port=1, callback_url="http://127.0.0.1:2/")
    shown = repr(config)
    secrets = (config.token, config.encoding_aes_key, config.corp_secret)
    assert not any(secret in shown for secret in secrets)


async def test_an_app_is_told_of_by_its_own_id_alone(simulator: Simulator) -> None:
    config = simulator.config
    token = simulator.new_token(config.corp_id, config.corp_secret)["access_token"]
    answers = {
        number: simulator.app(key, number)["errcode"]
        for key, number in ((token, str(config.app_id)), (token, "7"), (token, "x"), ("no", "8"))
    }
    assert answers == {str(config.app_id): 0, "7": 301002, "x": 40056, "8": 40014}


async def test_the_console_saves_what_answers_its_url_check(
    simulator: Simulator, gateway: tuple[FakeGateway, TestServer]
) -> None:
    url = simulator.config.callback_url
    before = simulator.config
    assert await simulator.save_callback(url, "t" * 32, "short") == "EncodingAESKey"
    assert await simulator.save_callback(url, "t" * 32, "k" * 43) == "echostr: HTTP 405"
    assert await simulator.save_callback("http://127.0.0.1:1/", "t", "k" * 43) == "echostr: HTTP 0"
    with pytest.raises(ConfigError):
        await simulator.save_callback("https://gateway.example.org/", "t", "k" * 43)
    assert simulator.config == before


async def test_an_address_is_trusted_once_the_url_is_saved() -> None:
    config = replace(new_config(port=0, callback_url=""), trusted_ip="")
    async with aiohttp.ClientSession() as session:
        simulator = Simulator(config, session, clock=ManualClock())
        token = simulator.new_token(config.corp_id, config.corp_secret)["access_token"]
        assert simulator.trust("127.0.0.1") == "URL"
        assert await simulator.deliver(b"<xml/>") == 0
        refused = simulator.app(token, str(config.app_id), address="127.0.0.1")
        assert (refused["errcode"], refused["errmsg"][-9:]) == (60020, "127.0.0.1")
        assert (await simulator.take(token, _send(config, "x")))["errcode"] == 60020
