"""What somebody looks for in the list of tasks: a short ID, or words as they stand."""

from __future__ import annotations

import unicodedata
from typing import Final

from common.errors import InputError
from common.ids import parse_short_id

_WIDE: Final = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}  # as Chinese keyboards type them


class Wanted:
    """Words, each of which must occur, or a short ID in any spelling that people use.

    Case does not count, nor whether letters are full-width; nothing is a wildcard.
    """

    def __init__(self, find: str) -> None:
        self._name = _short_id(find)
        self._words = [(_spellings(word), _short_id(word)) for word in find.split()]

    def is_in(self, short_id: str, claimed_user: str, workspace: str | None, text: str) -> bool:
        """Tell whether a task is what is looked for."""
        if short_id == self._name:
            return True
        whole = f"{text}\n{workspace or ''}\n{claimed_user}\n{short_id}".casefold()
        return all(
            name == short_id or any(spelling in whole for spelling in spellings)
            for spellings, name in self._words
        )


def _spellings(word: str) -> frozenset[str]:
    # Of the word, as to fold every text takes half a second where they are long.
    narrow = unicodedata.normalize("NFKC", word)
    return frozenset(each.casefold() for each in (word, narrow, narrow.translate(_WIDE)))


def _short_id(text: str) -> str | None:
    try:
        return parse_short_id(text)
    except InputError:
        return None
