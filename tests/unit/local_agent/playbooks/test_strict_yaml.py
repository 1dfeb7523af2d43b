"""YAML without what makes it dangerous or surprising: plain data, or a reason with its line."""

from __future__ import annotations

import contextlib

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from local_agent.playbooks import strict_yaml
from local_agent.playbooks.strict_yaml import MAX_DEPTH, MalformedError, read_yaml
from tests.each import each


def fault(text: str) -> tuple[str, int]:
    with pytest.raises(MalformedError) as caught:
        read_yaml(text)
    return caught.value.why, caught.value.line


@each(
    "text, value",
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-12", -12),
        ("+3", 3),
        ("007", 7),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("-1e3", -1000.0),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("OFF", "OFF"),
        ("y", "y"),
        ("tRue", "tRue"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z"),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("0b1", "0b1"),
        ("1e", "1e"),
        ("v1.0", "v1.0"),
        ("=", "="),
        ("'true'", "true"),
        ('"5"', "5"),
        ('""', ""),
        ("|\n  5\n", "5\n"),
        (">-\n  true\n", "true"),
        ('"a\\tb\\u4e2d"', "a\tb中"),
    ],
)
def test_what_is_not_quoted_is_a_word_of_yaml_1_2_or_text(text: str, value: object) -> None:
    found = read_yaml(f"a: {text}").plain()
    assert found == {"a": value}
    assert isinstance(found, dict)
    assert type(found["a"]) is type(value)


def test_keys_are_text_as_written() -> None:
    assert read_yaml("{1: a, true: b, '2': c, ~: d}").plain() == {
        "1": "a",
        "true": "b",
        "2": "c",
        "~": "d",
    }


def test_a_merge_key_merges_nothing() -> None:
    assert read_yaml("<<: {a: 1}").plain() == {"<<": {"a": 1}}


@each(
    "text, why, line",
    [
        ("a: !!python/object/apply:os.system [ls]", "tag", 1),
        ("a: !!str 5", "tag", 1),
        ("b: 1\na: !mine {}", "tag", 2),
        ("a: !<tag:yaml.org,2002:int> 5", "tag", 1),
        ("! a", "tag", 1),
        ("!!binary a: b", "tag", 1),
        ("a: &x 1", "reference", 1),
        ("&x a: 1", "reference", 1),
        ("b: 2\na: *x", "reference", 2),
        ("a: &x [*x]", "reference", 1),
        ("a: 1\nb: 2\na: 3", "repeated-key", 3),
        ("a: 1\n'a': 3", "repeated-key", 2),
        ("x:\n  - {a: 1, a: 1}", "repeated-key", 2),
        ("? [a]\n: b", "key", 1),
        ("{a: 1}: b", "key", 1),
        ("a: 1\n---\nb: 1", "documents", 2),
        ("a: 1\n...\nb: 1", "yaml", 3),
        ("--- {a: 1}", "documents", 1),
        ("%YAML 1.1\n---\na: 1", "documents", 1),
        ("%TAG ! tag:evil,2000:\n---\na: 1", "documents", 1),
        ("a: .inf", "number", 1),
        ("a: -.Inf", "number", 1),
        ("a: .nan", "number", 1),
        ("a: 1e999", "number", 1),
        ("a: 9007199254740993", "number", 1),
        (f"a: {'9' * 5000}", "number", 1),
        (f"a: 0x{'f' * 5000}", "number", 1),
        ("a: 1\nb: \x07", "character", 2),
        ("a: \x00", "character", 1),
        ("# a\x85b: 1", "character", 1),
        ("# a\u2028b: 1", "character", 1),
        ("a: \ufeffb", "character", 1),
        ("a: 1\rb: 2", "character", 1),
        ("a: b: c", "yaml", 1),
        ("a: [1", "yaml", 2),
        ("a: 1\n\tb: 1", "yaml", 2),
        ("a: @x", "yaml", 1),
        ("a: '", "yaml", 1),
        ('a: "\\ud800"', "yaml", 1),
    ],
)
def test_what_is_refused_is_told_with_its_line(text: str, why: str, line: int) -> None:
    assert fault(text)[0] == why
    assert abs(fault(text)[1] - line) <= (why == "yaml")


def test_a_line_is_counted_from_where_the_text_begins() -> None:
    with pytest.raises(MalformedError) as caught:
        read_yaml("a: 1\na: 2", first_line=2)
    assert caught.value.line == 3


def test_a_value_has_the_line_of_its_key() -> None:
    node = read_yaml("a: 1\nb:\n\n  - x\n  - y\n")
    assert isinstance(node.value, dict)
    assert {key: one.line for key, one in node.value.items()} == {"a": 1, "b": 2}
    items = node.value["b"].value
    assert isinstance(items, list)
    assert [item.line for item in items] == [4, 5]


def test_depth_is_bounded_exactly() -> None:
    read_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert fault("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)) == ("too-deep", 1)


def test_the_number_of_nodes_is_bounded_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_yaml, "MAX_NODES", 100)
    read_yaml("[" + "1," * 99 + "]")
    assert fault("[" + "1," * 100 + "]")[0] == "too-many-nodes"
    read_yaml("{" + ",".join(f"k{n}: []" for n in range(49)) + "}")
    assert fault("{" + ",".join(f"k{n}: []" for n in range(50)) + "}")[0] == "too-many-nodes"


@each("text", ['a: "\\ud800"', '"\\ud800": a', 'a: "\\U00110000"', "a: [", "a: &x 1", "a: !!str b"])
def test_without_libyaml_the_same_is_refused(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_yaml, "_LOADER", yaml.SafeLoader)
        assert read_yaml("a: [1, 'b', {c: yes}]").plain() == {"a": [1, "b", {"c": "yes"}]}
        assert fault(text)[0] in ("yaml", "reference", "tag")
    assert fault(text)[0] in ("yaml", "reference", "tag")


HOSTILE = (
    "[" * 1_000_000,
    "{a: " * 250_000,
    "- " * 500_000,
    "? " * 500_000,
    "[1," * 300_000,
    "1," * 500_000,
    "[" + "1," * 500_000,
    "a: |\n" + " x\n" * 300_000,
    '"' + "\\u0041" * 160_000,
    "'" + "\n" * 1_000_000,
    "!" * 1_000_000,
    "&a " * 300_000,
    "#" * 1_000_000,
    "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(30_000)),
    "".join(f"k{n}: 1\n" for n in range(80_000)),
    "a:\n" + "".join(" " * n + "- \n" for n in range(1_400)),
)


@pytest.mark.cpu(6)
def test_a_megabyte_of_anything_is_read_or_refused_quickly() -> None:
    for text in HOSTILE:
        with contextlib.suppress(MalformedError):
            read_yaml(text[: 1024 * 1024])


@given(st.text(alphabet="ab:-[]{},&*!|>'\"#%@?~ \n\t01.\\", max_size=60))
def test_any_text_is_plain_data_or_malformed(text: str) -> None:
    with contextlib.suppress(MalformedError):
        read_yaml(text).plain()
