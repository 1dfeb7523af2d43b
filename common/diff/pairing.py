"""A file's diff side by side: which removed line an added one replaces, and what differs in it.

The texts are those of `view.rows`.  Lines are paired in order, by the words that they share; lines
that share few stand alone.  All of it takes time nearly linear to the diff: large blocks are paired
by position, long lines are compared at their ends, and where a diff has very many tokens that
repeat, its later lines are as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate, takewhile
from typing import Final, Literal

from common.diff.model import MINUS, PLUS, FileDiff, Hunk
from common.diff.view import shown

PairKind = Literal["hunk", "context", "change", "open"]
Marks = tuple[tuple[int, int], ...]

MAX_ALIGNED: Final = 60  # lines of one side of a block that are compared each with each
MAX_COMPARED: Final = 400  # characters of a line that is compared word by word
LEAST_SIMILAR: Final = 400  # of 1,000, for lines to be paired
MAX_EFFORT: Final = 1_000_000  # equal tokens of two lines, counted with each other, in a file
_BASE_EFFORT: Final = 20  # of one comparison

# What `shown` writes for a hidden character is one token, as is a letter with its accents or an
# emoji with its colour.
_EXTENDING: Final = (
    "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
)
_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN: Final = re.compile(
    r"⟨(?:U\+[0-9A-F]{4,6}|0x[0-9A-F]{2}|[0-9]++ × U\+[0-9A-F]{4}(?:, U\+[0-9A-F]{4})?)⟩"
    rf"|(?:[^\W{_CJK}]++[{_EXTENDING}]*+)++"
    r"|[ \t]++"
    rf"|.[{_EXTENDING}]*+",
    re.DOTALL,
)
_WORD_BITS: Final = 3  # a word weighs as much as three punctuation marks


@dataclass(frozen=True, slots=True)
class Side:
    """One line of one side.

    Attributes:
        number: Of the line in its file, from 1.
        text: As `view.shown` gives it.
        marks: Half-open ranges of code points that the other side does not have; none where the
            line stands alone or has nothing in common with the other.
    """

    number: int
    text: str
    marks: Marks = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """One row of a side-by-side view.

    Attributes:
        kind: ``hunk`` begins one; ``change`` has a removed line, an added one or both; ``open``
            follows the last line of a file that ends without a line feed.
        old: None where there is no such line, and for ``hunk`` and ``open``.
        new: The same of the new side.
        section: Of ``hunk``, as `view.rows` has it.
        starts: Of ``hunk``: ``old_start`` and ``new_start``.
        ends: Of ``open``: whether the old side ends without a line feed, and whether the new does.
    """

    kind: PairKind
    old: Side | None = None
    new: Side | None = None
    section: str = ""
    starts: tuple[int, int] = (0, 0)
    ends: tuple[bool, bool] = (False, False)


_Lines = list[tuple[int, str]]  # number and text


def paired(file: FileDiff) -> Iterator[Pair]:
    """Yield the rows of one file, in the order of the diff."""
    effort = _Effort(MAX_EFFORT)
    for hunk in file.hunks:
        starts = hunk.old_start, hunk.new_start
        yield Pair("hunk", section=shown(hunk.section, file.encoding), starts=starts)
        yield from _of_hunk(hunk, file.encoding, effort)
        if hunk.old_open or hunk.new_open:  # the lines that it speaks of are the last of a hunk
            yield Pair("open", ends=(hunk.old_open, hunk.new_open))


def _of_hunk(hunk: Hunk, encoding: str, effort: _Effort) -> Iterator[Pair]:
    old_no, new_no = hunk.old_first, hunk.new_first
    removed: _Lines = []
    added: _Lines = []
    for line in hunk.lines:
        kind, text = line[0], shown(line[1:], encoding)
        old_no += kind != PLUS
        new_no += kind != MINUS
        if kind == PLUS:
            added.append((new_no, text))
        elif kind == MINUS:
            removed.append((old_no, text))
        else:
            yield from _of_block(removed, added, effort)
            removed, added = [], []
            yield Pair("context", Side(old_no, text), Side(new_no, text))
    yield from _of_block(removed, added, effort)


def _of_block(removed: _Lines, added: _Lines, effort: _Effort) -> Iterator[Pair]:
    old_at = new_at = 0
    for old, new in _aligned([text for _, text in removed], [text for _, text in added]):
        yield from _alone(removed[old_at:old], added[new_at:new])
        (old_no, old_text), (new_no, new_text) = removed[old], added[new]
        old_marks, new_marks = _marks(old_text, new_text, effort)
        yield Pair("change", Side(old_no, old_text, old_marks), Side(new_no, new_text, new_marks))
        old_at, new_at = old + 1, new + 1
    yield from _alone(removed[old_at:], added[new_at:])


def _alone(removed: _Lines, added: _Lines) -> Iterator[Pair]:
    for number, text in removed:
        yield Pair("change", old=Side(number, text))
    for number, text in added:
        yield Pair("change", new=Side(number, text))


# --- which lines belong together ---


def _aligned(old: Sequence[str], new: Sequence[str]) -> Iterable[tuple[int, int]]:
    """Return the indexes of the lines that belong together, rising on both sides."""
    if not old or not new:
        return ()
    if max(len(old), len(new)) > MAX_ALIGNED:
        sides = enumerate(zip(old, new, strict=False))
        return ((at, at) for at, (one, other) in sides if _are_similar(one, other))
    weights = _Weights()
    return _best_path([weights.of(line) for line in old], [weights.of(line) for line in new])


def _are_similar(old: str, new: str) -> bool:
    weights = _Weights()
    return _similarity(weights.of(old), weights.of(new)) > 0


def _best_path(old: list[int], new: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs, in order, whose similarities have the largest sum."""
    alike = [[_similarity(one, other) for other in new] for one in old]
    best = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]  # from here to the ends
    for at in reversed(range(len(old))):
        row, below = best[at], best[at + 1]
        for to in reversed(range(len(new))):
            together = alike[at][to] and alike[at][to] + below[to + 1]
            row[to] = max(together, below[to], row[to + 1])
    at = to = 0
    while at < len(old) and to < len(new):
        if alike[at][to] and best[at][to] == alike[at][to] + best[at + 1][to + 1]:
            yield at, to
            at, to = at + 1, to + 1
        elif best[at + 1][to] >= best[at][to + 1]:
            at += 1
        else:
            to += 1


class _Weights:
    """Turns lines into sets of bits: some for each token, more for a word, none for blanks."""

    def __init__(self) -> None:
        self._bits: dict[tuple[str, int], int] = {}  # a token's second time in a line has its own
        self._free = 0

    def of(self, line: str) -> int:
        """Return the bits of a line; of a long one, its ends count."""
        if len(line) > MAX_COMPARED:
            line = line[: MAX_COMPARED // 2] + line[-MAX_COMPARED // 2 :]
        times: dict[str, int] = {}
        weight = 0
        for token in _TOKEN.findall(line):
            if not token.isspace():
                times[token] = time = times.get(token, 0) + 1
                weight |= self._bits.get((token, time)) or self._new(token, time)
        return weight

    def _new(self, token: str, time: int) -> int:
        size = _WORD_BITS if token[0].isalnum() else 1
        bits = self._bits[token, time] = ((1 << size) - 1) << self._free
        self._free += size
        return bits


def _similarity(one: int, other: int) -> int:
    """Return up to 1,000 for what two lines share; 0 where that is too little."""
    both = one.bit_count() + other.bit_count()
    similar = 2000 * (one & other).bit_count() // both if both else 1000  # two lines of blanks
    return similar if similar >= LEAST_SIMILAR else 0


# --- what differs between two lines ---


class _Effort:
    """Bounds what is spent on comparing word by word, in all lines of a file."""

    def __init__(self, left: int) -> None:
        self._left = left

    def allows(self, old: list[str], new: list[str]) -> bool:
        """Take what comparing these tokens costs; tell whether that was left."""
        times = Counter(new)
        self._left -= _BASE_EFFORT + sum(times[token] for token in old)
        return self._left >= 0


def _marks(old: str, new: str, effort: _Effort) -> tuple[Marks, Marks]:
    """Return what differs between two lines that belong together, on both sides."""
    ours, theirs = _TOKEN.findall(old), _TOKEN.findall(new)
    head = _same(zip(ours, theirs, strict=False))
    tail = _same(zip(reversed(ours[head:]), reversed(theirs[head:]), strict=False))
    mine, other = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    spans = [((0, len(mine)), (0, len(other)))]
    is_short = max(len(old), len(new)) <= MAX_COMPARED
    if is_short and mine and other and effort.allows(mine, other):
        matcher = SequenceMatcher(None, mine, other, autojunk=False)
        spans = [((a, b), (c, d)) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]
    if spans == [((0, len(ours)), (0, len(theirs)))]:
        return (), ()
    return (
        _ranges(ours, [(head + begin, head + end) for (begin, end), _ in spans]),
        _ranges(theirs, [(head + begin, head + end) for _, (begin, end) in spans]),
    )


def _same(pairs: Iterable[tuple[str, str]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _ranges(tokens: list[str], spans: list[tuple[int, int]]) -> Marks:
    """Return where tokens stand in their line, as code points."""
    at = list(accumulate(map(len, tokens), initial=0))
    return tuple((at[begin], at[end]) for begin, end in spans if begin < end)
