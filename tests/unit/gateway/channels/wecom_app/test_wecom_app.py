"""The callback through a real server: order of checks, answers, and what reaches the intake."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.typedefs import Handler
from pydantic import SecretStr
from structlog.testing import CapturedCall, CapturingLogger
from structlog.typing import FilteringBoundLogger
from yarl import URL

from common.clock import ManualClock
from common.errors import CodexBridgeError, ConfigError, InputError, StoreError, UnavailableError
from gateway.base.addresses import UNHEARD
from gateway.base.messages import URL_CHECKED, InboundMessage
from gateway.base.settings import App
from gateway.channels import wecom_app
from gateway.wecom.crypto import CallbackCrypto
from gateway.wecom.xml import parse_fields

NOW = 1_760_000_000
TOKEN = "QDG6eK"
AES_KEY = "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
CORP = "wx5823bf96d3bd56c7"
PATH = "/wecom/app"
RANDOM = b"0123456789abcdef"
VECTORS: dict[str, Any] = json.loads(
    Path(__file__).parents[4].joinpath("vectors/wecom_app.json").read_text(encoding="utf-8")
)

Client = TestClient[web.Request, web.Application]


class Door:
    """A served callback, with what reached the intake and what was logged."""

    def __init__(self) -> None:
        self.clock = ManualClock(NOW * 1000)
        self.crypto = CallbackCrypto(token=TOKEN, encoding_aes_key=AES_KEY, receive_id=CORP)
        self.taken: list[tuple[InboundMessage, bytes]] = []
        self.failure: Exception | None = None
        self.says: str | None = None
        self.noted: list[str] = []
        self.next: tuple[CallbackCrypto, ...] = ()
        self.logger = CapturingLogger()
        self.client: Client

    async def intake(self, message: InboundMessage, replay_key: bytes) -> str | None:
        if self.failure is not None:
            raise self.failure
        self.taken.append((message, replay_key))
        return self.says

    def logged(self) -> list[CapturedCall]:
        return self.logger.calls

    def note(self, event: str, /, *, app: str, url: str = "") -> None:
        assert app == "main"
        assert url == (PATH if event == URL_CHECKED else "")
        self.noted.append(event)

    def codes(self) -> list[object]:
        return [call.kwargs.get("code") for call in self.logged()]

    def sealed(self, plain: str, *, receive_id: str = CORP) -> str:
        crypto = CallbackCrypto(token=TOKEN, encoding_aes_key=AES_KEY, receive_id=receive_id)
        return crypto.encrypt(plain.encode(), random=RANDOM)

    def signed(self, payload: str, **changed: str) -> dict[str, str]:
        query = {"timestamp": str(NOW), "nonce": "nonce123456"} | changed
        signature = self.crypto.sign(query["timestamp"], query["nonce"], payload)
        return {"msg_signature": signature} | query

    async def post(
        self, body: str | bytes, query: dict[str, str] | str, **more: Any
    ) -> tuple[int, bytes]:
        text = query if isinstance(query, str) else urlencode(query)
        url = URL(f"{PATH}?{text}", encoded=True)
        async with self.client.post(url, data=body, **more) as response:
            return response.status, await response.read()

    async def get(self, query: str) -> tuple[int, bytes]:
        async with self.client.get(URL(f"{PATH}?{query}", encoded=True)) as response:
            return response.status, await response.read()


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    door = Door()
    app = web.Application()
    app.add_routes(routes_of(door))
    async with TestClient(TestServer(app, host="127.0.0.1")) as client:
        door.client = client
        yield door


def routes_of(door: Door) -> list[web.RouteDef]:
    log: FilteringBoundLogger = door.logger
    return wecom_app.callback_routes(
        (door.crypto, *door.next),
        door.intake,
        note=door.note,
        clock=door.clock,
        corp_id=CORP,
        agent_id=218,
        log=log,
        path=PATH,
    )


def text_message(*, text: str = "@dev status", agent: str = "218", corp: str = CORP) -> str:
    return (
        f"<xml><ToUserName><![CDATA[{corp}]]></ToUserName>"
        "<FromUserName><![CDATA[zhangsan]]></FromUserName>"
        f"<CreateTime>{NOW}</CreateTime><MsgType><![CDATA[text]]></MsgType>"
        f"<Content><![CDATA[{text}]]></Content><MsgId>7000000000000000001</MsgId>"
        f"<AgentID>{agent}</AgentID></xml>"
    )


def envelope(encrypted: str, *, agent: str = "218") -> str:
    return (
        f"<xml><ToUserName><![CDATA[{CORP}]]></ToUserName>"
        f"<Encrypt><![CDATA[{encrypted}]]></Encrypt>"
        f"<AgentID><![CDATA[{agent}]]></AgentID></xml>"
    )


@pytest.mark.requirement("P7")
async def test_what_is_said_at_once_is_closed_with_the_keys_of_the_request(door: Door) -> None:
    door.says = "T-7K3F ✓ <b>]]> 通过"
    encrypted = door.sealed(text_message())
    status, body = await door.post(envelope(encrypted), door.signed(encrypted))
    outer = parse_fields(body)
    sealed = outer["Encrypt"]
    door.crypto.verify(outer["MsgSignature"], outer["TimeStamp"], outer["Nonce"], sealed)
    inner = parse_fields(door.crypto.decrypt(sealed))
    assert (status, inner["Content"], inner["MsgType"]) == (200, door.says, "text")
    assert (inner["ToUserName"], inner["FromUserName"]) == ("zhangsan", CORP)


async def test_a_message_reaches_the_intake_with_its_replay_key(door: Door) -> None:
    encrypted = door.sealed(text_message())
    assert await door.post(envelope(encrypted), door.signed(encrypted)) == (200, b"")
    [(message, replay_key)] = door.taken
    assert (message.user, message.bot, message.text) == ("zhangsan", "218", "@dev status")
    assert replay_key == hashlib.sha256(encrypted.encode()).digest()
    assert door.logged() == []


@pytest.mark.requirement("MJ-3")
@pytest.mark.parametrize(
    "vector",
    [v for v in VECTORS["known_answer"] if v["kind"] in {"url_verify", "url_verify_must_fail"}],
    ids=lambda vector: str(vector["id"]),
)
@pytest.mark.parametrize("spelling", ["percent", "raw plus", "blank"])
async def test_the_url_check_of_every_vector_answers_the_echo_and_nothing_else(
    vector: dict[str, str], spelling: str
) -> None:
    door = Door()
    door.crypto = CallbackCrypto(
        token=vector["token"],
        encoding_aes_key=vector["encoding_aes_key"],
        receive_id=vector["receiveid"],
    )
    door.clock = ManualClock(int(vector["timestamp"]) * 1000)
    app = web.Application()
    app.add_routes(routes_of(door))
    echo = vector["echostr"]
    spelt = {
        "percent": quote(echo, safe=""),
        "raw plus": echo,
        "blank": quote(echo.replace("+", " "), safe=""),
    }[spelling]
    head = urlencode({name: vector[name] for name in ("msg_signature", "timestamp", "nonce")})
    async with TestClient(TestServer(app, host="127.0.0.1")) as client:
        url = URL(f"{PATH}?{head}&echostr={spelt}", encoded=True)
        async with client.get(url) as response:
            body = await response.read()
            if vector["kind"] == "url_verify":
                assert (response.status, body.decode()) == (200, vector["expect_plaintext"])
                assert response.headers["Content-Type"].startswith("text/plain")
                assert response.headers["X-Content-Type-Options"] == "nosniff"
            else:
                assert (response.status, body) == (403, b"")


@pytest.mark.requirement("MJ-6")
async def test_an_unsigned_json_post_creates_nothing(door: Door) -> None:
    body = json.dumps({"userId": "zhangsan", "text": "@dev apply", "Encrypt": "x"})
    assert await door.post(body, "") == (400, b"")
    assert await door.post(body, door.signed("x")) == (400, b"")
    assert door.taken == []


@pytest.mark.requirement("MJ-6")
async def test_a_message_for_another_receiver_is_refused(door: Door) -> None:
    encrypted = door.sealed(text_message(), receive_id="wx0000000000000000")
    assert await door.post(envelope(encrypted), door.signed(encrypted)) == (403, b"")
    assert (door.taken, door.codes()) == ([], ["callback.receive-id"])
    assert door.noted == ["callback.receive-id"]


@pytest.mark.requirement("R71")
async def test_all_failures_before_the_message_is_open_look_alike_outside(door: Door) -> None:
    good = door.sealed(text_message())
    broken = door.sealed(text_message())[:-44] + "A" * 44
    other = door.sealed(text_message(), receive_id="other")
    short = "QUJD"
    answers = [
        await door.post(envelope(good), door.signed(good) | {"msg_signature": "0" * 40}),
        await door.post(envelope(good), door.signed(good, timestamp=str(NOW - 301))),
        await door.post(envelope(broken), door.signed(broken)),
        await door.post(envelope(other), door.signed(other)),
        await door.post(envelope(short), door.signed(short)),
    ]
    assert answers == [(403, b"")] * 5
    assert door.taken == []
    assert [code for code in door.codes() if code != "callback.outside-window"] == door.noted
    assert door.codes() == [
        "callback.signature",
        "callback.outside-window",
        "callback.ciphertext",
        "callback.receive-id",
        "callback.ciphertext",
    ]


@pytest.mark.requirement("R71")
@pytest.mark.parametrize("name", ["msg_signature", "timestamp", "nonce"])
async def test_every_parameter_stands_exactly_once(door: Door, name: str) -> None:
    encrypted = door.sealed(text_message())
    query = door.signed(encrypted)
    missing = urlencode({key: value for key, value in query.items() if key != name})
    twice = f"{urlencode(query)}&{name}={query[name]}"
    for text in (missing, twice, f"{missing}&{name}="):
        assert await door.post(envelope(encrypted), text) == (400, b"")
    assert door.taken == []


@pytest.mark.requirement("R71")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("timestamp", "%EF%BC%91760000000"),
        ("timestamp", "-1760000000"),
        ("timestamp", "1760000000.0"),
        ("timestamp", "+1760000000"),
        ("timestamp", "1" * 13),
        ("nonce", "a%20b"),
        ("nonce", "a.b"),
        ("nonce", "x" * 65),
        ("msg_signature", "0" * 39),
        ("msg_signature", "A" * 40),
        ("msg_signature", "%E4%B8%AD" * 14),
        ("msg_signature", "0" * 40 + "%0A"),
    ],
)
async def test_parameters_have_strict_forms(door: Door, name: str, value: str) -> None:
    encrypted = door.sealed(text_message())
    query = door.signed(encrypted)
    rest = urlencode({key: given for key, given in query.items() if key != name})
    assert await door.post(envelope(encrypted), f"{rest}&{name}={value}") == (400, b"")
    assert door.taken == []


async def test_a_parameter_of_the_admins_own_does_not_disturb(door: Door) -> None:
    encrypted = door.sealed(text_message())
    query = f"tenant=x&{urlencode(door.signed(encrypted))}&&flag"
    assert await door.post(envelope(encrypted), query) == (200, b"")
    assert len(door.taken) == 1


@pytest.mark.requirement("R71")
async def test_digits_moved_from_timestamp_to_nonce_gain_nothing(door: Door) -> None:
    encrypted = door.sealed(text_message())
    query = door.signed(encrypted, nonce="1234567")
    joined = query["timestamp"] + query["nonce"]
    statuses, keys = [], set()
    for cut in range(1, len(joined)):
        moved = query | {"timestamp": joined[:cut], "nonce": joined[cut:]}
        status, _ = await door.post(envelope(encrypted), moved)
        statuses.append(status)
    keys = {replay_key for _, replay_key in door.taken}
    # Whatever still verifies is recognised as one delivery by what was encrypted.
    assert statuses.count(200) >= 1
    assert len(keys) == 1


@pytest.mark.parametrize("offset", [-300, -299, 0, 299, 300])
async def test_a_timestamp_within_five_minutes_is_taken(door: Door, offset: int) -> None:
    encrypted = door.sealed(text_message())
    query = door.signed(encrypted, timestamp=str(NOW + offset))
    assert await door.post(envelope(encrypted), query) == (200, b"")


@pytest.mark.parametrize("offset", [-301, 301, -3600])
async def test_a_clock_that_is_off_is_told_by_how_much(door: Door, offset: int) -> None:
    encrypted = door.sealed(text_message())
    query = door.signed(encrypted, timestamp=str(NOW + offset))
    assert await door.post(envelope(encrypted), query) == (403, b"")
    [call] = door.logged()
    assert call.kwargs["skew_s"] == offset
    assert door.taken == []


async def test_an_old_timestamp_whose_signature_is_wrong_tells_nothing_of_the_clock(
    door: Door,
) -> None:
    query = door.signed("other", timestamp="1")
    assert await door.post(envelope(door.sealed(text_message())), query) == (403, b"")
    assert door.codes() == ["callback.signature"]


@pytest.mark.requirement("R71")
@pytest.mark.parametrize(
    "template",
    [
        "<xml><Encrypt>{e}</Encrypt><Encrypt>{e}</Encrypt></xml>",
        '<!DOCTYPE xml [<!ENTITY e "{e}">]><xml><Encrypt>&e;</Encrypt></xml>',
        "<xml><Other>{e}</Other></xml>",
        "<xml><Encrypt></Encrypt></xml>",
        "<xml><Encrypt>{e}</Encrypt>",
        '{{"encrypt":"{e}"}}',
        "",
    ],
)
async def test_an_envelope_has_one_shape(door: Door, template: str) -> None:
    encrypted = door.sealed(text_message())
    body = template.format(e=encrypted)
    assert await door.post(body, door.signed(encrypted)) == (400, b"")
    assert door.taken == []


async def test_unsigned_fields_of_the_envelope_are_not_believed(door: Door) -> None:
    encrypted = door.sealed(text_message())
    body = envelope(encrypted, agent="999")
    assert await door.post(body, door.signed(encrypted)) == (200, b"")
    assert door.taken[0][0].bot == "218"


@pytest.mark.requirement("R71")
async def test_a_body_beyond_64_kib_is_not_read_to_its_end(door: Door) -> None:
    limit = wecom_app.MAX_BODY_BYTES
    assert await door.post(b"x" * (limit + 1), door.signed("x")) == (413, b"")

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(limit // 1024 + 1):
            yield b"x" * 1024

    async with door.client.post(f"{PATH}?{urlencode(door.signed('x'))}", data=chunks()) as answer:
        assert answer.status == 413
    assert door.codes() == ["callback.too-large"] * 2


async def test_a_body_at_the_limit_is_read(door: Door) -> None:
    encrypted = door.sealed(text_message(text="x" * 45_000))
    body = envelope(encrypted)
    body = body.replace("</xml>", " " * (wecom_app.MAX_BODY_BYTES - len(body)) + "</xml>")
    assert len(body) == wecom_app.MAX_BODY_BYTES
    assert await door.post(body, door.signed(encrypted)) == (200, b"")
    assert len(door.taken) == 1


async def test_a_body_that_does_not_come_is_not_waited_for(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wecom_app, "READ_S", 0.05)
    over = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b"<xml>"
        await asyncio.wait_for(over.wait(), 30)

    async with door.client.post(f"{PATH}?{urlencode(door.signed('x'))}", data=slow()) as answer:
        assert answer.status == 408
        over.set()


async def test_whoever_hangs_up_within_a_body_is_refused_like_others(door: Door) -> None:
    app = web.Application()
    app.add_routes(routes_of(door))
    runner = web.AppRunner(app)  # as it is run; the one of tests cancels what is hung up on
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    answer, line = await asyncio.open_connection(*runner.addresses[0])
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\nExpect: 100-continue\r\n\r\n"
    line.write(head.encode())
    async with asyncio.timeout(5):
        assert b" 100 " in await answer.readline()  # now the handler waits for the body
        line.write_eof()
        await answer.read()
    line.close()
    await runner.cleanup()
    assert door.codes() == ["callback.cut-off"]


async def test_a_long_query_is_refused(door: Door) -> None:
    query = "x=" + "y" * wecom_app.MAX_QUERY_CHARS
    status, _ = await door.post("", query)
    assert status == 400


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_other_methods_have_no_door(door: Door, method: str) -> None:
    async with door.client.request(method, PATH) as response:
        assert response.status == 405


@pytest.mark.requirement("R71")
@pytest.mark.parametrize(
    ("plain", "field"),
    [
        ("", "—"),
        ("no xml", "—"),
        ("<xml></xml>", "MsgType"),
        ('{"msgtype":"text"}', "—"),
        (
            text_message(text="x").replace("<MsgId>", "<Other>").replace("</MsgId>", "</Other>"),
            "MsgId",
        ),
        (text_message(agent="219"), "AgentID"),
        (text_message(corp="wx0000000000000000"), "ToUserName"),
    ],
)
async def test_after_decryption_everything_but_the_store_is_answered_200(
    door: Door, plain: str, field: str
) -> None:
    encrypted = door.sealed(plain)
    assert await door.post(envelope(encrypted), door.signed(encrypted)) == (200, b"")
    assert door.taken == []
    assert [(one.kwargs["app"], one.kwargs["field"]) for one in door.logged()] == [("main", field)]


@pytest.mark.requirement("R71")
@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (StoreError("store.commit"), 503),
        (UnavailableError("store.busy"), 503),
        (InputError("input.task-id"), 200),
    ],
)
async def test_only_what_is_not_stored_is_asked_for_again(
    door: Door, failure: CodexBridgeError, status: int
) -> None:
    door.failure = failure
    encrypted = door.sealed(text_message())
    assert await door.post(envelope(encrypted), door.signed(encrypted)) == (status, b"")
    assert door.codes() == [failure.code]


async def test_what_did_not_verify_is_never_logged(door: Door) -> None:
    encrypted = door.sealed(text_message(text="private words"))
    wrong = door.signed(encrypted) | {"msg_signature": "f" * 40}
    await door.post(envelope(encrypted), wrong)
    await door.post(envelope(encrypted), "msg_signature=secret-looking&timestamp=x&nonce=y")
    await door.get(f"{urlencode(wrong)}&echostr={quote(encrypted)}")
    text = repr(door.logged())
    for hidden in ("private words", encrypted[:20], "f" * 40, "nonce123456", "secret-looking"):
        assert hidden not in text
    assert len(door.logged()) == 3


@pytest.mark.parametrize(
    ("echo", "noted"), [("1616140317555161061", ["callback.url-checked"]), ("codexbridge-7f", [])]
)
async def test_the_check_of_a_console_is_noted_and_the_doctors_own_is_not(
    door: Door, echo: str, noted: list[str]
) -> None:
    sealed = door.sealed(echo)
    query = f"{urlencode(door.signed(sealed))}&echostr={quote(sealed, safe='')}"
    assert await door.get(query) == (200, echo.encode())
    assert door.noted == noted


async def test_a_url_check_needs_its_echo_once(door: Door) -> None:
    echo = door.sealed("4815162342")
    query = urlencode(door.signed(echo))
    assert await door.get(query) == (400, b"")
    twice = f"{query}&echostr={quote(echo, safe='')}&echostr={quote(echo, safe='')}"
    assert await door.get(twice) == (400, b"")
    assert await door.get(f"{query}&echostr=%00") == (400, b"")
    assert await door.get(f"{query}&echostr={quote(echo, safe='')}") == (200, b"4815162342")
    assert door.taken == []


@pytest.mark.requirement("R71")
async def test_a_captured_message_is_not_read_out_by_the_url_check(door: Door) -> None:
    encrypted = door.sealed(text_message(text="@dev secret"))
    query = f"{urlencode(door.signed(encrypted))}&echostr={quote(encrypted, safe='')}"
    assert await door.get(query) == (403, b"")
    assert door.codes() == ["callback.not-an-echo"]


async def test_what_our_own_doctor_posts_is_forgotten(door: Door) -> None:
    sealed = door.sealed("codexbridge-" + "\0" * 4096)
    assert await door.post(envelope(sealed), door.signed(sealed)) == (200, b"")
    assert (door.taken, door.noted, door.logged()) == ([], [], [])


async def test_what_wecom_does_with_an_app_is_an_event_like_others(door: Door) -> None:
    sealed = door.sealed(
        f"<xml><ToUserName>{CORP}</ToUserName><FromUserName>sys</FromUserName>"
        f"<CreateTime>{NOW}</CreateTime><MsgType>event</MsgType><Event>Reopen_Inactive_Agent</Event>"
        "<AgentID>218</AgentID></xml>"
    )
    assert await door.post(envelope(sealed), door.signed(sealed)) == (200, b"")
    assert [message.event for message, _ in door.taken] == ["reopen_inactive_agent"]


async def test_who_goes_on_and_on_does_not_fill_the_log(door: Door) -> None:
    @web.middleware
    async def unheard(request: web.Request, handler: Handler) -> web.StreamResponse:
        request[UNHEARD] = "often" in request.query
        return await handler(request)

    app = web.Application(middlewares=[unheard])
    app.add_routes(routes_of(door))
    async with TestClient(TestServer(app, host="127.0.0.1")) as client:
        for query in ("", "?often=1", "?often=1"):
            async with client.post(f"{PATH}{query}") as response:
                assert response.status == 400
    assert len(door.logged()) == 1


@pytest.mark.parametrize("changed", ["token", "key", "both"])
async def test_the_next_keys_are_accepted_beside_the_current_ones(door: Door, changed: str) -> None:
    token = TOKEN if changed == "key" else "nextToken1"
    key = AES_KEY if changed == "token" else "n" * 43
    current, later = door.crypto, CallbackCrypto(token=token, encoding_aes_key=key, receive_id=CORP)
    door.next = (later,)
    app = web.Application()
    app.add_routes(routes_of(door))
    async with TestClient(TestServer(app, host="127.0.0.1")) as client:
        door.client = client
        for crypto, number in ((current, 1), (later, 2)):
            door.crypto = crypto
            text = text_message(text=f"@dev status {number}")
            sealed = crypto.encrypt(text.encode(), random=RANDOM)
            assert (await door.post(envelope(sealed), door.signed(sealed)))[0] == 200
        door.crypto = CallbackCrypto(token=token, encoding_aes_key="o" * 43, receive_id=CORP)
        sealed = door.crypto.encrypt(text_message().encode(), random=RANDOM)
        assert (await door.post(envelope(sealed), door.signed(sealed)))[0] == 403
    assert [message.text for message, _ in door.taken] == ["@dev status 1", "@dev status 2"]
    assert door.noted == ["callback.ciphertext"]


def test_the_settings_name_the_next_keys() -> None:
    app = App(
        corp_id=CORP,
        token=SecretStr(TOKEN),
        encoding_aes_key=SecretStr(AES_KEY),
        next_encoding_aes_key=SecretStr("n" * 43),
    )
    assert len(wecom_app.cryptos_of(app)) == 2
    alone = app.model_copy(update={"next_encoding_aes_key": SecretStr("")})
    assert len(wecom_app.cryptos_of(alone)) == 1


@pytest.mark.parametrize("name", ["token", "next_token"])
@pytest.mark.parametrize("value", ["x y!", "bad!", "T" * 33])
def test_a_token_that_no_console_takes_is_refused(name: str, value: str) -> None:
    keys = {"token": SecretStr(TOKEN), "encoding_aes_key": SecretStr(AES_KEY)}
    app = App(corp_id=CORP, **(keys | {name: SecretStr(value)}))
    with pytest.raises(ConfigError) as caught:
        wecom_app.cryptos_of(app, "shop", strict=True)
    assert (caught.value.code, caught.value.facts) == ("config.token", {"of": "wecom.apps.shop"})
    assert wecom_app.cryptos_of(app, "shop"), "what is served is served"
