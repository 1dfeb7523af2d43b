"""The table of tools, and what they may be called with."""

from __future__ import annotations

from typing import Any

import pytest

from common.errors import InputError
from local_agent.playbooks.tools import TOOLS, check_arguments
from tests.each import each


def test_the_tools_and_their_arguments_are_those_of_the_table() -> None:
    assert {name: list(tool.arguments) for name, tool in TOOLS.items()} == {
        "read_file": ["path"],
        "list_files": ["glob"],
        "search": ["query", "glob"],
        "git_tags": ["limit"],
        "git_status": [],
        "git_log": ["since", "limit"],
        "git_diff": ["base", "head"],
        "propose_change": ["request"],
        "write_file": ["path", "content"],
        "apply_diff": ["diff"],
        "run_command": ["argv", "cwd", "timeout_s", "stdin"],
        "workspace_test": [],
    }
    assert all(name == tool.name for name, tool in TOOLS.items())


@pytest.mark.requirement("P1")
def test_what_changes_something_is_an_action_that_is_approved() -> None:
    changing = {name: tool.action for name, tool in TOOLS.items() if tool.action is not None}
    assert changing == {
        "write_file": "apply_diff",
        "apply_diff": "apply_diff",
        "run_command": "run_command",
        "workspace_test": "run_command",
    }


@each(
    "tool, given",
    [
        ("read_file", {"path": "a"}),
        ("read_file", {"path": ""}),
        ("search", {"query": "x"}),
        ("search", {"query": "x", "glob": "*.py"}),
        ("git_status", {}),
        ("git_log", {}),
        ("git_log", {"since": "v1", "limit": 3}),
        ("write_file", {"path": "a", "content": ""}),
        ("run_command", {"argv": ["ls"], "timeout_s": 2}),
        ("run_command", {"argv": ["ls", ""], "cwd": "src", "timeout_s": 0.5}),
    ],
)
def test_arguments_of_the_right_types_are_taken(tool: str, given: dict[str, Any]) -> None:
    check_arguments(TOOLS[tool], given)


@each(
    "tool, given, argument, why",
    [
        ("read_file", {}, "path", "missing"),
        ("read_file", {"path": "a", "mode": "r"}, "mode", "unknown"),
        ("read_file", {"path": None}, "path", "text"),
        ("read_file", {"path": 5}, "path", "text"),
        ("read_file", {"path": ["a"]}, "path", "text"),
        ("git_status", {"path": "a"}, "path", "unknown"),
        ("git_log", {"limit": "3"}, "limit", "integer"),
        ("git_log", {"limit": True}, "limit", "integer"),
        ("git_log", {"limit": 3.0}, "limit", "integer"),
        ("write_file", {"path": "a"}, "content", "missing"),
        ("run_command", {"argv": "ls -l"}, "argv", "texts"),
        ("run_command", {"argv": []}, "argv", "texts"),
        ("run_command", {"argv": ["sleep", 5]}, "argv", "texts"),
        ("run_command", {"argv": ["ls"], "timeout_s": "5"}, "timeout_s", "number"),
        ("run_command", {"argv": ["ls"], "timeout_s": False}, "timeout_s", "number"),
        ("run_command", {"argv": ["ls"], "timeout_s": float("inf")}, "timeout_s", "number"),
        ("run_command", {"argv": ["ls"], "shell": True}, "shell", "unknown"),
    ],
)
def test_others_are_named_with_the_reason(
    tool: str, given: dict[str, Any], argument: str, why: str
) -> None:
    with pytest.raises(InputError) as caught:
        check_arguments(TOOLS[tool], given)
    assert caught.value.code == "playbook.argument"
    assert caught.value.facts == {"tool": tool, "argument": argument, "why": why}


def test_what_is_to_come_is_not_missing_but_must_be_known() -> None:
    check_arguments(TOOLS["write_file"], {"path": "a"}, to_come=["content"])
    with pytest.raises(InputError) as caught:
        check_arguments(TOOLS["write_file"], {"path": "a"}, to_come=["contents"])
    assert caught.value.facts["argument"] == "contents"
