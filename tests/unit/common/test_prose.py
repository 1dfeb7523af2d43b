"""`common.prose`: folded at a terminal, and nowhere else."""

from __future__ import annotations

import io
import os
import termios
from pathlib import Path

from common.prose import folded

SAID = "Read these six words aloud: elephant fossil finger gravity harbor island "


def test_it_is_folded_to_the_terminal_behind_the_stream(tmp_path: Path) -> None:
    assert folded(SAID, io.StringIO()) == SAID
    with (tmp_path / "piped").open("w", encoding="utf-8") as file:
        assert folded(SAID, file) == SAID
    ours, theirs = os.openpty()
    try:
        with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
            assert folded(SAID, terminal) == SAID, "one of no known width folds by itself"
            for columns in (40, 60):
                termios.tcsetwinsize(theirs, (24, columns))
                told = folded(SAID, terminal)
                assert max(map(len, told.split("\n"))) <= columns
                assert told.endswith("island "), "the blank behind a question stays"
                assert told.split() == SAID.split()
    finally:
        os.close(ours)
