"""How a task ended, as this machine keeps it: the words in both languages, and what a command did.

The summary beside it is what the chat was told, in the language of the request.  Here it is for
whoever sits at the machine, in whichever language their terminal is.  It never leaves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from common.sentences import LANGS, Words
from common.text import clip_bytes

_SAID_BYTES: Final = 2_000


def write_ending(said: Words, run: Mapping[str, Any] | None = None) -> str:
    """Return the text for `Task.ending_json`.

    Args:
        said: How it ended; what is the same in every language stands in the summary already.
        run: What a command did; None when nothing was run.
    """
    whole = {lang: said(lang) for lang in LANGS}
    told = {lang: clip_bytes(text, _SAID_BYTES) for lang, text in whole.items()}
    words = told if whole["en"] != whole["zh"] else None
    return json.dumps({"said": words, "run": run}, separators=(",", ":"))


def read_ending(stored: str | None) -> dict[str, Any]:
    """Return ``said`` and ``run`` of a task; both None where nothing was kept."""
    ending: dict[str, Any] = json.loads(stored) if stored else {"said": None, "run": None}
    return ending
