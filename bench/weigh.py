"""Learns the weights of the router's second stage from the labelled messages that were seen.

    python -m bench.weigh [--check]

Writes ``local_agent/routing/weights.tsv``: two averaged perceptrons with a margin, one of the kinds
and one of whether a message may act at all, in whole numbers, without what occurs rarely or weighs
next to nothing.  Repeatable to the byte.  ``--check`` writes nothing: each quarter of the messages
that no rule was written against is judged by the weights learnt without it.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from local_agent.routing import rules, weighing
from local_agent.routing.deciding import decide, read_traits
from tests.routing_set.messages import LEARNT, NEVER_ACTS, RULED, Labelled, Split, labelled

_ROUNDS: Final = 16
_ORDERS: Final = 4
_OFTEN: Final = 3  # messages that must have a trait
_KIND_MARGIN, _LEAST_KIND = 25, 6  # a weight under the least is left out
_DEED_MARGIN, _LEAST_DEED = 30, 6
_DEED: Final = len(weighing.KINDS)  # its column
_FOLDS: Final = 4
_OUT: Final = Path(weighing.__file__).with_name(weighing.FILE)

Example = tuple[Labelled, list[str]]
Columns = dict[str, dict[int, int]]
# What a message teaches, by the sums so far: columns that should be more or less, and by how much.
Lesson = Callable[[Labelled, Sequence[float]], Mapping[int, int]]


def main(argv: Sequence[str] | None = None) -> None:
    """Learn and write, or check."""
    options = argparse.ArgumentParser(prog="python -m bench.weigh")
    options.add_argument(
        "--check", action="store_true", help="learn without each quarter, judge it"
    )
    examples = {split: list(_examples(split)) for split in LEARNT}
    if options.parse_args(argv).check:
        _check(examples)
        return
    weights = _learnt(example for split in LEARNT for example in examples[split])
    _OUT.write_text("".join(sorted(map(_line, weights, weights.values()))), "utf-8")
    print(f"{len(weights)} traits, {_OUT.stat().st_size} bytes")


def _check(examples: Mapping[Split, list[Example]]) -> None:
    ruled = [example for split in RULED for example in examples[split]]
    asked = [example for split in LEARNT if split not in RULED for example in examples[split]]
    random.Random(7).shuffle(asked)
    right, forbidden = 0, 0
    for fold in range(_FOLDS):
        rest = [example for place, example in enumerate(asked) if place % _FOLDS != fold]
        weights = {
            weighing.read(trait): weighing.packed(columns)
            for trait, columns in _learnt([*ruled, *rest]).items()
        }
        for one, _ in asked[fold::_FOLDS]:
            kind = decide(one.text, weights).kind
            right += one.accepts(kind)
            forbidden += one.forbids(kind)
    print(f"learnt without: {right} of {len(asked)} right, {forbidden} forbidden")


def _examples(split: Split) -> Iterator[Example]:
    """Yield the messages of a file with what is weighed of them, as the file spells it.

    The rules that fitted are left out where rules were written against the messages: there they are
    nearly always right, and what they are worth is only seen on the others.
    """
    for one in labelled(split):
        found = sorted(set(map(weighing.spelt, read_traits(rules.read(one.text)))))
        fair = [one for one in found if split not in RULED or not one.startswith(weighing.RULE)]
        yield one, fair


def _learnt(examples: Iterable[Example]) -> Columns:
    seen = list(examples)
    often = Counter(trait for _, found in seen for trait in found)
    kept = [(one, [trait for trait in found if often[trait] >= _OFTEN]) for one, found in seen]
    kinds = _learn(kept, _kind_lesson, _LEAST_KIND)
    deeds = _learn(kept, _deed_lesson, _LEAST_DEED)
    return {trait: kinds.get(trait, {}) | deeds.get(trait, {}) for trait in (kinds | deeds)}


def _kind_lesson(one: Labelled, sums: Sequence[float]) -> Mapping[int, int]:
    right = weighing.KINDS.index(one.kind)
    others = [place for place, kind in enumerate(weighing.KINDS) if not one.accepts(kind)]
    wrong = max(others, key=sums.__getitem__)
    return {right: 1, wrong: -1} if sums[right] - sums[wrong] < _KIND_MARGIN else {}


def _deed_lesson(one: Labelled, sums: Sequence[float]) -> Mapping[int, int]:
    if NEVER_ACTS in one.tags:
        return {_DEED: -1} if sums[_DEED] > -_DEED_MARGIN else {}
    return {_DEED: 1} if one.kind in rules.ACTS and sums[_DEED] < _DEED_MARGIN else {}


@dataclass(slots=True)
class _Row:
    """The weights of one trait, and the same times the step of each lesson: what they were late."""

    now: list[float] = field(default_factory=lambda: [0.0] * (_DEED + 1))
    late: list[float] = field(default_factory=lambda: [0.0] * (_DEED + 1))

    def learn(self, column: int, by: int, step: int) -> None:
        self.now[column] += by
        self.late[column] += by * step

    def add_mean(self, to: list[float], steps: int) -> None:
        """Add the weights as they were on average, in whole units."""
        for column, (now, late) in enumerate(zip(self.now, self.late, strict=True)):
            to[column] += weighing.UNIT * (now - late / steps)


def _learn(examples: Iterable[Example], lesson: Lesson, least: int) -> Columns:
    """Return the weights, as they are on average over some orders of the examples."""
    known = [pair for pair in examples if pair[1]]
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * (_DEED + 1))
    for order in range(_ORDERS):
        _learn_once(list(known), lesson, random.Random(order), sums)
    means = {
        trait: {column: round(one / _ORDERS) for column, one in enumerate(row)}
        for trait, row in sums.items()
    }
    kept = {
        trait: {column: mean for column, mean in row.items() if abs(mean) >= least}
        for trait, row in means.items()
    }
    return {trait: columns for trait, columns in kept.items() if columns}


def _learn_once(
    order: list[Example], lesson: Lesson, chance: random.Random, sums: dict[str, list[float]]
) -> None:
    rows: dict[str, _Row] = defaultdict(_Row)
    step = 1
    for _ in range(_ROUNDS):
        chance.shuffle(order)
        for one, found in order:
            mine = [rows[trait] for trait in found]
            so_far = [sum(column) for column in zip(*[row.now for row in mine], strict=True)]
            for column, by in lesson(one, so_far).items():
                for row in mine:
                    row.learn(column, by, step)
            step += 1
    for trait, row in rows.items():
        row.add_mean(sums[trait], step)


def _line(trait: str, columns: dict[int, int]) -> str:
    pairs = (f"{column}{weight:+d}" for column, weight in sorted(columns.items()))
    return "\t".join([trait, *pairs]) + "\n"


if __name__ == "__main__":
    main()
