"""`common.terminal`: nothing is lost by wrapping, and Chinese takes two cells."""

from __future__ import annotations

import ctypes
import locale
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.terminal import (
    Ink,
    cells,
    clip_cells,
    exact,
    fold,
    fold_text,
    most_cells,
    pad,
    table,
    wrap,
)
from common.text import reveal_all


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("abc", 3), ("中文", 4), ("a中", 3), ("é", 1), ("e\u0301", 1), ("，", 2), ("…", 1)],
)
def test_cells_are_counted_as_a_terminal_draws_them(text: str, expected: int) -> None:
    assert cells(text) == expected


def test_padding_counts_cells_and_leaves_a_wide_text_alone() -> None:
    assert pad("中", 4) == "中  "
    assert pad("中文字", 4) == "中文字"


@given(st.text(), st.integers(2, 30))
@settings(max_examples=150, deadline=None)
def test_folding_loses_nothing_and_keeps_to_the_width(text: str, width: int) -> None:
    pieces = fold(text, width)
    assert "".join(pieces) == text
    assert all(cells(piece) <= width + 1 for piece in pieces)


def test_no_character_that_is_shown_takes_more_cells_than_are_counted() -> None:
    """Else whoever wrote the text breaks the line, and what follows stands at the left edge."""
    wcwidth = ctypes.CDLL(None).wcwidth
    before = locale.setlocale(locale.LC_CTYPE)
    locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    try:
        printable = filter(str.isprintable, map(chr, range(sys.maxunicode + 1)))
        wider = [char for char in printable if wcwidth(ord(char)) > most_cells(char)]
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
    assert [char for char in wider if reveal_all(char) == char] == []


@pytest.mark.parametrize("char", ["䷀", "㉈", "—", "°", "☰", "🇩", "☺\ufe0f"])
def test_lines_are_broken_by_the_most_that_a_terminal_may_draw(char: str) -> None:
    text = char * 30 + "Undo"
    for lines in (fold(text, 40), wrap(text, 40), exact(text, width=40)):
        assert [line.count(char) for line in lines] == [20, 10]
    assert 39 <= most_cells(clip_cells(text, 40)) <= 40


def test_a_closing_mark_does_not_begin_a_line() -> None:
    assert fold("一二三，四", 6) == ["一二", "三，四"]


@given(st.text(alphabet="ab 中文\n", max_size=80), st.integers(4, 20))
@settings(max_examples=150, deadline=None)
def test_wrapping_prose_keeps_every_word_in_order(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cells(line) <= width for line in lines)


@given(st.text(alphabet="ab `中文\n", max_size=80), st.integers(26, 40))
@settings(max_examples=150, deadline=None)
def test_folding_text_keeps_every_word_and_to_the_width(text: str, width: int) -> None:
    bold = Ink(on=True)("bold", "b")
    inked = text.replace("b", bold)
    folded = fold_text(inked, width)
    assert "".join(folded.split()) == "".join(inked.split())
    bare = (line.replace(bold, "b").strip() for line in folded.split("\n"))
    assert all(cells(line) <= width + 1 or " " not in line for line in bare)


def test_a_word_too_long_for_a_line_is_folded_through_nowhere() -> None:
    address = f"http://127.0.0.1:35225/{'x' * 30}"
    assert fold_text(f"Open {address} now.", 30) == f"Open\n{address}\nnow."


def test_a_command_to_paste_stays_on_one_line_and_a_column_below_itself() -> None:
    said = "Nothing was found here. Add one: codexbridge workspace add PATH"
    assert fold_text(said, 50) == (
        "Nothing was found here. Add one:\ncodexbridge workspace add PATH"
    )
    assert fold_text("先运行 `codexbridge init` 再继续", 20) == "先运行\n`codexbridge init`\n再继续"
    wrong = "codexbridge show: no --x (see `codexbridge show --help`)"
    assert fold_text(wrong, 40) == wrong.replace(" `", "\n`")
    alone = "    codexbridge gateway --config /a/b/gateway.toml member add zhangwei"
    assert fold_text(alone, 40) == alone
    row = "  passkey     add, list and remove the passkeys"
    assert fold_text(row, 40) == "  passkey     add, list and remove the\n" + " " * 14 + "passkeys"
    assert fold_text(f"`{'x ' * 30}y` z", 40).count("\n") == 1, "one too long for a line is prose"


def test_a_latin_word_moves_to_the_next_line_whole() -> None:
    assert wrap("the quick brown fox", 10) == ["the quick", "brown fox"]


def test_a_latin_word_within_chinese_is_not_torn_apart() -> None:
    assert wrap("由网关（密钥 0123456789abcdef）转达", 20) == [
        "由网关（密钥",
        "0123456789abcdef）转",
        "达",
    ]
    assert wrap("一二三四五，六", 10) == ["一二三四", "五，六"]
    assert wrap("Did you mean “open”?", 19) == ["Did you mean", "“open”?"]
    assert wrap("输入 s 或 none：无", 15) == ["输入 s 或", "none：无"]


def test_chinese_fills_a_line_before_it_breaks() -> None:
    assert wrap("用 codexbridge 批准这条命令", 20) == ["用 codexbridge 批准", "这条命令"]


@pytest.mark.requirement("R26")
@pytest.mark.parametrize(
    ("given_text", "shown"),
    [
        ("a\u202eb", ["a⟨U+202E⟩b"]),
        ("a\x1b[31mb", ["a⟨U+001B⟩[31mb"]),
        ("a\u3000\u1680b", ["a⟨U+3000⟩⟨U+1680⟩b"]),
        ("a\tb", ["a⟨U+0009⟩b"]),
        ("a\nb", ["a⟨U+000A⟩", "b"]),
        ("a\r\nb", ["a⟨U+000D⟩⟨U+000A⟩", "b"]),
        ("x" + " " * 21 + "y", ["x⟨21 × U+0020⟩y"]),
        ("x" + " " * 20 + "y", ["x" + " " * 20 + "y"]),
        ("x" + "\t" * 40 + "y", ["x⟨40 × U+0009⟩y"]),
        ("x" + " \t" * 15 + "y", ["x⟨30 × U+0009, U+0020⟩y"]),
        ("a\t\tb", ["a⟨U+0009⟩⟨U+0009⟩b"]),
    ],
)
def test_what_will_run_hides_nothing(given_text: str, shown: list[str]) -> None:
    assert exact(given_text, width=60) == shown


@given(st.text(max_size=200), st.integers(20, 80))
@settings(max_examples=150, deadline=None)
def test_what_will_run_is_shown_printable_to_its_last_character(text: str, width: int) -> None:
    lines = exact(text, width=width)
    assert all(line.isprintable() for line in lines)
    for char in text:
        if char.isalnum() and char.isascii():
            assert char in "".join(lines)


def test_clipping_ends_in_an_ellipsis_within_the_width() -> None:
    assert clip_cells("中文字符", 6) == "中文…"
    assert clip_cells("中文", 4) == "中文"


def test_columns_align_by_cells() -> None:
    assert table([("中", "1"), ("ab1", "2")]) == ["中   1", "ab1  2"]
    assert table([]) == []


def test_without_ink_nothing_but_the_text_is_written() -> None:
    assert Ink(on=False)("alarm", "x") == "x"
    assert Ink(on=True)("bold", "x") == "\x1b[1mx\x1b[0m"
    assert Ink(on=True)("", "x") == "x"
