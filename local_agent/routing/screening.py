"""The first of many patterns that fits a text, without trying most of them.

A pattern over classes of words says by itself which letters a text must have: some that it can
begin with, and some of which one must occur.  Both are read from the pattern, and never more than
it says, so a row that is passed over could not have fitted.  Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

Letters = frozenset[str]
_NONE: Final[Letters] = frozenset()
_NEEDS: Final = 2  # of a pattern, the most telling ones: a third would pass over nothing more
# A group of single letters is read as a class of them.
_PART: Final = re.compile(r"\(\?:\w(?:\|\w)*\)|\(\?[:=!]|\[\^?\w+\]|[\w|)*+?.^$]")
_MARKS: Final = re.compile(r"\W")


class Demands(NamedTuple):
    """What has to be true of a text that a pattern fits from its beginning.

    Attributes:
        needs: Of each of these sets, one letter must occur.
        firsts: It begins with one of these; None if it may begin with any.
        empty: The pattern may fit without taking a letter.
    """

    needs: tuple[Letters, ...] = ()
    firsts: Letters | None = _NONE
    empty: bool = False


_LOOK: Final = Demands(empty=True)
_ANY: Final = Demands(firsts=None)


class Screen:
    """Patterns in their order, each behind what it demands and compiled when it is first tried."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Read what the patterns demand.

        Raises:
            ValueError: one holds what `read_demands` cannot read.
        """
        demanded = [read_demands(pattern) for pattern in patterns]
        self._patterns = patterns
        self._compiled: list[re.Pattern[str] | None] = [None] * len(patterns)
        self._opens: defaultdict[str, int] = defaultdict(int)  # letter: the rows it can begin
        self._meets: defaultdict[str, int] = defaultdict(int)  # letter: the needs it meets
        self._open = self._met = 0  # the same, where nothing is demanded
        for place, (_, firsts, _) in enumerate(demanded):
            self._open |= (firsts is None) << place
            for letter in firsts or ():
                self._opens[letter] |= 1 << place
        needs = [sorted(one.needs, key=len) for one in demanded]
        for bit, letters in enumerate(
            row[nth] if nth < len(row) else None for nth in range(_NEEDS) for row in needs
        ):
            self._met |= (letters is None) << bit
            for letter in letters or ():
                self._meets[letter] |= 1 << bit

    def first(self, text: str) -> int | None:
        """Return the place of the first pattern that fits from the beginning of a text."""
        met, meets = self._met, self._meets
        for letter in text:
            met |= meets.get(letter, 0)
        rows = self._open | self._opens.get(text[:1], 0)
        for _ in range(_NEEDS):
            rows &= met
            met >>= len(self._patterns)
        while rows:
            place = (rows & -rows).bit_length() - 1
            pattern = self._compiled[place] or self._compile(place)
            if pattern.match(text):
                return place
            rows &= rows - 1
        return None

    def _compile(self, place: int) -> re.Pattern[str]:
        pattern = self._compiled[place] = re.compile(self._patterns[place])
        return pattern


def read_demands(pattern: str) -> Demands:
    """Return what a pattern demands.

    Raises:
        ValueError: it is not made of letters, classes, groups, looks ahead and ``| * + ? . ^ $``.
    """
    parts = _PART.findall(pattern)
    if "".join(parts) != pattern:
        raise ValueError(f"not readable: {pattern!a}")
    needs, firsts, empty = _either(iter((*parts, ")")))
    return Demands(needs, None if empty else firsts, empty)


def _either(parts: Iterator[str]) -> Demands:
    """Read up to the closing bracket: ways to fit, of which one is enough."""
    ways: list[Demands] = []
    items: list[Demands] = []
    for part in parts:
        if part in "|)":
            ways.append(_in_order(items))
            items = []
            if part == ")":
                break
        elif part in "*?":
            items.append(Demands(firsts=items.pop().firsts, empty=True))
        elif part != "+":
            items.append(_item(part, parts))
    return _any_of(ways)


def _item(part: str, parts: Iterator[str]) -> Demands:
    if part == "(?=":
        return Demands(_either(parts).needs, empty=True)
    if part == "(?!":
        _either(parts)  # read to its end: what it forbids is left to the pattern
        return _LOOK
    if part == "(?:":
        return _either(parts)
    if part in "^$":
        return _LOOK
    if part == "." or part.startswith("[^"):
        return _ANY
    letters = frozenset(_MARKS.sub("", part))
    return Demands((letters,), letters)


def _in_order(items: Sequence[Demands]) -> Demands:
    firsts: Letters | None = _NONE
    empty = True
    for item in items:
        if empty:
            firsts = None if firsts is None or item.firsts is None else firsts | item.firsts
            empty = item.empty
    needs = dict.fromkeys(need for item in items for need in item.needs)
    return Demands(tuple(needs), firsts, empty)


def _any_of(ways: Sequence[Demands]) -> Demands:
    if len(ways) == 1:
        return ways[0]
    least = [min(way.needs, key=len, default=_NONE) for way in ways]
    firsts = [way.firsts for way in ways if way.firsts is not None]
    return Demands(
        needs=(_NONE.union(*least),) if all(least) else (),
        firsts=_NONE.union(*firsts) if len(firsts) == len(ways) else None,
        empty=any(way.empty for way in ways),
    )
