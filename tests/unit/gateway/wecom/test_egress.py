"""The way out through a real proxy and real TLS, with an authority that nobody else trusts."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from common.clock import SystemClock
from common.errors import ConfigError
from gateway.base.messages import SendOutcome
from gateway.base.settings import GatewaySettings
from gateway.wecom.client import WeComClient
from gateway.wecom.egress import open_session, proxy_of
from tests.doctor.gateway.around import Certificates

pytestmark = pytest.mark.heavy

LOGIN = "zhang:s3cret-word"


@dataclass
class Proxy:
    """Takes CONNECT, with the login alone that it was told; or refuses."""

    login: str = ""
    asked: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one connection on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head.split("\r\n", 1)[0])
        wanted = f"Proxy-Authorization: Basic {base64.b64encode(self.login.encode()).decode()}"
        if self.login and wanted not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        else:
            port = int(self.asked[-1].split()[1].rpartition(":")[2])
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(_pass(reader, far_writer), _pass(far_reader, writer))
        writer.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path)


@pytest.fixture
async def api(certificates: Certificates) -> AsyncIterator[str]:
    async def answer(request: web.Request) -> web.Response:
        found = {"errcode": 0, "errmsg": "ok", "access_token": "t", "expires_in": 7200}
        return web.json_response(found)

    app = web.Application()
    app.router.add_route("*", "/cgi-bin/{name:.*}", answer)
    server = TestServer(app, host="127.0.0.1")
    await server.start_server(ssl=certificates.context("", "localhost"))
    yield f"https://localhost:{server.port}"
    await server.close()


@asynccontextmanager
async def listening(proxy: Proxy) -> AsyncIterator[str]:
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()


def settings_of(api: str, **egress: Any) -> GatewaySettings:
    return GatewaySettings.model_validate({"wecom": {"api_base": api}, "egress": egress})


async def tried(settings: GatewaySettings, environ: dict[str, str] | None = None) -> SendOutcome:
    async with await open_session(settings, environ or {}) as session:
        client = WeComClient(
            api_base=settings.wecom.api_base,
            corp_id="ww1",
            agent_id=1,
            corp_secret="s",
            clock=SystemClock(),
            session=session,
        )
        return await client.send_text("zhang", "hello")


async def test_a_proxy_with_a_login_is_gone_through(api: str, certificates: Certificates) -> None:
    proxy = Proxy(LOGIN)
    async with listening(proxy) as url:
        given = {"proxy": url, "proxy_login": LOGIN, "ca_bundle": certificates.trusted}
        assert (await tried(settings_of(api, **given))).kind == "sent"
        assert proxy.asked[0].startswith("CONNECT localhost:")
        refused = await tried(settings_of(api, **given | {"proxy_login": "zhang:wrong"}))
    assert (refused.code, refused.for_all) == ("wecom.proxy-refused", True)
    assert "407" in refused.errmsg
    assert "zhang" not in refused.errmsg
    away = await tried(settings_of(api, **given))
    assert (away.code, away.maybe_sent) == ("wecom.proxy-away", False)


async def test_a_login_that_changes_is_taken_up(api: str, certificates: Certificates) -> None:
    async with listening(Proxy(LOGIN)) as url:
        given = {"proxy": url, "proxy_login": "zhang:old", "ca_bundle": certificates.trusted}
        settings = settings_of(api, **given)
        now = [settings]
        async with await open_session(settings, {}, current=lambda: now[-1]) as session:
            asked = f"{api}/cgi-bin/gettoken"
            with pytest.raises(aiohttp.ClientHttpProxyError):
                await session.get(asked)
            now.append(settings_of(api, **given | {"proxy_login": LOGIN}))
            async with session.get(asked) as answer:
                assert answer.status == 200


async def test_what_is_wrong_without_a_proxy_is_told_apart(
    api: str, certificates: Certificates
) -> None:
    assert (await tried(settings_of(api))).code == "wecom.no-trust"
    bundle = {"ca_bundle": certificates.trusted}
    assert (await tried(settings_of(api, **bundle))).kind == "sent"
    assert (await tried(settings_of("https://localhost:9"))).code == "wecom.no-connection"
    assert (await tried(settings_of("https://wecom.invalid"))).code == "wecom.no-such-name"


async def test_the_environment_counts_only_where_the_settings_let_it(
    api: str, certificates: Certificates
) -> None:
    proxy = Proxy(LOGIN)
    async with listening(proxy) as url:
        environ = {"HTTPS_PROXY": url.replace("//", f"//{LOGIN}@")}
        bundle: dict[str, Any] = {"ca_bundle": certificates.trusted}
        assert (await tried(settings_of(api, **bundle), environ)).kind == "sent"
        assert proxy.asked == []
        bundle["use_environment"] = True
        assert (await tried(settings_of(api, **bundle), environ)).kind == "sent"
        assert len(proxy.asked) > 0
    without = environ | {"NO_PROXY": "example.com,localhost"}
    assert proxy_of(settings_of(api, use_environment=True), without) is None
    assert proxy_of(settings_of("http://127.0.0.1:1", proxy=url), environ) is None
    found = proxy_of(settings_of(api, use_environment=True), {"https_proxy": "proxy.test:3128"})
    assert found is not None
    assert str(found.url) == "http://proxy.test:3128"
    assert "Basic" not in repr(proxy_of(settings_of(api, proxy=url, proxy_login=LOGIN), {}))
    for odd in ("socks5://127.0.0.1:1080", "http://"):
        with pytest.raises(ConfigError):
            proxy_of(settings_of(api, use_environment=True), {"HTTPS_PROXY": odd})


async def test_a_bundle_that_is_none_is_named(api: str, tmp_path: Path) -> None:
    (tmp_path / "notes.pem").write_text("no certificate", encoding="ascii")
    for name in ("notes.pem", "missing.pem"):
        with pytest.raises(ConfigError) as caught:
            await open_session(settings_of(api, ca_bundle=tmp_path / name), {})
        assert caught.value.code == "config.ca-bundle"
