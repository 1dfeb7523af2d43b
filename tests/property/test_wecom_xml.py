"""The quick reader of WeCom's XML and the full one never disagree; no words become a field."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from common.errors import RemoteProtocolError
from gateway.channels.wecom_app.messages import parse_message
from gateway.wecom import xml

names = st.sampled_from(["A", "B", "Encrypt", "xml", "x_1"])
blanks = st.sampled_from(["", " ", "\n", "\t\n", "\r\n"])
pieces = [*"ab]>[<&;!\n\r\t \x00\x1b中🚀\ufffe\ufeff", "]]>", "&amp;", "<!"]
texts = st.lists(st.sampled_from(pieces), max_size=6).map("".join)
values = st.one_of(texts, texts.map(lambda text: f"<![CDATA[{text}]]>"), texts.map(xml.cdata))
fields = st.builds(lambda name, value: f"<{name}>{value}</{name}>", names, values)
documents = st.builds(
    lambda before, inner, after: f"{before}<xml>{''.join(inner)}</xml>{after}",
    blanks,
    st.lists(st.one_of(fields, blanks), max_size=5),
    blanks,
)


def outcome(document: bytes, *, full: bool) -> dict[str, str] | str:
    try:
        return xml._Reader().read(document) if full else xml.parse_fields(document)
    except RemoteProtocolError as error:
        return error.code


@pytest.mark.requirement("R71")
@settings(max_examples=400, deadline=None)
@given(documents)
@example("<xml></xml>")
@example("<xml><A>\r</A></xml>")
@example("<xml><xml>a</xml></xml>")
@example("<xml><A>x</A><A>x</A></xml>")
def test_both_readers_give_one_result(document: str) -> None:
    raw = document.encode("utf-8", "surrogatepass")
    assert outcome(raw, full=False) == outcome(raw, full=True)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=50))
def test_any_text_survives_as_cdata_but_for_what_xml_cannot_hold(text: str) -> None:
    document = f"<xml><Content>{xml.cdata(text)}</Content></xml>".encode()
    read = xml.parse_fields(document)["Content"]
    # A parser turns every line end into a line feed.
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    assert len(read) == len(lines)
    assert all(a == b or a == "\ufffd" for a, b in zip(read, lines, strict=True))


markup = ["]]></Content>", "<Content><![CDATA[", "<FromUserName>li</FromUserName>", "<MsgType>"]


@pytest.mark.requirement("R71")
@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*pieces, *markup, "<![CDATA[", "<b>", "</b>"]), max_size=9))
@example([markup[0], markup[2], markup[1]])
@example(["]]>", "<b>", "</b>", "<![CDATA["])
def test_whatever_a_member_writes_the_message_is_theirs(words: list[str]) -> None:
    text = "".join(words)
    document = (
        "<xml><ToUserName>ww1</ToUserName><FromUserName>zhangsan</FromUserName>"
        "<CreateTime>1760000000</CreateTime><MsgType>text</MsgType>"
        f"<Content><![CDATA[{text}]]></Content><MsgId>7</MsgId><AgentID>218</AgentID></xml>"
    )
    try:
        message = parse_message(document.encode())
    except RemoteProtocolError:
        if "]]>" not in text or "<" not in text:  # else there may be a field within: no text
            raise
        return
    assert (message.user, message.corp, message.bot) == ("zhangsan", "ww1", "218")
    [part] = message.parts
    assert part.kind in ("text", "unreadable")
    assert part.kind == "text" or not part.text
    if "]]>" not in text and "\r" not in text and part.kind == "text":
        assert part.text == text
