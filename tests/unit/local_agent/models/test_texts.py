"""Why a model gave nothing that can be used: a sentence for every reason there is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from common.errors import CodexBridgeError, InputError
from common.sentences import explain
from local_agent.errors import ModelError
from local_agent.models.faults import of_status
from local_agent.models.texts import ERRORS
from tests.each import each

ROOT = Path(__file__).parents[4]


def reasons_of_edits() -> set[str]:
    """Return the codes that the reading and making of edits can raise, with their reasons."""
    path = ROOT / "local_agent" / "models" / "http" / "edits.py"
    raised = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "InputError":
            words = (*node.args, *(word.value for word in node.keywords if word.arg == "why"))
            named = [str(word.value) for word in words if isinstance(word, ast.Constant)]
            raised.add("/".join(named))
    return raised - {""}


def test_every_reason_why_edits_do_not_fit_is_told() -> None:
    reasons = reasons_of_edits()
    assert len(reasons) > 12
    assert reasons - ERRORS.keys() == set()


def test_every_code_of_a_model_is_told() -> None:
    codes = set(re.findall(r"``(model\.[a-z-]+)``", ModelError.__doc__ or ""))
    assert len(codes) > 12
    assert codes - ERRORS.keys() == set()


@each("code", [code for code in ERRORS if code.startswith("model.")])
def test_each_says_that_nothing_was_changed(code: str) -> None:
    assert "Nothing was changed." in ERRORS[code].en
    assert "没有改动任何内容。" in ERRORS[code].zh


@each("status", [400, 401, 402, 404, 413, 429, 500])
def test_what_a_provider_said_is_told_where_it_said_something(status: int) -> None:
    silent = explain(of_status(status, b""), ERRORS, "en")
    spoken = of_status(status, b'{"error": {"message": "no \\u201cgood\\u201d key"}}')
    assert explain(spoken, ERRORS, "en") == f"{silent} It said: “no “good” key”"
    assert "：“no" in explain(spoken, ERRORS, "zh")


@each("code", [code for code in ERRORS if code.startswith("edit.")])
def test_an_edit_that_fits_nowhere_names_itself(code: str) -> None:
    error: CodexBridgeError = InputError(code, index=3, path="a.py", line=7, lines=(1, 9), limit=5)
    assert explain(error, ERRORS, "en").startswith("Edit 3")
    assert "?" not in explain(error, ERRORS, "en")
