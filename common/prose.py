"""Sentences for people as they are printed: folded where they stand on a terminal."""

from __future__ import annotations

import os
from typing import TextIO

from common.terminal import fold_text


def folded(text: str, stream: TextIO) -> str:
    """Return the text in lines of the terminal behind a stream; without one, as it is.

    What ends it stays: the blank behind a question.
    """
    if not stream.isatty() or not (width := os.get_terminal_size(stream.fileno()).columns):
        return text
    bare = text.rstrip()
    return fold_text(bare, width) + text[len(bare) :]
