from __future__ import annotations

import itertools

import pytest

from common.protocol.words import WORDS, words_for

_GROUPS = ("bfpv", "cgjkqsxz", "dt", "l", "mn", "r")
_CODES = {letter: str(code) for code, group in enumerate(_GROUPS, 1) for letter in group}


def soundex(word: str) -> str:
    """Return the Soundex code (R. C. Russell, 1918; the US National Archives' rules)."""
    code, last = word[0], _CODES.get(word[0], "")
    for letter in word[1:]:
        digit = _CODES.get(letter, "")
        if digit and digit != last:
            code += digit
        if letter not in "hw":
            last = digit
    return f"{code}000"[:4]


def edits(one: str, other: str) -> int:
    """Return the Levenshtein distance."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


@pytest.mark.requirement("R10")
def test_there_is_one_short_plain_word_for_each_byte() -> None:
    assert len(WORDS) == len(set(WORDS)) == 256
    assert all(word.isascii() and word.islower() and 3 <= len(word) <= 8 for word in WORDS)


@pytest.mark.heavy
def test_no_two_words_look_alike() -> None:
    assert [pair for pair in itertools.combinations(WORDS, 2) if edits(*pair) < 3] == []


def test_no_two_words_sound_alike() -> None:
    assert len({soundex(word) for word in WORDS}) == 256


def test_bytes_become_words_by_their_place_in_the_list() -> None:
    assert words_for(b"\x00\xff\x00") == ["acorn", "zigzag", "acorn"]
