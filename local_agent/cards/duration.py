"""How long an approval still waits, in words.  Apart, because ``codexbridge status`` needs it."""

from __future__ import annotations

from common.sentences import Lang, say
from local_agent.cards import words


def time_left(expires_at: int, now_ms: int, lang: Lang) -> str:
    """Return how long an approval still waits, such as ``23 h 59 min left``."""
    seconds = (expires_at - now_ms) // 1000
    if seconds <= 0:
        return say(words.EXPIRED, lang)
    minutes, hours = seconds // 60, seconds // 3600
    if hours:
        left = say(words.HOURS, lang, h=hours, m=minutes % 60)
    elif minutes:
        left = say(words.MINUTES, lang, m=minutes)
    else:
        left = say(words.SECONDS, lang, s=seconds)
    return say(words.LEFT, lang, left=left)
