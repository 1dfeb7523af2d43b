"""Times, sizes, levels of disclosure, and where a task stands, in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from common.sentences import Lang, Sentence, say

DISCLOSED: Final = Sentence(en="sent to the chat: {level}", zh="聊天可得知{level}")
DISCLOSURES: Final[Mapping[str, Sentence]] = {
    "summary": Sentence(en="summaries", zh="摘要"),
    "ask": Sentence(en="what you release", zh="你同意发出的内容"),
    "full": Sentence(en="EVERYTHING it may read", zh="可读取的全部内容"),
}
STATES: Final[Mapping[str, Sentence]] = {
    "RECEIVED": Sentence(en="received", zh="已收到"),
    "ROUTED": Sentence(en="understood", zh="已理解"),
    "CONTEXT_COLLECTED": Sentence(en="context collected", zh="已收集上下文"),
    # What is prepared may be an answer or a change.
    "PROPOSING": Sentence(en="preparing", zh="准备中"),
    "PROPOSAL_READY": Sentence(en="proposal ready", zh="方案已就绪"),
    "WAITING_APPROVAL": Sentence(en="waiting for approval", zh="等待批准"),
    "EXECUTING": Sentence(en="running", zh="运行中"),
    "COMPLETED": Sentence(en="completed", zh="已完成"),
    "FAILED": Sentence(en="failed", zh="失败"),
    "REJECTED": Sentence(en="not carried out", zh="未运行"),
}
REASONS: Final[Mapping[str, Sentence]] = {
    "completed": Sentence(en="completed", zh="已完成"),
    "failed": Sentence(en="failed", zh="失败"),
    "rejected": Sentence(en="rejected", zh="已拒绝"),
    "expired": Sentence(en="expired", zh="已过期"),
    "refused": Sentence(en="refused, nothing was done", zh="未受理，没有执行任何操作"),
    "cancelled": Sentence(en="cancelled", zh="已取消"),
    "drifted": Sentence(en="not run: something changed", zh="未运行：内容已变化"),
    "unknown": Sentence(en="interrupted, outcome unknown", zh="被中断，结果不明"),
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


def render_hour(at_ms: int, *, now_ms: int) -> str:
    """Return ``14:05`` by this machine's clock, with the day where that is another one."""
    at, now = (datetime.fromtimestamp(one / 1000).astimezone() for one in (at_ms, now_ms))
    return at.strftime("%H:%M" if at.date() == now.date() else "%m-%d %H:%M")


def render_size(size: int) -> str:
    """Return a number of bytes as people say it: ``812 B``, ``3.4 kB``."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


_HARDLY = Sentence(en="under 0.1 s", zh="0.1 秒以内")
_SECONDS = Sentence(en="{n} s", zh="{n} 秒")
_MINUTES = Sentence(en="{m} min {s} s", zh="{m} 分 {s} 秒")
_HOURS = Sentence(en="{h} h {m} min", zh="{h} 小时 {m} 分")
