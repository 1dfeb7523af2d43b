from __future__ import annotations

import itertools
from typing import Any

import pytest

from common.errors import AuthError, InputError, LocalProtocolError
from common.protocol import pairing
from common.protocol.pairing import WORDS, words_for
from common.records import encode_bytes
from common.signing import VerifyKey
from tests.each import each
from tests.unit.common.protocol.wire import AGENT_ID, AGENT_KEY, GATEWAY_KEY, STRANGER_KEY, URL

SECRET = bytes(range(16))
OTHER_SECRET = bytes(range(1, 17))
CODE = "CB1-AAAQEAYEAUDAOCAJBIFQYDIOB4"


def request(**changed: Any) -> dict[str, Any]:
    """Return what the agent sends."""
    arguments: dict[str, Any] = {"key": AGENT_KEY, "nonce": b"a" * 32, "url": URL}
    return pairing.agent_request(changed.pop("secret", SECRET), **arguments | changed)


def answer(to: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Return what the gateway sends back."""
    arguments: dict[str, Any] = {
        "key": GATEWAY_KEY,
        "nonce": b"g" * 32,
        "agent_id": AGENT_ID,
        "machine": "dev-1",
    }
    return pairing.gateway_answer(changed.pop("secret", SECRET), to, **arguments | changed)


def check(asked: dict[str, Any], url: str = URL) -> VerifyKey:
    """Check a request as the gateway does."""
    return pairing.check_request(SECRET, asked, url=url)


@pytest.mark.requirement("R9")
def test_a_code_is_128_bits_in_26_characters() -> None:
    assert pairing.new_code(randomness=lambda size: SECRET[:size]) == CODE
    assert pairing.parse_code(CODE) == SECRET
    assert pairing.new_code() != pairing.new_code()


@each(
    "typed",
    [
        f"  {CODE}\n",
        CODE.lower(),
        CODE.replace("-", "\u2013"),
        CODE.replace("-", ""),
        CODE.translate({ord(char): ord(char) + 0xFEE0 for char in CODE}),
        CODE[:10] + " " + CODE[10:],
    ],
)
def test_a_code_is_read_as_people_paste_it(typed: str) -> None:
    assert pairing.parse_code(typed) == SECRET


@each(
    "typed",
    [
        "",
        CODE[4:],
        CODE[:-1],
        CODE + "A",
        CODE[:-1] + "5",
        "CB2" + CODE[3:],
        "CB1-" + "0" * 26,
        "é",
    ],
)
def test_what_is_no_code_is_refused_without_repeating_it(typed: str) -> None:
    with pytest.raises(InputError) as caught:
        pairing.parse_code(typed)
    assert (caught.value.code, caught.value.facts) == ("input.pairing-code", {})


def test_address_and_code_are_handed_over_as_one_line() -> None:
    line = pairing.pairing_line(URL, CODE)
    assert pairing.split_pairing_line(f" {line}\n") == (URL, CODE)
    assert pairing.split_pairing_line(f"{URL} # {CODE}") == (URL, CODE)
    assert pairing.split_pairing_line(f" {CODE} ") == ("", CODE)
    wide = line.translate({ord(sign): ord(sign) + 0xFEE0 for sign in ":/#."})
    assert pairing.split_pairing_line(wide) == (URL, CODE)


def test_a_code_is_found_by_a_name_that_does_not_give_it_away() -> None:
    name = pairing.pairing_id(SECRET)
    assert len(name) == 16
    assert name != pairing.pairing_id(OTHER_SECRET)
    assert request()["pairing"] == name
    assert SECRET.hex() not in str(request())


@pytest.mark.requirement("R10")
def test_both_sides_learn_each_others_key_and_show_the_same_six_words() -> None:
    asked = request()
    agent_key = check(asked)
    paired = pairing.check_answer(SECRET, asked, answer(asked))
    assert agent_key == AGENT_KEY.public
    assert paired == pairing.Paired(AGENT_ID, "dev-1", GATEWAY_KEY.public)
    words = pairing.check_words(AGENT_KEY.public, paired.gateway_key)
    assert words == pairing.check_words(agent_key, GATEWAY_KEY.public)
    assert len(words) == 6


@pytest.mark.requirement("R10")
def test_other_keys_show_other_words() -> None:
    words = pairing.check_words(AGENT_KEY.public, GATEWAY_KEY.public)
    assert words != pairing.check_words(STRANGER_KEY.public, GATEWAY_KEY.public)
    assert words != pairing.check_words(AGENT_KEY.public, STRANGER_KEY.public)
    assert words != pairing.check_words(GATEWAY_KEY.public, AGENT_KEY.public)


@pytest.mark.requirement("R10")
def test_a_proxy_cannot_swap_the_agents_key() -> None:
    swapped = request(key=STRANGER_KEY)
    for stolen in ({"mac": request()["mac"]}, {"sig": request()["sig"]}):
        with pytest.raises(AuthError):
            check(swapped | stolen)
    with pytest.raises(AuthError):
        check(request() | {"key": encode_bytes(STRANGER_KEY.public.raw)})
    with pytest.raises(AuthError):
        check(request(key=STRANGER_KEY, secret=OTHER_SECRET))


@pytest.mark.requirement("R10")
def test_a_proxy_cannot_swap_the_gateways_key() -> None:
    asked = request()
    for forged in (
        answer(asked) | {"key": encode_bytes(STRANGER_KEY.public.raw)},
        answer(asked, key=STRANGER_KEY, secret=OTHER_SECRET),
        answer(asked, key=STRANGER_KEY) | {"mac": answer(asked)["mac"]},
    ):
        with pytest.raises(AuthError) as caught:
            pairing.check_answer(SECRET, asked, forged)
        assert caught.value.code == "auth.pairing"


@pytest.mark.requirement("R10")
def test_knowing_the_code_is_not_having_the_key() -> None:
    # Someone with the code enrols a key of which only the public half is known.
    asked = request(key=STRANGER_KEY) | {"key": encode_bytes(AGENT_KEY.public.raw)}
    said = pairing._request_said(asked)
    asked["mac"] = encode_bytes(pairing._mac(SECRET, b"request", said))
    with pytest.raises(AuthError):
        check(asked)


@pytest.mark.requirement("R10")
@each("name", ["pairing", "url", "key", "nonce", "mac", "sig"])
def test_no_field_of_a_request_can_be_changed(name: str) -> None:
    other = request(key=STRANGER_KEY, nonce=b"x" * 32, url="https://x.test", secret=OTHER_SECRET)
    with pytest.raises(AuthError) as caught:
        check(request() | {name: other[name]})
    assert caught.value.code == "auth.pairing"


@pytest.mark.requirement("R10")
@each("name", ["key", "nonce", "agent_id", "machine", "mac", "sig"])
def test_no_field_of_an_answer_can_be_changed(name: str) -> None:
    asked = request()
    other = answer(asked, key=STRANGER_KEY, nonce=b"x" * 32, agent_id="another", machine="dev-2")
    with pytest.raises(AuthError) as caught:
        pairing.check_answer(SECRET, asked, answer(asked) | {name: other[name]})
    assert caught.value.code == "auth.pairing"


@pytest.mark.requirement("R10")
def test_an_answer_to_another_request_is_refused() -> None:
    with pytest.raises(AuthError):
        pairing.check_answer(SECRET, request(), answer(request(nonce=b"x" * 32)))


@pytest.mark.requirement("R10")
def test_a_request_meant_for_another_address_is_refused() -> None:
    with pytest.raises(AuthError):
        check(request(url="https://relay.example.net"))
    assert check(request(url="wss://Gateway.example.com:443/x")) == AGENT_KEY.public


def test_a_request_proven_with_the_code_must_name_that_code() -> None:
    asked = request() | {"pairing": pairing.pairing_id(OTHER_SECRET)}
    said = pairing._request_said(asked)
    with pytest.raises(AuthError):
        check(asked | pairing._proofs(SECRET, b"request", said, key=AGENT_KEY))


@each("spoilt", [{"v": 2}, {"extra": 1}, {"mac": 5}, {"key": "short"}, {"url": ""}])
def test_a_malformed_record_looks_like_a_wrong_one(spoilt: dict[str, Any]) -> None:
    asked = request()
    for attempt in (
        lambda: check(asked | spoilt),
        lambda: pairing.check_answer(SECRET, asked, answer(asked) | spoilt),
    ):
        with pytest.raises(AuthError) as caught:
            attempt()
        assert caught.value.code == "auth.pairing"


@pytest.mark.requirement("R20")
def test_a_mac_is_compared_as_bytes_whatever_text_is_sent() -> None:
    with pytest.raises(AuthError):
        check(request() | {"mac": "é" * 44})


@each("changed", [{"nonce": b"short"}, {"machine": "Dev 1"}, {"agent_id": "no spaces"}])
def test_a_gateway_cannot_give_a_name_that_the_agent_would_refuse(changed: dict[str, Any]) -> None:
    with pytest.raises(LocalProtocolError):
        answer(request(), **changed)


_GROUPS = ("bfpv", "cgjkqsxz", "dt", "l", "mn", "r")
_CODES = {letter: str(code) for code, group in enumerate(_GROUPS, 1) for letter in group}


def soundex(word: str) -> str:
    """Return the Soundex code (R. C. Russell, 1918; the US National Archives' rules)."""
    code, last = word[0], _CODES.get(word[0], "")
    for letter in word[1:]:
        digit = _CODES.get(letter, "")
        if digit and digit != last:
            code += digit
        if letter not in "hw":
            last = digit
    return f"{code}000"[:4]


def edits(one: str, other: str) -> int:
    """Return the Levenshtein distance."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


@pytest.mark.requirement("R10")
def test_there_is_one_short_plain_word_for_each_byte() -> None:
    assert len(WORDS) == len(set(WORDS)) == 256
    assert all(word.isascii() and word.islower() and 3 <= len(word) <= 8 for word in WORDS)


@pytest.mark.heavy
def test_no_two_words_look_alike() -> None:
    assert [pair for pair in itertools.combinations(WORDS, 2) if edits(*pair) < 3] == []


def test_no_two_words_sound_alike() -> None:
    assert len({soundex(word) for word in WORDS}) == 256


def test_bytes_become_words_by_their_place_in_the_list() -> None:
    assert words_for(b"\x00\xff\x00") == ["acorn", "zigzag", "acorn"]
