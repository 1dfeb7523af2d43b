"""Compares what the product writes with the files in `data`: bytes that were seen and agreed upon.

``GOLDEN=write .venv/bin/pytest tests/golden`` writes all of them anew, for a change that is meant;
review their diff before it is committed.  Otherwise nothing is written, and a missing file fails.
What lies in ``data/input`` is given to the product and is never written.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "data"
_SHOWN: Final = 60  # lines of a difference


def stored(name: str) -> bytes:
    """Return the bytes of a file in `data`."""
    return (FOLDER / name).read_bytes()


def check(name: str, found: str | bytes) -> None:
    """Require that these are the very bytes of the file; write them where that is asked for.

    Raises:
        AssertionError: they differ, or there is no such file.
    """
    data = found.encode() if isinstance(found, str) else found
    file = FOLDER / name
    if os.environ.get("GOLDEN") == "write":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    if not file.exists():
        raise AssertionError(f"{name} is missing; GOLDEN=write makes it")
    if (known := file.read_bytes()) != data:
        raise AssertionError(f"{name} differs:\n{_difference(known, data)}")


def sections(parts: Iterable[tuple[str, str]]) -> str:
    """Return titled texts as one file; the end of a line is marked where a blank stands there."""
    told = (f"=== {title}\n{text}\n" for title, text in parts)
    lines = "\n".join(told).split("\n")
    return "\n".join(f"{line}¶" if line.endswith(" ") else line for line in lines)


def _difference(known: bytes, found: bytes) -> str:
    before, after = (data.decode("utf-8", "replace").split("\n") for data in (known, found))
    lines = list(difflib.unified_diff(before, after, "known", "found", lineterm="", n=2))
    more = [f"… and {len(lines) - _SHOWN} lines more"] if len(lines) > _SHOWN else []
    return "\n".join([*lines[:_SHOWN], *more])
