"""`link.pairing`: which gateways may be dialled, what is kept, and the one exchange."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from common.errors import (
    AuthError,
    CodexBridgeError,
    ConfigError,
    InputError,
    RemoteProtocolError,
    UnavailableError,
)
from common.home import Home
from common.keystore import FileKeystore
from common.protocol import pairing as proofs
from common.signing import SigningKey
from local_agent.link import pairing
from local_agent.link.pairing import (
    PAIR_PATH,
    Pairing,
    begin,
    exchange,
    forget_begun,
    gateway_origin,
    load_key,
    load_pairing,
    save_pairing,
    unpair,
    words_are_compared,
)
from tests.each import each

AGENT, GATEWAY = SigningKey(bytes([1]) * 32), SigningKey(bytes([2]) * 32)
CODE = proofs.new_code(randomness=lambda count: bytes(range(count)))
SECRET = proofs.parse_code(CODE)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "config", tmp_path / "state", tmp_path / "run")


def a_pairing(url: str = "https://gw.example") -> Pairing:
    return Pairing(
        url=url,
        agent_id="a-1",
        machine="build-1",
        gateway_key=GATEWAY.public,
        agent_key_id=AGENT.public.key_id,
        paired_at=1_760_000_000_000,
    )


@pytest.mark.requirement("R15")
@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://GW.example/", "https://gw.example"),
        ("gw.example", "https://gw.example"),
        ("wss://gw.example:8443/agent/v1/link", "https://gw.example:8443"),
        ("http://127.0.0.1:8787", "http://127.0.0.1:8787"),
        ("http://127.8.9.1:8787", "http://127.8.9.1:8787"),
        ("ws://[::1]:8787", "http://[::1]:8787"),
    ],
)
def test_tls_or_this_machines_loopback_may_be_dialled(given: str, origin: str) -> None:
    assert gateway_origin(given) == origin


@pytest.mark.requirement("R15")
@each(
    "given",
    [
        "http://gw.example",
        "http://localhost:8787",
        "http://127.evil.com",
        "http://127.0.0.1.nip.io",
        "http://10.0.0.1",
        "ws://0.0.0.0:1",
        "http://2130706433",
    ],
)
def test_without_tls_nothing_else_may_be_dialled(given: str) -> None:
    with pytest.raises(InputError) as refused:
        gateway_origin(given)
    assert refused.value.code == "pair.insecure-url"


@each("given", ["", "ftp://x", "https://", "https://user@gw.example", "a b:c:d"])
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(InputError):
        gateway_origin(given)


def test_a_pairing_is_kept_privately_and_read_back(home: Home) -> None:
    assert load_pairing(home) is None
    save_pairing(home, a_pairing())
    path = home.config / "pairing.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_pairing(home) == a_pairing()
    assert a_pairing().link_url == "wss://gw.example/agent/v1/link"
    assert a_pairing("http://127.0.0.1:1").link_url == "ws://127.0.0.1:1/agent/v1/link"


@pytest.mark.requirement("R15")
@pytest.mark.parametrize(
    "changes",
    [
        {"url": "http://gw.example"},
        {"v": 2},
        {"gateway_key": "00"},
        {"extra": 1},
        {"agent_id": ""},
    ],
)
def test_a_changed_pairing_is_refused(home: Home, changes: dict[str, Any]) -> None:
    save_pairing(home, a_pairing())
    path = home.config / "pairing.json"
    path.write_text(
        json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8"
    )
    with pytest.raises(ConfigError) as refused:
        load_pairing(home)
    assert refused.value.code == "pair.file"


@pytest.mark.requirement("P8")
def test_a_pairing_that_others_can_read_is_refused(home: Home) -> None:
    save_pairing(home, a_pairing())
    (home.config / "pairing.json").chmod(0o644)
    with pytest.raises(ConfigError) as refused:
        load_pairing(home)
    assert refused.value.code == "config.file-readable-by-others"


@pytest.mark.requirement("P8")
def test_a_missing_or_another_key_is_refused(home: Home) -> None:
    keys = FileKeystore(home.state / "keys")
    with pytest.raises(ConfigError) as refused:
        load_key(a_pairing().key_name, keys)
    assert refused.value.code == "pair.key-missing"
    keys.put(a_pairing().key_name, GATEWAY.private_bytes())
    with pytest.raises(ConfigError):
        load_key(a_pairing().key_name, keys)
    keys.put(a_pairing().key_name, AGENT.private_bytes())
    assert load_key(a_pairing().key_name, keys).public == AGENT.public


Reply = tuple[int, bytes, dict[str, str]]


@contextmanager
def answering(reply: Callable[[dict[str, Any]], Reply]) -> Iterator[tuple[str, list[str]]]:
    """A gateway on loopback that answers by a function; gives its address and the paths asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, data, headers = reply(json.loads(body))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def honest(request: dict[str, Any], *, key: SigningKey = GATEWAY, secret: bytes = SECRET) -> Reply:
    answer = proofs.gateway_answer(
        secret, request, key=key, nonce=bytes(32), agent_id="a-1", machine="build-1"
    )
    return 200, json.dumps(answer).encode(), {}


@pytest.mark.requirement("R10")
def test_pairing_pins_the_gateways_key_and_takes_its_name_for_this_machine() -> None:
    with answering(honest) as (url, asked):
        paired = exchange(CODE, url, AGENT, at_ms=5)
    assert asked == [PAIR_PATH]
    assert paired.gateway_key == GATEWAY.public
    assert (paired.url, paired.agent_id, paired.machine) == (url, "a-1", "build-1")
    assert (paired.agent_key_id, paired.paired_at) == (AGENT.public.key_id, 5)


@pytest.mark.requirement("R10")
def test_an_answer_made_without_the_code_is_refused() -> None:
    def forged(request: dict[str, Any]) -> Reply:
        return honest(request, secret=bytes(16))

    with answering(forged) as (url, _), pytest.raises(AuthError) as refused:
        exchange(CODE, url, AGENT, at_ms=5)
    assert refused.value.code == "pair.refused"


@pytest.mark.requirement("R15")
@pytest.mark.parametrize(
    ("reply", "kind", "code"),
    [
        ((403, b'{"error":"refused"}', {}), AuthError, "pair.refused"),
        ((503, b'{"error":"unavailable"}', {}), UnavailableError, "pair.busy"),
        ((429, b"", {}), UnavailableError, "pair.limited"),
        ((404, b"<html>", {}), RemoteProtocolError, "pair.not-a-gateway"),
        ((302, b"", {"Location": "/else"}), RemoteProtocolError, "pair.not-a-gateway"),
        ((307, b"", {"Location": "/else"}), RemoteProtocolError, "pair.not-a-gateway"),
        ((200, b"not json", {}), RemoteProtocolError, "pair.not-a-gateway"),
        ((200, b"[]", {}), RemoteProtocolError, "pair.not-a-gateway"),
        ((200, b"{" + b" " * 20_000 + b"}", {}), RemoteProtocolError, "pair.not-a-gateway"),
        ((200, b"{}", {}), AuthError, "pair.refused"),
    ],
)
def test_every_other_answer_is_told_for_what_it_is(
    reply: Reply, kind: type[CodexBridgeError], code: str
) -> None:
    with answering(lambda _: reply) as (url, asked), pytest.raises(kind) as refused:
        exchange(CODE, url, AGENT, at_ms=5)
    assert refused.value.code == code
    assert asked == [PAIR_PATH], "a redirect is not followed"


def test_whoever_sends_a_byte_now_and_then_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pairing, "WHOLE_SECONDS", 0.3)
    ended = threading.Event()

    def drip(_: dict[str, Any]) -> Reply:
        ended.wait(20)
        return 200, b"{}", {}

    with answering(drip) as (url, _):
        with pytest.raises((UnavailableError, RemoteProtocolError)):
            exchange(CODE, url, AGENT, at_ms=5)
        ended.set()


def test_a_gateway_that_is_not_there_is_told_with_its_address() -> None:
    with answering(honest) as (url, _):
        pass
    with pytest.raises(UnavailableError) as refused:
        exchange(CODE, url, AGENT, at_ms=5)
    assert refused.value.code == "pair.unreachable"
    assert refused.value.facts["url"] == url


def test_a_mistyped_code_is_not_sent_anywhere() -> None:
    with answering(honest) as (url, asked), pytest.raises(InputError):
        exchange("CB1-NOPE", url, AGENT, at_ms=5)
    assert asked == []


# --- what was begun ---------------------------------------------------------------------------


@pytest.fixture
def keys(home: Home) -> FileKeystore:
    return FileKeystore(home.state / "keys")


def other_code() -> str:
    return proofs.new_code(randomness=bytes)


@pytest.mark.requirement("R10")
def test_a_code_that_was_begun_with_goes_on_with_the_same_key(
    home: Home, keys: FileKeystore
) -> None:
    key, again = begin(home, keys, CODE)
    assert not again
    same, again = begin(home, keys, CODE.lower())
    assert again
    assert same.public == key.public
    other, again = begin(home, keys, other_code())
    assert not again
    assert other.public != key.public


def test_what_was_begun_is_forgotten_but_for_the_key_that_is_used(
    home: Home, keys: FileKeystore
) -> None:
    key, _ = begin(home, keys, CODE)
    begin(home, keys, other_code())
    (home.state / "pairing-begun" / ".cut-off.tmp").write_bytes(b"")
    paired = replace(a_pairing(), agent_key_id=key.public.key_id)
    save_pairing(home, paired)
    assert not words_are_compared(home, paired)
    forget_begun(home, keys)
    assert words_are_compared(home, paired)
    assert [path.stem for path in (home.state / "keys").iterdir()] == [paired.key_name]
    unpair(home, keys, paired)
    assert load_pairing(home) is None
    assert not any((home.state / "keys").iterdir())


def test_of_a_key_that_was_cut_off_nothing_is_left(home: Home, keys: FileKeystore) -> None:
    key, _ = begin(home, keys, CODE)
    name = f"agent-{key.public.key_id}"
    cut_off = home.state / "keys" / f".{name}.key.0123456789abcdef.tmp"
    (home.state / "keys" / f"{name}.key").rename(cut_off)
    other, again = begin(home, keys, CODE)
    assert not again
    assert other.public != key.public
    assert not cut_off.exists()
