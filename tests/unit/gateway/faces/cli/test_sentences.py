"""The sentences of the gateway's command line: both languages say the same."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from common.model.state import FINAL, Reason, TaskState
from common.sentences import SHARED, Sentence
from common.text import has_cjk
from gateway.faces.cli import sentences as cli_texts
from gateway.faces.cli.error_texts import ERRORS
from tests.each import each

SAID = {name: value for name, value in vars(cli_texts).items() if isinstance(value, Sentence)}
SAID |= dict(cli_texts.STATES)
SAID |= dict(cli_texts.OUTCOMES)
GATEWAY = Path(cli_texts.__file__).parents[2]


@each("sentence", [*SAID.values(), *ERRORS.values()])
def test_both_languages_use_the_same_facts(sentence: Sentence) -> None:
    assert sentence.fields("en") == sentence.fields("zh")


@each("name", [*SAID, *ERRORS])
def test_chinese_is_chinese_and_english_is_not(name: str) -> None:
    sentence = SAID.get(name) or ERRORS[name]
    assert not has_cjk(sentence.en)
    assert name == "system" or has_cjk(sentence.zh)


def test_every_state_and_every_outcome_has_words() -> None:
    assert set(cli_texts.STATES) == set(TaskState) - FINAL
    assert set(cli_texts.OUTCOMES) == set(Reason)


@each("code", list(ERRORS))
def test_an_error_is_told_in_one_line(code: str) -> None:
    assert "\n" not in ERRORS[code].en + ERRORS[code].zh


def test_every_configuration_error_of_gateway_and_common_has_a_sentence() -> None:
    folders = ("app", "base", "store", "wecom")
    places = [path for folder in folders for path in (GATEWAY / folder).glob("*.py")]
    places += [GATEWAY.parent / "common" / name for name in ("settings.py", "home.py")]
    codes = {
        node.value
        for place in places
        for node in ast.walk(ast.parse(place.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"config\.[a-z0-9-]+", node.value)
    }
    assert codes
    assert codes - set(ERRORS) - set(SHARED) == set()
