"""What a stream lets out: the same as of the whole text, never a piece of a secret."""

from __future__ import annotations

import random

import pytest

from common.redact import LONG_LINE, MOST_HELD, RedactedStream, redact_lines
from tests.each import each
from tests.secrets_set.making import filled

CHANCE = random.Random(7)
TOKEN = filled("ghp_‹w36›", CHANCE)
PASSWORD = filled("‹w24›", CHANCE)
BODY = [filled("‹b64›", CHANCE) for _ in range(30)]
HEAD = "-----BEGIN " + "RSA PRIVATE KEY-----"
TAIL = "-----END " + "RSA PRIVATE KEY-----"
KEY = "\n".join([HEAD, *BODY, TAIL])


def streamed(text: str, size: int, *, personal: bool = False) -> str:
    stream = RedactedStream(personal=personal)
    pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join([*pieces, stream.end()])


@pytest.mark.requirement("R54")
@each("size", [1, 2, 7, 64, 1000, 10**6])
@each(
    "text",
    [
        "",
        "one line without an end",
        f"a\nb\nthe token {TOKEN} in it\nc\nd\ne\nf\n",
        f"before\n{KEY}\nafter\n1\n2\n3\n4\n",
        f"cut:\n{BODY[0]}\n{BODY[1]}\n{TAIL}\n1\n2\n3\n4\n5\n",
        f"- name: DB_PASSWORD\n  value: {PASSWORD}\n1\n2\n3\n",
        f"machine x\n  login ann\n  password {PASSWORD}\n1\n2\n3\n4\n",
        "api_key = (\n" + "".join(f'    "{PASSWORD}"\n' for _ in range(9)) + ")\n1\n2\n3\n4\n5\n",
        f"a\n\n\n\n\nx = '{TOKEN}'\r\n\r\n\r\n\r\nend",
    ],
)
def test_a_stream_gives_what_the_whole_text_gives(text: str, size: int) -> None:
    assert streamed(text, size) == redact_lines(text)


def test_lines_go_out_while_more_is_coming() -> None:
    stream = RedactedStream()
    gone = "".join(stream.feed(f"line {number}\n") for number in range(10))
    assert gone == "".join(f"line {number}\n" for number in range(6))
    assert stream.end() == "line 6\nline 7\nline 8\nline 9\n"


def test_a_long_line_goes_out_in_parts() -> None:
    text = "some words " * 4000 + f"and {TOKEN} too " + "more words " * 2000
    stream = RedactedStream()
    gone = [stream.feed(text[at : at + 100]) for at in range(0, len(text), 100)]
    assert len("".join(gone)) > len(text) - 2 * LONG_LINE, "not held until its end"
    assert "".join([*gone, stream.end()]) == redact_lines(text)


@pytest.mark.requirement("R54")
def test_a_secret_longer_than_what_is_held_is_left_out_to_the_end_of_its_line() -> None:
    secret = filled(f"‹w{3 * LONG_LINE}›", CHANCE)
    shown = streamed(f'a\napi_key = "{secret}"\nafter\n', 512)
    assert secret[-8:] not in shown
    assert secret[LONG_LINE : LONG_LINE + 8] not in shown
    assert shown.endswith("[redacted]\nafter\n")


@pytest.mark.requirement("R54")
@pytest.mark.parametrize("size", [64, 5000])
def test_a_key_longer_than_what_is_held_is_left_out_whole(size: int) -> None:
    body = [filled("‹b64›", CHANCE) for _ in range(2 * MOST_HELD // 65)]
    text = "\n".join(["before", HEAD, *body, TAIL, "after", ""])
    shown = streamed(text, size)
    assert not any(line in shown for line in body)
    assert shown == redact_lines(text)


def test_a_key_that_never_ends_is_left_out_whole() -> None:
    body = [filled("‹b64›", CHANCE) for _ in range(2 * MOST_HELD // 65)]
    shown = streamed("\n".join([HEAD, *body]), 999)
    assert not any(line[:16] in shown for line in body)


def test_lines_of_base64_that_are_no_key_go_out_when_too_many_are_held() -> None:
    text = "".join(f"{line[:60]}\n" for line in BODY * 60)  # a key's are longer
    stream = RedactedStream()
    gone = stream.feed(text)
    assert gone
    assert gone + stream.end() == text


def test_numbers_of_people_go_when_asked() -> None:
    number = "138" + "00138000"
    assert streamed(f"call {number} now\n", 3, personal=True) == "call [redacted:phone] now\n"
