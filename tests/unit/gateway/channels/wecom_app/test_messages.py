"""What a decrypted callback says, and which deliveries are the same one."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace

import pytest

from common.errors import RemoteProtocolError
from common.text import CHAT_BYTES
from gateway.base.messages import Card, Click, Handle, Part
from gateway.channels.wecom_app.cards import template_card
from gateway.channels.wecom_app.messages import inert, parse_message, render_text
from gateway.wecom.client import CARD_S
from gateway.wecom.xml import cdata
from tests.each import each

TEXT = {
    "ToUserName": "wx5823bf96d3bd56c7",
    "FromUserName": "zhangsan",
    "CreateTime": "1760000000",
    "MsgType": "text",
    "Content": "@dev status",
    "MsgId": "7000000000000000001",
    "AgentID": "218",
}
EVENT = {
    "ToUserName": "wx5823bf96d3bd56c7",
    "FromUserName": "zhangsan",
    "CreateTime": "1760000000",
    "MsgType": "event",
    "Event": "click",
    "EventKey": "menu-1",
    "AgentID": "218",
}


def document(fields: dict[str, str], **changed: str | None) -> bytes:
    merged = {name: value for name, value in (fields | changed).items() if value is not None}
    inner = "".join(f"<{name}>{cdata(value)}</{name}>" for name, value in merged.items())
    return f"<xml>{inner}</xml>".encode()


def key(fields: dict[str, str], **changed: str | None) -> str:
    return parse_message(document(fields, **changed)).dedupe_key


def test_a_text_message_is_read_whole() -> None:
    message = parse_message(document(TEXT))
    assert (message.channel, message.bot, message.user) == ("wecom_app", "218", "zhangsan")
    assert (message.parts, message.event) == ((Part("text", "@dev status"),), None)
    assert (message.text, message.chat_type) == ("@dev status", "single")
    assert (message.created_s, message.corp) == (1_760_000_000, "wx5823bf96d3bd56c7")


def test_a_text_is_taken_as_it_was_written() -> None:
    text = " @dev\u202e 状态\n]]> <b> 🚀 "
    assert parse_message(document(TEXT, Content=text)).text == text


@each("msg_type", ["image", "voice", "video", "location", "link", "file"])
def test_what_is_not_text_has_no_text(msg_type: str) -> None:
    message = parse_message(document(TEXT, MsgType=msg_type))
    assert (message.parts, message.text) == ((Part(msg_type),), None)


@pytest.mark.requirement("P7")
@pytest.mark.requirement("R7")
@each(
    "words",
    [
        b"@dev why: \x1b[31mERROR",
        b"@dev \0",
        b"@dev \xff",
        b"@dev is a[b[i]]>0 true",
        b"x]]></Content><FromUserName>li</FromUserName><Content><![CDATA[@dev status",
        b"x]]></Content><FromUserName>li</FromUserName><X><![CDATA[",
        b"<Content><![CDATA[x]]></Content>]]></Content>",
    ],
)
def test_words_that_are_no_xml_are_left_out_and_their_sender_is_known(words: bytes) -> None:
    raw = document(TEXT, Content="words").replace(b"words", words)
    message = parse_message(raw)
    assert (message.parts, message.text) == ((Part("unreadable"),), None)
    assert replace(message, parts=()) == replace(parse_message(document(TEXT)), parts=())


@each(
    "before, after",
    [
        (b"]]></Content>", b"]]></Content><Content>bare</Content>"),
        (b"<![CDATA[\x1b]]>", b"<b>\x1b</b>"),
        (b"<MsgType><![CDATA[text]]>", b"<MsgType><![CDATA[link]]>"),
        (b"</FromUserName>", b"</FromUserName><FromUserName>li</FromUserName>"),
        (b"</xml>", b"<FromUserName>li</FromUserName></xml>"),
        (b"<AgentID>", b"<AgentID>\x1b"),
        (b"<xml>", b"<!DOCTYPE xml [<!ENTITY e 'x'>]><xml>"),
        (b"<FromUserName><![CDATA[zhangsan]]></FromUserName>", b""),
    ],
)
def test_what_is_no_xml_for_another_reason_has_no_sender(before: bytes, after: bytes) -> None:
    raw = document(TEXT, Content="words").replace(b"words", b"\x1b").replace(before, after)
    with pytest.raises(RemoteProtocolError):
        parse_message(raw)


def test_event_names_are_compared_in_lower_case() -> None:
    message = parse_message(document(EVENT, MsgType="Event", Event="LOCATION"))
    assert (message.parts, message.event, message.text) == ((), "location", None)


def test_the_other_spelling_of_the_app_id_is_known() -> None:
    assert parse_message(document(EVENT, AgentID=None, AgentId="7")).bot == "7"


def test_the_same_message_delivered_again_has_the_same_key() -> None:
    # WeCom may renew what is not part of the message's identity.
    assert key(TEXT) == key(TEXT, CreateTime="1760000005", Content="other")
    assert key(EVENT) == key(EVENT)


@each("name", ["ToUserName", "AgentID", "FromUserName", "MsgId"])
def test_a_message_id_alone_is_no_identity(name: str) -> None:
    assert key(TEXT) != key(TEXT, **{name: "99"})


@each(
    "name",
    ["FromUserName", "CreateTime", "Event", "EventKey", "ChangeType", "TaskId", "AgentID"],
)
def test_two_events_of_one_second_are_two(name: str) -> None:
    assert key(EVENT) != key(EVENT, **{name: "view" if name == "Event" else "99"})


def test_values_cannot_be_shifted_between_fields() -> None:
    assert key(EVENT, Event="ab", EventKey="c") != key(EVENT, Event="a", EventKey="bc")


def test_an_event_never_has_the_key_of_a_message() -> None:
    assert key(TEXT) != key(EVENT, CreateTime=TEXT["MsgId"][:12])


@each(
    "fields, name, value",
    [
        (TEXT, "FromUserName", None),
        (TEXT, "FromUserName", ""),
        (TEXT, "FromUserName", "张三"),
        (TEXT, "FromUserName", "a b"),
        (TEXT, "FromUserName", "x" * 129),
        (TEXT, "ToUserName", None),
        (TEXT, "CreateTime", "１７６０"),
        (TEXT, "CreateTime", "-1"),
        (TEXT, "CreateTime", "9" * 13),
        (TEXT, "MsgType", None),
        (TEXT, "MsgType", "a b"),
        (TEXT, "MsgId", None),
        (TEXT, "MsgId", "²"),
        (TEXT, "MsgId", "1" * 21),
        (TEXT, "AgentID", None),
        (TEXT, "AgentID", "x"),
        (TEXT, "Content", None),
        (EVENT, "Event", None),
    ],
)
def test_what_is_missing_or_misshapen_is_named_and_refused(
    fields: dict[str, str], name: str, value: str | None
) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        parse_message(document(fields, **{name: value}))
    assert (caught.value.code, caught.value.facts) == ("message.malformed", {"field": name})
    assert value is None or not value or value not in str(caught.value)


def test_a_button_that_was_pressed_is_told_with_its_card() -> None:
    pressed = {
        "Event": "template_card_event",
        "EventKey": "cancel",
        "TaskId": "0199-c0de@7K3F-9Q2M",
        "ResponseCode": "code-2",
    }
    message = parse_message(document(EVENT | pressed))
    assert message.click == Click("0199-c0de@7K3F-9Q2M", "cancel")
    assert message.reply == Handle("code-2", CARD_S)
    assert parse_message(document(EVENT)).click is None
    for name, value in (("TaskId", "a b"), ("TaskId", "x" * 129), ("EventKey", "")):
        with pytest.raises(RemoteProtocolError):
            parse_message(document(EVENT | pressed | {name: value}))
    bare = parse_message(document(EVENT | pressed | {"ResponseCode": "a b"}))
    assert (bare.click, bare.reply) == (message.click, None)


# -- what is said ---------------------------------------------------------------------------------


LINKS = ['<a href="https://evil.example">Approve</a>', "< A HREF=x>y", "<\n a\thref=x>y</ a >"]


@pytest.mark.requirement("R73")
@each("words", LINKS)
def test_nothing_is_drawn_as_a_link_that_hides_where_it_leads(words: str) -> None:
    full = words + "x" * (CHAT_BYTES - len(words.encode()))
    for text in (inert(words), inert(full), template_card(card_of(words))["sub_title_text"]):
        assert not re.search(r"<\s*/?\s*a\b", text, re.IGNORECASE)
        assert len(text.encode()) <= CHAT_BYTES
    assert inert(words).count("\uff1c") == words.count("<")
    assert inert(full).endswith("x")
    to = parse_message(document(TEXT))
    assert inert(words) in render_text(words, to=to, at_s=1)
    drawn = json.dumps(template_card(card_of(words)))
    assert not re.search(r"<(\s|\\[nt])*/?(\s|\\[nt])*a\b", drawn, re.IGNORECASE)


def card_of(words: str) -> Card:
    return Card("c", words, words, words, ((words, words),), (("key", words),))


def test_other_marks_of_code_stay_as_they_are() -> None:
    assert inert("if a <b and <abc> == c") == "if a <b and <abc> == c"


def test_making_words_harmless_takes_linear_time() -> None:
    began = time.process_time()
    inert("<" + " " * 30_000 + "b")
    inert("< " * 15_000)
    assert time.process_time() - began < 1.0
