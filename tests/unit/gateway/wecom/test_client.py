"""The API client against canned answers of WeCom, and a real server on loopback for the rest.

``API-..`` are the cases of tests/vectors/wecom_app.json; a test at the end says which of them
belong to features that the client does not have.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from common.clock import ManualClock
from common.errors import ConfigError
from common.text import CHAT_BYTES, split_bytes
from gateway.base.messages import SendOutcome
from gateway.wecom import client as module
from gateway.wecom.client import LINE_S, MAX_ERRMSG_BYTES, REFUSED_S, Pace, WeComClient, errcode_of
from tests.canned import CannedAnswers

Answer: TypeAlias = dict[str, Any] | Callable[[web.Request], Awaitable[web.StreamResponse]]

SECRET = "corp-secret-that-nobody-may-see"
TOKEN = "token-1"
SENT: Answer = {"errcode": 0, "errmsg": "ok", "msgid": "m1"}
API = "https://qyapi.weixin.qq.com"
GETTOKEN = re.compile(rf"{API}/cgi-bin/gettoken\?corpid=\w+&corpsecret={SECRET}")
SEND = re.compile(rf"{API}/cgi-bin/message/send\?access_token={TOKEN}")


class FakeWeCom:
    """Answers with what was scripted, then with success; remembers what it was asked."""

    def __init__(self) -> None:
        self.token_answers: list[Answer] = []
        self.send_answers: list[Answer] = []
        self.token_queries: list[dict[str, str]] = []
        self.sends: list[dict[str, Any]] = []
        self.send_queries: list[dict[str, str]] = []
        self.raw_paths: list[str] = []
        self.elsewhere = 0

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/cgi-bin/gettoken", self._gettoken)
        app.router.add_post("/cgi-bin/message/send", self._send)
        app.router.add_route("*", "/elsewhere", self._elsewhere)
        return app

    async def _gettoken(self, request: web.Request) -> web.StreamResponse:
        self.token_queries.append(dict(request.query))
        number = len(self.token_queries)
        usual: Answer = {
            "errcode": 0,
            "errmsg": "ok",
            "access_token": f"token-{number}",
            "expires_in": 7200,
        }
        return await self._say(request, self.token_answers, usual)

    async def _send(self, request: web.Request) -> web.StreamResponse:
        self.send_queries.append(dict(request.query))
        self.raw_paths.append(request.raw_path)
        self.sends.append(await request.json())
        return await self._say(request, self.send_answers, SENT)

    async def _elsewhere(self, _request: web.Request) -> web.StreamResponse:
        self.elsewhere += 1
        return web.json_response(SENT)

    async def _say(
        self, request: web.Request, answers: list[Answer], usual: Answer
    ) -> web.StreamResponse:
        answer = answers.pop(0) if answers else usual
        return web.json_response(answer) if isinstance(answer, dict) else await answer(request)


@pytest.fixture
def wecom() -> FakeWeCom:
    return FakeWeCom()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def base(wecom: FakeWeCom) -> AsyncIterator[str]:
    server = TestServer(wecom.app(), host="127.0.0.1")
    # The fake's own access log would tell what the client must not.
    await server.start_server(access_log=None)
    yield str(server.make_url("")).rstrip("/")
    await server.close()


@pytest.fixture
async def client(base: str, clock: ManualClock) -> AsyncIterator[WeComClient]:
    async with aiohttp.ClientSession() as session:
        yield new_client(base, clock, session)


def new_client(
    base: str, clock: ManualClock, session: aiohttp.ClientSession, *, timeout_s: float = 5.0
) -> WeComClient:
    return WeComClient(
        api_base=base,
        corp_id="wx5823bf96d3bd56c7",
        agent_id=218,
        corp_secret=SECRET,
        clock=clock,
        session=session,
        timeout_s=timeout_s,
    )


def refused(errcode: int, errmsg: str = "no") -> dict[str, Any]:
    return {"errcode": errcode, "errmsg": errmsg}


async def outcome_of(*, token: dict[str, Any] | None = None, **send: Any) -> SendOutcome:
    """Return what comes of one send; a second one would find nobody there."""
    usual = {"errcode": 0, "errmsg": "ok", "access_token": TOKEN, "expires_in": 7200}
    async with aiohttp.ClientSession() as session:
        with CannedAnswers() as answers:
            answers.get(GETTOKEN, payload=usual if token is None else token)
            answers.post(SEND, **send)
            return await new_client(API, ManualClock(), session).send_text("bob", "hello")


async def test_a_text_is_sent_as_page_90236_says(client: WeComClient, wecom: FakeWeCom) -> None:
    outcome = await client.send_text("zhangsan", "T-7K3F 完成")
    assert (outcome.kind, outcome.errcode, outcome.retry_after_s) == ("sent", 0, 0)
    assert wecom.sends == [
        {
            "touser": "zhangsan",
            "msgtype": "text",
            "agentid": 218,
            "text": {"content": "T-7K3F 完成"},
            "safe": 0,
        }
    ]
    assert wecom.token_queries == [{"corpid": "wx5823bf96d3bd56c7", "corpsecret": SECRET}]
    assert wecom.send_queries == [{"access_token": TOKEN}]


async def test_api_01_twenty_sends_on_a_cold_cache_fetch_one_token(
    client: WeComClient, wecom: FakeWeCom
) -> None:
    outcomes = await asyncio.gather(*(client.send_text(f"u{n}", "hello") for n in range(20)))
    assert {outcome.kind for outcome in outcomes} == {"sent"}
    assert (len(wecom.token_queries), len(wecom.sends)) == (1, 20)


async def test_api_02_a_token_is_renewed_before_it_ends(
    client: WeComClient, wecom: FakeWeCom, clock: ManualClock
) -> None:
    await client.send_text("bob", "1")
    clock.advance(6000)
    await client.send_text("bob", "2")
    assert len(wecom.token_queries) == 1
    clock.advance(1190)
    await client.send_text("bob", "3")
    assert len(wecom.token_queries) == 2
    assert wecom.send_queries[-1] == {"access_token": "token-2"}


@pytest.mark.parametrize("errcode", [40014, 42001, 41001])
async def test_api_03_a_dead_token_is_renewed_once_and_the_send_repeated_once(
    client: WeComClient, wecom: FakeWeCom, errcode: int
) -> None:
    wecom.send_answers = [refused(errcode)]
    outcome = await client.send_text("bob", "hello")
    assert outcome.kind == "sent"
    assert (len(wecom.token_queries), len(wecom.sends)) == (2, 2)
    assert wecom.send_queries == [{"access_token": "token-1"}, {"access_token": "token-2"}]


async def test_api_04_a_token_that_is_always_refused_ends_after_two_sends(
    client: WeComClient, wecom: FakeWeCom
) -> None:
    wecom.send_answers = [refused(40014)] * 10
    outcome = await client.send_text("bob", "hello")
    assert (outcome.kind, outcome.errcode, outcome.code) == ("retry", 40014, "wecom.token-refused")
    assert (outcome.for_all, outcome.retry_after_s) == (True, 5.0), "it is a matter of seconds"
    assert (len(wecom.token_queries), len(wecom.sends)) == (2, 2)


async def test_a_token_that_died_for_many_is_renewed_once(
    client: WeComClient, wecom: FakeWeCom
) -> None:
    await client.send_text("first", "hello")
    wecom.send_answers = [refused(42001)] * 10
    outcomes = await asyncio.gather(*(client.send_text(f"u{n}", "hello") for n in range(10)))
    assert {outcome.kind for outcome in outcomes} == {"sent"}
    assert len(wecom.token_queries) == 2


@pytest.mark.requirement("R72")
async def test_api_05_a_wrong_secret_is_not_tried_again_and_again(
    client: WeComClient, wecom: FakeWeCom, clock: ManualClock
) -> None:
    wecom.token_answers = [refused(40001, f"invalid credential {SECRET}")] * 2
    outcomes = await asyncio.gather(*(client.send_text(f"u{n}", "hello") for n in range(5)))
    assert {outcome.kind for outcome in outcomes} == {"config"}
    assert {outcome.code for outcome in outcomes} == {"wecom.bad-secret"}
    assert SECRET not in repr(outcomes)
    assert (len(wecom.token_queries), len(wecom.sends)) == (1, 0)
    clock.advance(REFUSED_S - 1)
    assert (await client.send_text("bob", "hello")).retry_after_s == pytest.approx(1)
    assert len(wecom.token_queries) == 1
    clock.advance(2)
    assert (await client.send_text("bob", "hello")).kind == "config"
    clock.advance(REFUSED_S + 1)
    assert (await client.send_text("bob", "hello")).kind == "sent"


async def test_where_there_is_no_token_no_other_message_need_try() -> None:
    for token in (refused(40001), refused(-1), {"errcode": 0, "errmsg": "ok"}):
        assert (await outcome_of(token=token)).for_all, token
    assert not (await outcome_of(payload=refused(-1))).for_all


@pytest.mark.parametrize("errcode", [45009, 45033, -1])
async def test_api_06_a_full_window_is_left_alone(errcode: int) -> None:
    outcome = await outcome_of(payload=refused(errcode, "api freq out of limit"))
    assert (outcome.kind, outcome.errcode) == ("retry", errcode)
    assert outcome.retry_after_s >= (60 if errcode == 45009 else 1)


async def test_api_07_an_untrusted_address_is_told_with_the_address() -> None:
    errmsg = "not allow to access from your ip, hint: [17], from ip: 1.2.3.4, more"
    outcome = await outcome_of(payload=refused(60020, errmsg))
    assert (outcome.kind, outcome.errcode, outcome.code) == (
        "config",
        60020,
        "wecom.untrusted-address",
    )
    assert "1.2.3.4" in outcome.errmsg


@pytest.mark.parametrize("name", ["invaliduser", "unlicenseduser"])
async def test_api_08_a_member_who_cannot_be_reached_is_no_success(
    client: WeComClient, wecom: FakeWeCom, name: str
) -> None:
    wecom.send_answers = [{"errcode": 0, "errmsg": "ok", name: "bob"}]
    outcome = await client.send_text("Bob", "hello")
    assert (outcome.kind, outcome.code) == ("permanent", f"wecom.{name}")
    assert (await client.send_text("alice", "hello")).kind == "sent"


@pytest.mark.parametrize("errcode", [81013, 81012, 40058, 44004, 45002, 60011, 99999])
async def test_api_09_what_can_never_arrive_is_permanent(errcode: int) -> None:
    outcome = await outcome_of(payload=refused(errcode))
    assert (outcome.kind, outcome.errcode, outcome.retry_after_s) == ("permanent", errcode, 0)


@pytest.mark.parametrize("errcode", [48002, 50003, 301002])
async def test_what_the_app_may_not_do_at_all_is_for_an_admin(errcode: int) -> None:
    outcome = await outcome_of(payload=refused(errcode))
    assert (outcome.kind, outcome.for_all or outcome.kind == "config") == ("config", True)


@pytest.mark.parametrize("errcode", [45009, 45033])
async def test_a_limit_of_all_calls_is_everybodys(errcode: int) -> None:
    outcome = await outcome_of(payload=refused(errcode))
    assert (outcome.kind, outcome.code, outcome.for_all) == ("retry", "wecom.too-often", True)


async def test_api_10_busy_is_a_refusal_and_a_repeated_send_lets_wecom_drop_the_copy(
    client: WeComClient, wecom: FakeWeCom
) -> None:
    wecom.send_answers = [refused(-1, "system busy")]
    first = await client.send_text("bob", "hello")
    assert (first.kind, first.maybe_sent, len(wecom.sends)) == ("retry", False, 1)
    assert first.retry_after_s > 0
    assert "enable_duplicate_check" not in wecom.sends[0]
    assert (await client.send_text("bob", "hello", repeated=True)).kind == "sent"
    assert wecom.sends[1]["enable_duplicate_check"] == 1
    assert wecom.sends[1]["text"] == wecom.sends[0]["text"]


async def test_api_11_a_line_that_breaks_after_the_request_leaves_it_open(
    client: WeComClient, wecom: FakeWeCom
) -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    wecom.send_answers = [cut]
    outcome = await client.send_text("bob", "hello")
    assert (outcome.kind, outcome.errcode, outcome.maybe_sent) == ("retry", None, True)
    assert len(wecom.sends) == 1


async def test_a_server_that_is_not_there_was_sent_nothing(clock: ManualClock) -> None:
    async with aiohttp.ClientSession() as session:
        outcome = await new_client("http://127.0.0.1:1", clock, session).send_text("bob", "hello")
    assert (outcome.kind, outcome.code, outcome.maybe_sent) == (
        "retry",
        "wecom.no-connection",
        False,
    )


@pytest.mark.parametrize(
    ("status", "kind"),
    [(500, "retry"), (502, "retry"), (503, "retry"), (429, "retry"), (404, "config")],
)
async def test_api_12_another_status_is_judged_without_reading_the_page(
    status: int, kind: str
) -> None:
    outcome = await outcome_of(status=status, body="<html>Bad gateway</html>")
    assert (outcome.kind, outcome.errmsg) == (kind, f"http {status}")
    assert outcome.retry_after_s > 0


@pytest.mark.parametrize(
    ("answer", "errcode"),
    [
        ({"errcode": 0}, 0),
        ({"errcode": "0"}, 0),
        ({"errcode": "-1"}, -1),
        ({}, None),
        ({"errcode": None}, None),
        ({"errcode": False}, None),
        ({"errcode": ""}, None),
        ({"errcode": "０"}, None),
        ({"errcode": [0]}, None),
    ],
)
def test_api_13_a_number_may_be_a_string_and_nothing_else_is_zero(
    answer: dict[str, Any], errcode: int | None
) -> None:
    assert errcode_of(answer) == errcode


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "null",
        "",
        "<html>",
        '{"errcode":0.0}',
        '{"errcode":0,"errcode":0}',
        '{"errcode":NaN}',
        "[" * 60_000,
        '{"errcode":0,"errmsg":"' + "x" * module.MAX_ANSWER_BYTES + '"}',
    ],
)
async def test_api_13_an_unreadable_answer_is_not_taken_for_success(text: str) -> None:
    outcome = await outcome_of(body=text)
    assert (outcome.kind, outcome.code, outcome.maybe_sent) == (
        "retry",
        "wecom.unreadable",
        True,
    )


@pytest.mark.requirement("R72")
async def test_api_14_a_token_travels_unchanged_and_is_never_written_down(
    client: WeComClient, wecom: FakeWeCom, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token = ("aB-_9+/=&%? " * 43)[:512]
    wecom.token_answers = [
        {"errcode": 0, "errmsg": "ok", "access_token": token, "expires_in": 7200}
    ]

    async def cut(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    wecom.send_answers = [SENT, refused(81013, f"echo {token}"), cut]
    outcomes = [await client.send_text("bob", "hello") for _ in range(3)]
    assert wecom.send_queries == [{"access_token": token}] * 3
    assert [outcome.kind for outcome in outcomes] == ["sent", "permanent", "retry"]
    shown = repr(outcomes) + repr(client) + repr(vars(client)["_token"]) + caplog.text
    assert token[:40] not in shown
    assert SECRET not in shown


async def test_api_15_a_text_beyond_the_limit_is_refused_before_wecom_cuts_it(
    client: WeComClient, wecom: FakeWeCom
) -> None:
    text = "中" * 683
    outcome = await client.send_text("bob", text)
    assert (outcome.kind, outcome.code, wecom.sends) == ("permanent", "wecom.text-size", [])
    for piece in split_bytes(text, CHAT_BYTES):
        assert (await client.send_text("bob", piece)).kind == "sent"
    assert "".join(send["text"]["content"] for send in wecom.sends) == text
    assert len(wecom.sends) == 2


async def test_an_empty_text_is_refused_here(client: WeComClient, wecom: FakeWeCom) -> None:
    assert (await client.send_text("bob", "")).code == "wecom.text-size"
    assert wecom.sends == []


async def test_api_17_one_member_gets_no_more_than_wecom_delivers(
    client: WeComClient, wecom: FakeWeCom, clock: ManualClock
) -> None:
    outcomes = [await client.send_text("bob", f"{number}") for number in range(31)]
    assert [outcome.kind for outcome in outcomes] == ["sent"] * 30 + ["retry"]
    assert (outcomes[-1].code, outcomes[-1].retry_after_s) == ("wecom.pace", 60.0)
    assert len(wecom.sends) == 30
    assert (await client.send_text("alice", "hello")).kind == "sent"
    clock.advance(60)
    assert (await client.send_text("bob", "31")).kind == "sent"


async def test_api_22_a_slow_server_is_given_up_and_holds_nobody_for_long(
    base: str, wecom: FakeWeCom, clock: ManualClock
) -> None:
    over = asyncio.Event()

    async def wait(_request: web.Request) -> web.StreamResponse:
        await asyncio.wait_for(over.wait(), 30)
        return web.Response()

    assert module.TIMEOUT_S <= 15
    wecom.token_answers = [wait]
    async with aiohttp.ClientSession() as session:
        client = new_client(base, clock, session, timeout_s=0.2)
        outcomes = await asyncio.gather(*(client.send_text(f"u{n}", "hello") for n in range(4)))
        over.set()
        assert {(found.kind, found.maybe_sent) for found in outcomes} == {("retry", False)}
        assert len(wecom.token_queries) == 1
        clock.advance(LINE_S + 1)
        assert (await client.send_text("bob", "hello")).kind == "sent"


async def test_a_cancelled_send_does_not_keep_the_others_from_the_token(
    base: str, wecom: FakeWeCom, clock: ManualClock
) -> None:
    asked, over = asyncio.Event(), asyncio.Event()

    async def wait(_request: web.Request) -> web.StreamResponse:
        asked.set()
        await asyncio.wait_for(over.wait(), 30)
        return web.Response()

    wecom.token_answers = [wait]
    async with aiohttp.ClientSession() as session:
        client = new_client(base, clock, session)
        first = asyncio.create_task(client.send_text("bob", "hello"))
        await asyncio.wait_for(asked.wait(), 30)
        second = asyncio.create_task(client.send_text("alice", "hello"))
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert (await asyncio.wait_for(second, 30)).kind == "sent"
        over.set()


@pytest.mark.requirement("R72")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed(
    client: WeComClient, wecom: FakeWeCom, status: int
) -> None:
    async def away(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": "/elsewhere"})

    wecom.send_answers = [away]
    assert (await client.send_text("bob", "hello")).code == "wecom.bad-address"
    wecom.send_answers = []
    assert wecom.elsewhere == 0


@pytest.mark.parametrize(
    "user", ["@all", "@ALL", "a|b", "", "a b", "a\nb", "张三", "-x", "x" * 65, "a/b"]
)
async def test_nobody_but_one_member_can_be_addressed(
    client: WeComClient, wecom: FakeWeCom, user: str
) -> None:
    outcome = await client.send_text(user, "hello")
    assert (outcome.kind, outcome.code) == ("permanent", "wecom.bad-user")
    assert wecom.sends == []


@pytest.mark.parametrize(
    "answer",
    [
        {"errcode": 0, "errmsg": "ok"},
        {"errcode": 0, "access_token": "", "expires_in": 7200},
        {"errcode": 0, "access_token": 7, "expires_in": 7200},
        {"errcode": 0, "access_token": "x" * 513, "expires_in": 7200},
        {"errmsg": "ok", "access_token": "x", "expires_in": 7200},
    ],
)
async def test_an_answer_without_a_usable_token_is_a_failure(answer: dict[str, Any]) -> None:
    outcome = await outcome_of(token=answer)
    assert (outcome.kind, outcome.code, outcome.maybe_sent) == ("retry", "wecom.unreadable", False)


async def test_a_token_without_a_lifetime_is_used_for_a_short_while(
    client: WeComClient, wecom: FakeWeCom, clock: ManualClock
) -> None:
    wecom.token_answers = [{"errcode": 0, "errmsg": "ok", "access_token": "x"}]
    await client.send_text("bob", "1")
    await client.send_text("bob", "2")
    assert len(wecom.token_queries) == 1
    clock.advance(module.UNSAID_LIFETIME_S)
    await client.send_text("bob", "3")
    assert len(wecom.token_queries) == 2


async def test_an_unknown_refusal_of_the_token_is_for_the_admin() -> None:
    assert (await outcome_of(token=refused(50001))).kind == "config"


async def test_a_busy_token_server_is_asked_again_later(
    client: WeComClient, wecom: FakeWeCom, clock: ManualClock
) -> None:
    wecom.token_answers = [refused(-1)]
    first = await client.send_text("bob", "hello")
    assert (first.kind, first.maybe_sent) == ("retry", False)
    clock.advance(first.retry_after_s)
    assert (await client.send_text("bob", "hello")).kind == "sent"


@pytest.mark.requirement("R72")
async def test_words_of_wecom_are_bounded_and_on_one_line() -> None:
    errmsg = (await outcome_of(payload=refused(81013, "a\nb\u202e" + "x" * 5000))).errmsg
    assert "\n" not in errmsg
    assert "\u202e" not in errmsg
    assert len(errmsg.encode()) <= MAX_ERRMSG_BYTES


@pytest.mark.requirement("P8")
@pytest.mark.parametrize(
    "base",
    [
        "http://qyapi.weixin.qq.com",
        "http://127.evil.example",
        "http://localhost",
        "ftp://127.0.0.1",
        "https://",
        "",
    ],
)
async def test_secrets_travel_by_tls_or_stay_on_this_machine(base: str, clock: ManualClock) -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(ConfigError) as caught:
            new_client(base, clock, session)
        assert caught.value.code == "config.insecure-url"
        new_client("https://qyapi.weixin.qq.com", clock, session)
        new_client("http://[::1]:8080", clock, session)


def test_every_api_case_is_shown_here_or_belongs_to_a_feature_that_is_not_here() -> None:
    vectors = Path(__file__).parents[3].joinpath("vectors/wecom_app.json")
    cases = {case["id"] for case in json.loads(vectors.read_text(encoding="utf-8"))["api_cases"]}
    elsewhere = {
        "API-16": "the client sends no markdown",
        "API-18": "the client sends no cards",
        "API-19": "the client updates no cards",
        "API-20": "the client answers no AI bot",
        "API-21": "the client speaks to no webhook robot",
    }
    shown = {f"API-{name.split('_')[2]}" for name in globals() if name.startswith("test_api_")}
    assert shown | set(elsewhere) == cases
    assert not shown & set(elsewhere)


def test_thirty_go_out_in_a_minute_and_the_next_waits_for_the_first() -> None:
    kept = Pace()
    assert [kept.take("bob", 100.0 + second) for second in range(30)] == [0.0] * 30
    assert kept.take("bob", 130.0) == 30.0
    assert kept.take("bob", 160.0) == 0.0


def test_a_wait_is_not_counted() -> None:
    kept = Pace()
    for _ in range(30):
        kept.take("bob", 0.0)
    for _ in range(100):
        assert kept.take("bob", 10.0) == 50.0
    assert kept.take("bob", 60.0) == 0.0


def test_a_thousand_go_out_in_an_hour() -> None:
    kept = Pace()
    sent = sum(kept.take("bob", second * 2.0) == 0.0 for second in range(1790))
    assert sent == 1000
    assert 0 < kept.take("bob", 3590.0) <= 3600
    assert kept.take("bob", 3601.0) == 0.0


def test_what_went_out_before_a_restart_counts() -> None:
    kept = Pace()
    for second in range(30):
        kept.note("Bob", second - 20.0)
    assert kept.take("bob", 10.0) == 30.0
    assert kept.take("bob", 40.0) == 0.0


def test_what_yields_leaves_a_part_to_others() -> None:
    kept = Pace()
    assert [kept.take("bob", 0.0, yields=True) for _ in range(20)] == [0.0] * 20
    assert kept.take("bob", 0.0, yields=True) == 60.0
    assert [kept.take("bob", 0.0) for _ in range(10)] == [0.0] * 10
    assert kept.take("bob", 0.0) == 60.0
    hour = Pace()
    assert sum(hour.take("bob", at * 3.2, yields=True) == 0.0 for at in range(1100)) == 800
    assert hour.take("bob", 1100 * 3.2) == 0.0


def test_members_do_not_slow_each_other_and_case_does_not_make_two_of_one() -> None:
    kept = Pace()
    for _ in range(30):
        kept.take("bob", 0.0)
    assert kept.take("alice", 0.0) == 0.0
    assert kept.take("BOB", 0.0) == 60.0


def test_memory_is_bounded() -> None:
    kept = Pace()
    for number in range(module.MAX_MEMBERS + 10):
        kept.take(f"member-{number}", 0.0)
    assert len(kept._tries) == module.MAX_MEMBERS
