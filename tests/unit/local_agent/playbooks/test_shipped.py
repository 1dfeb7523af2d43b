"""The shipped playbooks can be read, are short, and are asked for in both languages.

What they do is tested with real commands and files in `tests/e2e/test_shipped_playbooks.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from common.text import has_cjk
from local_agent.playbooks.definition import titles
from local_agent.playbooks.library import SHIPPED, read_playbook

FILES = sorted(SHIPPED.glob("*.md"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_shipped_playbook_is_a_page_in_both_languages(file: Path) -> None:
    definition = read_playbook(file).definition
    assert definition.name == file.stem
    assert {word.isascii() for word in definition.trigger_keywords} == {True, False}
    title, english, chinese = definition.description.split("\n\n")
    assert title.startswith("# ")
    assert [has_cjk(one) for one in titles(definition.description)] == [False, True]
    assert (english.isascii() or "…" in english, chinese.isascii()) == (True, False)
    assert file.read_bytes().count(b"\n") <= 90


def test_no_two_are_asked_for_by_the_same_words() -> None:
    words = [word for file in FILES for word in read_playbook(file).definition.trigger_keywords]
    assert len(words) == len(set(words))
