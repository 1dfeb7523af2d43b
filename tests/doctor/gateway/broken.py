"""Broken installations as data: what is done to a good one, and all that the doctor shall find."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.doctor.gateway.around import Front, WeCom


@dataclass(frozen=True)
class Files:
    """What a case may lay its hands on: copies, which no server uses.

    Attributes:
        config: ``gateway.toml`` and ``secrets/``.
        state: The state folder.
    """

    config: Path
    state: Path

    def scribble(self) -> None:
        """Write something else into the settings."""
        (self.config / "gateway.toml").write_text("public_url = canary0123", encoding="utf-8")

    def secret(self, name: str) -> Path:
        """Return the file of a secret."""
        return self.config / "secrets" / f"wecom__{name}"


@dataclass(frozen=True)
class Broken:
    """One case.

    Attributes:
        name: What is wrong.
        found: The codes of all that is ill; nothing else may be.
        settings: Changed ones, by dotted name; None leaves one out.
        secrets: Changed ones.
        sql: What is done to the store.
        touch: What is done to files.
        fault: What is switched on in the simulator, as its page asks for it.
        wecom: What answers as WeCom's API instead of the simulator.
        front: What stands before the gateway.
        own: Whether the gateway itself runs with these settings.
        said: Texts that must be told.
        needs_root: Whether it can be made as root alone.
    """

    name: str
    found: frozenset[str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    sql: tuple[str, ...] = ()
    touch: Callable[[Files], None] | None = None
    fault: Mapping[str, str] = field(default_factory=dict)
    wecom: WeCom | None = None
    front: Front | None = None
    own: bool = False
    said: tuple[str, ...] = ()
    needs_root: bool = False


def case(name: str, *found: str, **how: Any) -> Broken:
    """Return a case."""
    return Broken(name, frozenset(found), **how)


def _chmod(path: str, mode: int) -> Callable[[Files], None]:
    return lambda files: (files.config.parent / path).chmod(mode)


def _chown(path: str) -> Callable[[Files], None]:
    import os

    return lambda files: os.chown(files.config.parent / path, 12_345, 12_345)


def _make_folder(files: Files) -> None:
    files.secret("token").unlink()
    files.secret("token").mkdir(mode=0o755)


def _damage(files: Files) -> None:
    store = files.state / "gateway.db"
    raw = bytearray(store.read_bytes())
    for page in range(2, len(raw) // 4096, 2):
        raw[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    store.write_bytes(raw)


def _lose_keys(files: Files) -> None:
    for key in (files.state / "keys").glob("*.key"):
        key.unlink()


def _change_keys(files: Files) -> None:
    (key,) = (files.state / "keys").glob("*.key")
    key.write_bytes(base64.b64encode(bytes(32)) + b"\n")


def _rename_state(files: Files) -> None:
    files.state.rename(files.state.with_name("elsewhere"))


REFUSED = {"errcode": 40001, "errmsg": "invalid credential"}
UNTRUSTED = {
    "errcode": 60020,
    "errmsg": "not allow to access from your ip, hint: [1700], from ip: 203.0.113.7, more info",
}
HELD = """
    INSERT INTO outbox (key, channel, user_id, kind, text, state, code, created_at, due_at) VALUES
    ('k', 'wecom_app', 'zhangwei', 'reply', 't', 'queued', 'wecom.untrusted-address', 1, 1)"""
FAILED = """
    INSERT INTO outbox
    (key, channel, user_id, kind, text, state, code, created_at, due_at, ended_at) VALUES
    ('k', 'wecom_app', 'zhangwei', 'reply', 't', 'failed', 'wecom.81013', 1, 1,
    strftime('%s') * 1000)"""
NEWCOMER = "INSERT INTO members (app, user_id, added_at) VALUES ('main', 'li', 1)"
SPARE = """
    INSERT INTO agents (agent_id, machine, public_key, key_id, enrolled_at)
    SELECT 'agent-2', 'spare', x'00', 'k', 1"""
REVOKE = "UPDATE agents SET revoked_at = 1"
SECRET = "config/secrets/wecom__corp_secret"

CASES = (
    case("nothing is wrong"),
    case("the secret ends with a line feed", touch=lambda files: _append(files, "\n")),
    # Settings and secrets
    case("the settings are no TOML", "config.broken-toml", touch=lambda files: files.scribble()),
    case("an unknown setting", "config.unknown-setting", settings={"wecom.corpid": "ww1"}),
    case(
        "the example's corp", "settings.example", settings={"wecom.corp_id": "ww0123456789abcdef"}
    ),
    case("the app was left out", "config.missing", settings={"wecom.agent_id": 0}),
    case(
        "the example's host",
        "settings.example",
        settings={
            "public_url": "https://codexbridge.example.com",
            "trusted_proxies": ["127.0.0.1/32"],
        },
    ),
    case("http beyond this machine", "config.invalid", settings={"public_url": "http://10.0.0.1"}),
    case(
        "the proxy is not named",
        "config.trusted-proxies-required",
        settings={"public_url": "https://bot.shop.test"},
    ),
    case("a secret others can read", "secrets.exposed", touch=_chmod(SECRET, 0o644)),
    case("a secret of another user", "secrets.owner", touch=_chown(SECRET), needs_root=True),
    case(
        "a secret that is a link", "secrets.link", touch=lambda files: _link(files.secret("token"))
    ),
    case("a folder in the place of a secret", "secrets.folder", touch=_make_folder),
    case("an empty secret", "secrets.empty", secrets={"corp_secret": ""}),
    case("a secret with a blank", "secrets.blanks", secrets={"corp_secret": "canary0123 "}),
    case(
        "a secret is missing",
        "config.secret-missing",
        touch=lambda files: files.secret("corp_secret").unlink(),
    ),
    case("an AES key of 42", "config.encoding-aes-key", secrets={"encoding_aes_key": "c" * 42}),
    case("an AES key of 44", "config.encoding-aes-key", secrets={"encoding_aes_key": "c" * 44}),
    case("a token of 33", "config.token", secrets={"token": "c" * 33}),
    # State, store, disk: see also the small disks of the tests
    case("the state folder is gone", "state.missing", touch=_rename_state),
    case("a state folder others can read", "state.exposed", touch=_chmod("state", 0o755)),
    case("a store others can read", "state.exposed", touch=_chmod("state/gateway.db", 0o644)),
    case(
        "a key others can read", "state.exposed", touch=_chmod("state/keys/gateway-key.key", 0o640)
    ),
    case(
        "a store of another user", "state.owner", touch=_chown("state/gateway.db"), needs_root=True
    ),
    case(
        "a key of another user",
        "state.owner",
        touch=_chown("state/keys/gateway-key.key"),
        needs_root=True,
    ),
    case(
        "a store that is a link",
        "state.link",
        touch=lambda files: _link(files.state / "gateway.db"),
    ),
    case("no store", "store.none-yet", touch=lambda files: (files.state / "gateway.db").unlink()),
    case(
        "a newer store",
        "config.store-newer",
        sql=("UPDATE alembic_version SET version_num = '9999'",),
    ),
    case("an older store", "store.older", sql=("UPDATE alembic_version SET version_num = '0001'",)),
    case("a foreign database", "config.store-foreign", sql=("DROP TABLE alembic_version",)),
    case("a damaged store", "config.store-damaged", touch=_damage),
    case("a broken audit log", "audit.broken", sql=("UPDATE audit SET body = '{}' WHERE seq = 1",)),
    case("the keys are gone", "keys.lost", touch=_lose_keys),
    case("no members", "config.no-members", sql=("DELETE FROM bindings", "DELETE FROM members")),
    case("no admin", "members.no-admin", sql=("UPDATE members SET role = 'member'",)),
    case("no machine", "machines.none", sql=("DELETE FROM bindings", "DELETE FROM agents")),
    case("a revoked machine only", "machines.revoked", sql=(REVOKE,)),
    case("a machine of nobody", "machines.unbound", sql=("DELETE FROM bindings",)),
    case("a machine of nobody beside another", "machines.unbound", sql=(SPARE,), said=("spare",)),
    case("the machine is away", "machines.away", sql=("UPDATE agents SET connected_at = NULL",)),
    case("a held message", "outbox.held", sql=(HELD,), said=("wecom.untrusted-address",)),
    case("an answer that was refused for good", "outbox.failed", sql=(FAILED,), said=("81013",)),
    case(
        "an answer that was refused last week",
        sql=(FAILED.replace("strftime('%s') * 1000", "1"),),
    ),
    case("a member without a machine", "machines.lacking", sql=(NEWCOMER,), said=("li",)),
    case("an address that was never saved", "messages.not-saved", sql=("DELETE FROM inbound",)),
    # WeCom
    case("the app is switched off", "wecom.app-closed", fault={"name": "50003"}, said=("启用",)),
    case(
        "WeCom tells nothing of an app that is switched off",
        "wecom.app-closed",
        wecom=WeCom(app={"errcode": 50003, "errmsg": "x"}),
    ),
    case(
        "the member does not see the app",
        "wecom-app.not-seen",
        fault={"name": "81013"},
        said=("zhangwei",),
    ),
    case(
        "a member whom the list of the app lacks",
        "wecom-app.not-seen",
        "machines.lacking",
        sql=(NEWCOMER.replace("'li'", "'wang'"),),
    ),
    case(
        "a member whose UserID WeCom writes otherwise",
        "wecom-app.other-case",
        "machines.lacking",
        sql=(NEWCOMER.replace("'li'", "'Li'"),),
        said=("li, and not Li",),
    ),
    case(
        "WeCom says odd things of the app",
        wecom=WeCom(app={"errcode": 0, "errmsg": "ok", "allow_userinfos": [1]}),
    ),
    case(
        "a wrong secret", "wecom.bad-secret", secrets={"corp_secret": "canary" * 7}, said=("40001",)
    ),
    case(
        "a wrong corp",
        "wecom.bad-corp-id",
        settings={"wecom.corp_id": "ww77"},
        own=True,
        said=("40013",),
    ),
    case(
        "another app", "wecom.bad-agent-id", settings={"wecom.agent_id": 1000099}, said=("301002",)
    ),
    case(
        "another AES key", "callback.ciphertext", secrets={"encoding_aes_key": "c" * 43}, own=True
    ),
    case(
        "another Token, and nothing was ever heard",
        "callback.signature",
        secrets={"token": "canary0123"},
        sql=("DELETE FROM inbound",),
        own=True,
    ),
    case("no WeCom there", "wecom-api.refused", settings={"wecom.api_base": "http://127.0.0.1:9"}),
    case("no such name", "wecom-api.dns", settings={"wecom.api_base": "https://qyapi.invalid"}),
    case("WeCom is silent", "wecom-api.silent", wecom=WeCom(silent=True)),
    case("a sign-in page", "wecom-api.html", wecom=WeCom(body="<html>Sign in</html>")),
    case("a proxy refuses", "wecom-api.status", wecom=WeCom(status=502), said=("502",)),
    case("WeCom speaks no TLS", "wecom-api.tls", wecom=WeCom(scheme="https")),
    case("its certificate expired", "wecom-api.expired", wecom=WeCom(tls="expired")),
    case("its certificate comes too early", "wecom-api.early", wecom=WeCom(tls="early")),
    case("its certificate is its own", "wecom-api.untrusted", wecom=WeCom(tls="self-signed")),
    case("its certificate is another's", "wecom-api.other-host", wecom=WeCom(tls="other-host")),
    case("ten minutes fast", "clock.ahead", wecom=WeCom(ahead_s=-600)),
    case("a zone beyond all", wecom=WeCom(date=f"Mon, 01 Jan 2024 00:00:00 +{'9' * 20}")),
    case("half a minute slow", "clock.behind", wecom=WeCom(ahead_s=30)),
    case(
        "an untrusted address",
        "wecom.untrusted-address",
        fault={"name": "60020", "address": "203.0.113.7"},
        said=("203.0.113.7", "企业可信IP"),
    ),
    case(
        "untrusted at once",
        "wecom.untrusted-address",
        wecom=WeCom(token=UNTRUSTED),
        said=("203.0.113.7",),
    ),
    case("a page answers calls", "wecom.unreadable", fault={"name": "html"}, said=("sign-in",)),
    case("WeCom is busy", "wecom.busy", fault={"name": "busy"}),
    case(
        "too often",
        "wecom.too-often",
        wecom=WeCom(token={"errcode": 45009, "errmsg": "api freq out of limit"}),
    ),
    case(
        "another corp's secret",
        "wecom.bad-secret",
        wecom=WeCom(token={"errcode": 40091, "errmsg": "x"}),
    ),
    case(
        "a secret that may not",
        "wecom.forbidden",
        wecom=WeCom(app={"errcode": 48002, "errmsg": "x"}),
    ),
    case(
        "an unknown refusal",
        "wecom.refused",
        wecom=WeCom(token={"errcode": 50001, "errmsg": "odd"}),
        said=("50001",),
    ),
    # The way in
    case(
        "the gateway does not run",
        "port.not-running",
        settings={"listen.port": -1},
        said=('"tone": "bad", "code": "port.not-running"',),
    ),
    case("another gateway has the port", "port.other-gateway", touch=_change_keys),
    case("another program has the port", "port.taken", settings={"listen.port": -3}),
    case("whatever has the port hangs", "port.silent", settings={"listen.port": -2}),
    case("another program says that it lives", "port.taken", settings={"listen.port": -4}),
    case(
        "no such address here",
        "config.no-such-address",
        settings={"listen.host": "192.0.2.1", "public_url": "https://bot.shop.test"},
    ),
    case("a good proxy", front=Front()),
    case("a good proxy with TLS", front=Front(tls="good")),
    case("the proxy is gone", "public-url.refused", settings={"public_url": "http://127.0.0.1:9"}),
    case(
        "a name nobody has",
        "public-url.dns",
        settings={"public_url": "https://bot.invalid", "trusted_proxies": ["127.0.0.1/32"]},
    ),
    case("an expired certificate", "public-url.expired", front=Front(tls="expired")),
    case("a certificate of our own", "public-url.untrusted", front=Front(tls="self-signed")),
    case("a certificate of another host", "public-url.other-host", front=Front(tls="other-host")),
    case(
        "a certificate for ten days",
        "public-url.expires",
        front=Front(tls="soon"),
        said=("ends in 10 days",),
    ),
    case(
        "another app answers", "callback.elsewhere", front=Front(answer=(200, "<html>shop</html>"))
    ),
    case(
        "the path is not passed on", "callback.elsewhere", front=Front(answer=(404, "nothing here"))
    ),
    case("the proxy redirects", "callback.redirected", front=Front(answer=(302, ""))),
    case(
        "the proxy finds no gateway",
        "callback.no-gateway",
        front=Front(answer=(502, "Bad Gateway")),
    ),
    case("the proxy takes small bodies alone", "callback.no-post", front=Front(largest=1024)),
    case("the proxy strips the query", "callback.query", front=Front(query="strip")),
    case("the proxy makes blanks of +", front=Front(query="blank")),
    case("the proxy passes no link", "link.elsewhere", front=Front(refuses=404)),
    case("the gateway hears us no more", "link.too-often", front=Front(refuses=429)),
    case("the proxy makes no WebSocket", "link.no-upgrade", front=Front(upgrade=False)),
    case("the link is elsewhere", "link.no-upgrade", front=Front(moved=True), said=("302",)),
    case("the proxy holds back", "link.held", front=Front(holds=True)),
    case("another gateway's keys", "callback.refused", secrets={"token": "canary0123"}),
)


def _link(path: Path) -> None:
    """Move a file away, readable by all, and let a link lead there."""
    away = path.parents[2] / path.name
    path.rename(away)
    path.symlink_to(away)


def _append(files: Files, text: str) -> None:
    with files.secret("corp_secret").open("a", encoding="utf-8") as stream:
        stream.write(text)
