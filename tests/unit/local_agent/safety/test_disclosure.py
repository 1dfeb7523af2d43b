"""What of an answer may leave: by the level, without secrets, one message long.

What was copied is found under every dress, and what is merely about a file is not.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from common.sentences import Lang, say
from common.text import CHAT_BYTES
from local_agent.safety.disclosure import (
    CUT,
    READ_BYTES,
    WITHHELD,
    Block,
    Released,
    bounded,
    copied_blocks,
    releasable,
)
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


FILE = "\n".join(
    line
    for number in range(60)
    for line in (
        f"    value_{number} = compute(alpha_{number}, beta)",
        f"    check(value_{number})",
    )
)
FILE_LINES = FILE.split("\n")
PROSE = "The module first computes some totals and afterwards compares them with a stored sum."


def blocks(answer: str, source: str = FILE, most: int = 20) -> list[Block]:
    return copied_blocks(answer.split("\n"), [source], most=most)


def quoted(lines: list[str]) -> str:
    return "\n".join([PROSE, *lines, PROSE])


def test_twenty_lines_may_be_quoted_and_twenty_one_may_not() -> None:
    assert blocks(quoted(FILE_LINES[10:30])) == []
    assert blocks(quoted(FILE_LINES[10:31])) == [Block(1, 21, 21)]


WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
Dress = Callable[[list[str]], list[str]]
DRESSES: dict[str, Dress] = {
    "indented anew": lambda lines: [f"\t\t{line.strip()}  " for line in lines],
    "numbered": lambda lines: [f"{no}| {line}" for no, line in enumerate(lines, 117)],
    "numbered with a colon": lambda lines: [f"{no:>5}: {line}" for no, line in enumerate(lines)],
    "numbered with a dot": lambda lines: [f"{no}. {line.strip()}" for no, line in enumerate(lines)],
    "quoted": lambda lines: [f"> {line}" for line in lines],
    "accented": lambda lines: [re.sub(r"([a-z])", "\\1\u0301", line) for line in lines],
    "quoted twice": lambda lines: [f">> {line}" for line in lines],
    "as added lines": lambda lines: [f"+{line}" for line in lines],
    "as removed lines": lambda lines: [f"-{line}" for line in lines],
    "as comments": lambda lines: [f"// {line}" for line in lines],
    "as a list": lambda lines: [f"- {line.strip()}" for line in lines],
    "in backticks": lambda lines: [f"`{line.strip()}`" for line in lines],
    "fenced": lambda lines: ["```python", *lines, "```"],
    "joined": lambda lines: [" ".join(line.strip() for line in lines)],
    "joined in pairs": lambda lines: (
        [f"{one} {two}" for one, two in zip(lines[::2], lines[1::2], strict=False)]
        + lines[len(lines) // 2 * 2 :]
    ),
    "joined with signs": lambda lines: [" ; ".join(line.strip() for line in lines)],
    "double spaced": lambda lines: "\n\n".join(lines).split("\n"),
    "a word between every other": lambda lines: [
        part for no, line in enumerate(lines) for part in ((line, "hello") if no % 2 else (line,))
    ],
    "a known word between every other": lambda lines: [
        part for no, line in enumerate(lines) for part in ((line, "beta") if no % 2 else (line,))
    ],
    "a word in every other": lambda lines: [
        f"{line} hello" if no % 2 else line for no, line in enumerate(lines)
    ],
    "a known word in every other": lambda lines: [
        f"check {line}" if no % 2 else line for no, line in enumerate(lines)
    ],
    "joined with a word after every other": lambda lines: [
        " ".join(f"{line.strip()} hello" if no % 2 else line for no, line in enumerate(lines))
    ],
    "in capitals": lambda lines: [line.upper() for line in lines],
    "in full width": lambda lines: [line.translate(WIDE) for line in lines],
    "with what draws nothing": lambda lines: [
        line.replace("value", "va\u200blue") for line in lines
    ],
}


@pytest.mark.requirement("R53")
@each("dress", DRESSES)
def test_a_long_copy_is_found_under_every_dress(dress: str) -> None:
    lines = DRESSES[dress](FILE_LINES[7:28])
    [block] = blocks(quoted(lines))
    assert (block.first, block.last) == (1, len(lines))
    assert block.lines >= 21


@each("dress", sorted(set(DRESSES) - {"fenced"}))
def test_a_short_quotation_is_left_under_every_dress(dress: str) -> None:
    assert blocks(quoted(DRESSES[dress](FILE_LINES[7:21]))) == []


def test_lines_without_words_count_with_the_next_one_that_has_some() -> None:
    source = "\n".join(part for line in FILE_LINES[:22:2] for part in (line, "}", ""))
    copied = [line for line in source.split("\n")[:21] if line]
    assert blocks(quoted([*copied, FILE_LINES[14]]), source)[0].lines > 20
    assert blocks(quoted(copied[:8]), source) == []


def test_one_very_long_line_counts_as_many() -> None:
    source = "var a=1;" + "".join(f"f{number}(x,{number});" for number in range(200))
    assert blocks(f"{PROSE} {source[:1700]} {PROSE}", source) != []
    assert blocks(f"{PROSE} {source[:300]} {PROSE}", source) == []


def test_a_long_fenced_listing_is_found_wherever_it_comes_from() -> None:
    code = [f"print({number})" for number in range(21)]
    assert blocks("\n".join([PROSE, "```", *code, "```", PROSE]), "") == [Block(1, 23, 21)]
    assert blocks("\n".join([PROSE, "```", *code, "and no end"]), "") == [Block(1, 23, 22)]
    assert blocks("\n".join([PROSE, "```", *code[:20], "```", PROSE]), "") == []


def test_a_long_listing_is_found_wherever_it_comes_from() -> None:
    listing = [f"key_{number}: other" for number in range(31)]
    assert blocks(quoted(listing), "") == [Block(1, 31, 31)]
    assert blocks(quoted("\n\n".join(listing).split("\n")), "") == [Block(1, 61, 31)]
    assert blocks(quoted(listing[:30]), "") == []
    assert blocks(quoted([*listing[:20], PROSE, *listing[:20]]), "") == []


def test_a_short_sentence_around_a_listing_is_none_of_it() -> None:
    listing = [f"key_{number}" for number in range(31)]
    assert blocks("\n".join(["Here you are:", *listing, "Done."]), "") == [Block(1, 31, 31)]
    code = [f"key_{number}: 1" for number in range(40)]
    assert blocks("\n".join(["It adds up.", "```", *code, "```"]), "") == [Block(1, 42, 40)]


def test_two_short_quotations_with_prose_between_them_are_two() -> None:
    assert blocks(quoted([*FILE_LINES[0:15], PROSE, *FILE_LINES[40:55]])) == []
    assert len(blocks(quoted([*FILE_LINES[0:21], PROSE, *FILE_LINES[40:61]]))) == 2


def test_a_copy_of_two_files_in_a_row_is_one_copy() -> None:
    one, two = "\n".join(FILE_LINES[:30]), "\n".join(FILE_LINES[30:60])
    answer = quoted([*FILE_LINES[20:41]]).split("\n")
    assert copied_blocks(answer, [one, two], most=20) == [Block(1, 21, 21)]


def test_words_about_a_file_are_no_copy_of_it() -> None:
    path = Path(__file__).parents[4] / "local_agent" / "flow" / "engine.py"
    source = path.read_text(encoding="utf-8")
    answer = (
        "The engine carries every task from where it stands to its end. `submit` writes a task "
        "that was asked at this machine and begins it; `cancel` notes durably that it is to end.\n"
        "What it finds in EXECUTING after a restart was interrupted, so it says what can be "
        "proved and never does it again.\n"
        "- `start`: takes up every task that has not ended.\n"
        "- `close`: ends what runs and records it.\n"
        "- `narrow`: asks for some of the files alone, under a new seal.\n"
    )
    assert blocks(answer * 3, source) == []


def test_chinese_prose_is_compared_by_its_characters() -> None:
    source = "\n".join(
        f"第{number}节说明登录模块在失败后如何重试以及等待多久" for number in range(40)
    )
    copied = source.split("\n")[3:24]
    assert blocks(quoted(copied), source) != []
    assert blocks(quoted(["".join(copied)]), source) != []
    assert blocks("登录失败时会重试三次，每次等待更久。", source) == []


def test_nothing_is_found_in_nothing() -> None:
    assert copied_blocks([], [], most=20) == []
    assert copied_blocks(["", "}", "…"], [FILE, ""], most=0) == []


@pytest.mark.heavy
def test_it_takes_linear_time() -> None:
    def seconds(times: int) -> float:
        answer = [*FILE_LINES, "1 " * 200, "> " * 200, " " * 400] * times
        begun = time.process_time()
        copied_blocks(answer, [FILE * times], most=20)
        return time.process_time() - begun

    few, many = (min(seconds(times) for _ in range(3)) for times in (15, 60))
    assert many < 12 * few  # four times as much; sixteen times if it were quadratic
