"""What a wish without a command is for, and which part of the workspace it names."""

from __future__ import annotations

import time
import unicodedata
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_agent.understand.goals import find_goal, find_place
from local_agent.workspace.project.model import Goal
from tests.each import each


@each(
    "text, goal",
    [
        ("run the tests", "test"),
        ("kick off the build", "build"),
        ("build it", "build"),
        ("compile the project", "build"),
        ("check that it still compiles", "build"),
        ("can you run the linter for me?", "lint"),
        ("lint everything 🚀", "lint"),
        ("would you mind running the formatter on the whole repo", "format"),
        ("check the formatting", "format-check"),
        ("run the type checker", "typecheck"),
        ("typecheck it", "typecheck"),
        ("run all checks", "check"),
        ("跑一下测试", "test"),
        ("构建", "build"),
        ("打个包", "build"),
        ("劳驾把项目编译一下", "build"),
        ("跑一下格式检查", "format-check"),
        ("格式化一下代码", "format"),
        ("做个类型检查", "typecheck"),
        ("静态检查跑一下", "lint"),
        ("代码检查跑一下", "check"),
        ("ｂｕｉｌｄ", "build"),
        ("run the build and lint", "build"),
        ("start the dev server", None),
        ("启动一下开发服务器", None),
        ("run the search benchmark", None),
        ("run", None),
        ("", None),
    ],
)
def test_the_goal_that_is_meant(text: str, goal: Goal | None) -> None:
    assert find_goal(text) == goal


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("build the backend", "backend"),
        ("build the project", ""),
        ("编译一下 web", "web"),
        ("build it in backend", "backend"),
        ("lint src/api/", "src/api"),
        ("run the linter on src/app.ts", "src/app.ts"),
        ("只编译 web 目录", "web"),
        ("build everything in the project", ""),
        ("构建", ""),
    ],
)
def test_the_place_that_is_named(text: str, place: str) -> None:
    assert find_place(text) == place


@given(st.text(max_size=100))
def test_any_text_names_a_known_goal_or_none_and_a_place_of_its_own(text: str) -> None:
    assert find_goal(text) in (None, *get_args(Goal))
    assert find_place(text) in unicodedata.normalize("NFKC", text)


@each("piece", ["a", "a/", "in ", "in a", "check ", "的", "format ", ".", "x 里"])
def test_a_long_text_takes_no_longer_than_its_beginning(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    begun = time.process_time()
    find_goal(text)
    find_place(text)
    assert time.process_time() - begun < 0.3
