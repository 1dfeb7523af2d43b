"""Found lines and changed files as a terminal shows them; elsewhere they stay as they are.

A program that reads them gets ``path:line: text``, one a line.  On a terminal each file is named
once, above its lines, and counts stand below one another.  Only the layout is made here: a line
that looks like neither is printed as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from common.sentences import LANGS, say
from common.terminal import cells, fold, pad
from local_agent.cli.screen import Screen
from local_agent.propose import words as proposal_words

_HIT: Final = re.compile(r"(?P<path>[^\s:][^:]{0,1023}):(?P<line>\d{1,9}): (?P<text>.*)")
_CHANGED: Final = re.compile(
    r"(?P<sign>[AMDR?·]) (?P<path>.{1,1100}) (?:\+(?P<added>\d{1,9}) −(?P<removed>\d{1,9})"
    rf"|(?P<other>{'|'.join(re.escape(say(proposal_words.NOT_COUNTED, lang)) for lang in LANGS)}))"
)
_STYLES: Final = {"A": "green", "D": "red", "?": "green"}
_NARROWEST: Final = 20  # cells for a text, however narrow the terminal is


def laid_out(screen: Screen, lines: Iterable[str]) -> Iterator[str]:
    """Give the lines of an answer as this screen shows them."""
    if not screen.live:
        yield from lines
        return
    for shape, group in groupby(lines, _shape):
        match shape:
            case "hit":
                yield from _hits(screen, group)
            case "changed":
                yield from _changed(screen, list(group))
            case _:
                yield from group


def _shape(line: str) -> str:
    if _HIT.fullmatch(line):
        return "hit"
    return "changed" if _CHANGED.fullmatch(line) else ""


def _hits(screen: Screen, lines: Iterable[str]) -> Iterator[str]:
    found = [match for line in lines if (match := _HIT.fullmatch(line))]
    width = max(len(match["line"]) for match in found)
    for path, group in groupby(found, lambda match: match["path"]):
        yield screen.ink("bold", path)
        for match in group:
            head = f"  {match['line']:>{width}}  "
            first, *rest = fold(match["text"], max(screen.width - len(head), _NARROWEST))
            yield screen.ink("dim", head) + first
            yield from (" " * len(head) + piece for piece in rest)


def _changed(screen: Screen, lines: Iterable[str]) -> Iterator[str]:
    found = [match for line in lines if (match := _CHANGED.fullmatch(line))]
    added, removed = (
        max(len(match[name] or "") for match in found) + 1 for name in ("added", "removed")
    )
    room = max(screen.width - added - removed - 6, _NARROWEST)
    widest = min(max(cells(match["path"]) for match in found), room)
    for match in found:
        *before, path = fold(match["path"], room)
        sign = screen.ink(_STYLES.get(match["sign"], "bold"), match["sign"])
        yield from (f"  {sign} {piece}" for piece in before)
        yield f"  {sign} {pad(path, widest)} {_amount(screen, match, added, removed)}"


def _amount(screen: Screen, match: re.Match[str], added: int, removed: int) -> str:
    if match["other"]:
        return screen.ink("dim", match["other"])
    plus, minus = f"+{match['added']}", f"−{match['removed']}"
    return f"{screen.ink('green', f'{plus:>{added}}')} {screen.ink('red', f'{minus:>{removed}}')}"
