"""Learns what the words of a request speak for, from the labelled messages.

    make understand                    (python -m bench.train [--check])

Writes ``local_agent/understand/model.bin``: for each kind a linear support vector machine over runs
of words and letters, in whole numbers.  Repeatable to the byte: liblinear adds and multiplies in
one order and draws its own numbers.  How sharply likelihoods part is fitted on lists that were left
out and hold messages as they come.  Lists in ``held_out`` are not opened.  ``--check`` writes
nothing and fails if the file differs.
"""

from __future__ import annotations

import argparse
import array
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).parent.parent))

from local_agent.understand.classifier import ZERO, Classifier
from local_agent.understand.features import features
from local_agent.understand.folding import blot, fold, seen
from local_agent.understand.reader import MODEL
from local_agent.understand.reading import Kind
from tests.understanding_set.messages import LEARNT, Labelled, labelled

_LOOSE: Final = 1.0
_FOLDS: Final = 6  # each list is left out once, with others
_LARGEST: Final = 127
_ROWS: Final = 120_000  # about so many runs are kept: those that weigh most for some kind
_SHARPNESS: Final = [value / 4 for value in range(8, 29)]
# Where every message is there to be mistaken for another, or of a kind that no other list teaches,
# no likelihood could be what it says.
_CONTRIVED: Final = frozenset(
    [
        "acts",
        "basics",
        "beyond",
        "brief",
        "common",
        "habits",
        "negated",
        "pairs",
        "quoting",
        "told",
        "twins",
    ]
)

Example = tuple[Labelled, set[int]]


def main(argv: Sequence[str] | None = None) -> int:
    """Learn and write, or check."""
    options = argparse.ArgumentParser(prog="python -m bench.train")
    options.add_argument("--check", action="store_true", help="fail if the file would differ")
    check = options.parse_args(argv).check
    lists = {name: [(one, read(one.text)) for one in labelled(name)] for name in LEARNT}
    left_out = likelihoods_left_out(lists, sharpness=1.0)
    sharpness = min(_SHARPNESS, key=lambda value: _surprise(left_out, value))
    learnt = learn([example for found in lists.values() for example in found], sharpness)
    content = packed(learnt)
    print(
        f"{sum(map(len, lists.values()))} messages, {len(learnt.keys)} runs, {len(content)} bytes"
    )
    if check:
        same = MODEL.read_bytes() == content
        print("the same to the byte" if same else f"{MODEL.name} differs: make understand")
        return 0 if same else 1
    MODEL.write_bytes(content)
    return 0


def read(text: str) -> set[int]:
    """Return what is weighed of a text."""
    return features(blot(fold(seen(text))))


def learn(examples: Sequence[Example], sharpness: float) -> Classifier:
    """Learn from some messages."""
    keys = sorted(set().union(*(found for _, found in examples)))
    place = {key: column for column, key in enumerate(keys)}
    rows = [sorted(place[key] for key in found) for _, found in examples]
    ends = np.cumsum([0, *map(len, rows)])
    # What occurs in few messages tells more; learnt weights carry it, so readers need not know.
    rarity = np.log1p(len(rows) / np.bincount([one for row in rows for one in row])) ** 0.5
    values = [rarity[one] / math.sqrt(len(row)) for row in rows for one in row]
    matrix = csr_matrix((values, [one for row in rows for one in row], ends))
    learnt = [_one_kind(matrix, [one for one, _ in examples], kind) for kind in Kind]
    weights = np.array([weight * rarity for weight, _ in learnt])
    unit = float(np.abs(weights).max()) / _LARGEST
    whole = np.rint(weights / unit).astype(np.int16).T
    most = np.abs(weights).max(axis=0)
    kept = most >= max(unit / 2, np.sort(most)[-min(_ROWS, len(most))])
    return Classifier(
        kinds=tuple(Kind),
        keys=array.array("I", [key for key, keep in zip(keys, kept, strict=True) if keep]),
        weights=memoryview((whole[kept] + ZERO).astype(np.uint8).tobytes()),
        bias=tuple(round(bias, 4) for _, bias in learnt),
        unit=round(unit, 6),
        sharpness=sharpness,
    )


def _one_kind(matrix: Any, messages: Sequence[Labelled], kind: Kind) -> tuple[Any, float]:
    told = np.array([one.kind is kind or kind not in one.also for one in messages])
    wanted = np.array([one.kind is kind for one in messages])[told]
    if not wanted.any():
        return np.zeros(matrix.shape[1]), -1.0
    learner = LinearSVC(C=_LOOSE, random_state=0, tol=1e-4, max_iter=10_000)
    learner.fit(matrix[told], wanted)
    return learner.coef_[0], float(learner.intercept_[0])


def likelihoods_left_out(
    lists: dict[str, list[Example]], sharpness: float
) -> list[tuple[Labelled, list[float]]]:
    """Return how likely each kind is to whoever has not learnt from the message's list."""
    found = []
    for fold_ in range(_FOLDS):
        out = [name for place, name in enumerate(lists) if place % _FOLDS == fold_]
        taught = [one for name, all_ in lists.items() if name not in out for one in all_]
        learnt = learn(taught, sharpness)
        asked = [one for name in out if name not in _CONTRIVED for one in lists[name]]
        found += [(one, learnt.likelihoods(read_)) for one, read_ in asked]
    return found


def _surprise(left_out: Sequence[tuple[Labelled, list[float]]], sharpness: float) -> float:
    """Return how much the labels surprise whoever believes the likelihoods: less is better."""
    total = 0.0
    for one, shares in left_out:
        powers = [share**sharpness for share in shares]
        right = sum(p for p, kind in zip(powers, Kind, strict=True) if one.accepts(kind))
        total -= math.log(max(right / sum(powers), 1e-9))
    return total


def packed(learnt: Classifier) -> bytes:
    """Return the file's content."""
    head = {
        "kinds": [kind.value for kind in learnt.kinds],
        "rows": len(learnt.keys),
        "bias": learnt.bias,
        "unit": learnt.unit,
        "sharpness": learnt.sharpness,
    }
    line = json.dumps(head)
    line += " " * (-(len(line) + 1) % 4) + "\n"
    return line.encode("ascii") + bytes(array.array("I", learnt.keys)) + bytes(learnt.weights)


if __name__ == "__main__":
    sys.exit(main())
