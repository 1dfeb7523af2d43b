"""What looks like a secret and is none: it must come through unchanged.

One a line in two files, the second held back while the rules were written; ``⏎`` is a line break,
``␀`` NUL, ``␈`` backspace, ``‖`` a blank of no width, and the holes of `making` stand for hashes
and the like.
"""

from __future__ import annotations

import random
from pathlib import Path

from tests.secrets_set.making import filled

_HERE = Path(__file__).parent
_UNSEEN = str.maketrans({"⏎": "\n", "␀": "\0", "␈": "\b", "‖": "\u200b"})


def look_alikes(*, held_back: bool = False) -> list[str]:
    """Return the look-alikes of one half."""
    name = "look_alikes_held_back.txt" if held_back else "look_alikes.txt"
    chance = random.Random(name)
    lines = (_HERE / name).read_text(encoding="utf-8").splitlines()
    return [filled(line, chance).translate(_UNSEEN) for line in lines]
