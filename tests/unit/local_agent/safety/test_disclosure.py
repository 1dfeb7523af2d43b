"""What of an answer may leave: by the level, without secrets, one message long."""

from __future__ import annotations

import pytest

from common.sentences import Lang, say
from common.text import CHAT_BYTES
from local_agent.safety.disclosure import CUT, READ_BYTES, WITHHELD, Released, bounded, releasable
from local_agent.workspace.registry import LEVELS, DisclosureLevel
from tests.each import each

SOURCE = "\n".join(f"    total_{number} = add(total_{number - 1}, price)" for number in range(40))
LINES = SOURCE.split("\n")
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


def released(answer: str, level: DisclosureLevel = "summary", lang: Lang = "en") -> Released:
    return bounded(answer, sources=[SOURCE], level=level, lang=lang)


@pytest.mark.requirement("R53")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_long_copy_is_left_out_and_said_to_be(lang: Lang) -> None:
    copied = "\n".join(LINES[4:29])
    found = released(f"It adds prices up.\n```python\n{copied}\n```\nThat is all.", lang=lang)
    marker = say(WITHHELD, lang, count=25)
    assert found == Released(f"It adds prices up.\n{marker}\nThat is all.", withheld_lines=25)


def test_a_short_quotation_stays() -> None:
    answer = "\n".join(["It adds up:", *LINES[4:24]])
    assert released(answer) == Released(answer)


@pytest.mark.requirement("R53")
@pytest.mark.parametrize(
    "between", ["Its next line adds one more of them:", "接下来的一行又加上了一个价格："]
)
def test_a_sentence_for_each_line_hides_no_copy(between: str) -> None:
    told = "\n".join(f"{between}\n{line.strip()}" for line in LINES[4:30])
    found = released(f"It adds prices up.\n{told}")
    assert found.text.startswith("It adds prices up.")
    assert "total_20" not in found.text
    assert found.withheld_lines > 20


def test_a_few_lines_with_sentences_between_them_stay() -> None:
    answer = "\n".join(f"Its next line adds one more of them:\n{line}" for line in LINES[4:14])
    assert released(answer) == Released(answer)


@pytest.mark.requirement("R53")
def test_with_full_disclosure_the_lines_stay() -> None:
    answer = "\n".join(LINES[4:29])
    assert released(answer, "full") == Released(answer)


@pytest.mark.requirement("R53")
def test_where_a_person_is_asked_nothing_leaves_by_itself() -> None:
    assert released("It retries.", "ask") == Released("", cut=True)
    assert released("", "ask") == Released("")


@pytest.mark.requirement("R54")
@pytest.mark.requirement("R55")
@pytest.mark.parametrize("level", ["summary", "full"])
def test_no_secret_leaves(level: DisclosureLevel) -> None:
    found = released(f"The key is {KEY}, as in the file.", level)
    assert KEY not in found.text
    assert KEY not in releasable(f"key {KEY}", lang="en").text


@each("level", LEVELS)
def test_it_is_one_message_long_and_says_when_it_was_cut(level: DisclosureLevel) -> None:
    found = released("登录 " * 5000, level)
    assert len(found.text.encode()) <= CHAT_BYTES
    assert found.cut
    if level != "ask":
        assert found.text.endswith(say(CUT, "en"))


def test_what_stands_behind_a_copy_is_told() -> None:
    found = released("\n".join([*LINES, "And that is why the sum is wrong by one price."]))
    assert found.text.endswith("And that is why the sum is wrong by one price.")
    assert not found.cut


def test_a_huge_answer_is_looked_at_in_part_and_said_to_be_cut() -> None:
    answer = "\n".join(LINES * 60)
    assert len(answer) > READ_BYTES
    found = released(answer)
    assert found.cut
    assert "total_1" not in found.text


@pytest.mark.requirement("R26")
def test_nothing_hidden_leaves() -> None:
    assert released("ok\u202egnp.exe").text == "ok⟨U+202E⟩gnp.exe"
    assert releasable("a\x07b\ud800", lang="en").text == "a⟨U+0007⟩b⟨U+D800⟩"


def test_a_copy_within_one_line_takes_that_line_with_it() -> None:
    joined = " ".join(line.strip() for line in LINES[:22])
    found = released(f"Short.\nSee {joined} there.\nEnd.")
    assert found.text == f"Short.\n{say(WITHHELD, 'en', count=22)}\nEnd."


def test_two_copies_on_one_line_leave_nothing_of_it() -> None:
    joined = " ".join(line.strip() for line in LINES[:22])
    apart = "whereas on the other hand somebody else wrote this"
    found = released(f"Before.\n{joined} {apart} {joined}\nAfter.")
    assert "total_" not in found.text
    assert found.withheld_lines >= 44
    assert (found.text.startswith("Before.\n"), found.text.endswith("\nAfter.")) == (True, True)
