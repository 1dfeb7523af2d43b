"""Stage two of the table: words weighed where no rule was certain.  Pure but for its data file.

A linear model over words, pairs of them, classes and the rules that fitted; its weights were learnt
from the labelled messages (`bench.weigh`).  It is asked only where the rules are not certain, and
what asks, forbids or approves it never turns into a deed (`rules`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Final

from common.model.intent import TaskKind
from local_agent.routing.clauses import Clause
from local_agent.routing.tags import LETTER, NAME

KINDS: Final = tuple(TaskKind(name) for name in (
    "help", "status", "explain", "change", "run", "diagnose", "search", "review", "git_sync",
))  # fmt: skip
FILE: Final = "weights.tsv"
MARGIN: Final = 2 * 8  # by how much another kind must be the better one, in units of the file
_CLAUSES: Final = 6
_WORDS: Final = 30  # of one clause
_HAN_CHARS: Final = 200
_HAN: Final = re.compile(r"[\u3400-\u9fff]+")

_CLASS: Final = "\u00a7"  # opens a trait of classes; no word has it

_BITS: Final = 24  # of one kind's score, all of which are added as one number
_ZERO: Final = sum(1 << (_BITS * place + _BITS - 1) for place in range(len(KINDS)))
_MASK: Final = (1 << _BITS) - 1
_HALF: Final = 1 << (_BITS - 1)

Weights = Mapping[str, int]


def traits(folded: str, clauses: Sequence[Clause], rules: Iterable[str]) -> set[str]:
    """Return what is weighed of a text.

    Args:
        folded: The text folded and blotted.
        clauses: Its clauses.
        rules: The names of the rules that fitted them.
    """
    found = {f"r:{name}" for name in rules}
    for clause in clauses[:_CLAUSES]:
        found.update(_of_clause(clause))
    left = _HAN_CHARS
    for run in _HAN.findall(folded):
        if left <= 0:
            break
        found.update(_of_han(f"<{run[:left]}>"))
        left -= len(run)
    return found


def _of_clause(clause: Clause) -> list[str]:
    words = [token.word for token in clause.tokens[:_WORDS]]
    tags = clause.tags[:_WORDS]
    return [
        *words,
        *map(" ".join, pairwise(words)),
        *[_CLASS + tag for tag in set(tags)],
        f"^{words[0]}",
        f"^^{' '.join(words[:2])}",
        f"${words[-1]}",
        f"{_CLASS}^{tags[:2]}",
        f"{_CLASS}^{tags[:3]}",
        f"{_CLASS}${tags[-2:]}",
        *(("?",) if clause.asked else ()),
    ]


def _of_han(run: str) -> list[str]:
    places = range(len(run) - 1)
    return [
        *[run[place : place + 2] for place in places],
        *[run[place : place + 3] for place in places],
    ]


def spelt(trait: str) -> str:
    """Return a trait as the file has it: with the names of classes, whose letters may change."""
    if trait[:1] != _CLASS:
        return trait
    return _CLASS + "+".join([NAME.get(letter, letter) for letter in trait[1:]])


def _read(trait: str) -> str:
    if trait[:1] != _CLASS:
        return trait
    return _CLASS + "".join([LETTER.get(name, name) for name in trait[1:].split("+")])


def weigh(found: Iterable[str], weights: Weights | None = None) -> list[int]:
    """Return how much speaks for each of `KINDS`."""
    table = _weights() if weights is None else weights
    total = _ZERO + sum([table[trait] for trait in found if trait in table])
    return [(total >> (_BITS * place) & _MASK) - _HALF for place in range(len(KINDS))]


def preferred(found: Iterable[str], guessed: TaskKind, times: int) -> TaskKind:
    """Return the kind that most speaks for, if by some margins more than for the guessed one."""
    if guessed not in KINDS:
        return guessed
    scores = weigh(found)
    best = max(range(len(KINDS)), key=scores.__getitem__)
    return KINDS[best] if scores[best] > scores[KINDS.index(guessed)] + times * MARGIN else guessed


@cache
def _weights() -> Weights:
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    weights: dict[str, int] = {}
    for line in text.splitlines():
        trait, *pairs = line.split("\t")
        weights[_read(trait)] = sum(int(pair[1:]) << _BITS * int(pair[0]) for pair in pairs)
    return weights
