"""What steps hand on: found by plain paths, compared by value, put into text once."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import InputError
from local_agent.playbooks.definition import StepDefinition
from local_agent.playbooks.tools import TOOLS
from local_agent.playbooks.values import (
    MAX_RENDERED_CHARS,
    Condition,
    MissingValueError,
    Path,
    find,
    holds,
    parse_condition,
    parse_path,
    render,
    resolve_arguments,
)
from tests.each import each

WORDS = {"message": "do {ask.result.text}", "inputs.name": "{message}; $(x)"}
RESULTS: dict[str, Any] = {
    "log": {"commits": [{"id": "a1", "subject": "Fix"}, {"id": "b2"}], "count": 2},
    "ask": {"text": "3"},
    "gate": {"confirmed": True},
    "run it": {"exit_code": 0, "stdout": "", "zero": 0.0, "one": 1, "nothing": None, "no": False},
    "构建": {"文件": ["甲", "乙"]},
    "a.b": {"0": "zero", "x-y": 1},
    "v1.result": {"x": "longest"},
    "v1": {"result": {"x": "short"}},
}
plain_values = st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.text(max_size=9)
json_values: st.SearchStrategy[Any] = (
    plain_values
    | st.lists(plain_values, max_size=3)
    | st.dictionaries(st.sampled_from(["0", "x"]), st.lists(plain_values, max_size=2))
)


@each(
    "text, value",
    [
        ("log.result.count", 2),
        ("log.result.commits.0.subject", "Fix"),
        ("log.result.commits.1", {"id": "b2"}),
        ("gate.result", {"confirmed": True}),
        (" run it.result.exit_code ", 0),
        ("构建.result.文件.1", "乙"),
        ("a.b.result.0", "zero"),
        ("a.b.result.x-y", 1),
        ("v1.result.result.x", "longest"),
    ],
)
def test_a_value_is_found_under_its_path(text: str, value: object) -> None:
    assert find(parse_path(text, RESULTS), RESULTS) == value


def test_the_longest_name_of_a_step_that_fits_is_meant() -> None:
    assert parse_path("v1.result.result.x", ["v1", "v1.result"]) == Path("v1.result", ("x",))
    assert parse_path("v1.result.result.x", ["v1"]) == Path("v1", ("result", "x"))


def test_the_path_of_a_step_that_there_is_not_can_be_written() -> None:
    assert parse_path("no such step.result.a.1", []) == Path("no such step", ("a", 1))


@each(
    "text",
    [
        *("", "log", "log.count", "result.x", ".result", "log.result.", "log.result..count"),
        *("log.resultx", "log.result.a b", "log.result[0]", "log.result.count + 1", "log.result()"),
        *(
            "log.result.commits[0]",
            "not log.result",
            "len(x).result",
            "log.result.{x}",
            "{x}.result",
        ),
    ],
)
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_path(text, RESULTS)
    assert (caught.value.code, caught.value.facts["given"]) == ("playbook.path", text)


@each(
    "text",
    [
        *("nobody.result", "log.result.nothing", "log.result.commits.2", "log.result.commits.id"),
        *("log.result.count.real", "ask.result.text.0", "ask.result.text.upper", "gate.result.0"),
        *(
            "log.result.__class__",
            "log.result.keys",
            "log.result.commits.-1",
            "log.result.commits.00",
        ),
        "run it.result.nothing.x",
    ],
)
def test_a_missing_value_is_named_by_its_path(text: str) -> None:
    with pytest.raises(MissingValueError) as caught:
        find(parse_path(text, RESULTS), RESULTS)
    assert caught.value.path == text


class Secretive(dict[str, Any]):
    """Would tell more than it holds, if it were asked for attributes."""

    @property
    def secret(self) -> str:
        raise AssertionError("an attribute was read")

    def __getattr__(self, name: str) -> str:
        raise AssertionError(f"the attribute {name} was read")


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz_", min_size=1))
def test_no_attribute_is_ever_read(name: str) -> None:
    with pytest.raises(MissingValueError):
        find(Path("s", (name,)), {"s": Secretive()})
    with pytest.raises(MissingValueError):
        find(Path("s", ("secret", name)), {"s": Secretive(secret=[1])})


@each(
    "text, expected",
    [
        ("gate.result.confirmed", True),
        ("gate.result.confirmed == true", True),
        ("gate.result.confirmed != true", False),
        ("gate.result.confirmed == True", False),  # a bare word
        ("gate.result.confirmed == 1", False),
        ('gate.result.confirmed == "true"', False),
        ("run it.result.exit_code == 0", True),
        ("run it.result.exit_code==0", True),
        ("run it.result.exit_code == 0.0", True),
        ("run it.result.zero == 0", True),
        ("run it.result.exit_code == -0", True),
        ("run it.result.exit_code != 0", False),
        ("run it.result.exit_code == '0'", False),
        ("run it.result.exit_code == false", False),
        ("run it.result.one == 1e0", True),
        ("run it.result.one == true", False),
        ("run it.result.exit_code", False),
        ("run it.result.stdout", False),
        ("run it.result.stdout == ''", True),
        ("run it.result.nothing", False),
        ("run it.result.nothing == null", True),
        ("run it.result.nothing == 0", False),
        ("run it.result.no == false", True),
        ("run it.result.no == 0", False),
        ("ask.result.text == 3", False),
        ("ask.result.text != 3", True),
        ('ask.result.text == "3"', True),
        ("log.result.commits", True),
        ("log.result.commits == Fix", False),
        ("log.result.commits.0.subject == Fix", True),
        ("log.result.commits.0.subject == 'Fix'", True),
        ('log.result.commits.0.subject == "fix"', False),
        ("log.result.commits.0.subject != release/1.0", True),
        ("构建.result.文件.0 == 甲", True),
        ("log.result", True),
        ("log.result.nothing", None),
        ("log.result.nothing == null", None),
        ("log.result.nothing != 3", None),
        ("nobody.result.x != 3", None),
        ("No body: at-all.result != 3", None),
    ],
)
def test_a_condition_compares_by_value(text: str, expected: bool | None) -> None:
    assert holds(parse_condition(text, RESULTS), RESULTS) is expected


def test_a_condition_knows_the_names_of_steps_with_operators_in_them() -> None:
    parsed = parse_condition("a == b.result.x != c", ["a == b"])
    assert parsed == Condition(Path("a == b", ("x",)), "!=", "c")


@each(
    "text",
    [
        *(
            "",
            " ",
            "true",
            "1",
            "log",
            "log.count",
            "log.result.count >= 2",
            "log.result.count > 1",
        ),
        *("log.result.count = 2", "log.result.count ==", "== 2", "log.result.count == 2 == 2"),
        *("log.result.count === 2", "log.result.count == 1 + 1", "log.result.count == a b"),
        *("log.result.count == 2 and true", "log.result.count == 2 or gate.result.confirmed"),
        *("not gate.result.confirmed", "!gate.result.confirmed", "log.result.count in [2]"),
        *("2 == log.result.count", "log.result.count == (2)", "log.result.count == [2]"),
        *("len(log.result.commits) == 2", "log.result.count == __import__('os')"),
        *("log.result.count is 2", "log.result.count == 'a'b'", 'log.result.count == "a'),
        *("log.result.a == b.result.a; x", "{log.result.count} == 2", "log.result.count == {x}"),
        "log.result.count if gate.result.confirmed else 0",
    ],
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_condition(text, RESULTS)
    assert (caught.value.code, caught.value.facts["given"]) == ("playbook.condition", text)


@given(st.text(alphabet="ab.result =!'\"0true", max_size=40))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    with contextlib.suppress(InputError):
        assert holds(parse_condition(text, ["a", "b"]), RESULTS) in (True, False, None)


@given(json_values, plain_values)
def test_not_equal_is_the_opposite_of_equal_wherever_there_is_a_value(
    found: Any, wanted: Any
) -> None:
    path = Path("s")
    equal = holds(Condition(path, "==", wanted), {"s": found})
    assert holds(Condition(path, "!=", wanted), {"s": found}) is (not equal)
    assert holds(Condition(path), {"s": found}) is bool(found)
    assert holds(Condition(path, "!=", wanted), {}) is None


@each(
    "template, shown",
    [
        ("plain", "plain"),
        ("{message}", "do {ask.result.text}"),
        ("{message}{message}", "do {ask.result.text}do {ask.result.text}"),
        ("{log.result.count} commits", "2 commits"),
        ("{gate.result.confirmed} {run it.result.nothing}", "true null"),
        ("{run it.result.stdout}|", "|"),
        ("{构建.result.文件}", '["甲", "乙"]'),
        ("{log.result.commits.1}", '{"id": "b2"}'),
        ("{nobody.result.x}", "{nobody.result.x}"),
        ("{log.result.nothing}", "{log.result.nothing}"),
        ("{log}", "{log}"),
        ("{}", "{}"),
        ("{0}", "{0}"),
        ("{log.result.count!r}", "{log.result.count!r}"),
        ("{log.result.count:>9}", "{log.result.count:>9}"),
        ("{log.result.__class__}", "{log.result.__class__}"),
        ("{message.__class__}", "{message.__class__}"),
        ("{{log.result.count}}", "{2}"),
        ("{log.result.count", "{log.result.count"),
        ("%s $x ${log.result.count}", "%s $x $2"),
        (f"{{{'x' * 2000}.result}}", f"{{{'x' * 2000}.result}}"),
    ],
)
def test_a_template_takes_plain_values_once(template: str, shown: str) -> None:
    assert render(template, WORDS, RESULTS, RESULTS.keys()) == shown


def test_what_a_step_gave_is_not_read_as_a_template() -> None:
    assert render("{s.result}", {"message": "secret"}, {"s": "{message}"}, ["s"]) == "{message}"


@given(st.text(), st.text(), st.dictionaries(st.sampled_from(["a", "b"]), json_values))
def test_to_render_never_fails(template: str, message: str, results: dict[str, Any]) -> None:
    text = f"{template}{{a.result.0}}{{b.result}}{template}{{message}}"
    assert len(render(text, {"message": message}, results, ["a", "b"])) <= MAX_RENDERED_CHARS


@pytest.mark.cpu(6)
def test_what_is_rendered_is_bounded() -> None:
    template = "{s.result}" * 6_000
    text = render(template, {}, {"s": "x" * 1_000_000}, ["s"])
    assert len(text) == MAX_RENDERED_CHARS
    assert text.endswith("x…")
    assert len(render("y" * MAX_RENDERED_CHARS, {}, {}, [])) == MAX_RENDERED_CHARS


def step(
    *, args: dict[str, Any] | None = None, args_from: str | dict[str, str] | None = None
) -> StepDefinition:
    return StepDefinition(
        name="here", type="tool", tool="search", args=args or {}, args_from=args_from
    )


GIVEN: dict[str, Any] = {
    "s": {"query": "q", "glob": "*.md", "extra": [1]},
    "n": {"query": 5},
    "t": {"text": "words"},
    "l": [{"query": "first"}],
}


@each(
    "args, args_from, expected",
    [
        ({"query": "x"}, None, {"query": "x"}),
        ({}, "s.result", {"query": "q", "glob": "*.md"}),
        ({}, "l.result.0", {"query": "first"}),
        ({"query": "mine"}, "s.result", {"query": "mine", "glob": "*.md"}),
        ({"query": "mine"}, "n.result", {"query": "mine"}),
        ({}, {"query": "t.result.text"}, {"query": "words"}),
        ({"query": "mine"}, {"query": "skipped.result.x"}, {"query": "mine"}),
        ({"glob": "*.py"}, {"query": "s.result.query"}, {"query": "q", "glob": "*.py"}),
        ({"query": "{message}!"}, None, {"query": "do {ask.result.text}!"}),
        ({"query": "{inputs.name} {s.result.query}"}, None, {"query": "{message}; $(x) q"}),
        (
            {"query": '{"a": {"b": 1}} {no.result} {}'},
            None,
            {"query": '{"a": {"b": 1}} {no.result} {}'},
        ),
    ],
)
def test_arguments_come_from_both_and_those_written_down_win(
    args: dict[str, Any], args_from: str | dict[str, str] | None, expected: dict[str, Any]
) -> None:
    given = step(args=args, args_from=args_from)
    assert resolve_arguments(given, GIVEN, TOOLS["search"], words=WORDS) == expected


def test_an_entry_of_argv_stays_one_whatever_is_put_in() -> None:
    given = step(
        args={"argv": ["echo", "{inputs.name}", "-{s.result.query}-"], "stdin": "{message}"}
    )
    assert resolve_arguments(given, GIVEN, TOOLS["run_command"], words=WORDS) == {
        "argv": ["echo", "{message}; $(x)", "-q-"],
        "stdin": "do {ask.result.text}",
    }


@each("text", ["{skipped.result.x}", "a {s.result.nothing} b", "{inputs.other}"])
def test_what_is_missing_in_an_argument_fails_the_step_and_is_named(text: str) -> None:
    steps = [*GIVEN, "skipped"]
    with pytest.raises(MissingValueError) as caught:
        resolve_arguments(step(args={"query": text}), GIVEN, TOOLS["search"], steps=steps)
    assert str(caught.value.facts["path"]) in text


@each(
    "args_from, code, fact",
    [
        ("skipped.result", "playbook.missing-value", "skipped.result"),
        ("s.result.nothing", "playbook.missing-value", "s.result.nothing"),
        ("t.result.text", "playbook.not-an-object", "t.result.text"),
        ("l.result", "playbook.not-an-object", "l.result"),
        ("t.result", "playbook.argument", "missing"),
        ("n.result", "playbook.argument", "text"),
        ({"query": "skipped.result.x"}, "playbook.missing-value", "skipped.result.x"),
        ({"query": "n.result.query"}, "playbook.argument", "text"),
        ({"query": "s.result.extra"}, "playbook.argument", "text"),
        ({"glob": "s.result.glob"}, "playbook.argument", "missing"),
    ],
)
def test_what_cannot_be_found_fails_the_step_and_is_named(
    args_from: str | dict[str, str], code: str, fact: str
) -> None:
    with pytest.raises(InputError) as caught:
        resolve_arguments(step(args_from=args_from), GIVEN, TOOLS["search"])
    assert caught.value.code == code
    assert fact in caught.value.facts.values()


def test_the_name_of_a_skipped_step_is_not_taken_for_a_shorter_one() -> None:
    results: dict[str, Any] = {"a": {"result": {"query": "wrong"}}}
    with pytest.raises(MissingValueError):
        resolve_arguments(
            step(args_from="a.result.result"), results, TOOLS["search"], steps=["a", "a.result"]
        )
