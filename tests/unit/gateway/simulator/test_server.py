"""The simulator's HTTP faces: the API with its errors, and a page that refuses what others send."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from common.clock import ManualClock
from common.errors import ConfigError
from common.sentences import say
from gateway.faces.cli.error_texts import ERRORS
from gateway.simulator.config import (
    load,
    new_app,
    new_config,
    save,
    write_console,
    write_installation,
)
from gateway.simulator.desk import page_app
from gateway.simulator.engine import Simulator
from gateway.simulator.faults import FAULTS, SEND
from gateway.simulator.server import read_page
from gateway.simulator.wire import ApiListener, api_app
from tests.simulated import QUICK, button_card, card_message, text_message


@dataclass
class Rig:
    """A simulator with both of its faces."""

    simulator: Simulator
    page: TestClient  # type: ignore[type-arg]  # generic only in stubs
    api: ApiListener
    session: aiohttp.ClientSession
    clock: ManualClock

    async def ask(self, what: str, **body: Any) -> Any:
        url = self.page.make_url(f"/api/{what}")
        headers = {"Origin": str(url.origin())}
        async with self.page.post(f"/api/{what}", json=body, headers=headers) as answer:
            return answer.status, await answer.json() if answer.content_length else None

    async def call(self, path: str, *, body: Any = None, **query: str) -> Any:
        method = "GET" if body is None else "POST"
        url = f"http://127.0.0.1:{self.api.port}/cgi-bin/{path}"
        async with self.session.request(method, url, params=query, json=body) as answer:
            if answer.content_type != "application/json":
                return answer.status
            return await answer.json()

    async def token(self, number: int = 0) -> Any:
        config = self.simulator.config.apps[number]
        said = await self.call("gettoken", corpid=config.corp_id, corpsecret=config.corp_secret)
        return said.get("access_token", said["errcode"]) if isinstance(said, dict) else said

    async def send(self, text: str = "x", *, number: int = 0) -> Any:
        app = self.simulator.app(self.simulator.config.apps[number].name)
        token = app.new_token()["access_token"]
        message = text_message(app, text)
        said = await self.call("message/send", body=message, access_token=token)
        return said["errcode"] if isinstance(said, dict) else said

    def texts(self) -> list[str]:
        return [one.text for one in self.simulator.feed.messages(0)]


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    first = new_app(callback_url="http://127.0.0.1:9/")
    other = new_app("other", callback_url="http://127.0.0.1:9/b", app_id=1_000_003)
    clock = ManualClock()
    async with aiohttp.ClientSession() as session:
        simulator = Simulator(new_config(first, other), session, clock=clock, timing=QUICK)
        api = ApiListener(api_app(simulator), "127.0.0.1", 0)
        app = page_app(simulator, await asyncio.to_thread(read_page), api)
        async with TestClient(TestServer(app, host="127.0.0.1")) as page:
            await api.open()
            yield Rig(simulator, page, api, session, clock)
            await api.close()


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_requests_from_other_pages_are_refused(rig: Rig, headers: dict[str, str]) -> None:
    for path in ("/", "/api/messages"):
        assert (await rig.page.get(path, headers=headers)).status in (403, 421)
    url = f"http://127.0.0.1:{rig.api.port}/cgi-bin/gettoken"
    async with rig.session.get(url, headers=headers) as answer:
        assert answer.status == 421


async def test_asking_needs_the_page_s_own_origin(rig: Rig) -> None:
    body = {"user": "li", "text": "x"}
    assert (await rig.page.post("/api/say", json=body)).status == 403


async def test_another_user_of_the_machine_gets_nothing(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("common.page.peers.owner_of", lambda *_: 12_345)
    assert (await rig.page.get("/api/feed")).status == 403


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("say", {"user": 1, "text": "x"}),
        ("say", {"user": "a"}),
        ("say", {"user": " ", "text": "x"}),
        ("say", []),
        ("event", {"user": "a", "name": "x", "fields": {"a<b": "c"}}),
        ("fault", {"name": "busy"}),
        ("fault", {"name": "busy", "on": True, "seconds": -1}),
        ("fault", {"name": "busy", "on": True, "count": "x"}),
        ("tokens", {"seconds": 0}),
        ("click", {"user": "a", "id": [], "key": "x"}),
        ("console", {"url": "http://127.0.0.1/"}),
        ("call", {"message": 1}),
    ],
)
async def test_a_malformed_request_is_refused(rig: Rig, what: str, body: Any) -> None:
    url = rig.page.make_url("/")
    headers = {"Origin": str(url.origin()), "Content-Type": "application/json"}
    answer = await rig.page.post(f"/api/{what}", data=json.dumps(body), headers=headers)
    assert answer.status == 400


async def test_what_is_not_there_is_told_by_its_code(rig: Rig) -> None:
    for what, body, code in (
        ("say", {"app": "x", "user": "a", "text": "b"}, "sim.unknown-app"),
        ("fault", {"name": "x", "on": True}, "sim.unknown-fault"),
        ("fault", {"name": "60020", "on": True, "address": "bad"}, "sim.address"),
        ("repeat", {"number": 1}, "sim.no-such-callback"),
        ("click", {"user": "a", "id": 1, "key": "x"}, "sim.no-such-card"),
    ):
        status, told = await rig.ask(what, **body)
        assert (status, told["error"]["code"]) == (409, code)


async def test_the_page_carries_a_policy_that_admits_nothing_from_elsewhere(rig: Rig) -> None:
    answer = await rig.page.get("/")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    text = await answer.text()
    assert "http://" not in text
    assert "https://" not in text


async def test_tokens_are_refused_to_strangers(rig: Rig) -> None:
    first, other = rig.simulator.config.apps
    for corp, secret, errcode in (
        ("other", first.corp_secret, 40013),
        (first.corp_id, "wrong", 40001),
        (first.corp_id, other.corp_secret, 40091),
        (first.corp_id, first.corp_secret, 0),
    ):
        said = await rig.call("gettoken", corpid=corp, corpsecret=secret)
        assert said["errcode"] == errcode


async def test_a_token_is_of_one_app_alone(rig: Rig) -> None:
    app = rig.simulator.app("other")
    said = await rig.call(
        "message/send", body=text_message(app, "x"), access_token=await rig.token(0)
    )
    assert said["errcode"] == 40056
    for token, errcode in (("", 41001), ("x", 40014)):
        said = await rig.call("message/send", body=text_message(app, "x"), access_token=token)
        assert said["errcode"] == errcode
    assert await rig.send(number=1) == 0
    assert [one.app for one in rig.simulator.feed.messages(0)] == ["other"]


async def test_a_malformed_message_is_answered_as_wecom_does(rig: Rig) -> None:
    url = f"http://127.0.0.1:{rig.api.port}/cgi-bin/message/send"
    query = {"access_token": await rig.token()}
    async with rig.session.post(url, params=query, data=b"{") as answer:
        assert (await answer.json())["errcode"] == 47001


@pytest.mark.parametrize(
    "name", sorted(set(FAULTS) - {"slow", "unreachable", "closed", "answer-lost"})
)
async def test_an_error_is_switched_on_and_off_for_one_app(rig: Rig, name: str) -> None:
    await rig.token()
    assert (await rig.ask("fault", name=name, on=True))[0] == 200
    fault = FAULTS[name]
    expected = fault.errcode if fault.errcode is not None else fault.status
    assert await (rig.send() if SEND in fault.calls else rig.token()) == expected
    assert await rig.send(number=1) == 0
    told = rig.simulator.feed.exchanges(0)
    assert [one.note for one in told if one.note][-1] == name
    await rig.ask("fault", name="", on=False)
    assert isinstance(await rig.token(), str)
    assert await rig.send() == 0


async def test_an_app_that_nobody_sees_names_who_was_meant_and_changes_no_card(rig: Rig) -> None:
    app, token = rig.simulator.app(), await rig.token()
    sent = await rig.call("message/send", body=card_message(app, button_card()), access_token=token)
    await rig.ask("fault", name="81013", on=True, count=2)
    said = await rig.call("message/send", body=text_message(app, "x"), access_token=token)
    assert (said["errcode"], said["invaliduser"]) == (81013, "li")
    change = {"agentid": app.config.app_id, "userids": ["li"], "button": {"replace_name": "done"}}
    change["response_code"] = sent["response_code"]
    for errcode in (81013, 0):
        said = await rig.call("message/update_template_card", body=change, access_token=token)
        assert said["errcode"] == errcode


async def test_an_error_lasts_for_so_many_calls_or_so_long(rig: Rig) -> None:
    await rig.ask("fault", name="busy", on=True, count=2)
    assert [await rig.token(), await rig.token()] == [-1, -1]
    await rig.ask("fault", name="45009-hour", on=True)
    assert await rig.send() == 45009
    rig.clock.advance(3599)
    assert await rig.send() == 45009
    rig.clock.advance(1)
    assert await rig.send() == 0
    await rig.ask("fault", name="45009-day", on=True)
    _, state = await rig.ask("fault", name="60020", on=True, seconds=5, address="203.0.113.7")
    on = state["apps"][0]["faults"]
    assert on["45009-day"]["until_ms"] % 86_400_000 == 16 * 3_600_000  # midnight in China
    assert 0 < on["45009-day"]["until_ms"] - rig.clock.now().wall_ms <= 86_400_000
    said = await rig.call("agent/get", access_token=await rig.token(), agentid="1000002")
    assert said["errmsg"].endswith("from ip: 203.0.113.7")


async def test_an_answer_comes_late_is_lost_or_never_comes(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    await rig.token()
    await rig.ask("fault", name="slow", on=True, delay=0.02, count=1)
    assert await rig.send("late") == 0
    await rig.ask("fault", name="answer-lost", on=True, count=1)
    with pytest.raises(aiohttp.ClientError):
        await rig.send("lost")
    await rig.ask("fault", name="closed", on=True, count=1)
    with pytest.raises(aiohttp.ClientError):
        await rig.send("never")
    assert rig.texts() == ["late", "lost"]
    assert caplog.records == []


async def test_a_line_that_is_cut_refuses_connections_and_comes_back(rig: Rig) -> None:
    assert await rig.send() == 0
    _, state = await rig.ask("fault", name="unreachable", on=True)
    assert state["unreachable"]
    with pytest.raises(aiohttp.ClientConnectorError):
        await rig.send()
    _, state = await rig.ask("fault", name="unreachable", on=False)
    assert not state["unreachable"]
    assert await rig.send() == 0


async def test_tokens_end_when_they_are_told_to(rig: Rig) -> None:
    token = await rig.token()
    app = rig.simulator.app()
    for how, errcode in (("expire", 42001), ("forget", 40014)):
        await rig.ask("tokens", how=how, seconds=90)
        said = await rig.call("message/send", body=text_message(app, "x"), access_token=token)
        assert said["errcode"] == errcode
    said = await rig.call("gettoken", corpid=app.config.corp_id, corpsecret=app.config.corp_secret)
    assert said["expires_in"] == 90


async def test_traffic_is_told_whole_without_the_secrets_of_the_api(rig: Rig) -> None:
    await rig.token()
    await rig.send("hello")
    answer = await rig.page.get("/api/feed")
    feed = await answer.json()
    token, sent = feed["exchanges"]
    config = rig.simulator.config.first
    assert config.corp_secret not in json.dumps(feed)
    assert not any(one in json.dumps(feed) for one in rig.simulator.app()._tokens)
    assert f"corpid={config.corp_id}&corpsecret=***" in token["sent"]
    assert (sent["what"], sent["errcode"], sent["status"]) == ("message/send", 0, 200)
    assert '"content": "hello"' in sent["sent_plain"]
    assert [one["text"] for one in feed["messages"]] == ["hello"]
    last = max(one["number"] for one in feed["exchanges"] + feed["messages"])
    answer = await rig.page.get(f"/api/feed?after={last}")
    assert await answer.json() == {"messages": [], "exchanges": []}


async def test_who_waits_hears_of_the_next_thing(rig: Rig) -> None:
    waiting = asyncio.create_task(rig.page.get("/api/messages?after=0&wait=1"))
    await asyncio.sleep(0)
    assert await rig.send("now") == 0
    answer = await waiting
    assert [one["text"] for one in await answer.json()] == ["now"]


async def test_the_app_s_own_call_puts_a_card_into_the_chat(rig: Rig) -> None:
    message: dict[str, Any] = {"touser": "li", "msgtype": "text", "text": {"content": "x"}}
    assert (await rig.ask("call", message=message))[1]["errcode"] == 0
    assert rig.texts() == ["x"]


async def test_what_was_sent_before_is_forgotten_when_a_scenario_begins(rig: Rig) -> None:
    message: dict[str, Any] = {"touser": "li", "msgtype": "text", "text": {"content": "x"}}
    message["enable_duplicate_check"] = 1
    for _ in range(2):
        await rig.ask("call", message=message)
    assert rig.texts() == ["x"]
    await rig.ask("forget")
    await rig.ask("call", message=message)
    assert rig.texts() == ["x", "x"]


async def test_retries_are_renewed_once_that_is_chosen(rig: Rig) -> None:
    assert (await rig.ask("timing", renewed=True))[1]["renewed"]
    assert rig.simulator.timing.renewed


def test_a_configuration_survives_a_file(tmp_path: Path) -> None:
    made = write_installation(
        tmp_path / "c", ports=(7001, 7002, 7003), lang="zh", apps=[("shop", False), ("hr", True)]
    )
    assert load(made.simulator) == made.config
    main, shop, hr = made.config.apps
    assert main.corp_id == shop.corp_id != hr.corp_id
    assert made.simulator.stat().st_mode & 0o077 == 0
    assert 'language = "zh"' in made.gateway.read_text(encoding="utf-8")


def test_the_gateway_reads_what_was_written_for_it(tmp_path: Path) -> None:
    from gateway.base.settings import check_servable, load_settings

    made = write_installation(
        tmp_path / "c", ports=(7001, 7002, 7003), lang="zh", apps=[("shop", False), ("hr", True)]
    )
    settings = load_settings(file=made.gateway, environ={})  # it finds the secrets by itself
    check_servable(settings)
    for app in made.config.apps:
        read = settings.wecom.every()[app.name]
        assert (read.corp_id, read.agent_id) == (app.corp_id, app.app_id)
        assert read.token.get_secret_value() == app.token
        assert app.callback_url == f"http://127.0.0.1:7003{read.callback_path}"


@pytest.mark.parametrize("name", ["main", "Shop", "", "a b", "x" * 33])
def test_a_name_that_the_gateway_would_not_take_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        write_installation(tmp_path, ports=(1, 2, 3), lang="zh", apps=[(name, False)])
    assert caught.value.code == "sim.app-name"


def test_a_file_from_before_there_were_several_apps_is_read(tmp_path: Path) -> None:
    from dataclasses import asdict

    from common.home import write_private

    app = new_app(callback_url="http://127.0.0.1:1/")
    old = {name: value for name, value in asdict(app).items() if name not in ("name", "members")}
    path = tmp_path / "simulator.json"
    write_private(path, json.dumps({"host": "127.0.0.1", "port": 8790} | old).encode())
    config = load(path)
    assert (config.first, config.port) == (app, 8790)


@pytest.mark.parametrize("url", ["https://example.com/", "http://localhost/", "http://10.0.0.1/"])
def test_callbacks_go_to_loopback_only(tmp_path: Path, url: str) -> None:
    path = tmp_path / "simulator.json"
    save(new_config(new_app(callback_url=url)), path)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert caught.value.code == "config.simulator-not-loopback"


def test_a_missing_or_broken_configuration_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "none.json")
    assert caught.value.code == "config.no-file"
    broken = tmp_path / "broken.json"
    for text in ("{}", "[]", '{"host": "127.0.0.1", "port": 1, "page_port": 2, "apps": []}'):
        broken.write_text(text, encoding="utf-8")
        broken.chmod(0o600)
        with pytest.raises(ConfigError) as caught:
            load(broken)
        assert caught.value.code == "config.simulator"


@pytest.mark.parametrize("name", ["simulator.json", "gateway.toml", "gateway-secrets"])
def test_nothing_that_is_there_is_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a real one", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        write_installation(tmp_path, ports=(7001, 7002, 7003), lang="zh")
    assert caught.value.code == "sim.already-there"
    assert (tmp_path / name).read_text(encoding="utf-8") == "a real one"


def test_what_a_console_shows_can_be_printed_again(tmp_path: Path) -> None:
    made = write_console(tmp_path, port=7001, page_port=7002)
    assert write_console(tmp_path, port=8790, page_port=8791) == made


async def test_a_port_that_is_taken_is_named_with_where_to_set_another() -> None:
    first = ApiListener(web.Application(), "127.0.0.1", 0)
    await first.open()
    try:
        with pytest.raises(ConfigError) as caught:
            await ApiListener(web.Application(), "127.0.0.1", first.port).open()
        assert caught.value.code == "sim.port-in-use"
        assert "simulator.json" in say(ERRORS["sim.port-in-use"], "en", **caught.value.facts)
    finally:
        await first.close()
