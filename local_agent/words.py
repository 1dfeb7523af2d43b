"""Times, sizes and levels of disclosure in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import Lang, Sentence, say

DISCLOSED: Final = Sentence(en="sent to the chat: {level}", zh="聊天可得知{level}")
DISCLOSURES: Final[Mapping[str, Sentence]] = {
    "summary": Sentence(en="summaries", zh="摘要"),
    "ask": Sentence(en="what you release", zh="你同意发出的内容"),
    "full": Sentence(en="EVERYTHING it may read", zh="可读取的全部内容"),
}


def render_duration(milliseconds: int, lang: Lang) -> str:
    """Return a duration as people say it: ``0.4 s``, ``42 s``, ``3 min 5 s``, ``23 h 59 min``."""
    if milliseconds < 100:
        return say(_HARDLY, lang)
    tenths = milliseconds // 100
    seconds = tenths // 10
    if seconds < 10:
        return say(_SECONDS, lang, n=f"{tenths // 10}.{tenths % 10}")
    if seconds < 60:
        return say(_SECONDS, lang, n=seconds)
    if seconds < 3600:
        return say(_MINUTES, lang, m=seconds // 60, s=seconds % 60)
    return say(_HOURS, lang, h=seconds // 3600, m=seconds % 3600 // 60)


def render_size(size: int) -> str:
    """Return a number of bytes as people say it: ``812 B``, ``3.4 kB``."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


_HARDLY = Sentence(en="under 0.1 s", zh="0.1 秒以内")
_SECONDS = Sentence(en="{n} s", zh="{n} 秒")
_MINUTES = Sentence(en="{m} min {s} s", zh="{m} 分 {s} 秒")
_HOURS = Sentence(en="{h} h {m} min", zh="{h} 小时 {m} 分")
