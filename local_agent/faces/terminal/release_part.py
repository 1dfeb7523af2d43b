"""What a page says about a release: to whom it would go, based on what, and all of it (R25)."""

from __future__ import annotations

from collections.abc import Iterator

from common.text import one_line
from local_agent.cards import words
from local_agent.cards.question import Question
from local_agent.faces.terminal.layout import Layout, Styled
from local_agent.replies import render_size


def release_part(question: Question, layout: Layout) -> Iterator[str]:
    """Give the recipient and the files, then the whole answer."""
    payload = question.seal.payload
    yield from layout.row(words.RECIPIENT, [("bold", _recipient(question, layout))])
    yield from layout.row(words.BASED_ON, _files(question, layout), whole=True)
    yield ""
    lines = (question.answer or "").split("\n")
    note = layout.say(words.ANSWER_IS, size=render_size(payload["bytes"]), count=len(lines))
    yield from layout.row(words.ANSWER, [("dim", note)])
    yield from layout.numbered(lines, 1)


def _recipient(question: Question, layout: Layout) -> str:
    to = question.seal.payload["to"]
    channel = words.CHANNELS.get(to["channel"])
    return layout.say(
        words.RECIPIENT_IS,
        user=one_line(to["claimed_user"], 128),
        channel=layout.say(channel) if channel else one_line(to["channel"], 32),
    )


def _files(question: Question, layout: Layout) -> list[Styled]:
    payload = question.seal.payload
    rows: list[Styled] = []
    for file in payload["files"]:
        path = file["path"]
        shown = path if file["sha256"] else layout.say(words.BASED_ON_NAME, path=path)
        rows.append(("", shown))
    if payload["more"]:
        rows.append(("dim", layout.say(words.BASED_ON_MORE, count=payload["more"])))
    return rows or [("dim", layout.say(words.BASED_ON_NOTHING))]
