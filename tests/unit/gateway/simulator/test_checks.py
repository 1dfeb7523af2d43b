"""`sim check` finds the faults of servers as people write them, and none where there are none."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import socket
import threading
import xml.etree.ElementTree as ET
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC
from structlog import get_logger
from wechatpy.enterprise.crypto import WeChatCrypto

from common.clock import SystemClock
from common.errors import ConfigError, UnavailableError
from common.text import has_cjk
from gateway.base.messages import InboundMessage
from gateway.channels.wecom_app import callback_routes
from gateway.simulator import probe as probe_module
from gateway.simulator import report
from gateway.simulator.check_accepts import check_keys
from gateway.simulator.conformance import Finding, Result
from gateway.simulator.probe import CallbackKeys, Probe
from gateway.wecom.crypto import CallbackCrypto

KEYS = CallbackKeys(
    "T0ken" * 5, "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG", "ww5823bf96d3bd56c7", 7
)
Handle = Callable[[web.Request], Awaitable[web.Response]]


async def checked(app: web.Application) -> list[Result]:
    """Run all checks against an application on a real socket."""
    async with TestServer(app, host="127.0.0.1") as server:
        url = str(server.make_url("/wecom"))
        probe = Probe(url, KEYS, clock=SystemClock(), user="check")
        return await asyncio.to_thread(lambda: list(report.run_checks(probe)))


def serving(get: Handle, post: Handle, *, max_bytes: int = 65_536) -> web.Application:
    app = web.Application(client_max_size=max_bytes)
    app.add_routes([web.get("/wecom", get, allow_head=False), web.post("/wecom", post)])
    return app


def failed(results: list[Result]) -> set[str]:
    return {one.check.id for one in results if not one.finding.good}


def own_callback() -> web.Application:
    async def accept(_message: InboundMessage, _key: bytes) -> None:
        pass

    crypto = CallbackCrypto(
        token=KEYS.token, encoding_aes_key=KEYS.encoding_aes_key, receive_id=KEYS.corp_id
    )
    app = web.Application()
    app.add_routes(
        callback_routes(
            (crypto,),
            accept,
            note=lambda *_, **__: None,
            clock=SystemClock(),
            corp_id=KEYS.corp_id,
            agent_id=KEYS.agent_id,
            log=get_logger(),
            path="/wecom",
        )
    )
    return app


async def test_our_own_callback_meets_all_but_what_surrounds_it() -> None:
    results = await checked(own_callback())
    # The guards around all paths hide the software and what the framework says.
    assert failed(results) == {"all.no-banner", "all.no-body"}
    assert report.is_good(results)


async def test_keys_that_do_not_belong_to_the_url_are_told_from_a_bad_server() -> None:
    other_key = KEYS.encoding_aes_key[::-1]
    async with TestServer(own_callback(), host="127.0.0.1") as server:

        async def refusal(url: str, keys: CallbackKeys) -> tuple[str, dict[str, object]]:
            probe = Probe(url, keys, clock=SystemClock(), user="check")
            try:
                await asyncio.to_thread(check_keys, probe)
            except UnavailableError as error:
                return error.code, error.facts
            return "", {}

        url = str(server.make_url("/wecom"))
        refused = ("sim.check-refused", {"echo": 403, "message": 403})
        assert await refusal(url, KEYS) == ("", {})
        assert await refusal(url, replace(KEYS, token="mistyped")) == refused
        assert await refusal(url, replace(KEYS, encoding_aes_key=other_key)) == refused
        assert await refusal(url, replace(KEYS, corp_id="ww0000000000000000")) == refused
        lost = ("sim.check-refused", {"echo": 404, "message": 404})
        assert await refusal(url + "x", KEYS) == lost
    # A server that takes one of the two has faults of its own, to be found one by one.
    server_of_posts = Trusting()
    app = web.Application()
    app.add_routes([web.post("/wecom", server_of_posts.receive)])
    async with TestServer(app, host="127.0.0.1") as server:
        probe = Probe(str(server.make_url("/wecom")), KEYS, clock=SystemClock(), user="check")
        await asyncio.to_thread(check_keys, probe)


def test_a_summary_names_no_advice_where_none_failed() -> None:
    met, failing, advice = (
        Result(replace(report.CHECKS[0], required=required), Finding(good, {"en": "", "zh": ""}))
        for required, good in ((True, True), (True, False), (False, False))
    )
    for results, advised in (([met, failing], False), ([met, failing, advice], True)):
        assert ("advised" in report.summary_of(results, "en")) == advised
        assert ("建议" in report.summary_of(results, "zh")) == advised


@dataclass
class Trusting:
    """Decrypts whatever comes, as a first version does, and verifies nothing."""

    texts: list[str] = field(default_factory=list)

    def opened(self, encrypted: str) -> str:
        key = base64.b64decode(KEYS.encoding_aes_key + "=")
        decryptor = Cipher(AES256(key), CBC(key[:16])).decryptor()
        plain = decryptor.update(base64.b64decode(encrypted)) + decryptor.finalize()
        plain = plain[: -plain[-1]]
        length = int.from_bytes(plain[16:20], "big")
        return plain[20 : 20 + length].decode()

    async def verify(self, request: web.Request) -> web.Response:
        return web.json_response(self.opened(request.query["echostr"]))

    async def receive(self, request: web.Request) -> web.Response:
        try:
            found = ET.fromstring(await request.text()).findtext("Encrypt")  # noqa: S314 - naive
            self.texts.append(self.opened(found or ""))
        except (ValueError, IndexError, ET.ParseError) as error:
            return web.Response(status=500, text=f"Traceback: {error}")
        return web.Response(text="success")


async def test_a_server_that_trusts_everybody_is_found_out() -> None:
    server = Trusting()
    results = await checked(serving(server.verify, server.receive, max_bytes=2**24))
    assert not report.is_good(results)
    assert failed(results) >= {
        *("verify.exact", "verify.raw-plus", "verify.type", "verify.forged", "verify.tampered"),
        *("verify.stale", "verify.missing", "verify.twice", "verify.oracle", "message.reply"),
        *("refuse.forged", "refuse.tampered", "refuse.stale", "refuse.future", "refuse.shifted"),
        *("refuse.signature-missing", "refuse.signature-twice", "refuse.signature-malformed"),
        *("refuse.timestamp-missing", "refuse.timestamp-twice", "refuse.timestamp-malformed"),
        *("refuse.nonce-missing", "refuse.nonce-twice", "refuse.nonce-malformed"),
        *("refuse.odd-nonce", "refuse.padding", "refuse.padding-0", "refuse.length-over"),
        *("refuse.receiver", "refuse.no-receiver", "refuse.double", "refuse.dtd", "refuse.entity"),
        *("refuse.large", "all.no-failure", "all.no-traces", "all.no-body", "all.no-banner"),
    }
    met = {one.check.id for one in results} - failed(results)
    assert met >= {"verify.answers", "verify.in-time", "message.taken", "message.repeat"}
    assert met >= {"message.pieces", "message.chunked", "refuse.put", "all.still-there"}


def _by_tree(body: str) -> list[str]:
    tree = ET.fromstring(body)  # noqa: S314 - naive
    return [found.text or "" for found in tree.findall("Encrypt")]


def _by_expression(body: str) -> list[str]:
    return re.findall(r"<Encrypt><!\[CDATA\[(.*?)\]\]></Encrypt>", body)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("read", [_by_tree, _by_expression])
async def test_a_server_that_verifies_one_encrypt_and_opens_the_other_is_found_out(
    last: bool, read: Callable[[str], list[str]]
) -> None:
    crypto = CallbackCrypto(
        token=KEYS.token, encoding_aes_key=KEYS.encoding_aes_key, receive_id=KEYS.corp_id
    )

    async def receive(request: web.Request) -> web.Response:
        try:
            found = read(await request.text())
            verified, opened = found[-1] if last else found[0], found[0] if last else found[-1]
            query = request.query
            signed = crypto.sign(query["timestamp"], query["nonce"], verified)
            if signed != query["msg_signature"]:
                return web.Response(status=403)
            Trusting().opened(opened)
        except (KeyError, ValueError, IndexError, ET.ParseError):
            return web.Response(status=400)
        return web.Response()

    found = failed(await checked(serving(Trusting().verify, receive)))
    assert ("refuse.double-last" in found, "refuse.double" in found) == (last, not last)


async def test_a_server_on_an_old_library_is_found_out() -> None:
    """It verifies, with wechatpy: what is left is what library and framework let through."""

    def crypto() -> WeChatCrypto:
        return WeChatCrypto(KEYS.token, KEYS.encoding_aes_key, KEYS.corp_id)

    def signed(request: web.Request) -> list[str]:
        return [request.query.get(name, "") for name in ("msg_signature", "timestamp", "nonce")]

    async def verify(request: web.Request) -> web.Response:
        echo = crypto().check_signature(*signed(request), request.query.get("echostr", ""))
        return web.Response(text=echo.decode() if isinstance(echo, bytes) else echo)

    async def receive(request: web.Request) -> web.Response:
        crypto().decrypt_message(await request.text(), *signed(request))
        return web.Response()

    results = await checked(serving(verify, receive))
    found = failed(results)
    assert found >= {
        *("verify.raw-plus", "verify.stale", "verify.oracle", "refuse.stale", "refuse.shifted"),
        *("refuse.signature-twice", "refuse.padding", "all.no-failure"),
    }
    assert not found & {"verify.answers", "message.taken", "message.reply", "refuse.large"}


async def test_a_server_that_refuses_repeats_is_found_out() -> None:
    server = Trusting()
    known: set[str] = set()

    async def verify(request: web.Request) -> web.Response:
        return web.Response(text=server.opened(request.query["echostr"]) + "\n")

    async def receive(request: web.Request) -> web.Response:
        body = await request.text()
        if body in known:
            return web.Response(status=403)
        known.add(body)
        return web.Response()

    found = failed(await checked(serving(verify, receive)))
    assert found >= {"message.repeat", "verify.exact"}
    assert "message.renewed" not in found


async def test_a_server_that_fetches_entities_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.simulator.probe.PATIENCE_S", 0.3)  # the fetch is never answered
    from xml.sax import SAXException, make_parser
    from xml.sax.handler import ContentHandler, feature_external_ges

    async def receive(request: web.Request) -> web.Response:
        from io import BytesIO

        body = await request.read()
        parser = make_parser()  # noqa: S317 - naive
        parser.setFeature(feature_external_ges, True)
        parser.setContentHandler(ContentHandler())
        try:
            await asyncio.to_thread(parser.parse, BytesIO(body))
        except (OSError, SAXException):
            return web.Response(status=400)
        return web.Response()

    (external,) = [
        one for one in await checked(serving(receive, receive)) if one.check.id == "refuse.external"
    ]
    assert not external.finding.good
    assert external.finding.seen["en"].endswith("fetched")


async def test_a_limit_of_failures_hides_no_fault() -> None:
    """Whoever fails often is answered 429, unseen: what is behind it is looked at all the same."""
    server = Trusting()
    failures: dict[str, int] = {}
    addresses = set()

    async def receive(request: web.Request) -> web.Response:
        address = request.remote or ""
        addresses.add(address)
        if failures.get(address, 0) >= 2:
            return web.Response(status=429)
        if "msg_signature" not in request.query or not (await request.read()):
            failures[address] = failures.get(address, 0) + 1
            return web.Response(status=403)
        return web.Response()

    found = failed(await checked(serving(server.verify, receive, max_bytes=2**24)))
    assert addresses == {"127.0.0.1", "127.0.0.2"}
    assert found >= {"refuse.forged", "refuse.double", "refuse.dtd", "refuse.large"}
    assert "refuse.empty" not in found
    assert "all.still-there" in found  # the first address is not heard any more


async def test_where_nobody_answers_every_required_check_of_an_answer_fails() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    probe = Probe(f"http://127.0.0.1:{port}/x", KEYS, clock=SystemClock(), user="check")
    results = await asyncio.to_thread(lambda: list(report.run_checks(probe)))
    assert not report.is_good(results)
    assert {"verify.answers", "message.taken", "refuse.forged", "refuse.put"} <= failed(results)
    seen = {one.check.id: one.finding.seen for one in results}
    for name in ("message.taken", "refuse.alike"):
        assert ("no answer" in seen[name]["en"], "无应答" in seen[name]["zh"]) == (True, True)
    assert not any("HTTP" in one["en"] + one["zh"] for one in seen.values())


async def test_a_report_tells_why_and_holds_nothing_that_was_sent() -> None:
    server = Trusting()
    results = await checked(serving(server.verify, server.receive))
    for lang in ("en", "zh"):
        lines = [line for one in results for line in report.lines_of(one, lang, columns=80)]
        text = "\n".join(head + said for head, said in lines)
        assert has_cjk("".join(one.finding.seen[lang] for one in results)) == (lang == "zh")
        text += report.summary_of(results, lang) + report.json_of(results, at_s=0)
        for secret in (KEYS.token, KEYS.encoding_aes_key, KEYS.corp_id):
            assert secret not in text
    told = json.loads(report.json_of(results, at_s=7))
    assert (told["checked_at"], told["good"], len(told["checks"])) == (7, False, len(results))
    forged = next(one for one in results if one.check.id == "refuse.forged")
    assert "signature alone" in dict(report.lines_of(forged, "en"))["    "]


def test_every_check_has_a_name_of_its_own_and_there_are_many() -> None:
    names = [one.id for one in report.CHECKS]
    assert len(set(names)) == len(names) >= 60
    assert sum(one.required for one in report.CHECKS) >= 50


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://127.0.0.1/x", "sim.check-url"),
        ("http://localhost/x", "sim.check-url"),
        ("http://192.0.2.1/x", "sim.check-url"),
        ("http://u:p@127.0.0.1/x", "sim.check-url"),
        ("http://127.0.0.1:99999/x", "sim.check-url"),
        ("http://127.0.0.1/\x01x", "sim.check-url"),
        ("nonsense", "sim.check-url"),
    ],
)
def test_only_this_machine_is_checked(url: str, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Probe(url, KEYS, clock=SystemClock(), user="check")
    assert caught.value.code == code


@pytest.mark.parametrize(
    "keys",
    [
        CallbackKeys("", KEYS.encoding_aes_key, "ww", 1),
        CallbackKeys("t", "short", "ww", 1),
        CallbackKeys("t", KEYS.encoding_aes_key, "", 1),
    ],
)
def test_keys_that_cannot_be_right_are_refused(keys: CallbackKeys) -> None:
    with pytest.raises(ConfigError) as caught:
        Probe("http://127.0.0.1:1/", keys, clock=SystemClock(), user="check")
    assert caught.value.code == "sim.check-keys"
    assert "T0ken" not in repr(KEYS)


def test_a_server_that_drips_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_module, "PATIENCE_S", 0.3)
    over = threading.Event()

    def drip(listener: socket.socket) -> None:
        line, _ = listener.accept()
        with line, suppress(OSError):
            while not over.wait(0.05):
                line.sendall(b"H")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        dripping = threading.Thread(target=drip, args=(listener,))
        dripping.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/x"
        seen = Probe(url, KEYS, clock=SystemClock(), user="check").post([], b"")
        over.set()
        dripping.join()
    assert seen.status == 0
