"""`cli.flow`: a text that grows on a terminal, in rows behind a gutter."""

from __future__ import annotations

import pytest

from common.terminal import cells
from local_agent.cli.proposal import GUTTER, Flow
from tests.each import each
from tests.unit.local_agent.cli.drawing import drawn

TEXT = (
    "It retries three times because `retry = 3` stands in login.py:1, and no more.\r\n"
    "\n\n"
    "它会重试三次，因为 login.py:1 中写着，而且中途没有再检查。 end\n"
    "    indented\tby a tab\n"
    "🧑‍💻 works, \u202e does not\n"
    "\n"
)


def pieces(size: int, *, width: int = 30) -> tuple[list[str], str]:
    flow = Flow(GUTTER, width)
    written = [flow.feed(TEXT[start : start + size]) for start in range(0, len(TEXT), size)]
    whole = "".join(written) + flow.end()
    return drawn(whole), whole


@each("size", [1, 2, 3, 5, 7, 11, 50])
def test_however_it_is_cut_the_same_rows_stand_there(size: int) -> None:
    rows, _ = pieces(size)
    assert rows == pieces(len(TEXT))[0]
    assert all(row.startswith("│") for row in rows)
    assert max(cells(row) for row in rows) <= cells(GUTTER) + 30


def test_words_are_kept_whole_and_nothing_is_dropped() -> None:
    rows, _ = pieces(4)
    assert "│ It retries three times because" in rows
    joined = "".join(row.removeprefix("│").replace(" ", "") for row in rows)
    assert "它会重试三次，因为login.py:1中写着，而且中途没有再检查。end" in joined
    assert "│     indented    by a tab" in rows


@pytest.mark.requirement("R26")
@each("size", [1, 3, 200])
def test_nothing_in_it_is_obeyed_by_a_terminal(size: int) -> None:
    flow = Flow(GUTTER, 100)
    hostile = "a\x1b[2Jb\x07\rc\u202ed\u200be"
    shown = "".join(flow.feed(hostile[at : at + size]) for at in range(0, len(hostile), size))
    rows = drawn(shown + flow.end())
    assert rows == ["│ a⟨U+001B⟩[2Jb⟨U+0007⟩⟨U+000D⟩c⟨U+202E⟩d⟨U+200B⟩e"]


def test_empty_lines_stand_only_between_others() -> None:
    flow = Flow(GUTTER, 30)
    assert drawn(flow.feed("\n\n  \n") + flow.end()) == []
    assert drawn(flow.feed("a\n\n\nb\n\n") + flow.end()) == ["│ a", "│", "│", "│ b"]


def test_the_open_row_can_be_written_anew() -> None:
    flow = Flow(GUTTER, 30)
    assert not flow.is_open
    written = flow.feed("one\ntwo thr")
    assert flow.is_open
    below = f"{written}\nthe status\r\x1b[K\x1b[A{flow.again()}{flow.feed('ee')}{flow.end()}"
    assert drawn(below) == ["│ one", "│ two three"]
    assert not flow.is_open


def test_a_long_line_is_not_read_over_and_over() -> None:
    flow = Flow(GUTTER, 30)
    for _ in range(20_000):
        flow.feed("word ")
    assert len(flow.feed("end")) < 100
