"""What a figure is held to, said beside it: met or missed.

An aim that nobody believes in teaches to look past all of them.  Why each is what it is, and why
some are missed, stands in `bench/README.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Aim:
    """A bound for a figure.

    Attributes:
        bound: In the unit of the figure.
        least: The figure is to reach it; otherwise it is to stay within.
    """

    bound: float
    least: bool = False

    def is_met(self, figure: float) -> bool:
        """Tell whether the figure keeps it."""
        return figure >= self.bound if self.least else figure <= self.bound

    def beside(self, figure: float) -> str:
        """Return what to print beside a figure: ``aim: at most 2.2, met``."""
        side = "at least" if self.least else "at most"
        return f"aim: {side} {self.bound:g}, {'met' if self.is_met(figure) else 'MISSED'}"


def judged(figures: Mapping[str, float], aims: Mapping[str, Aim]) -> Iterator[str]:
    """Give a line for each figure that has an aim and was measured."""
    for name, aim in aims.items():
        if name in figures:
            yield f"{name}: {figures[name]:g} ({aim.beside(figures[name])})"
