"""What was copied is found under every dress, and what is merely about a file is not."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from local_agent.safety.verbatim import Block, copied_blocks
from tests.each import each

SOURCE = "\n".join(
    line
    for number in range(60)
    for line in (
        f"    value_{number} = compute(alpha_{number}, beta)",
        f"    check(value_{number})",
    )
)
LINES = SOURCE.split("\n")
PROSE = "The module first computes some totals and afterwards compares them with a stored sum."


def blocks(answer: str, source: str = SOURCE, most: int = 20) -> list[Block]:
    return copied_blocks(answer.split("\n"), [source], most=most)


def quoted(lines: list[str]) -> str:
    return "\n".join([PROSE, *lines, PROSE])


def test_twenty_lines_may_be_quoted_and_twenty_one_may_not() -> None:
    assert blocks(quoted(LINES[10:30])) == []
    assert blocks(quoted(LINES[10:31])) == [Block(1, 21, 21)]


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
    lines = DRESSES[dress](LINES[7:28])
    [block] = blocks(quoted(lines))
    assert (block.first, block.last) == (1, len(lines))
    assert block.lines >= 21


@each("dress", sorted(set(DRESSES) - {"fenced"}))
def test_a_short_quotation_is_left_under_every_dress(dress: str) -> None:
    assert blocks(quoted(DRESSES[dress](LINES[7:21]))) == []


def test_lines_without_words_count_with_the_next_one_that_has_some() -> None:
    source = "\n".join(part for line in LINES[:22:2] for part in (line, "}", ""))
    copied = [line for line in source.split("\n")[:21] if line]
    assert blocks(quoted([*copied, LINES[14]]), source)[0].lines > 20
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
    assert blocks(quoted([*LINES[0:15], PROSE, *LINES[40:55]])) == []
    assert len(blocks(quoted([*LINES[0:21], PROSE, *LINES[40:61]]))) == 2


def test_a_copy_of_two_files_in_a_row_is_one_copy() -> None:
    one, two = "\n".join(LINES[:30]), "\n".join(LINES[30:60])
    answer = quoted([*LINES[20:41]]).split("\n")
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
    assert copied_blocks(["", "}", "…"], [SOURCE, ""], most=0) == []


@pytest.mark.heavy
def test_it_takes_linear_time() -> None:
    def seconds(times: int) -> float:
        answer = [*LINES, "1 " * 200, "> " * 200, " " * 400] * times
        begun = time.process_time()
        copied_blocks(answer, [SOURCE * times], most=20)
        return time.process_time() - begun

    few, many = (min(seconds(times) for _ in range(3)) for times in (15, 60))
    assert many < 12 * few  # four times as much; sixteen times if it were quadratic
