"""Every error that can reach the command line of the agent has its sentence, in both languages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.errors import CodexBridgeError
from common.sentences import SHARED, explain
from local_agent.error_texts import ERRORS
from tests.each import each

ROOT = Path(__file__).parents[3]
# Families that a person at the terminal can meet; the others are told by the engine, in `replies`,
# or never leave the link.
FAMILIES = (
    *("agent", "approval", "approve", "ask", "config", "control", "input", "keystore", "pair"),
    *("process", "task", "toolchain", "workspace", "diff", "change", "undo", "policy"),
    *("model", "models", "edit", "scratch", "playbook", "files", "passkey", "service"),
)
NEVER_TOLD = {
    # Programming errors, and what the engine tells in its own words.
    "approval.times",
    "approval.decision",
    "keystore.name",
    "passkey.origin",
    "keystore.secret-size",
    "process.nul",
    "process.program",
    "process.too-long",
    "task.illegal-transition",
    "task.reason",
    "workspace.gone",
    # The agent has no secrets among its settings.
    "config.secret-in-file",
}


def raised() -> Iterator[str]:
    for place in ("common", "local_agent"):
        for path in (ROOT / place).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Name)
                    and node.func.id.endswith("Error")
                    and node.args
                    and isinstance(node.args[0], ast.Constant)
                    and isinstance(node.args[0].value, str)
                ):
                    yield node.args[0].value


@pytest.mark.heavy
def test_every_error_that_can_be_met_has_a_sentence() -> None:
    met = {code for code in raised() if code.partition(".")[0] in FAMILIES}
    assert met - NEVER_TOLD - ERRORS.keys() - SHARED.keys() == set()


def reasons_of_diffs() -> Iterator[str]:
    """Give what `common.diff` may name as the reason of a refusal."""
    for path in (ROOT / "common" / "diff").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            named = [word.value for word in node.keywords if word.arg == "why"]
            if isinstance(node.func, ast.Attribute) and node.func.attr == "refusal":
                named += node.args
            yield from (
                word.value
                for word in named
                if isinstance(word, ast.Constant) and isinstance(word.value, str)
            )


def test_every_reason_why_a_diff_is_refused_has_a_sentence_of_its_own() -> None:
    told = {code.partition("/")[2] for code in ERRORS if "/" in code}
    reasons = set(reasons_of_diffs())
    assert len(reasons) > 20
    assert reasons - told == set()


@each("code", ERRORS)
@each("lang", ["en", "zh"])
def test_each_is_one_line_even_when_a_fact_is_missing(code: str, lang: str) -> None:
    said = explain(CodexBridgeError(code), ERRORS, "zh" if lang == "zh" else "en")
    assert "\n" not in said
    assert "{" not in said
