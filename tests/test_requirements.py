"""Every built requirement has a test; every test names a requirement that is built."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.requirements import REQUIREMENTS

TESTS = Path(__file__).parent


@cache
def _marked() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "requirement(" in text else ():
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "requirement"
            ):
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path}: literal ids only"
                    found.setdefault(str(argument.value), []).append(path.name)
    return found


def test_every_built_requirement_has_a_test() -> None:
    marked = _marked()
    built = [name for name, requirement in REQUIREMENTS.items() if requirement.built]
    assert [name for name in built if name not in marked] == []


def test_every_marker_names_a_requirement_that_is_built() -> None:
    unknown = {
        name: files
        for name, files in _marked().items()
        if name not in REQUIREMENTS or not REQUIREMENTS[name].built
    }
    assert unknown == {}
