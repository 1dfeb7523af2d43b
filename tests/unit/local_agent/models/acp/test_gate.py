"""What an agent may do when it asks: what lies inside, told whole, and nothing that runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import InputError
from local_agent.models.acp.gate import (
    ALLOWED,
    MAX_CALLS,
    MAX_PATHS,
    ToolCall,
    ToolCalls,
    judge,
)
from local_agent.models.backend import Suggestion
from tests.each import each
from tests.memory_scratch import MemoryScratch

KINDS = ("read", "search", "edit", "delete", "move", "execute", "think", "fetch", "other")


def told(name: str = "1", **facts: Any) -> Mapping[str, Any]:
    return {"toolCallId": name, **facts}


def places(*paths: str) -> list[dict[str, str]]:
    return [{"path": path} for path in paths]


def refusal(call: ToolCall, scratch: MemoryScratch | None = None) -> InputError:
    with pytest.raises(InputError) as refused:
        judge(call, scratch if scratch is not None else MemoryScratch())
    return refused.value


@each("kind", sorted(ALLOWED))
def test_each_allowed_kind_is_let_through_inside_and_nowhere_else(kind: str) -> None:
    judge(ToolCall().told(told(kind=kind, locations=places("a.py", "b/c.py"))), MemoryScratch())
    outside = ToolCall().told(told(kind=kind, locations=places("a.py", "../c.py")))
    assert refusal(outside).code == "scratch.outside"


@pytest.mark.requirement("R62")
@given(kind=st.sampled_from(KINDS) | st.text(max_size=10), paths=st.sets(st.text(max_size=12)))
def test_nothing_is_let_through_that_is_not_wholly_inside(kind: str, paths: set[str]) -> None:
    call = ToolCall().told(told(kind=kind, locations=places(*paths, "../outside")))
    refusal(call)
    refusal(ToolCall().told(told(kind=kind)))
    if kind not in ALLOWED:
        refusal(ToolCall().told(told(kind=kind, locations=places("a.py"))))


def test_without_a_copy_nothing_is_let_through() -> None:
    call = ToolCall().told(told(kind="read", locations=places("a.py")))
    with pytest.raises(InputError):
        judge(call, None)


def test_paths_of_a_shown_diff_count_as_well() -> None:
    content = [{"type": "diff", "path": "/etc/passwd", "newText": ""}, {"type": "content"}]
    call = ToolCall().told(told(kind="edit", locations=places("a.py"), content=content))
    assert refusal(call).facts["path"] == "/etc/passwd"


def test_a_path_once_named_stays_named() -> None:
    calls = ToolCalls()
    calls.told(told(kind="edit", locations=places("/etc/passwd")))
    call = calls.told(told(locations=places("a.py")))
    assert refusal(call).code == "scratch.outside"
    assert calls.told(told("2", kind="edit", locations=places("a.py"))).paths == {"a.py"}


@each(
    "facts",
    [
        {"locations": [{"path": "a.py"}, {"path": 5}]},
        {"locations": [{"path": "a.py"}, {}]},
        {"locations": [{"path": "a.py"}, "/etc/passwd"]},
        {"locations": "a.py"},
        {"locations": [{"path": "a.py"}], "content": [{"type": "diff", "path": None}]},
        {"locations": [{"path": "a.py"}], "content": {"path": "/etc/passwd"}},
        {"locations": [{"path": "a" * 5000}]},
    ],
)
def test_a_place_that_cannot_be_read_is_not_left_out(facts: dict[str, Any]) -> None:
    assert refusal(ToolCall().told(told(kind="edit", **facts))).code == "scratch.unreadable"
    calls = ToolCalls()
    calls.told(told(kind="edit", **facts))
    assert refusal(calls.told(told(locations=places("a.py")))).code == "scratch.unreadable"


def test_a_call_without_a_name_is_not_let_through() -> None:
    call = ToolCalls().told({"kind": "edit", "locations": places("a.py")})
    assert refusal(call).code == "scratch.forbidden"


def test_more_than_can_be_followed_is_not_let_through() -> None:
    many = places(*(f"{number}.py" for number in range(MAX_PATHS + 1)))
    assert refusal(ToolCall().told(told(kind="edit", locations=many))).code == "scratch.unreadable"
    calls = ToolCalls()
    for number in range(MAX_CALLS):
        calls.told(told(str(number)))
    late = calls.told(told("late", kind="edit", locations=places("a.py")))
    assert refusal(late).code == "scratch.forbidden"


@pytest.mark.parametrize(
    ("facts", "suggested"),
    [
        ({"rawInput": {"command": "make"}, "title": "Build"}, Suggestion("make", "Build")),
        ({"rawInput": {"command": ["go", "test"]}}, Suggestion("go test")),
        ({"rawInput": "make", "title": "Build"}, Suggestion("Build")),
        ({"rawInput": {"command": 3}, "title": "  "}, None),
        ({"title": "x" * 9000}, Suggestion("x" * 4093 + "…")),
    ],
)
def test_what_it_would_run_is_kept_bounded(
    facts: dict[str, Any], suggested: Suggestion | None
) -> None:
    assert ToolCall().told(told(kind="execute", **facts)).suggestion() == suggested


def test_a_refused_path_is_told_as_it_was_named() -> None:
    class Root(MemoryScratch):
        @property
        def root(self) -> Path:
            return Path("/scratch")

    call = ToolCall().told(told(kind="delete", locations=places(".git/config")))
    error = refusal(call, Root())
    assert (error.code, error.facts["path"]) == ("scratch.forbidden", ".git/config")
