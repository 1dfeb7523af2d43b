"""The word classes that the rules are written in, and the lexicon that gives a word its class.

A clause becomes a string with one character a word, so a rule is a pattern over classes and reads
the same for English and Chinese.  Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from local_agent.routing import (
    ask_en,
    habits_en,
    phrases_en,
    talk_en,
    talk_zh,
    things_zh,
    words_en,
    words_zh,
    work_en,
    work_zh,
)

# What no lexicon gives: boundaries, names, numbers, and the words that nobody listed.
_SHAPES: Final = (
    "stop", "comma", "mark", "asked", "code", "quoted", "pasted", "num", "http", "flag", "id",
    "command", "arrow", "did", "plural", "past", "ing", "word", "verb", "han", "of",
)  # fmt: skip
_ENGLISH: Final = (
    words_en.WORDS,
    phrases_en.WORDS,
    work_en.WORDS,
    ask_en.WORDS,
    talk_en.WORDS,
    habits_en.WORDS,
)
_CHINESE: Final = (words_zh.WORDS, things_zh.WORDS, work_zh.WORDS, talk_zh.WORDS)
_ALL: Final = (*_ENGLISH, *_CHINESE)
_NAMES: Final = tuple(dict.fromkeys((*_SHAPES, *(name for words in _ALL for name in words))))
LETTER: Final = {name: chr(0x100 + place) for place, name in enumerate(_NAMES)}
NAME: Final = {letter: name for name, letter in LETTER.items()}
_NAME: Final = re.compile(r"[a-z]+")
_NAMED: Final = re.compile(r"\[[^\]]*\]|[a-z]+")


def _lexicon(*lists: Mapping[str, str]) -> dict[str, str]:
    return {
        entry: LETTER[name]
        for words in lists
        for name, entries in words.items()
        for entry in entries.split()
    }


EN: Final = _lexicon(*_ENGLISH)
ZH: Final = _lexicon(*_CHINESE)
# What a rule means by a name, where that is more than one class.
_MEANT: Final = {
    "fail": "fail failed",
    "please": "please mayiask",
    "word": "word plural past ing sent",
    "cannot": "cannot none",
    "diff": "diff asksdiff",
    "edit": "edit merge",
    "yes": "yes pass",
}


def letters(names: str) -> frozenset[str]:
    """Return the characters of some classes, given by their names with blanks between."""
    return frozenset(LETTER[name] for name in names.split())


def pattern(rule: str) -> str:
    """Return the regular expression of a pattern that is written with the names of classes.

    Raises:
        KeyError: a name that is no class: a programming error.
    """
    return "".join(_NAMED.sub(_letters, rule).split())


def _letters(match: re.Match[str]) -> str:
    if match[0][0] == "[":
        return f"[{_NAME.sub(_of_name, match[0][1:-1])}]"
    letters = _of_name(match)
    return f"[{letters}]" if len(letters) > 1 else letters


def _of_name(match: re.Match[str]) -> str:
    return "".join(LETTER[name] for name in _MEANT.get(match[0], match[0]).split())
