"""Letters that pass for ASCII ones, so that a name in code is not the name it seems to be (R38).

A small table of our own: the letters that common fonts draw alike (after Unicode TR 39), of the
scripts that have many of them.  Prose in those scripts is let pass; a word that mixes them with
ASCII letters, or that consists of nothing else, is not.  It is advice for a person, no gate.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_LOOKALIKES: Final = frozenset(
    "асеорухіјѕһԁԛԝѵӏАВЕКМНОРСТХЅІЈԌԚԜѴӀ"  # Cyrillic
    "αινορυϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ"  # Greek; not the letters of formulas, such as Δ, λ, μ, π
    "օսոցհյզՕՍՏ"  # Armenian
    "ᎪᎬᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃᏴ"  # Cherokee
    "ɑɡ"  # phonetic
)
# Scripts of the table: a letter of theirs outside it shows that a line really is written in them.
_SCRIPTS: Final = re.compile("[\u0370-\u058f\u13a0-\u13ff]")
# Marks that pass for ; ` . / ! : |
_MARKS: Final = re.compile("[\u037e\u1fef\u2024\u2215\u29f8\u01c3\ua789\u2223\u01c0]")
# Fullwidth ; | & $ ` " ' < > \\ among ASCII: Chinese prose has them between its own characters.
_WIDE_MARKS: Final = re.compile(
    r"(?:^|[\x00-\x7f])\s*[\uff1b\uff5c\uff06\uff04\uff40\uff02\uff07\uff1c\uff1e\uff3c]\s*(?:[\x00-\x7f]|$)"
)
_WORD: Final = re.compile(r"[^\W_]+")
_ASCII_LETTER: Final = re.compile("[A-Za-z]")


def has_confusable(line: str) -> bool:
    """Tell whether something in the line passes for an ASCII letter or mark."""
    if line.isascii():
        return False
    native = any(char not in _LOOKALIKES for char in _SCRIPTS.findall(line))
    if _MARKS.search(line) or _WIDE_MARKS.search(line):
        return True
    return any(
        _is_confusable(word, native=native) for word in _WORD.findall(line) if not word.isascii()
    )


def _is_confusable(word: str, *, native: bool) -> bool:
    alike = sum(char in _LOOKALIKES for char in word)
    if alike == len(word):
        return len(word) > 1 or not native
    if _ASCII_LETTER.search(word) and (alike or any(map(_is_roman_numeral, word))):
        return True
    return any(map(_is_styled, word))


def _is_styled(char: str) -> bool:
    # Fullwidth, mathematical and other dressed-up letters: Python reads them as the plain ones.
    if char.isascii() or unicodedata.category(char) not in ("Lu", "Ll", "Nd"):
        return False
    plain = unicodedata.normalize("NFKC", char)
    return plain.isascii()


def _is_roman_numeral(char: str) -> bool:
    return "\u2160" <= char <= "\u217f"
