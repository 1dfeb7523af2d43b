"""Learns the weights of the router's second stage from the labelled messages that were seen.

``python -m bench.weigh`` writes ``local_agent/routing/weights.tsv``: an averaged perceptron with a
margin, in whole numbers, without what occurs once or weighs next to nothing.  Repeatable.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

from local_agent.routing import weighing
from local_agent.routing.rules import read_traits
from tests.routing_set.messages import Labelled, Split, labelled

_SEEN: Final[tuple[Split, ...]] = ("dev", "unseen", "other", "fresh")
_ROUNDS: Final = 8
_MARGIN: Final = 3
_UNIT: Final = 8  # of one step of learning
_LEAST: Final = 6  # a weight under it is left out
_OUT: Final = Path(weighing.__file__).with_name(weighing.FILE)

Example = tuple[Labelled, list[str]]


def main() -> None:
    """Learn and write."""
    examples = [(one, sorted(read_traits(one.text))) for split in _SEEN for one in labelled(split)]
    often = Counter(trait for _, found in examples for trait in found)
    kept = [(one, [trait for trait in found if often[trait] > 1]) for one, found in examples]
    lines = sorted(filter(None, map(_line, *zip(*_learn(kept).items(), strict=True))))
    _OUT.write_text("".join(lines), encoding="utf-8", newline="\n")
    print(f"{len(lines)} traits, {_OUT.stat().st_size} bytes")


def _learn(examples: list[Example]) -> dict[str, list[float]]:
    size, chance, step = len(weighing.KINDS), random.Random(1), 1
    weights: dict[str, list[float]] = defaultdict(lambda: [0.0] * size)
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * size)
    for _ in range(_ROUNDS):
        chance.shuffle(examples)
        for one, found in examples:
            scores = [sum(weights[trait][kind] for trait in found) for kind in range(size)]
            right = weighing.KINDS.index(one.kind)
            wrong = max(
                (kind for kind in range(size) if not one.accepts(weighing.KINDS[kind])),
                key=scores.__getitem__,
            )
            if scores[right] - scores[wrong] < _MARGIN:
                for trait in found:
                    for kind, by in ((right, 1), (wrong, -1)):
                        weights[trait][kind] += by
                        sums[trait][kind] += by * step
            step += 1
    return {
        trait: [weight - late / step for weight, late in zip(row, sums[trait], strict=True)]
        for trait, row in weights.items()
    }


def _line(trait: str, row: list[float]) -> str:
    whole = [(kind, round(weight * _UNIT)) for kind, weight in enumerate(row)]
    pairs = [f"{kind}{weight:+d}" for kind, weight in whole if abs(weight) >= _LEAST]
    return "\t".join([weighing.spelt(trait), *pairs]) + "\n" if pairs else ""


if __name__ == "__main__":
    main()
