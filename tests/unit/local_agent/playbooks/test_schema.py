"""The schema for editors says what the parser does, and a new playbook passes both."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from common.errors import InputError
from common.sentences import LANGS
from common.text import has_cjk
from local_agent.playbooks.definition import TaskParseError, parse_playbook
from local_agent.playbooks.schema import schema
from local_agent.playbooks.strict_yaml import read_yaml
from local_agent.playbooks.template import new_playbook
from local_agent.playbooks.tools import TOOLS
from tests.each import each

SHIPPED = Path(__file__).parent / "shipped"
SCHEMA = schema()


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: is_number(value) and isinstance(value, int),
    "number": is_number,
}
# The words of JSON Schema that ours uses; one that is missing here fails the test.
WORDS: Final[Mapping[str, Callable[[Any, Any, Any], bool]]] = {
    "$schema": lambda word, value, whole: True,
    "title": lambda word, value, whole: True,
    "description": lambda word, value, whole: True,
    "type": lambda word, value, whole: TYPES[word](value),
    "enum": lambda word, value, whole: value in word,
    "const": lambda word, value, whole: value == word,
    "pattern": lambda word, value, whole: re.search(word, value) is not None,
    "minLength": lambda word, value, whole: len(value) >= word,
    "maxLength": lambda word, value, whole: len(value) <= word,
    "minItems": lambda word, value, whole: len(value) >= word,
    "maxItems": lambda word, value, whole: len(value) <= word,
    "items": lambda word, value, whole: all(fits(word, item) for item in value),
    "required": lambda word, value, whole: set(word) <= set(value),
    "properties": lambda word, value, whole: all(
        fits(word[key], item) for key, item in value.items() if key in word
    ),
    "additionalProperties": lambda word, value, whole: all(
        word is not False and fits(word, item)
        for key, item in value.items()
        if key not in whole.get("properties", {})
    ),
    "propertyNames": lambda word, value, whole: all(fits(word, key) for key in value),
    "anyOf": lambda word, value, whole: any(fits(one, value) for one in word),
    "oneOf": lambda word, value, whole: sum(fits(one, value) for one in word) == 1,
}


def fits(whole: Mapping[str, Any], value: Any) -> bool:
    ordered = sorted(whole.items(), key=lambda item: item[0] != "type")
    return all(WORDS[name](word, value, whole) for name, word in ordered)


def front_matter(text: str) -> Any:
    return read_yaml(text.partition("---\n")[2].partition("\n---\n")[0]).plain()


def both(text: str) -> tuple[bool, bool]:
    try:
        parse_playbook(text.encode(), "x.md")
        parsed = True
    except TaskParseError:
        parsed = False
    return fits(SCHEMA, front_matter(text)), parsed


@each("file", sorted(SHIPPED.rglob("*.md")))
def test_it_takes_what_the_parser_takes(file: Path) -> None:
    assert both(file.read_text(encoding="utf-8")) == (True, True)


@each(
    "step",
    [
        *("{type: gate, message_template: x}", "{name: a}", "{name: a, type: shell}", "a", "5"),
        *("{name: a, type: tool}", "{name: a, type: tool, tool: rm}", "{name: '', type: gate}"),
        *("{name: a, type: gate}", "{name: a, type: gate, message_template: 5}"),
        "{name: a, type: gate, message_template: x, tool: git_status}",
        "{name: a, type: agent, description: x, args: {}}",
        "{name: a, type: agent, description: x, promt: y}",
        "{name: a, type: tool, tool: git_status, message_template: x}",
        "{name: a, type: tool, tool: git_status, args: {path: x}}",
        "{name: a, type: tool, tool: git_log, args: {limit: x}}",
        "{name: a, type: tool, tool: read_file}",
        "{name: a, type: tool, tool: read_file, args: {path: 5}}",
        "{name: a, type: tool, tool: run_command, args: {argv: ls}}",
        "{name: a, type: tool, tool: run_command, args: {argv: []}}",
        "{name: a, type: tool, tool: run_command, args: {argv: [a], timeout_s: true}}",
        "{name: a, type: tool, tool: read_file, args_from: 5}",
        "{name: a, type: tool, tool: read_file, args_from: {path: [x]}}",
    ],
)
def test_it_refuses_steps_that_the_parser_refuses(step: str) -> None:
    assert both(f"---\nname: demo\nsteps:\n- {step}\n---\n") == (False, False)


@each(
    "more",
    [
        *("colour: red", "risk_level: extreme", "trigger_keywords: x", "trigger_keywords: []"),
        *(
            "hooks: x",
            "hooks: {before: x}",
            "hooks: {pre: a/b}",
            "inputs: {a: {}}",
            "inputs: {A: {type: text}}",
            "agent: 5",
        ),
    ],
)
def test_it_refuses_keys_that_the_parser_refuses(more: str) -> None:
    steps = "steps: [{name: a, type: tool, tool: git_status}]"
    assert both(f"---\nname: demo\n{steps}\n---\n") == (True, True)
    given = "inputs: {a: {type: choice, choices: [x], default: x}, b: {type: integer, default: 5}}"
    assert both(f"---\nname: demo\n{given}\nhooks: {{pre: []}}\n{steps}\n---\n") == (True, True)
    assert both(f"---\nname: demo\n{steps}\n{more}\n---\n") == (False, False)
    assert both(f"---\n{steps}\n---\n") == (False, False)
    assert both("---\nname: demo\nsteps: []\n---\n") == (False, False)


def test_every_key_and_tool_has_a_description() -> None:
    steps = SCHEMA["properties"]["steps"]["items"]["oneOf"]
    assert len(steps) == len(TOOLS) + 2
    for one in (SCHEMA, SCHEMA["properties"]["hooks"], *steps):
        assert all(row["description"] for row in one["properties"].values())


@each("lang", LANGS)
@each("name", ["weekly-report", "5", "true", "-", "a.b", "x" * 64])
def test_a_new_playbook_is_one(name: str, lang: Any) -> None:
    text = new_playbook(name, lang)
    assert both(text) == (True, True)
    found = parse_playbook(text.encode(), "x.md")
    assert found.name == name
    assert {step.type for step in found.steps} == {"tool", "agent", "gate"}
    assert "{message}" in (found.steps[1].message_template or "")
    assert has_cjk(text) is (lang == "zh")
    # What is only shown there can be used as well.
    used = text.replace("# hooks:\n#   pre", "hooks:\n   pre").replace("# trigger", "trigger")
    used = used.replace("#   - ", "   - ")
    shown = parse_playbook(used.encode(), "x.md")
    assert shown.hooks == {"pre": ("check-branch",)}
    assert len(shown.trigger_keywords) == 1


def test_a_new_playbook_needs_a_name() -> None:
    with pytest.raises(InputError) as caught:
        new_playbook("two words")
    assert caught.value.code == "playbook.name"
