"""How fast a diff of 2 MB is read, beside unidiff from PyPI in the same run.

    python -m bench.diffs

The two take turns, and the fastest reading of each counts: what else the machine does hits both.
Ours checks every count, name and order; unidiff is given text that is decoded already.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.aims import Aim
from common.diff.model import MAX_BYTES
from common.diff.parse import parse_diff

AIM: Final = Aim(5, least=True)  # times as fast as unidiff

_WORDS: Final = ("self", "value", "return", "x", "=", "config", "for", "token", "in", "items()")


@dataclass(frozen=True, slots=True)
class Reading:
    """The fastest reading of each, in seconds."""

    ours_seconds: float
    unidiff_seconds: float

    @property
    def ratio(self) -> float:
        """Return how many times as fast ours was."""
        return self.unidiff_seconds / self.ours_seconds


def git_diff(size: int = MAX_BYTES, *, seed: int = 4) -> bytes:
    """Return what `git diff` could print, in at most ``size`` bytes: files of a few hunks each."""
    chance = random.Random(seed)
    files: list[str] = []
    left = size
    while len(file := _file(chance, len(files))) <= left:
        files.append(file)
        left -= len(file)
    return "".join(files).encode()


def beside_unidiff(diff: bytes, *, rounds: int = 8) -> Reading:
    """Return how long both take to read the same diff."""
    patch_set: Callable[[str], object] = import_module("unidiff").PatchSet
    text = diff.decode()
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(_seconds(lambda: parse_diff(diff)))
        theirs.append(_seconds(lambda: patch_set(text)))
    return Reading(min(ours), min(theirs))


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    diff = git_diff()
    reading = beside_unidiff(diff)
    print(
        f"{len(diff):,} bytes, {diff.count(b'diff --git'):,} files: ours "
        f"{reading.ours_seconds * 1000:.1f} ms, unidiff {reading.unidiff_seconds * 1000:.1f} ms, "
        f"{reading.ratio:.1f} times as fast ({AIM.beside(reading.ratio)})"
    )
    return 0


def _seconds(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def _file(chance: random.Random, number: int) -> str:
    path = f"src/part{number % 20}/module_{number}.py"
    parts = [
        f"diff --git a/{path} b/{path}\nindex 1234567..89abcde 100644\n--- a/{path}\n+++ b/{path}\n"
    ]
    at, grown = 1, 0
    for _ in range(chance.randrange(2, 12)):
        at += chance.randrange(1, 40)
        removed, added = chance.randrange(12), chance.randrange(1, 24)
        parts.append(f"@@ -{at},{6 + removed} +{at + grown},{6 + added} @@ def f():\n")
        marks = " " * 3 + "-" * removed + "+" * added + " " * 3
        parts += [f"{mark}{_line(chance)}\n" for mark in marks]
        at += 6 + removed
        grown += added - removed
    return "".join(parts)


def _line(chance: random.Random) -> str:
    words = chance.choices(_WORDS, k=chance.randrange(1, 9))
    return " " * (4 * chance.randrange(4)) + " ".join(words)


if __name__ == "__main__":
    sys.exit(main())
