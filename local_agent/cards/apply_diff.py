"""The card of a change: what a model says of it, its files, and every line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from local_agent.cards import words
from local_agent.cards.changes import diff_of, files_of
from local_agent.cards.question import Question
from local_agent.cards.texts import model_name, text, value
from local_agent.views.question import Fact, Part


def parts(question: Question) -> Iterator[Sequence[Part]]:
    """Give what the model says of it, the files that change, then the whole diff.

    A model's words are the agent's word and explain: they are not sealed, and decide nothing.
    """
    if said := question.told.said:
        note = text(words.SAID_BY, model=model_name(said.model))
        quoted = (value(line, "quoted") for line in said.text.split("\n"))
        cut = text(words.SAID_CUT, task=question.seal.short_id)
        ends = [value(cut, "quiet")] if said.cut else []
        yield [Fact("said", (value(note, "quiet"), *quoted, *ends))]
    yield [files_of(question)]
    yield [diff_of(question)]
