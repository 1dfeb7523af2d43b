"""Standard streams that are closed lead nowhere: no print fails, and no file gets their number."""

from __future__ import annotations

import os
import sys


def open_closed() -> None:
    """Open each of them that is closed; files that are opened later have other numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest that is free
            mode = "w" if number else "r"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
