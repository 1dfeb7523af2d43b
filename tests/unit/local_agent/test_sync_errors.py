"""Why something is not pushed: every code has its sentence."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_agent.error_texts import sync

ROOT = Path(__file__).parents[3]
NEVER_TOLD = {"sync.action"}  # a programming error


def codes() -> Iterator[str]:
    for path in (ROOT / "local_agent").rglob("*.py"):
        if path.name == "sync.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@pytest.mark.heavy
def test_every_code_has_a_sentence_and_every_sentence_a_code() -> None:
    used = {code for code in codes() if code.startswith("sync.") and " " not in code}
    told = {code.partition("/")[0] for code in sync.ERRORS}
    assert used - NEVER_TOLD == told


def test_no_word_of_a_repository_stands_in_a_line_to_be_run() -> None:
    for sentence in sync.ERRORS.values():
        for text in (sentence.en, sentence.zh):
            assert not [line for line in text.split("`")[1::2] if "{" in line]
