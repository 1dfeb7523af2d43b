"""Sentences for people as they are printed: folded where they stand on a terminal."""

from __future__ import annotations

import io
import os
import re
import sys
from typing import Final, TextIO

from common.terminal import fold_text

# What moves the cursor was laid out for the line in which it does.
_MOVES: Final = re.compile(r"\r|\x1b(?!\[[\d;]*m)")


class Folding(io.TextIOWrapper):
    """A terminal on which lines break between words, whatever is printed.

    What was laid out to the width stays as it is; so does what is written to `buffer`.
    """

    def __init__(self, terminal: TextIO) -> None:
        terminal.flush()
        super().__init__(terminal.buffer, terminal.encoding, terminal.errors, line_buffering=True)
        self._terminal = terminal  # thrown away, it would close what both write to

    def write(self, text: str) -> int:
        """Write it, folded."""
        super().write(text if _MOVES.search(text) else folded(text, self))
        return len(text)


def fold_terminals() -> None:
    """Have standard output and standard error fold, each where it is a terminal."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream and stream.isatty() and not isinstance(stream, Folding):
            setattr(sys, name, Folding(stream))


def folded(text: str, stream: TextIO) -> str:
    """Return the text in lines of the terminal behind a stream; without one, as it is.

    What ends it stays: the blank behind a question.
    """
    if not stream.isatty() or not (width := os.get_terminal_size(stream.fileno()).columns):
        return text
    bare = text.rstrip()
    return fold_text(bare, width) + text[len(bare) :]
