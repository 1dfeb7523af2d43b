"""The card of an undo: whose change is taken back, the files, and the whole reverse diff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from common.sentences import Sentence
from local_agent.actions.card import Card, diff_of, files_of, machine_name, text, value
from local_agent.views.question import Fact, Part, Question, Text

TITLE: Final = Sentence(
    en="Take back the change of {undone} on {machine}?",
    zh="要在 {machine} 上撤销 {undone} 的改动吗？",
)
TAKES_BACK: Final = Sentence(en="Takes back", zh="撤销对象")
TAKES_BACK_IS: Final = Sentence(
    en="what {task} changed, in the files below and in no others",
    zh="{task} 的改动，仅限以下文件",
)
CAN_BE_UNDONE: Final = Sentence(
    en="puts the files back as they were before; can itself be undone for {days} days: "
    "codexbridge undo {task}",
    zh="把文件恢复到改动之前；{days} 天内此撤销本身也可以撤销：codexbridge undo {task}",
)


def title(question: Question) -> Text:
    """Return what is asked, in one line."""
    undone = question.seal.payload["undoes"]["short_id"]
    return text(TITLE, machine=machine_name(question), undone=undone)


def parts(question: Question) -> Iterator[Sequence[Part]]:
    """Give whose change it is, then the files and every line."""
    task = question.seal.payload["undoes"]["short_id"]
    said = text(TAKES_BACK_IS, task=task)
    yield [Fact("takes-back", (value(said, "strong"),))]
    yield [files_of(question)]
    yield [diff_of(question)]


CARD: Final = Card(
    approve=Sentence(en="Approve and take back", zh="批准并撤销"),
    named=Sentence(en="an undo", zh="撤销改动"),
    done=Sentence(
        en="the change was taken back as approved, begun {when}",
        zh="改动已按批准内容撤销，开始于 {when}",
    ),
    not_done=Sentence(
        en="begun {when} and not taken back; every file stayed as it was",
        zh="开始于 {when}，但没有撤销；所有文件保持原样",
    ),
    title=title,
    parts=parts,
    labels={"takes-back": TAKES_BACK},
    undo={"yes": CAN_BE_UNDONE},
)
