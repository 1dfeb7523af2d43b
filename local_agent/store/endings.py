"""How a task ended, as this machine keeps it: the words in both languages, and what was done.

The summary beside it is what the chat was told, in the language of the request.  Here it is for
whoever sits at the machine, in whichever language their terminal is.  It never leaves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from common.redact import redact
from common.sentences import LANGS, Words
from common.text import clip_bytes, reveal

CHAT_SUMMARY_BYTES: Final = 1_700  # of WeCom's 2,048; the gateway puts machine and ID in front
ANSWER_BYTES: Final = 3 * CHAT_SUMMARY_BYTES  # of an answer: it may go in three messages
_READ_BYTES: Final = 65_536  # of a text that are looked at before it is cut: this is the event loop
_SAID_BYTES: Final = 2_000
_NOTHING: Final[Mapping[str, Any]] = dict.fromkeys(("said", "run", "change", "sync", "replaced_by"))


def write_ending(said: Words, did: Mapping[str, Any] | None = None) -> str:
    """Return the text for `Task.ending_json`.

    Args:
        said: How it ended; what is the same in every language stands in the summary already.
        did: What was done, under ``run``, ``change`` or ``sync``, or the short ID of the next
            version under ``replaced_by``; None when nothing was.
    """
    whole = {lang: said(lang) for lang in LANGS}
    told = {lang: clip_bytes(text, _SAID_BYTES) for lang, text in whole.items()}
    words = told if whole["en"] != whole["zh"] else None
    return json.dumps({"said": words, **(did or {})}, separators=(",", ":"))


def read_ending(stored: str | None) -> dict[str, Any]:
    """Return all that is kept of how a task ended; of what is not kept, None."""
    return dict(_NOTHING) | (json.loads(stored) if stored else {})


def for_chat(text: str, limit: int) -> str:
    """Return a text as it may leave for the chat: no secret, nothing hidden, bounded in bytes."""
    return clip_bytes(reveal(redact(clip_bytes(text, _READ_BYTES))), limit)
