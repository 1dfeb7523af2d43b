"""The controlling terminal of a person, whatever standard input and output are connected to."""

from __future__ import annotations

import os
import termios
from collections.abc import Mapping
from typing import Final, TextIO

from common.errors import InputError
from common.terminal import Ink, fold_text

MAX_LINE: Final = 4096  # termios(3): a line in canonical mode has at most so many bytes
USUAL_WIDTH: Final = 80


class Terminal:
    """One open terminal.

    Args:
        descriptor: Of the terminal, in canonical mode; closed by `close`.
        ink: Whether emphasis may be written.
    """

    def __init__(self, descriptor: int, ink: Ink) -> None:
        self.descriptor = descriptor
        self.ink = ink

    @property
    def width(self) -> int:
        """Cells in a line; 80 when the terminal does not tell."""
        return self._size.columns or USUAL_WIDTH

    @property
    def height(self) -> int:
        """Lines on the screen; 0 when the terminal does not tell."""
        return self._size.lines

    @property
    def _size(self) -> os.terminal_size:
        try:
            return os.get_terminal_size(self.descriptor)
        except OSError:
            return os.terminal_size((0, 0))

    def write(self, text: str) -> None:
        """Write to the person, not to standard output."""
        rest = text.encode("utf-8", "replace")
        while rest:
            rest = rest[os.write(self.descriptor, rest) :]

    def tell(self, sentence: str) -> None:
        """Write a sentence of ours in lines of this terminal."""
        self.write(fold_text(sentence, self.width) + "\n")

    def read_line(self, prompt: str) -> str:
        """Return one typed line without its blanks; empty at the end of input.

        What was typed before the prompt stood there is thrown away: it was meant for something
        else, and it must not answer a question that was not yet read.
        """
        termios.tcflush(self.descriptor, termios.TCIFLUSH)
        self.write(fold_text(prompt.rstrip(), self.width) + prompt[len(prompt.rstrip()) :])
        # In canonical mode one read gives one line, however it was typed.
        line = os.read(self.descriptor, MAX_LINE)
        if not line.endswith(b"\n"):
            self.write("\n")
        return line.decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Give the terminal back."""
        os.close(self.descriptor)


def open_terminal(stdin: TextIO | None, environ: Mapping[str, str]) -> Terminal:
    """Return the controlling terminal, when a person sits at it.

    Args:
        stdin: Standard input, which must be a terminal too: a pipe is no person (R30).
        environ: For TERM and NO_COLOR.

    Raises:
        InputError: ``approve.no-terminal``: standard input is none, or the process has none.
    """
    if stdin is None or not stdin.isatty():
        raise InputError("approve.no-terminal")
    try:
        descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        raise InputError("approve.no-terminal") from None
    colours = environ.get("TERM", "dumb") != "dumb" and not environ.get("NO_COLOR")
    return Terminal(descriptor, Ink(on=colours))
