"""How every face shows what others wrote: nothing hidden, nothing that the screen would obey."""

from __future__ import annotations

from typing import Final

from common.terminal import cells, exact

ENDLESS: Final = 1 << 30  # cells: whoever asked breaks the line
_TAB: Final = "⇥"
_TAB_STOP: Final = 4


def on_one_line(text: str) -> str:
    """Return the text with everything in it visible, its line ends marked and joined."""
    return "".join(exact(text, width=ENDLESS))


def tabs_shown(text: str) -> str:
    """Return the text with each tab as an arrow that reaches to the next stop."""
    first, *parts = text.split("\t")
    shown, column = [first], cells(first)
    for part in parts:
        gap = _TAB_STOP - column % _TAB_STOP
        shown += (_TAB, " " * (gap - 1), part)
        column += gap + cells(part)
    return "".join(shown)
