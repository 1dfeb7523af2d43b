from __future__ import annotations

import json

import pytest

from common import strict_json
from common.errors import RemoteProtocolError
from tests.each import each


def refusal(data: str | bytes, *, max_bytes: int = 1_000_000) -> str:
    """Return the code with which a text is refused."""
    with pytest.raises(RemoteProtocolError) as caught:
        strict_json.loads(data, max_bytes=max_bytes)
    return caught.value.code


@each(
    "value",
    [{"a": [1, -2, None, True, "测试 \U0001f600 \x00"]}, [], {}, "", 0, False, None, 2**53],
)
def test_plain_values_read_back_from_text_and_bytes(value: object) -> None:
    text = json.dumps(value)
    assert strict_json.loads(text, max_bytes=1000) == value
    assert strict_json.loads(text.encode(), max_bytes=1000) == value
    assert strict_json.loads(strict_json.canonical(value), max_bytes=1000) == value


@pytest.mark.requirement("R19")
@each(
    "text",
    [
        '{"a":1,"a":1}',
        '[{"b":{"a":1,"a":2}}]',
        "NaN",
        "[Infinity]",
        "-Infinity",
        "1.0",
        "1e999",
        "1e2",
        str(2**53 + 1),
        str(-(2**53) - 1),
        "9" * 5000,
        '"\\ud800"',
        '["\\udc00\\ud800"]',
        '[["\\ud800"]]',
        '{"\\ud800":1}',
        '{"a":["\\ud800"]}',
        "{'a':1}",
        "[1,]",
        "1 2",
        "",
        "\ufeff1",
        '"\t"',
    ],
)
def test_what_other_readers_wave_through_is_malformed(text: str) -> None:
    assert refusal(text) == "json.malformed"


@pytest.mark.requirement("R19")
@each("data", [b"\xff", b'"\xed\xa0\x80"', b'"\xc0\x80"', "\ud800"])
def test_only_utf8_is_text(data: str | bytes) -> None:
    assert refusal(data) == "json.malformed"


@pytest.mark.requirement("R19")
def test_size_is_checked_first_and_in_bytes() -> None:
    assert strict_json.loads('"测"', max_bytes=5) == "测"
    assert refusal('"测"', max_bytes=4) == "json.too-large"
    assert refusal("[" * 100, max_bytes=99) == "json.too-large"


@pytest.mark.requirement("R19")
@each("opening", ["[", '{"a":', '[{"a":'])
def test_deep_nesting_is_refused_before_it_can_recurse(opening: str) -> None:
    assert refusal(opening * 100_000) == "json.too-deep"


@pytest.mark.requirement("R19")
def test_32_levels_are_read_and_33_are_not() -> None:
    def nested(depth: int) -> str:
        return "[" * depth + "]" * depth

    assert strict_json.loads(nested(32), max_bytes=1000)
    assert refusal(nested(33)) == "json.too-deep"


@pytest.mark.requirement("R19")
@each("text", ["[" * 100, '"[' * 50, "\\[" * 100, '\\"[' * 100])
def test_brackets_in_a_string_are_not_nesting(text: str) -> None:
    assert strict_json.loads(json.dumps([text]), max_bytes=10_000) == [text]


@pytest.mark.requirement("R19")
@pytest.mark.parametrize("ending", ["", "\\"])
def test_an_unterminated_string_of_escaped_quotes_is_refused_in_linear_time(ending: str) -> None:
    # Quadratic, this would take minutes and meet the test's own time limit.
    text = "[" * 20 + "{" * 20 + '"' + '\\"' * 125_000 + ending
    assert refusal(text) == "json.too-deep"
    assert refusal('["' + "[" * 40 + '\\"' * 125_000 + ending) == "json.malformed"


@pytest.mark.requirement("R19")
def test_fractions_are_read_where_the_caller_says_so() -> None:
    value = strict_json.loads("[0.7, -1e3, 2]", max_bytes=99, floats="read")
    assert value == [0.7, -1000.0, 2]
    assert refusal("[0.7]") == "json.malformed"


@pytest.mark.requirement("R19")
@each("text", ["1e999", "-1e999", "NaN", "Infinity", "0." + "1" * 40, str(2**53 + 1), "1" * 400])
def test_even_then_numbers_have_bounds(text: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        strict_json.loads(f"[{text}]", max_bytes=999, floats="read")
    assert caught.value.code == "json.malformed"


def test_many_brackets_side_by_side_are_not_nesting() -> None:
    assert strict_json.loads("[" + ",".join(["[]"] * 1000) + "]", max_bytes=10_000) == [[]] * 1000


@pytest.mark.requirement("R21")
def test_the_stored_form_is_sorted_ascii_without_blanks() -> None:
    value = {"b": [1, None, True], "a": {"测": "\U0001f600\n"}}
    assert strict_json.canonical(value) == (
        b'{"a":{"\\u6d4b":"\\ud83d\\ude00\\n"},"b":[1,null,true]}'
    )


@pytest.mark.requirement("R21")
@each("value", [1.0, [1.5], {"a": (0.1,)}, {"a": {1, 2}}, float("nan"), b"x"])
def test_what_has_no_one_form_is_our_own_mistake(value: object) -> None:
    with pytest.raises(TypeError):
        strict_json.canonical(value)
