"""Stage two of the table: what the words of a text speak for.  Pure but for its data file.

A linear model over words, their beginnings and classes, the characters of Chinese and the rules
that fitted.  Its weights were learnt from the labelled messages (`bench.weigh`).  It names a kind;
beside that, and learnt apart, it tells how much speaks for a wish that may become a deed, against
a question, a ban or an approval (`rules` asks for both).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from operator import add
from struct import Struct
from typing import Final, NamedTuple

from common.model.intent import TaskKind
from local_agent.routing.clauses import Clause
from local_agent.routing.tags import LETTER, NAME

KINDS: Final = tuple(TaskKind(name) for name in (
    "help", "status", "explain", "diagnose", "search", "review", "change", "run", "git_sync",
))  # fmt: skip
RULE: Final = "r:"  # opens a trait that names a rule
FILE: Final = "weights.tsv"
HARMLESS: Final = 6  # of them: neither change nor run anything
RUNS_NOTHING: Final = 7
_COLUMNS: Final = len(KINDS) + 1  # of the file: one for each kind, and one for what may act
UNIT: Final = 8  # of one step of learning; the file has whole numbers
_CLAUSES: Final = 6
_WORDS: Final = 30  # of one clause
_STEM: Final = 4  # letters
_HAN_CHARS: Final = 200
_HAN: Final = re.compile(r"[\u3400-\u9fff]+")
_CLASS: Final = "\u00a7"  # opens a trait of classes; no word has it

_BITS: Final = 32  # of one column's sum, all of which are added as one number
_SUMS: Final = Struct(f"<{_COLUMNS}I")
_HALF: Final = 1 << (_BITS - 1)  # what a sum of zero is in it, so that none is negative
_ZERO: Final = sum(_HALF << (_BITS * place) for place in range(_COLUMNS))

Weights = Mapping[str, int]


class Weighed(NamedTuple):
    """What the words speak for.

    Attributes:
        sums: How much speaks for each of `KINDS`, in order; only their differences tell anything.
        deed: How much speaks for a wish rather than a question, a ban or an approval.
    """

    sums: tuple[int, ...]
    deed: int

    def most(self, among: int = len(KINDS)) -> TaskKind:
        """Return the kind that most speaks for, of the first so many of `KINDS`."""
        return KINDS[self.sums.index(max(self.sums[:among]))]

    def ahead(self, kind: TaskKind, other: TaskKind) -> int:
        """Return by how much more speaks for one kind than for another; negative if less."""
        return self.sums[KINDS.index(kind)] - self.sums[KINDS.index(other)]


def traits(folded: str, clauses: Sequence[Clause], rules: Iterable[str]) -> list[str]:
    """Return what is weighed of a text; what occurs twice is weighed once.

    Args:
        folded: The text folded and blotted.
        clauses: Its clauses.
        rules: The names of the rules that fitted them, and of the one that decided.
    """
    found = [f"#{min(len(clauses), _CLAUSES)}", *map(RULE.__add__, rules)]
    for clause in clauses[:_CLAUSES]:
        found += _of_clause(clause)
    left = _HAN_CHARS
    for run in () if folded.isascii() else _HAN.findall(folded):
        if left <= 0:
            break
        found += _of_han(f"<{run[:left]}>")
        left -= len(run)
    return found


def _of_clause(clause: Clause) -> list[str]:
    words = [token.word for token in clause.tokens[:_WORDS]]
    tags = clause.tags[:_WORDS]
    return [
        *words,
        *["*" + word[:_STEM] for word in words if len(word) > _STEM and word.isascii()],
        *map(_CLASS.__add__, tags),
        f"{_CLASS}^{tags[:3]}",
        f"{_CLASS}${tags[-2:]}",
        *(("?",) if clause.asked else ()),
    ]


def _of_han(run: str) -> list[str]:
    return [*run[1:-1], *map(add, run, run[1:])]


def spelt(trait: str) -> str:
    """Return a trait as the file has it: with the names of classes, whose letters may change."""
    if trait[:1] != _CLASS:
        return trait
    return _CLASS + "+".join([NAME.get(letter, letter) for letter in trait[1:]])


def read(trait: str) -> str:
    """Return a trait as it is weighed, from how the file has it."""
    if trait[:1] != _CLASS:
        return trait
    return _CLASS + "".join([LETTER.get(name, name) for name in trait[1:].split("+")])


def weigh(found: Iterable[str], weights: Weights | None = None) -> Weighed:
    """Return what the traits of a text speak for, by the weights of the file if none are given."""
    table = _WEIGHTS if weights is None else weights
    total = sum(map(table.__getitem__, table.keys() & found), _ZERO)
    columns = _SUMS.unpack(total.to_bytes(_SUMS.size, "little"))
    return Weighed(columns, columns[-1] - _HALF)


def packed(columns: Mapping[int, int]) -> int:
    """Return the weights of one trait, by column, as one number."""
    return sum(weight << _BITS * column for column, weight in columns.items())


def _file() -> Weights:
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    weights: dict[str, int] = {}
    for line in text.splitlines():
        trait, *pairs = line.split("\t")
        weights[read(trait)] = packed({int(pair[0]): int(pair[1:]) for pair in pairs})
    return weights


_WEIGHTS: Final = _file()  # with the module, as if it stood here: no request waits for it
