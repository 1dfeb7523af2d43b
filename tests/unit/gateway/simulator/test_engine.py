"""The simulated WeCom: delivering callbacks, reading passive replies, clicks on cards."""

from __future__ import annotations

from dataclasses import replace

import pytest
from aiohttp.test_utils import TestServer

from common.clock import ManualClock
from common.errors import ConfigError, InputError
from gateway.simulator.config import new_app, new_config
from gateway.simulator.engine import Simulator
from tests.simulated import (
    QUICK,
    ScriptedGateway,
    button_card,
    card_message,
    crypto_of,
    passive,
    text_reply,
)

Gateway = tuple[ScriptedGateway, TestServer]


def chat(simulator: Simulator) -> list[tuple[str, str]]:
    return [(one.sender, one.text) for one in simulator.feed.messages(0)]


async def test_a_member_s_words_arrive_signed_and_encrypted(
    simulator: Simulator, gateway: Gateway
) -> None:
    app, scripted = simulator.app(), gateway[0]
    assert await simulator.say(app, "li", "@dev <test> & 中文 ]]>") == 200
    crypto, encrypted, query = crypto_of(app.config), scripted.encrypted(), scripted.queries[0]
    assert query["msg_signature"] == crypto.signature(query["timestamp"], query["nonce"], encrypted)
    plain = crypto.decrypt(encrypted).decode()
    assert "@dev &lt;test&gt; &amp; 中文 ]]&gt;" in plain
    assert "<FromUserName>li</FromUserName>" in plain


async def test_a_member_s_name_cannot_add_elements(simulator: Simulator) -> None:
    plain = simulator.text_message(simulator.app(), "a]]></FromUserName><MsgId>1</MsgId>", "x")
    assert plain.count(b"<MsgId>") == 1


async def test_a_callback_is_delivered_again_until_it_is_taken(
    simulator: Simulator, gateway: Gateway
) -> None:
    gateway[0].answers = [503, 204]
    assert await simulator.say(simulator.app(), "li", "hello") == 200
    assert len(set(gateway[0].bodies)) == 1
    assert [one.attempt for one in simulator.feed.exchanges(0)] == [1, 2, 3]


async def test_a_callback_that_is_not_answered_in_time_is_cut_off_and_delivered_again(
    simulator: Simulator, gateway: Gateway
) -> None:
    simulator.timing = replace(QUICK, deadline_s=0.3)
    gateway[0].answers = [None]
    assert await simulator.say(simulator.app(), "li", "hello") == 200
    assert [one.status for one in simulator.feed.exchanges(0)] == [0, 200]


async def test_retries_may_be_encrypted_and_signed_anew(
    simulator: Simulator, gateway: Gateway
) -> None:
    simulator.timing = replace(QUICK, renewed=True)
    gateway[0].answers = [503]
    assert await simulator.say(simulator.app(), "li", "hello") == 200
    first, second = (
        crypto_of(simulator.app().config).decrypt(gateway[0].encrypted(n)) for n in (0, 1)
    )
    assert first == second
    assert gateway[0].bodies[0] != gateway[0].bodies[1]


async def test_after_four_deliveries_wecom_gives_up_and_the_chat_shows_it(
    simulator: Simulator, gateway: Gateway
) -> None:
    gateway[0].answers = [503] * 9
    assert await simulator.say(simulator.app(), "li", "hello") == 503
    assert len(gateway[0].bodies) == 4
    assert chat(simulator)[1:] == [("system", "not-taken 503")]


async def test_a_callback_is_repeated_as_it_was_or_renewed(
    simulator: Simulator, gateway: Gateway
) -> None:
    with pytest.raises(InputError) as caught:
        await simulator.repeat(0, renewed=False)
    assert caught.value.code == "sim.no-such-callback"
    await simulator.say(simulator.app(), "li", "one")
    (sent,) = simulator.feed.exchanges(0)
    await simulator.say(simulator.app(), "li", "two")
    assert await simulator.repeat(sent.number, renewed=False) == 200
    assert await simulator.repeat(sent.number, renewed=True) == 200
    bodies = gateway[0].bodies
    assert bodies[2] == bodies[0] != bodies[3]
    assert gateway[0].queries[2] == gateway[0].queries[0] != gateway[0].queries[3]
    assert sent.sent_plain.encode() == crypto_of(simulator.app().config).decrypt(
        gateway[0].encrypted()
    )


async def test_each_app_calls_its_own_gateway_with_its_own_keys(
    simulator: Simulator, gateway: Gateway
) -> None:
    other = simulator.app("other")
    assert await simulator.say(other, "li", "hello") == 200
    plain = crypto_of(other.config).decrypt(gateway[0].encrypted()).decode()
    assert f"<ToUserName>{other.config.corp_id}</ToUserName>" in plain
    assert "<AgentID>1000003</AgentID>" in plain
    with pytest.raises(ValueError, match=r"padding|receive id"):
        crypto_of(simulator.app().config).decrypt(gateway[0].encrypted())


async def test_a_passive_reply_is_verified_decrypted_and_shown(
    simulator: Simulator, gateway: Gateway
) -> None:
    app = simulator.app()
    gateway[0].answers = [passive(app.config, text_reply(app.config, "中" * 1000))]
    await simulator.say(app, "li", "hello")
    assert chat(simulator)[1] == ("app", "中" * 682)
    (exchange,) = simulator.feed.exchanges(0)
    assert "<MsgType><![CDATA[text]]></MsgType>" in exchange.answered_plain


@pytest.mark.parametrize(
    ("why", "user", "corp", "kind", "broken"),
    [
        ("ToUserName", "wang", "", "text", None),
        ("FromUserName", "li", "wwother", "text", None),
        ("MsgType update_button", "li", "", "update_button", None),
        ("MsgType file", "li", "", "file", None),
        ("MsgSignature", "li", "", "text", (b"<TimeStamp>1", b"<TimeStamp>2")),
        ("XML", "li", "", "text", (b"<xml>", b"<!DOCTYPE xml><xml>")),
        ("XML", "li", "", "text", (b"</xml>", b"")),
        ("Nonce", "li", "", "text", (b"Nonce>", b"Nonse>")),
    ],
)
async def test_a_passive_reply_that_wecom_would_not_take_is_told_apart(
    simulator: Simulator,
    gateway: Gateway,
    why: str,
    user: str,
    corp: str,
    kind: str,
    broken: tuple[bytes, bytes] | None,
) -> None:
    app = simulator.app()
    inner = text_reply(app.config, "x", user=user, kind=kind)
    body = passive(app.config, inner.replace(app.config.corp_id, corp or app.config.corp_id))
    if broken:
        assert broken[0] in body
        body = body.replace(*broken)
    gateway[0].answers = [body]
    assert await simulator.say(app, "li", "hello") == 200
    assert chat(simulator)[1:] == [("system", f"wecom-refuses {why}")]
    assert simulator.feed.exchanges(0)[0].note == why


async def test_an_event_that_allows_no_reply_gets_none(
    simulator: Simulator, gateway: Gateway
) -> None:
    app = simulator.app()
    reply = passive(app.config, text_reply(app.config, "welcome"))
    for name, seen in (("enter_agent", "app"), ("unsubscribe", "system")):
        gateway[0].answers = [reply]
        await simulator.deliver(simulator.event(app, "li", name))
        assert chat(simulator)[-1][0] == seen
    assert b"<Event>unsubscribe</Event>" in crypto_of(app.config).decrypt(gateway[0].encrypted())


async def test_a_click_arrives_with_a_code_that_changes_the_card_once(
    simulator: Simulator, gateway: Gateway
) -> None:
    app = simulator.app()
    app.send(card_message(app, button_card(), touser="li|wang"))
    mine, theirs = simulator.feed.messages(0)
    assert await simulator.click(app, "li", mine.id, "stop") == 200
    plain = crypto_of(app.config).decrypt(gateway[0].encrypted()).decode()
    for part in (
        "<Event>template_card_event</Event>",
        "<EventKey>stop</EventKey>",
        "<TaskId>T-1</TaskId>",
        "<CardType>button_interaction</CardType>",
    ):
        assert part in plain
    code = plain.split("<ResponseCode>")[1].split("<")[0]
    update = {
        "agentid": app.config.app_id,
        "userids": ["LI", "nobody"],
        "response_code": code,
        "button": {"replace_name": "Stopped"},
    }
    answer = app.update_card(update)
    assert (answer["errcode"], answer["invaliduser"]) == (0, ["nobody"])
    assert app.update_card(update)["errcode"] == 40058
    changed = simulator.feed.message(mine.id)
    unchanged = simulator.feed.message(theirs.id)
    assert changed is not None
    assert unchanged is not None
    assert (changed.chosen, unchanged.chosen) == ("Stopped", "")
    with pytest.raises(InputError) as caught:
        await simulator.click(app, "li", mine.id, "stop")
    assert caught.value.code == "sim.no-such-button"


async def test_a_card_is_changed_in_the_response_for_who_clicked(
    simulator: Simulator, gateway: Gateway
) -> None:
    app = simulator.app()
    app.send(card_message(app, button_card(), touser="li|wang"))
    mine, theirs = simulator.feed.messages(0)
    head = text_reply(app.config, "", kind="update_template_card").split("<Content>")[0]
    card = (
        "<TemplateCard><CardType>text_notice</CardType><MainTitle><Title>Done</Title></MainTitle>"
        "<CardAction><Type>1</Type><Url>https://example.com</Url></CardAction>"
        "<HorizontalContentList><KeyName>a</KeyName><Keyname>State</Keyname><Value>ok</Value>"
        "</HorizontalContentList><TaskId>T-1</TaskId></TemplateCard></xml>"
    )
    gateway[0].answers = [passive(app.config, head + card)]
    await simulator.click(app, "li", mine.id, "status")
    changed, unchanged = simulator.feed.message(mine.id), simulator.feed.message(theirs.id)
    assert changed is not None
    assert changed.card is not None
    assert changed.card["main_title"] == {"title": "Done"}
    assert unchanged is not None
    assert unchanged.card == button_card()


async def test_a_vote_carries_what_was_selected(simulator: Simulator, gateway: Gateway) -> None:
    app = simulator.app()
    card = {
        "card_type": "vote_interaction",
        "main_title": {"title": "Which?"},
        "task_id": "V-1",
        "checkbox": {
            "question_key": "q",
            "option_list": [{"id": "a", "text": "A"}, {"id": "b", "text": "B"}],
        },
        "submit_button": {"text": "Go", "key": "go"},
        "action_menu": {"action_list": [{"text": "Hide", "key": "hide"}]},
    }
    assert app.send(card_message(app, card))["errcode"] == 0
    (bubble,) = simulator.feed.messages(0)
    await simulator.click(app, "li", bubble.id, "go", {"q": ["b"]})
    plain = crypto_of(app.config).decrypt(gateway[0].encrypted()).decode()
    assert "<QuestionKey>q</QuestionKey><OptionIds><OptionId>b</OptionId></OptionIds>" in plain
    await simulator.click(app, "li", bubble.id, "hide")
    plain = crypto_of(app.config).decrypt(gateway[0].encrypted()).decode()
    assert "<Event>template_card_menu_event</Event>" in plain
    for user, number, key, selected in (
        ("wang", bubble.id, "go", {}),
        ("li", bubble.id, "no", {}),
        ("li", bubble.id, "go", {"q": ["c"]}),
        ("li", bubble.id, "go", {"other": ["a"]}),
        ("li", 99, "go", {}),
    ):
        with pytest.raises(InputError):
            await simulator.click(app, user, number, key, selected)


async def test_the_console_saves_what_answers_its_url_check(
    simulator: Simulator, gateway: Gateway
) -> None:
    app = simulator.app()
    before, url = app.config, app.config.callback_url
    assert await simulator.save_callback(app, url, "t" * 32, "short") == "key"
    assert await simulator.save_callback(app, url, "t" * 32, "k" * 43) == "405"
    assert await simulator.save_callback(app, "http://127.0.0.1:1/", "t", "k" * 43) == "silent"
    with pytest.raises(ConfigError):
        await simulator.save_callback(app, "https://gateway.example.org/", "t", "k" * 43)
    assert app.config == before


async def test_an_address_is_trusted_once_the_url_is_saved(simulator: Simulator) -> None:
    config = new_config(replace(new_app(callback_url=""), trusted_ip=""))
    fresh = Simulator(config, simulator._session, clock=ManualClock(), timing=QUICK)
    app = fresh.app()
    assert fresh.trust(app, "127.0.0.1") == "no-url"
    assert await fresh.say(app, "li", "hello") == 0
    refused = app.address_fault("127.0.0.1")
    assert refused is not None
    assert (refused["errcode"], refused["errmsg"][-9:]) == (60020, "127.0.0.1")
    assert simulator.trust(simulator.app("other"), "nonsense") == "address"
    assert simulator.trust(simulator.app("other"), "127.0.0.1") == ""
    assert simulator.config.apps[1].trusted_ip == "127.0.0.1"


async def test_an_unknown_app_is_named(simulator: Simulator) -> None:
    with pytest.raises(InputError) as caught:
        simulator.app("third")
    assert caught.value.code == "sim.unknown-app"
