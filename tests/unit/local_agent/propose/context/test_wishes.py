"""What the words of a request say about where to look."""

from __future__ import annotations

import pytest

from local_agent.propose.context.wishes import about_changes, about_failure
from tests.each import each


@each(
    "text",
    [
        "explain my changes",
        "what did I change in the parser",
        "summarise the uncommitted work",
        "are these local edits right?",
        "git diff please",
        "看看我的改动",
        "本地修改有没有问题",
        "未提交的代码讲一下",
    ],
)
def test_a_request_about_changes_is_known(text: str) -> None:
    assert about_changes(text)


@each("text", ["change the parser", "add a cache", "修改 login.py", "解释一下"])
def test_a_request_to_change_something_is_not_about_changes(text: str) -> None:
    assert not about_changes(text)


@each("text", ["why does the test fail", "mypy complains", "构建报错", "测试失败了"])
def test_a_request_about_a_failure_is_known(text: str) -> None:
    assert about_failure(text)


@pytest.mark.parametrize("text", ["explain login.py", "解释 login.py"])
def test_another_request_is_not(text: str) -> None:
    assert not about_failure(text)
