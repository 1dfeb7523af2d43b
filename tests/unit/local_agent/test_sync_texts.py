"""The sentences about commit and push: every code has its own, and both languages agree."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from common.sentences import Sentence
from local_agent import sync_texts

ROOT = Path(__file__).parents[3]
NEVER_TOLD = {"sync.action"}  # a programming error


def sentences() -> Iterator[tuple[str, Sentence]]:
    for name, value in vars(sync_texts).items():
        if isinstance(value, Sentence):
            yield name, value
        elif isinstance(value, Mapping) and not name.startswith("__"):
            yield from ((f"{name}[{code}]", sentence) for code, sentence in value.items())


def codes() -> Iterator[str]:
    for path in (ROOT / "local_agent").rglob("*.py"):
        if path.name == "sync_texts.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@pytest.mark.parametrize("named", list(sentences()), ids=lambda named: str(named[0]))
def test_both_languages_tell_the_same_facts(named: tuple[str, Sentence]) -> None:
    _, sentence = named
    assert sentence.fields("en") == sentence.fields("zh")
    assert sentence.en
    assert sentence.zh


def test_every_code_has_a_sentence_and_every_sentence_a_code() -> None:
    used = {code for code in codes() if code.startswith("sync.") and " " not in code}
    told = {code.partition("/")[0] for code in sync_texts.WHY}
    assert used - NEVER_TOLD == told
