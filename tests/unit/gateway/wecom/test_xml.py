"""Two readers, one result; and what neither of them takes."""

from __future__ import annotations

import pytest

from common.errors import RemoteProtocolError
from gateway.wecom import xml
from gateway.wecom.xml import cdata, parse_fields, render_encrypted
from tests.each import each


def refused(document: bytes | str) -> None:
    raw = document.encode() if isinstance(document, str) else document
    with pytest.raises(RemoteProtocolError) as caught:
        parse_fields(raw)
    assert caught.value.code == "xml.malformed"


@each(
    "document, fields",
    [
        ("<xml></xml>", {}),
        ("<xml>\n</xml>\n", {}),
        ("<xml><A><![CDATA[x]]></A><B>7</B></xml>", {"A": "x", "B": "7"}),
        (" \n<xml>\n <A>x</A>\n</xml>", {"A": "x"}),
        ("<xml><A><![CDATA[]]></A><B></B></xml>", {"A": "", "B": ""}),
        ("<xml><A><![CDATA[a<b>&c]]></A></xml>", {"A": "a<b>&c"}),
        ("<xml><A><![CDATA[中文 🚀]]></A></xml>", {"A": "中文 🚀"}),
        # Only the full reader takes these.
        ("<xml/>", {}),
        ("\ufeff<xml><A>x</A></xml>", {"A": "x"}),
        ("<xml><A/></xml>", {"A": ""}),
        ("<xml><A>a&lt;b&#x4e2d;</A></xml>", {"A": "a<b中"}),
        ("<xml><A><![CDATA[a]]]]><![CDATA[>b]]></A></xml>", {"A": "a]]>b"}),
        ("<xml><A><![CDATA[a]b]]></A></xml>", {"A": "a]b"}),
        ("<xml><A>x<![CDATA[y]]>z</A></xml>", {"A": "xyz"}),
        ("<xml><A>\r\n</A></xml>", {"A": "\n"}),
        ('<?xml version="1.0" encoding="UTF-8"?><xml><A>x</A></xml>', {"A": "x"}),
        ("<xml><A><B>1</B><B>2</B></A><C>x</C></xml>", {"C": "x"}),
        ("<xml><A>text<B>1</B></A></xml>", {}),
    ],
)
def test_fields_are_read(document: str, fields: dict[str, str]) -> None:
    assert parse_fields(document.encode()) == fields


@pytest.mark.requirement("R71")
@each(
    "document",
    [
        '<!DOCTYPE xml [<!ENTITY a "x">]><xml><A>&a;</A></xml>',
        "<!DOCTYPE xml><xml><A>x</A></xml>",
        '<!DOCTYPE xml SYSTEM "http://127.0.0.1/x.dtd"><xml><A>x</A></xml>',
        '<!DOCTYPE xml [<!ENTITY a SYSTEM "file:///etc/passwd">]><xml><A>&a;</A></xml>',
        '<!DOCTYPE xml [<!ENTITY % p SYSTEM "http://127.0.0.1/"> %p;]><xml/>',
        "<xml><!DOCTYPE xml></xml>",
    ],
)
def test_a_document_type_is_refused_even_where_it_is_harmless(document: str) -> None:
    refused(document)


@pytest.mark.requirement("R71")
@each(
    "document",
    [
        "<xml><Encrypt>a</Encrypt><Encrypt>b</Encrypt></xml>",
        "<xml><Encrypt><![CDATA[a]]></Encrypt><Encrypt>a</Encrypt></xml>",
        "<xml><Encrypt>a&amp;</Encrypt><Encrypt>b</Encrypt></xml>",
        "<xml><A><B>1</B></A><A>x</A></xml>",
    ],
)
def test_a_field_given_twice_is_refused(document: str) -> None:
    refused(document)


@each(
    "document",
    [
        b"",
        b"xml",
        b"{}",
        b"<xml>",
        b"<xml><A>x</B></xml>",
        b"<xml><A>x</xml></A>",
        b"<XML><A>x</A></XML>",
        b"<other><A>x</A></other>",
        b"<xml><A>x</A></xml><xml/>",
        b"<xml><A>x</A></xml>trailing",
        b"leading<xml><A>x</A></xml>",
        b"<xml>loose<A>x</A></xml>",
        b"<xml a='1'><A>x</A></xml>",
        b"<xml><A a='1'>x</A></xml>",
        b"<xml><!-- comment --><A>x</A></xml>",
        b"<xml><?go now?><A>x</A></xml>",
        b"<xml><A>\x00</A></xml>",
        b"<xml><A><![CDATA[\x1b]]></A></xml>",
        b"<xml><A>\xff</A></xml>",
        b"<xml><A>\xed\xa0\x80</A></xml>",
        b"<xml><A>\xef\xbf\xbf</A></xml>",
        b"<xml><A>&unknown;</A></xml>",
        b"<xml><A>]]></A></xml>",
        "<xml><A>x</A></xml>".encode("utf-16"),
        '<?xml version="1.0" encoding="GBK"?><xml><A>中</A></xml>'.encode("gbk"),
        b"<xml>" + b"<A>" * 20 + b"</A>" * 20 + b"</xml>",
    ],
)
def test_what_wecom_never_sends_is_refused(document: bytes) -> None:
    refused(document)


def test_depth_is_bounded_where_it_is_still_shallow() -> None:
    def nested(depth: int) -> bytes:
        return b"<xml>" + b"<A>" * (depth - 1) + b"</A>" * (depth - 1) + b"</xml>"

    assert parse_fields(nested(xml.MAX_DEPTH)) == {}
    refused(nested(xml.MAX_DEPTH + 1))


@each("unit", [b"<A>", b"<![CDATA[", b"]", b"<A></A>", b"\n", b"<A><![CDATA[x", b"&"])
def test_a_body_at_the_limit_takes_no_long_time(unit: bytes) -> None:
    # The test's own time limit is the judge: an expression that backtracks would hang here.
    refused(b"<xml>" + unit * (65_536 // len(unit)))


def test_an_encrypted_reply_reads_back() -> None:
    body = render_encrypted(encrypted="QUJD", signature="ab" * 20, timestamp=17, nonce="n]]>n")
    assert parse_fields(body.encode()) == {
        "Encrypt": "QUJD",
        "MsgSignature": "ab" * 20,
        "TimeStamp": "17",
        "Nonce": "n]]>n",
    }


def test_cdata_replaces_what_xml_cannot_hold() -> None:
    assert cdata("a\x00b\ud800c\uffff") == "<![CDATA[a\ufffdb\ufffdc\ufffd]]>"
