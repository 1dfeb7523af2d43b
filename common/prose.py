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

    def write(self, text: str) -> int:
        """Write it, folded."""
        super().write(text if _MOVES.search(text) else folded(text, self))
        return len(text)


def fold_terminals() -> None:
    """Have standard output and standard error fold, each where it is a terminal."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream and stream.isatty() and not isinstance(stream, Folding):
            spelt = stream.encoding, stream.errors
            # Detached, since one that is thrown away closes what it writes to.
            setattr(sys, name, Folding(stream.detach(), *spelt, line_buffering=True))


def folded(text: str, stream: TextIO) -> str:
    """Return the text in lines of the terminal behind a stream; without one, as it is.

    What ends it stays: the blank behind a question.
    """
    if not stream.isatty() or not (width := os.get_terminal_size(stream.fileno()).columns):
        return text
    bare = text.rstrip()
    return fold_text(bare, width) + text[len(bare) :]
