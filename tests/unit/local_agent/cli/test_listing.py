"""Found lines and changed files, on a terminal and elsewhere."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from common.terminal import Ink, cells
from local_agent.cli.ending import laid_out
from local_agent.cli.screen import Screen
from tests.each import each

HITS = ["2 places:", "src/登录.py:7: def login():", "src/登录.py:120: return login()", "b.py:3: x"]
CHANGED = ["Local changes:", "M src/app.py +12 −3", "A 新.md +1 −0", "? b.bin (lines not counted)"]


def screen(*, width: int = 80, live: bool = True, colours: bool = False) -> Screen:
    return Screen("en", Ink(on=colours), width, live)


def test_a_program_gets_the_lines_as_they_are() -> None:
    assert list(laid_out(screen(live=False), [*HITS, *CHANGED])) == [*HITS, *CHANGED]


def test_on_a_terminal_each_file_is_named_once_above_its_lines() -> None:
    assert list(laid_out(screen(), HITS)) == [
        "2 places:",
        "src/登录.py",
        "    7  def login():",
        "  120  return login()",
        "b.py",
        "    3  x",
    ]


def test_counts_stand_below_one_another() -> None:
    assert list(laid_out(screen(), CHANGED)) == [
        "Local changes:",
        "  M src/app.py +12 −3",
        "  A 新.md       +1 −0",
        "  ? b.bin      (lines not counted)",
    ]


def test_colours_are_emphasis_alone() -> None:
    plain = list(laid_out(screen(), [*HITS, *CHANGED]))
    coloured = list(laid_out(screen(colours=True), [*HITS, *CHANGED]))
    assert coloured != plain
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in coloured] == plain


@each("width", [20, 30, 45])
def test_a_narrow_terminal_loses_nothing(width: int) -> None:
    lines = [f"a/very/long/folder/{'x' * 40}.py:12: {'找到 text ' * 12}".rstrip()]
    shown = list(laid_out(screen(width=width), lines))
    assert "".join(line.strip() for line in shown[1:]).replace(" ", "").endswith("text")
    assert all(cells(line) <= max(width, 26) for line in shown[1:])


@given(st.lists(st.text(alphabet="aM+−:19 ()/\n找", max_size=30), max_size=6), st.integers(1, 200))
def test_no_line_raises_or_is_lost(lines: list[str], width: int) -> None:
    plain = [line.replace("\n", "") for line in lines]
    shown = "".join(laid_out(screen(width=width), plain)).replace(" ", "")
    for line in plain:
        assert line.replace(" ", "").rpartition(":")[2] in shown or "−" in line
