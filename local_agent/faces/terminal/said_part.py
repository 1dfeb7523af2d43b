"""What a page tells of how its question came about: a model's own words, and a command's origin.

Both are the agent's word and explain; neither is sealed, and nothing is decided by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from common.text import one_line
from local_agent.cards import words
from local_agent.cards.question import Question
from local_agent.faces.terminal.layout import QUOTED, Layout, Styled

_NAME_BYTES: Final = 200
_REASON_BYTES: Final = 1_000


def said_part(question: Question, layout: Layout) -> Iterator[str]:
    """Give what the model said of its change, as its words; nothing where none spoke."""
    said = question.said
    if said is None:
        return
    note = layout.say(words.SAID_BY, model=one_line(said.model, _NAME_BYTES))
    rows: list[Styled] = [("dim", note), *((QUOTED, line) for line in said.text.split("\n"))]
    if said.cut:
        rows.append(("dim", layout.say(words.SAID_CUT, task=question.seal.short_id)))
    yield from layout.row(words.SAID, rows)


def named_part(question: Question, layout: Layout) -> Iterator[str]:
    """Give the project file that names the command; nothing where a person named it."""
    if question.named is None:
        return
    file, what = (
        one_line(fact, _NAME_BYTES) for fact in (question.named.file, question.named.what)
    )
    yield from layout.row(words.NAMED, [("", layout.say(words.NAMED_BY, file=file, what=what))])


def reason_part(question: Question, layout: Layout) -> Iterator[str]:
    """Give why the command is proposed, as the model's words where they are; or nothing."""
    reason = question.reason
    if reason is None:
        return
    text = one_line(reason.text, _REASON_BYTES)
    if reason.model is None:
        yield from layout.row(words.REASON, [("", text)])
        return
    note = layout.say(words.SAID_BY, model=one_line(reason.model, _NAME_BYTES))
    yield from layout.row(words.REASON, [("dim", note), (QUOTED, text)])
