"""What a terminal shows of what a command has written: as much of one as our commands use."""

from __future__ import annotations

import re

_PARTS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[K|\x1b\[A|\r|\n|[^\x1b\r\n]+")


def drawn(written: str) -> list[str]:
    """Return the rows that stand on the screen, without empty ones at the end.

    A row is never broken here: what is wider than the terminal shows as it was written.
    """
    rows, row, column = [""], 0, 0
    for part in _PARTS.findall(written):
        match part:
            case "\r":
                column = 0
            case "\n":
                row, column = row + 1, 0
                rows += [""] * (row + 1 - len(rows))
            case "\x1b[A":
                row = max(row - 1, 0)
            case "\x1b[K":
                rows[row] = rows[row][:column]
            case _ if part.startswith("\x1b"):
                continue
            case _:
                rows[row] = rows[row][:column] + part + rows[row][column + len(part) :]
                column += len(part)
    while rows and not rows[-1]:
        rows.pop()
    return rows
