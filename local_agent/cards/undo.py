"""The card of an undo: whose change is taken back, the files, and the whole reverse diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from local_agent.cards import words
from local_agent.cards.changes import diff_of, files_of
from local_agent.cards.question import Question
from local_agent.cards.texts import text, value
from local_agent.views.question import Fact, Part


def parts(question: Question) -> Iterator[Sequence[Part]]:
    """Give whose change it is, then the files and every line."""
    task = question.seal.payload["undoes"]["short_id"]
    said = text(words.TAKES_BACK_IS, task=task)
    yield [Fact("takes-back", (value(said, "strong"),))]
    yield [files_of(question)]
    yield [diff_of(question)]
