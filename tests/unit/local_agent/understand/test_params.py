"""What a text names: files, commands, and what may stand in code."""

from __future__ import annotations

import pytest

from local_agent.understand import params


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("为什么 delays 每次都一样？", ("delays",)),
        ("why are the delays the same", ()),
        ("parse_config 和 Router 有什么区别", ("parse_config", "Router")),
        ("看看 ok 的实现", ()),
    ],
)
def test_in_chinese_an_english_word_may_be_a_name(text: str, names: tuple[str, ...]) -> None:
    assert params.find_names(text) == names
