from __future__ import annotations

from datetime import UTC, datetime

import pytest

from common.errors import InputError, RemoteProtocolError
from common.protocol import codec
from tests.each import each


@pytest.mark.requirement("R2")
@each("record", [{}, {"a": 1}, {"b": 1}, {"a": 1, "b": 1, "c": 1}])
def test_a_record_with_a_missing_or_an_extra_field_is_refused(record: dict[str, int]) -> None:
    checks = {"a": codec.SEQ, "b": codec.SEQ}
    with pytest.raises(RemoteProtocolError) as caught:
        codec.closed(record, checks)
    assert caught.value.code == "record.fields"


def test_a_wrong_field_is_named_but_its_value_is_not_told() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        codec.closed({"a": "secret"}, {"a": codec.SEQ})
    assert caught.value.facts == {"field": "a"}


@each("value", [True, 0, -1, 2**53 + 1, "1", None, [1]])
def test_only_integers_in_range_are_integers(value: object) -> None:
    assert not codec.SEQ(value)


@pytest.mark.parametrize("value", [1, 2**53])
def test_both_ends_of_a_range_are_inside(value: int) -> None:
    assert codec.SEQ(value)


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("abcd", True),
        ("abcde", False),
        ("测", True),
        ("测测", False),
        ("\ud800", False),
        (b"a", False),
    ],
)
def test_text_is_bounded_in_bytes_and_has_no_lone_surrogate(value: object, fits: bool) -> None:
    assert codec.utf8(4)(value) is fits


def test_text_can_be_asked_not_to_be_empty() -> None:
    assert codec.utf8(4)("")
    assert not codec.utf8(4, min_bytes=1)("")


@each("value", ["ab\n", "", "é", 7, None])
def test_a_pattern_must_match_the_whole_text(value: object) -> None:
    assert not codec.matching(r"\w{1,4}")(value)


@each("value", ["no", 1, None, ["en"]])
def test_a_choice_is_one_of_the_given(value: object) -> None:
    assert codec.one_of(("en", "zh"))("en")
    assert not codec.one_of(("en", "zh"))(value)


@each("value", ["QQ=", "QR==", "Q Q==", "Q*==", "QUE=", "====", "QQ==\n", "ＱＱ==", 7])
def test_bytes_have_exactly_one_form(value: object) -> None:
    check = codec.raw_bytes(1)
    assert check("QQ==")
    assert codec.decode_bytes("QQ==") == b"A"
    assert not check(value)


def test_a_length_in_front_of_each_part_keeps_borders_where_they_are() -> None:
    assert codec.framed(b"ab", b"c") != codec.framed(b"a", b"bc")
    assert codec.framed(b"ab") == b"\0\0\0\x02ab"


@each("text", ["[]", "1", '"a"', "null"])
def test_only_an_object_is_an_object(text: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        codec.read_object(text, max_bytes=100)
    assert caught.value.code == "json.malformed"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("wss://Gateway.Example.com/agent/v1/link", "https://gateway.example.com"),
        ("https://gateway.example.com:443/", "https://gateway.example.com"),
        ("https://gateway.example.com:8443", "https://gateway.example.com:8443"),
        ("ws://127.0.0.1:80/x?y", "http://127.0.0.1"),
        ("http://[::1]:8787", "http://[::1]:8787"),
    ],
)
def test_every_spelling_of_an_address_has_one_origin(url: str, origin: str) -> None:
    assert codec.origin_of(url) == origin
    assert codec.origin_of(origin) == origin


@each(
    "url",
    [
        "gateway.example.com",
        "ftp://gateway.example.com",
        "https://",
        "https://user@gateway.example.com",
        "https://gateway.example.com:99999",
        "https://[::1",
        "https://" + "a" * 600,
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InputError) as caught:
        codec.origin_of(url)
    assert caught.value.code == "input.gateway-url"


def test_a_moment_is_one_that_a_calendar_can_show() -> None:
    latest = 2**47
    assert codec.MILLISECONDS(latest)
    assert not codec.MILLISECONDS(latest + 1)
    assert datetime.fromtimestamp(latest / 1000, UTC).year < 9999
