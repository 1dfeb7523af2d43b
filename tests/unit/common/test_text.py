"""Text is bounded by bytes, cut on characters, and hides nothing."""

from __future__ import annotations

import pytest

from common.text import (
    clip_bytes,
    clip_tail_bytes,
    has_cjk,
    has_confusable,
    has_hidden,
    one_line,
    reveal,
    reveal_all,
    split_bytes,
    strip_ansi,
)
from tests.each import each

MIXED = "ab中🚀é\n"


@pytest.mark.requirement("R73")
@each("limit", range(60))
def test_a_cut_text_never_exceeds_its_limit_nor_breaks_a_character(limit: int) -> None:
    text = MIXED * 4
    head, tail = clip_bytes(text, limit), clip_tail_bytes(text, limit)
    for cut in (head, tail):
        assert len(cut.encode()) <= limit or cut == text
        assert "\ufffd" not in cut
    assert text.startswith(head.removesuffix("…"))
    assert text.endswith(tail.removeprefix("…"))


SIGNS = ("👨‍👩‍👧‍👦", "e\u0301", "❤\ufe0f", "👍🏽", "1\ufe0f\u20e3")


@pytest.mark.requirement("R73")
@each("sign", SIGNS)
def test_no_cut_falls_within_what_is_drawn_as_one(sign: str) -> None:
    for limit in range(4, 90):
        text = f"期望 {sign * 30} 值"
        head, tail = clip_bytes(text, limit), clip_tail_bytes(text, limit)
        parts = [head.removesuffix("…"), tail.removeprefix("…")]
        if limit >= 2 * len(sign.encode()):
            parts += split_bytes(text, limit)
        for part in parts:
            assert part.replace(sign, "").strip("期望 值") == "", (limit, part)
    assert "⟨" not in one_line(f"AssertionError: {sign * 90}", 160)


def test_a_sign_that_never_ends_is_cut_all_the_same() -> None:
    tower = "e" + "\u0301" * 5000
    assert 90 < len(clip_bytes(tower, 100).encode()) <= 100
    assert 90 < len(clip_tail_bytes(tower, 100).encode()) <= 100
    assert "".join(split_bytes(tower, 100)) == tower


def test_a_text_that_fits_comes_back_unchanged() -> None:
    assert clip_bytes("中文", 6) == "中文"
    assert clip_tail_bytes("中文", 6) == "中文"
    assert split_bytes("中文", 6) == ["中文"]


def test_a_cut_is_marked_where_the_mark_has_room() -> None:
    assert clip_bytes("abcdefgh", 6) == "abc…"
    assert clip_tail_bytes("abcdefgh", 6) == "…fgh"
    assert clip_bytes("abcdefgh", 2) == "ab"
    assert clip_tail_bytes("abcdefgh", 2) == "gh"
    assert clip_tail_bytes("abcdefgh", 3) == "…"
    assert clip_bytes("abcdefgh", 6, marker="") == "abcdef"
    family = "👨\u200d👩\u200d👧"
    assert clip_bytes(f"ab{family * 2}", 30) == f"ab{family}…"
    assert clip_bytes("abe\u0301fg", 6) == "ab…"


@pytest.mark.requirement("R73")
@each("limit", [4, 5, 7, 16, 100])
@each("text", ["", "a", MIXED * 20, "\n" * 30, "🚀" * 30, "x\ud800" * 30])
def test_pieces_joined_are_the_text_and_none_is_too_long(text: str, limit: int) -> None:
    pieces = split_bytes(text, limit)
    assert "".join(pieces) == text
    assert all(len(piece.encode("utf-8", "replace")) <= limit for piece in pieces)
    assert all(pieces) or text == ""


@each(
    "limit, pieces",
    [
        # A line, where that wastes little; else whatever ends last, a line or a sentence.
        (8, ["aaaa\n", "bbbb\n", "cccc"]),
        (8, ["a\nbbbbbb", "bbbb"]),
        (15, ["ab\nIt was. ", "Yes it is so."]),
        (15, ["It is. ", "So it was, ", "v1.2 too."]),
        (15, ["It was so. ", "Yes it is."]),
        (15, ["(It was so.) ", "Yes it is."]),
        (21, ["先停下。", "再重试，最后"]),
        (27, ["他说：“停下。”", "再重试，最后一次"]),
        # No sentence ends at a number, an initial or a part of a name, nor in code.
        (15, ["Do it now or ", "2. wait a bit"]),
        (16, ["They say e.g. ", "this or that one"]),
        (20, ["Run it, then ", "`a. b c` once"]),
        # A character is never cut in two, however many it is made of, nor what shows a hidden one.
        (30, ["👨\u200d👩\u200d👧\u200d👦", "👨\u200d👩\u200d👧\u200d👦"]),
        (9, ["🇨🇳", "🇩🇪", "🇫🇷"]),
        (9, ["abc", "👍🏽"]),
        (5, ["eeee", "e\u0301e"]),
        (13, ["abc", "⟨U+202E⟩d"]),
    ],
)
def test_a_piece_ends_with_a_line_a_sentence_a_word_or_a_whole_character(
    limit: int, pieces: list[str]
) -> None:
    assert split_bytes("".join(pieces), limit) == pieces


def test_a_limit_below_the_widest_character_is_refused() -> None:
    with pytest.raises(ValueError, match="4"):
        split_bytes("🚀", 3)


def test_a_megabyte_is_split_in_no_time() -> None:
    assert len(split_bytes("中\n" * 250_000, 2048)) >= 488


@pytest.mark.requirement("R26")
@each(
    "text, shown",
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\u2028b", "a⟨U+2028⟩b"),
        ("a\u00a0b", "a⟨U+00A0⟩b"),
        ("a\u3164b", "a⟨U+3164⟩b"),
        ("\ufeffa", "⟨U+FEFF⟩a"),
        ("a\U000e0041b", "a⟨U+E0041⟩b"),
        ("a\x00\x1b\x07\x7f\x85b", "a⟨U+0000⟩⟨U+001B⟩⟨U+0007⟩⟨U+007F⟩⟨U+0085⟩b"),
        ("a\rb", "a⟨U+000D⟩b"),
        ("a\ud800b", "a⟨U+D800⟩b"),
        ("a\ue000b", "a⟨U+E000⟩b"),
        ("a\u0378b", "a⟨U+0378⟩b"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("👩\u200db", "👩⟨U+200D⟩b"),
        ("a\u200d👩", "a⟨U+200D⟩👩"),
        ("a\ufe0fb", "a⟨U+FE0F⟩b"),
        ("a" + "\u0301" * 6 + "b", "a" + "\u0301" * 4 + "⟨U+0301⟩⟨U+0301⟩b"),
        ("中" + "\u20dd\u0489\u0300" * 2, "中\u20dd\u0489\u0300\u20dd⟨U+0489⟩⟨U+0300⟩"),
    ],
)
def test_what_is_hidden_is_shown(text: str, shown: str) -> None:
    assert reveal(text) == shown
    assert has_hidden(text)
    assert reveal(shown) == shown


@pytest.mark.requirement("R26")
def test_every_odd_blank_can_be_shown_as_well() -> None:
    assert reveal_all("a\u3000b\tc\n\u202e d") == "a⟨U+3000⟩b⟨U+0009⟩c⟨U+000A⟩⟨U+202E⟩ d"


@each(
    "text",
    [
        "",
        "plain ASCII\n\twith lines",
        "中文，全角。\u3000",
        "👩\u200d💻 ❤\ufe0f 1\ufe0f⃣ 👍🏽 🏳\ufe0f\u200d🌈",
        "مرحبا é e\u0301 ⟨U+202E⟩",
        "Việt e\u0302\u0301 ก\u0e34\u0e48 שׁ\u05b8\u0591",
        "……——！！！？？？",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert reveal(text) == text
    assert not has_hidden(text)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;5;196mx\x1b[m", "x"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bx\x1b[m", "x"),
        ("\x1b7x\x1b8\x1bcy", "xy"),
        ("\x1b[2K\x1b[1Gx", "x"),
        ("no sequence [31m", "no sequence [31m"),
    ],
)
def test_terminal_sequences_are_removed(text: str, plain: str) -> None:
    assert strip_ansi(text) == plain


@each("unit", ["\x1b", "\x1b[", "\x1b]", "\x1b[1;", "\x1b("])
def test_broken_sequences_take_no_long_time(unit: str) -> None:
    # The test's own time limit is the judge.
    rest = "\x1b[0m" + "x" * 5_000
    assert strip_ansi(unit * 20_000 + rest).endswith("x" * 900)
    assert strip_ansi(unit + "1" * 100_000 + rest).endswith("1" * 90_000 + "x" * 5_000)


def test_one_line_is_one_line_within_its_limit() -> None:
    assert one_line("a\n b\t\tc \r\n") == "a b c"
    assert one_line("a\u202eb") == "a⟨U+202E⟩b"
    assert len(one_line("中" * 500, 100).encode()) <= 100


@pytest.mark.parametrize(
    ("text", "found"),
    [("状态", True), ("a状", True), ("status", False), ("。", False), ("", False)],
)
def test_chinese_is_recognised_by_its_characters(text: str, *, found: bool) -> None:
    assert has_cjk(text) is found


@each("limit", [0, 1, 8, 9, 20])
@each("text", ["a" * 20, "\u200b" * 40, "👩\u200d💻" * 9, "e\u0301" * 30, "中 " * 9])
def test_one_line_is_the_beginning_of_the_whole_text_revealed(text: str, limit: int) -> None:
    whole = reveal(" ".join(text.split()))
    assert one_line(text, limit) == clip_bytes(whole, limit)


# --- confusables ---


@pytest.mark.requirement("R26")
@each(
    "line",
    [
        "аdmin",  # Cyrillic a
        "if pаss:",
        "сору()",  # all of it Cyrillic
        "а = 1",  # one letter, in a line that is not Russian
        "νalue",  # Greek
        "ａdmin",  # fullwidth a
        "ｆｕｌｌ",
        "𝐚𝐝𝐦𝐢𝐧",
        "Ⅰd = 1",
        "return x\u037e",
        "a\u2215b",
        "ɡit",
        "Ꭺdmin",
        "x = 1；rm(y)",
        "return x；",
        "a ｜ b",
        "＄HOME",
    ],
)
def test_what_passes_for_ascii_is_found(line: str) -> None:
    assert has_confusable(line)


@each(
    "line",
    [
        "plain ascii",
        "中文 with English",
        "第Ⅱ类",
        "# Это русский текст, и а тоже",
        "Ελληνικά",
        "Δt = 2 * π * λ",
        "m² and x₁",
        "naïve Straße kırmızı",
        "日本語、한국어",
        "# 先停止；再启动",
        "# 使用 git；默认分支为 main",
        "é",
    ],
)
def test_prose_and_formulas_are_let_pass(line: str) -> None:
    assert not has_confusable(line)
