"""What of a text is shown: whole lines with their numbers, no secret, nothing a terminal obeys."""

from __future__ import annotations

import pytest

from local_agent.propose.context.cutting import MAX_LINE_BYTES, cut_clean, cut_lines, readable
from tests.each import each

KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA7bq\n" * 30
KEY += "-----END RSA PRIVATE KEY-----\n"


def numbered(count: int) -> list[str]:
    return [f"line {number}" for number in range(1, count + 1)]


def test_a_text_that_fits_is_shown_whole() -> None:
    (cutting,) = cut_lines(numbered(3), 1000)
    assert (cutting.text, cutting.first_line) == ("line 1\nline 2\nline 3\n", 1)
    assert not cutting.cut


def test_an_empty_text_is_shown_as_such() -> None:
    (cutting,) = cut_lines([], 0)
    assert (cutting.text, cutting.cut) == ("", False)


def test_a_long_text_is_cut_at_the_end_of_a_line() -> None:
    (cutting,) = cut_lines(numbered(100), 50)
    assert cutting.text == "".join(f"line {number}\n" for number in range(1, 8))
    assert cutting.cut


def test_lines_that_matter_are_shown_with_what_is_around_them() -> None:
    (cutting,) = cut_lines(numbered(1000), 400, matters=[500])
    assert cutting.first_line <= 490
    assert cutting.text.startswith(f"line {cutting.first_line}\n")
    assert "line 500\n" in cutting.text
    assert len(cutting.text.encode()) <= 400


def test_several_places_are_shown_apart_with_their_own_numbers() -> None:
    cuttings = cut_lines(numbered(1000), 300, matters=[900, 100])
    assert ["line 100\n" in one.text for one in cuttings] == [True, False]
    assert all(one.text.startswith(f"line {one.first_line}\n") for one in cuttings)


def test_where_not_all_fit_the_most_important_lines_are_shown() -> None:
    cuttings = cut_lines(numbered(1000), 20, matters=[700, 3, 5, 7, 9])
    assert [one.first_line for one in cuttings] == [3, 700]


@each("matters", [[0], [-1], [11]])
def test_lines_that_are_not_there_do_not_matter(matters: list[int]) -> None:
    assert cut_lines(numbered(10), 20, matters)[0].first_line == 1


def test_a_text_without_room_for_a_line_is_not_shown() -> None:
    assert cut_lines(numbered(10), 3) == []
    assert cut_lines(numbered(10), 0, [5]) == []


def test_a_huge_line_is_clipped() -> None:
    lines = readable(b"x" * 1_000_000 + b"\nsecond\n")
    (cutting,) = cut_lines(lines, 12_000)
    first, second = cutting.text.splitlines()
    assert len(first.encode()) <= MAX_LINE_BYTES
    assert first.endswith("…")
    assert second == "second"


def test_line_ends_controls_and_broken_bytes_do_no_harm() -> None:
    assert readable(b"a\r\nb\x1b[31mc\x1b[0m\x00d\x9b\tz\n\xff\n") == ["a", "bcd�\tz", "�"]
    assert readable("a\u2028b\x0cc\n".encode()) == ["a\u2028bc"]
    assert readable(b"") == []


@pytest.mark.requirement("R54")
def test_secrets_are_taken_out_and_lines_keep_their_numbers() -> None:
    text = f"one\n{KEY}after = 1\napi_key = 'sk-abcdefghijklmnopqrstuvwxyz0123'\n"
    (cutting,) = cut_lines(readable(text.encode()), 12_000)
    assert "MIIEow" not in cutting.text
    assert "sk-abcdef" not in cutting.text
    assert cutting.text.split("\n")[33] == "after = 1"


@pytest.mark.requirement("R54")
def test_a_window_into_a_key_shows_nothing_of_it() -> None:
    lines = readable(("x = 1\n" * 300 + KEY + "y = 1\n" * 300).encode())
    for place in (301, 315, 332):
        for cutting in cut_lines(lines, 60, matters=[place]):
            assert "MIIEow" not in cutting.text


@pytest.mark.requirement("R54")
@each("split", ["\x00", "\x1b[0m", "\r", "\x7f"])
def test_a_secret_cannot_hide_behind_what_is_taken_out(split: str) -> None:
    token = f"ghp_{split}abcdefghijklmnopqrstuvwxyz0123456789"
    (cutting,) = cut_lines(readable(f"x = {token}\n".encode()), 1000)
    assert "abcdefghij" not in cutting.text


@pytest.mark.requirement("R54")
def test_a_secret_that_is_cut_by_the_end_of_a_line_is_not_shown_in_part() -> None:
    line = "x" * (MAX_LINE_BYTES - 40) + " ghp_abcdefghijklmnopqrstuvwxyz0123456789AB " + "y" * 9000
    (cutting,) = cut_lines(readable(line.encode()), 12_000)
    assert "ghp_" not in cutting.text


def test_what_is_taken_out_of_a_line_without_end_brings_no_half_of_a_secret_into_sight() -> None:
    line = "password = '" + "aB3$" * 1990 + "' ghp_" + "A1b2" * 9
    (cutting,) = cut_lines(readable(line.encode()), 10_000)
    assert "redacted" in cutting.text
    assert "ghp_" not in cutting.text
    (cutting,) = cut_lines(readable(b"x" * 100_000), 10_000)
    assert len(cutting.text.encode()) == MAX_LINE_BYTES


def test_what_is_clean_is_cut_on_the_end_of_a_line_as_well() -> None:
    assert cut_clean("a\nb\nc\n", 100)[0].cut is False
    (cutting,) = cut_clean("aa\nbb\ncc\n", 7)
    assert (cutting.text, cutting.cut) == ("aa\nbb\n", True)
    assert cut_clean("aaaa\n", 3) == []
    assert cut_clean("", 3) == []
