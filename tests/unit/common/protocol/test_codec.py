from __future__ import annotations

import pytest

from common.errors import InputError
from common.protocol import codec
from tests.each import each


def test_a_length_in_front_of_each_part_keeps_borders_where_they_are() -> None:
    assert codec.framed(b"ab", b"c") != codec.framed(b"a", b"bc")
    assert codec.framed(b"ab") == b"\0\0\0\x02ab"


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
