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
        ("http://[0:0::1]:8787", "http://[::1]:8787"),
        ("https://网关.example.cn", "https://xn--d6q013i.example.cn"),
        ("https://gatewаy.example.com", "https://xn--gatewy-7nf.example.com"),  # another а
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
        "https://[::1%25lo]",
        "https://gw..example.com",
        "https://host name",
        "https://" + "a" * 70 + ".example.com",
        "https://gateway\u202e.example.com",
        "https://-gateway.example.com",
        "https://" + "a" * 600,
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InputError) as caught:
        codec.origin_of(url)
    assert caught.value.code == "input.gateway-url"


@each(
    "typed",
    [
        "https://u:hunter2@gw.example.com#CB1-HCBEAM4UD2EHJDWZAG2J6M63PU",
        "CB1-HCBEAM4UD2EHJDWZAG2J6M63PU https://gw.example.com",
    ],
)
def test_what_was_typed_unseen_is_not_told(typed: str) -> None:
    with pytest.raises(InputError) as caught:
        codec.origin_of(typed)
    told = str(caught.value.facts["url"])
    assert "hunter2" not in told
    assert "HCBEAM" not in told
