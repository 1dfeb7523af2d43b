"""What of an answer may leave this machine, by the level that the person chose (R53).  Pure.

    summary   secrets taken out, no long copy of a file, one message long
    ask       nothing, until a person at this machine has released it
    full      secrets taken out, one message long

Taking secrets out is damage control and no permission (R55): what may be read at all is decided
before, by the path guard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from common.redact import redact
from common.sentences import Lang, Sentence, say
from common.text import CHAT_BYTES, clip_bytes, reveal
from local_agent.safety.verbatim import Block, copied_blocks
from local_agent.workspace.registry import DisclosureLevel

WITHHELD = Sentence(
    en="[… {count} lines withheld; see them at the machine]",
    zh="[……已略去 {count} 行；请在开发机上查看]",
)
CUT = Sentence(
    en="… (the whole answer is at the machine: codexbridge show)",
    zh="……（完整回答在开发机上：codexbridge show）",
)


MAX_QUOTED_LINES: Final = 20  # in a row, of what stands in files (R53)
READ_BYTES: Final = 65_536  # of an answer that are looked at; far more than is ever told

_PASSES: Final = 4  # until taking secrets out and marking what is hidden changes nothing any more


@dataclass(frozen=True, slots=True)
class Released:
    """What may leave.

    Attributes:
        text: What is told; telling it changes nothing of it any more.
        withheld_lines: How many lines were left out because files have them.
        cut: Its end was left out.
    """

    text: str
    withheld_lines: int = 0
    cut: bool = False


def bounded(
    answer: str,
    *,
    sources: Sequence[str],
    level: DisclosureLevel,
    lang: Lang,
    limit: int = CHAT_BYTES,
) -> Released:
    """Return what of an answer may leave at once.

    Args:
        answer: What would be told.
        sources: What it may have been copied from, as a model or a search was shown it.
        level: Of the workspace; ``ask`` lets nothing leave (`releasable` is what is asked about).
        lang: Of what is said about the parts that are left out.
        limit: Bytes of UTF-8.
    """
    if level == "ask":
        return Released("", cut=bool(answer))
    if level == "full":
        return releasable(answer, lang=lang, limit=limit)
    head = clip_bytes(answer, READ_BYTES, marker="")
    text, withheld = _unquoted(redact(head), sources, lang, scattered=False)
    released = releasable(text, lang=lang, limit=limit)
    # Of what then leaves, no more may be copied even where sentences stand between the lines.
    text, more = _unquoted(released.text, sources, lang, scattered=True)
    cut = released.cut or head != answer
    if more:
        released = releasable(text, lang=lang, limit=limit)
    return Released(released.text, withheld + more, cut)


def releasable(answer: str, *, lang: Lang, limit: int = CHAT_BYTES) -> Released:
    """Return an answer as a person may release it: without secrets, nothing hidden, in bounds."""
    head = clip_bytes(answer, READ_BYTES, marker="")
    text, cut = head, head != answer
    for _ in range(_PASSES):
        before, text = text, reveal(redact(text))
        clipped = clip_bytes(text, limit, marker=_end(lang, limit))
        cut = cut or clipped != text
        text = clipped
        if text == before:
            return Released(text, cut=cut)
    return Released(say(WITHHELD, lang, count=len(head.splitlines())), cut=True)


def _end(lang: Lang, limit: int) -> str:
    return clip_bytes("\n" + say(CUT, lang), limit // 2, marker="")


def _unquoted(text: str, sources: Sequence[str], lang: Lang, *, scattered: bool) -> tuple[str, int]:
    lines = text.splitlines()
    blocks = copied_blocks(lines, sources, most=MAX_QUOTED_LINES, scattered=scattered)
    return "\n".join(_without(lines, blocks, lang)), sum(block.lines for block in blocks)


def _without(lines: Sequence[str], blocks: Sequence[Block], lang: Lang) -> list[str]:
    kept: list[str] = []
    at = 0
    for block in blocks:
        kept += lines[at : block.first]
        kept.append(say(WITHHELD, lang, count=block.lines))
        at = block.last + 1
    return [*kept, *lines[at:]]
