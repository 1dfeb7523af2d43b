"""`common.prose`: folded at a terminal, and nowhere else."""

from __future__ import annotations

import io
import os
import sys
import termios
from pathlib import Path

import pytest

from common.prose import fold_terminals, folded

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


def test_all_that_is_printed_on_a_terminal_is_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 40))
    terminal = os.fdopen(theirs, "w", encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", terminal)
    fold_terminals()
    assert os.get_terminal_size(terminal.fileno()).columns == 40, "whoever lays out asks that one"
    print(f"\x1b[31m{SAID}\x1b[0m")
    print(f"\r{SAID}", end="", flush=True)
    shown = ""
    while shown.count("island") < 2:  # a terminal gives it in parts
        shown += os.read(ours, 4096).decode()
    sys.stdout.close()
    os.close(ours)
    first, moved = shown.split("\x1b[0m\r\n")
    assert max(map(len, first.removeprefix("\x1b[31m").split("\r\n"))) <= 40
    assert moved == f"\r{SAID}", "what is written over was laid out already"
