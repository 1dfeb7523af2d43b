"""What a playbook is given by name: strict, and before anything runs."""

from __future__ import annotations

import pytest

from common.errors import InputError
from common.sentences import LANGS, explain
from local_agent.error_texts.playbooks import ERRORS
from local_agent.playbooks.definition import parse_playbook
from local_agent.playbooks.inputs import read_inputs, split_inputs
from tests.each import each

DEMO = parse_playbook(
    b"""---
name: demo
inputs:
  tag: {type: text, description: which tag}
  days: {type: integer, default: 7}
  lang: {type: choice, choices: [en, zh], default: en}
steps:
  - {name: a, type: tool, tool: git_status}
---
""",
    "demo.md",
)


def test_what_is_not_given_is_the_default() -> None:
    assert read_inputs(DEMO, ["tag=v1"]) == {"tag": "v1", "days": "7", "lang": "en"}
    assert read_inputs(DEMO, ["tag=a=b", "days=-3", "lang=zh", "tag=v2"]) == {
        "tag": "v2", "days": "-3", "lang": "zh",
    }  # fmt: skip


@each(
    "given, name, why",
    [
        ([], "tag", "missing"),
        (["tag"], "tag", "missing"),
        (["tag=v1", "days=soon"], "days", "wrong"),
        (["tag=v1", "days=1.5"], "days", "wrong"),
        (["tag=v1", "days="], "days", "wrong"),
        (["tag=v1", "days=١"], "days", "wrong"),
        (["tag=v1", "lang=fr"], "lang", "wrong"),
        (["tag=v1", "days"], "days", "missing"),
        (["tag=v1", "other=1"], "other", "unknown"),
        (["tag=v1", "=1"], "", "unknown"),
    ],
)
def test_one_that_is_missing_or_of_another_type_is_named(
    given: list[str], name: str, why: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_inputs(DEMO, given)
    facts = caught.value.facts
    assert (caught.value.code, facts["input"], facts["why"]) == ("playbook.input", name, why)
    for lang in LANGS:
        said = explain(caught.value, ERRORS, lang)
        assert "?" not in said and (not name or name in said)  # noqa: PT018


@each(
    "message, given, rest",
    [
        ("tag=v1 for all", ["tag=v1"], "for all"),
        ('tag="v 1"  days=3', ["tag=v 1", "days=3"], ""),
        ("other=1 tag=v1", [], "other=1 tag=v1"),
        ("for tag=v1", [], "for tag=v1"),
        ("", [], ""),
    ],
)
def test_a_message_begins_with_them(message: str, given: list[str], rest: str) -> None:
    assert split_inputs(DEMO, message) == (given, rest)
