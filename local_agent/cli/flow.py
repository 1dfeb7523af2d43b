"""Text that grows on a terminal, such as the words of a model: wrapped, and in a gutter.

The gutter stands before every row, so that nothing a model writes can pass for a line of ours
(R25).  Pure: text in, what is to be written out.  Only the last row is ever written over.
"""

from __future__ import annotations

from typing import Final

from common.terminal import wrap
from common.text import reveal

GUTTER: Final = "│ "
TAB: Final = "    "
# What these mean at the end of a piece is known once the next one is there: blanks that a row may
# break at, half of a line end, what joins emoji.
_UNSURE: Final = " \r\u200d\ufe0f"
_ANEW: Final = "\r\x1b[K"


class Flow:
    """One growing text.

    Args:
        gutter: What stands before each row, with its emphasis.
        width: Cells of a row after the gutter.
    """

    def __init__(self, gutter: str, width: int) -> None:
        self._gutter = gutter
        self._width = width
        self._raw = ""  # what the row that is open was made of
        self._row: str | None = None  # what stands in it
        self._blank = 0  # lines that are written once something follows them
        self._begun = False

    @property
    def is_open(self) -> bool:
        """Whether a row stands there that may still grow."""
        return self._row is not None

    def feed(self, chunk: str) -> str:
        """Return what is to be written for a further piece."""
        *whole, rest = (self._raw + chunk.replace("\t", TAB)).split("\n")
        self._raw = ""
        written = []
        for line in whole:
            if self._row is None and not line.strip():
                self._blank += self._begun
                continue
            written += [self._draw(line), "\n"]
            self._row = None
        if rest.strip() or self._row is not None:
            known = rest.rstrip(_UNSURE)
            written.append(self._draw(known))
            self._raw = (self._row or "") + rest[len(known) :]
        else:
            self._raw = rest
        return "".join(written)

    def again(self) -> str:
        """Return what writes the open row anew, from anywhere in its line."""
        return _ANEW + self._gutter + (self._row or "")

    def end(self) -> str:
        """Return what closes the open row."""
        closing = "\n" if self.is_open else ""
        self._raw, self._row = "", None
        return closing

    def _draw(self, line: str) -> str:
        shown = reveal(line.removesuffix("\r"))
        empty = f"{self._gutter.rstrip()}\n" * self._blank
        self._blank, self._begun = 0, True
        first, *others = wrap(shown, self._width)
        written = [empty, self._put(first)]
        for row in others:
            self._row = None
            written += ["\n", self._put(row)]
        return "".join(written)

    def _put(self, row: str) -> str:
        before, self._row = self._row, row
        if before is None:
            return self._gutter + row
        if row.startswith(before):
            return row[len(before) :]
        return self.again()


def rows_of(text: str, *, width: int) -> list[str]:
    """Return a finished text as rows without a gutter.

    Args:
        text: As others wrote it.
        width: Cells of a row.
    """
    return wrap(reveal(text.replace("\t", TAB)), width)
