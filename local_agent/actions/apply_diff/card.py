"""The card of a change: what a model says of it, its files, and every line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from common.sentences import Sentence
from local_agent.actions.card import (
    SAID_BY,
    Card,
    diff_of,
    files_of,
    machine_name,
    model_name,
    text,
    value,
)
from local_agent.views.question import Fact, Part, Question, Text

TITLE: Final = Sentence(
    en="Apply this change on {machine}?", zh="要在 {machine} 上应用这个改动吗？"
)
SAID: Final = Sentence(en="Model says", zh="模型说明")
SAID_CUT: Final = Sentence(
    en="… cut here; all of it: codexbridge show {task} --json",
    zh="……此处截断；全文：codexbridge show {task} --json",
)
CAN_BE_UNDONE: Final = Sentence(
    en="can be undone for {days} days, file by file, where nobody has changed the lines since: "
    "codexbridge undo {task}",
    zh="{days} 天内可以按文件撤销（前提是相关内容此后未被改动）：codexbridge undo {task}",
)


def title(question: Question) -> Text:
    """Return what is asked, in one line."""
    return text(TITLE, machine=machine_name(question))


def parts(question: Question) -> Iterator[Sequence[Part]]:
    """Give what the model says of it, the files that change, then the whole diff.

    A model's words are the agent's word and explain: they are not sealed, and decide nothing.
    """
    if said := question.told.said:
        note = text(SAID_BY, model=model_name(said.model))
        quoted = (value(line, "quoted") for line in said.text.split("\n"))
        cut = text(SAID_CUT, task=question.seal.short_id)
        ends = [value(cut, "quiet")] if said.cut else []
        yield [Fact("said", (value(note, "quiet"), *quoted, *ends))]
    yield [files_of(question)]
    yield [diff_of(question)]


CARD: Final = Card(
    approve=Sentence(en="Approve and apply", zh="批准并应用"),
    named=Sentence(en="a change of files", zh="文件改动"),
    done=Sentence(
        en="the change was made as approved, begun {when}", zh="改动已按批准内容应用，开始于 {when}"
    ),
    not_done=Sentence(
        en="begun {when} and not made; every file stayed as it was",
        zh="开始于 {when}，但没有应用；所有文件保持原样",
    ),
    title=title,
    parts=parts,
    labels={"said": SAID},
    undo={"yes": CAN_BE_UNDONE},
)
