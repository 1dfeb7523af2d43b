"""The simulator's HTTP faces refuse what another web page could send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from common.clock import ManualClock
from common.errors import ConfigError
from gateway.simulator.config import load, new_config, save, write_installation
from gateway.simulator.engine import Simulator
from gateway.simulator.server import make_app, read_page


@pytest.fixture
async def client() -> AsyncIterator[TestClient]:  # type: ignore[type-arg]  # generic only in stubs
    config = new_config(port=0, callback_url="http://127.0.0.1:9/")
    async with aiohttp.ClientSession() as session:
        page = await asyncio.to_thread(read_page)
        app = make_app(Simulator(config, session, clock=ManualClock()), page)
        async with TestClient(TestServer(app, host="127.0.0.1")) as opened:
            yield opened


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
async def test_requests_from_other_pages_are_refused(
    client: TestClient,  # type: ignore[type-arg]  # generic only in stubs
    headers: dict[str, str],
) -> None:
    for path in ("/", "/api/messages", "/cgi-bin/gettoken"):
        assert (await client.get(path, headers=headers)).status == 421


async def test_writing_needs_the_header_that_a_form_cannot_set(
    client: TestClient,  # type: ignore[type-arg]  # generic only in stubs
) -> None:
    body = {"user": "li", "text": "x"}
    assert (await client.post("/api/say", json=body)).status == 421


@pytest.mark.parametrize("body", [b"", b"[", b"[]", b'{"user":1,"text":"x"}', b'{"user":"a"}'])
async def test_a_malformed_request_is_refused(
    client: TestClient,  # type: ignore[type-arg]  # generic only in stubs
    body: bytes,
) -> None:
    answer = await client.post("/api/say", data=body, headers={"X-Simulator": "1"})
    assert answer.status == 400


async def test_the_page_carries_a_policy_that_admits_nothing_from_elsewhere(
    client: TestClient,  # type: ignore[type-arg]  # generic only in stubs
) -> None:
    answer = await client.get("/")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    text = await answer.text()
    assert "http://" not in text
    assert "https://" not in text


async def test_a_gateway_s_malformed_send_is_answered_as_wecom_does(
    client: TestClient,  # type: ignore[type-arg]  # generic only in stubs
) -> None:
    answer = await client.post("/cgi-bin/message/send?access_token=x", data=b"{")
    assert (await answer.json())["errcode"] == 47001


def test_a_configuration_survives_a_file(tmp_path: Path) -> None:
    made = write_installation(tmp_path / "c", simulator_port=7001, gateway_port=7002, lang="zh")
    assert load(made.simulator) == made.config
    assert made.simulator.stat().st_mode & 0o077 == 0
    assert 'language = "zh"' in made.gateway.read_text(encoding="utf-8")


@pytest.mark.parametrize("url", ["https://example.com/", "http://localhost/", "http://10.0.0.1/"])
def test_callbacks_go_to_loopback_only(tmp_path: Path, url: str) -> None:
    path = tmp_path / "simulator.json"
    save(new_config(port=0, callback_url=url), path)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert caught.value.code == "config.simulator-not-loopback"


def test_a_missing_or_broken_configuration_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "none.json")
    assert caught.value.code == "config.no-file"
    broken = tmp_path / "broken.json"
    broken.write_text("{}", encoding="utf-8")
    broken.chmod(0o600)
    with pytest.raises(ConfigError) as caught:
        load(broken)
    assert caught.value.code == "config.simulator"


@pytest.mark.parametrize("name", ["simulator.json", "gateway.toml", "secrets"])
def test_nothing_that_is_there_is_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a real one", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        write_installation(tmp_path, simulator_port=7001, gateway_port=7002, lang="zh")
    assert caught.value.code == "sim.already-there"
    assert (tmp_path / name).read_text(encoding="utf-8") == "a real one"
