"""What the doctor says of the gateway beside an agent that runs, and of the way there."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from common.home import Home
from common.signing import SigningKey
from local_agent.doctor import gateway
from local_agent.doctor.installation import Installation
from local_agent.link.pairing import Pairing
from local_agent.views.status import AuditStanding, Connection, StatusView, WindowsStanding
from tests.doctor.agent.house import gateway_of, make_certificate, page_server
from tests.e2e.place import free_ports

pytestmark = pytest.mark.heavy
KEY = SigningKey.generate()


class _Beside(Installation):
    """An installation whose agent says this of its link."""

    link: Connection

    async def status(self) -> StatusView | None:
        return StatusView(
            machine="dev",
            gateway=self.link,
            key_storage=None,
            workspaces=(),
            stray_policies=(),
            sandbox="none",
            sandbox_reason="",
            windows=WindowsStanding(state="off", why=""),
            audit=AuditStanding(entries=0, gateway_keeps=0, forked_at=None),
            open_tasks=0,
            approvals=(),
        )


def _beside(folder: Path, url: str, state: str, why: str = "", retry_s: int = 0) -> _Beside:
    here = _Beside(places=Home(*[folder] * 3), home=folder, environ={})
    here.link = Connection(url=url, state=state, why=why, retry_s=retry_s)
    here.pairing = Pairing(url, "a" * 32, "dev", KEY.public, "k", 0)
    return here


@pytest.mark.parametrize(
    ("state", "ahead_s", "codes"),
    [
        ("connected", 0, ("gateway.connected", "clock.ok")),
        ("connected", 600, ("gateway.connected", "clock.off")),
        ("clock", 600, ("gateway.answers", "clock.off")),
    ],
)
async def test_the_clocks_are_compared_anew(
    state: str, ahead_s: int, codes: tuple[str, str], tmp_path: Path
) -> None:
    with ExitStack() as ending:
        url = ending.enter_context(gateway_of(KEY, ahead_s=ahead_s))
        here = _beside(tmp_path, url, state)
        assert ((await gateway.gateway(here)).code, (await gateway.clock(here)).code) == codes


@pytest.mark.parametrize(
    ("why", "retry_s", "is_up", "code"),
    [
        ("lost", 1, True, "gateway.retrying"),
        ("lost", 8, True, "gateway.breaks"),
        ("connect", 60, True, "gateway.retrying"),
        ("shutdown", 2, True, "gateway.retrying"),
        ("shutdown", 2, False, "gateway.connect"),
        ("lost", 1, False, "gateway.connect"),
        ("revoked", 15, True, "gateway.revoked"),
        ("clock-skew", 15, True, "gateway.retrying"),
        ("clock-skew", 15, False, "gateway.connect"),
        ("slowed", 0, True, "gateway.slowed"),
    ],
)
async def test_what_broke_a_link_may_be_over(
    why: str, retry_s: int, *, is_up: bool, code: str, tmp_path: Path
) -> None:
    with ExitStack() as ending:
        url = f"http://127.0.0.1:{free_ports(1)[0]}"
        if is_up:
            url = ending.enter_context(gateway_of(KEY))
        state = {"clock-skew": "clock", "slowed": "connected"}.get(why, "waiting")
        here = _beside(tmp_path, url, state, why, retry_s)
        assert (await gateway.gateway(here)).code == code


@pytest.mark.parametrize(
    ("proxy", "code"),
    [
        ("{nobody}", "gateway.proxy-away"),
        ("{web}", "gateway.proxy-refused"),
        ("{secure}", "gateway.proxy-away"),
        ("https://u:secret@{bare}", "gateway.proxy-away"),
        ("http://u:secret@{bare}", "gateway.proxy-refused"),
        ("{bare}", "gateway.proxy-unread"),
        ("socks5h://{bare}", "gateway.proxy-unread"),
        ("http://u:secret@localhost:port", "gateway.proxy-unread"),
    ],
)
async def test_a_proxy_on_the_way_is_not_taken_for_the_gateway(
    proxy: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_certificate(tmp_path / "pem", expired=False)
    with ExitStack() as ending:
        web = ending.enter_context(page_server())
        secure = ending.enter_context(page_server(tls=tmp_path / "pem"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        nobody = f"http://127.0.0.1:{free_ports(1)[0]}"
        named = {"web": web, "bare": web.removeprefix("http://"), "nobody": nobody}
        plain = secure.replace("https", "http")
        monkeypatch.setenv("HTTPS_PROXY", proxy.format(**named, secure=plain))
        here = _beside(tmp_path, "https://gateway.example", "waiting", "http")
        found = await gateway.gateway(here)
    assert found.code == code
    assert "secret" not in str(found.facts)
    assert found.facts["host"] == "gateway.example"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("{web}", "gateway.no-tls"),
        ("{secure}", "gateway.http"),
        ("{other}", "gateway.certificate-other"),
    ],
)
async def test_what_answers_without_a_certificate_of_this_name_is_told(
    url: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_certificate(tmp_path / "pem", expired=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "pem"))
    with ExitStack() as ending:
        web = ending.enter_context(page_server()).replace("http:", "https:")
        secure = ending.enter_context(page_server(tls=tmp_path / "pem"))
        other = secure.replace("localhost", "127.0.0.1")
        at = url.format(web=web, secure=secure, other=other)
        here = _beside(tmp_path, at, "waiting", "tls")
        assert (await gateway.gateway(here)).code == code
