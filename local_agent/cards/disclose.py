"""The card of a release: to whom it would go, based on what, and all of it (R25)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from common.text import one_line
from local_agent.cards import words
from local_agent.cards.question import Question
from local_agent.cards.texts import channel_name, text, value
from local_agent.replies import render_size
from local_agent.views.question import Fact, Lines, Part, Text, Value


def parts(question: Question) -> Iterator[Sequence[Part]]:
    """Give the recipient and the files, then the whole answer."""
    payload = question.seal.payload
    yield [
        Fact("recipient", (value(_recipient(question), "strong"),)),
        Fact("based-on", tuple(_files(question)), exact=True),
    ]
    lines = (question.answer or "").split("\n")
    note = text(words.ANSWER_IS, size=render_size(payload["bytes"]), count=len(lines))
    yield [Fact("answer", (value(note, "quiet"),)), Lines(tuple(lines), 1)]


def _recipient(question: Question) -> Text:
    to = question.seal.payload["to"]
    user, channel = one_line(to["claimed_user"], 128), channel_name(to["channel"])
    return text(words.RECIPIENT_IS, user=user, channel=channel)


def _files(question: Question) -> Sequence[Value]:
    payload = question.seal.payload
    found = [
        value(path if file["sha256"] else text(words.BASED_ON_NAME, path=path))
        for file in payload["files"]
        for path in (file["path"],)
    ]
    if payload["more"]:
        found.append(value(text(words.BASED_ON_MORE, count=payload["more"]), "quiet"))
    return found or [value(text(words.BASED_ON_NOTHING), "quiet")]
