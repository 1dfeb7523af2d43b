"""How likely each kind is, by what was learnt from the labelled messages (`bench.train`).  Pure."""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from local_agent.understand.reading import Kind

ZERO: Final = 128  # what a weight of nothing is, so that a byte holds it


@dataclass(frozen=True, slots=True)
class Classifier:
    """What was learnt.

    Attributes:
        kinds: Of each column.
        keys: The numbers of the runs that weigh something, sorted.
        weights: A row for each of them, a byte for each kind.
        bias: What speaks for each kind in any text.
        unit: What a weight of 1 is worth.
        sharpness: What turns differences of the sums into likelihoods; fitted on lists that were
            left out of training.
    """

    kinds: tuple[Kind, ...]
    keys: Sequence[int]
    weights: memoryview
    bias: tuple[float, ...]
    unit: float
    sharpness: float

    def likelihoods(self, features: Collection[int]) -> list[float]:
        """Return how likely each of `kinds` is; they add up to 1."""
        keys, size, width = self.keys, len(self.keys), len(self.kinds)
        rows = []
        for number in features:
            place = bisect_left(keys, number)
            if place < size and keys[place] == number:
                rows.append(self.weights[place * width : place * width + width])
        # What is not known speaks for nothing, and makes the rest weigh less.
        scale = self.unit / math.sqrt(max(len(features), 1))
        sums = [sum(column) - ZERO * len(rows) for column in zip(*rows, strict=True)] or [0] * width
        return self._shares([b + scale * s for b, s in zip(self.bias, sums, strict=True)])

    def _shares(self, sums: Sequence[float]) -> list[float]:
        most = max(sums)
        powers = [math.exp(self.sharpness * (one - most)) for one in sums]
        total = sum(powers)
        return [one / total for one in powers]


def unpacked(content: memoryview) -> Classifier:
    """Return what a file holds: a line of JSON, sorted numbers of runs, the weights of each.

    Raises:
        ValueError: it is not what was written.
    """
    begins = bytes(content[:4096]).index(b"\n") + 1
    head = json.loads(bytes(content[:begins]))
    kinds = tuple(map(Kind, head["kinds"]))
    rows = begins + 4 * head["rows"]
    if len(content) != rows + head["rows"] * len(kinds) or begins % 4:
        raise ValueError("the weights are cut off")
    return Classifier(
        kinds=kinds,
        keys=content[begins:rows].cast("I"),
        weights=content[rows:],
        bias=tuple(head["bias"]),
        unit=head["unit"],
        sharpness=head["sharpness"],
    )
