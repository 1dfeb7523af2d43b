"""The card of a release: to whom it would go, based on what, and all of it (R25)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from common.sentences import Sentence
from common.text import one_line
from local_agent.actions.card import Card, channel_name, machine_name, text, value
from local_agent.views.question import Fact, Lines, Part, Question, Text, Value
from local_agent.words import render_size

TITLE: Final = Sentence(
    en="Send this answer from {machine} to the chat?",
    zh="要把这个回答从 {machine} 发到聊天吗？",
)
RECIPIENT: Final = Sentence(en="Would go to", zh="将发给")
RECIPIENT_IS: Final = Sentence(
    en="“{user}”, so the gateway claims, in {channel}; the gateway and whoever else is in that "
    "chat can read it as well",
    zh="{channel}中据网关称的“{user}”；网关以及该聊天中的其他人也能读到",
)
BASED_ON: Final = Sentence(en="Based on", zh="依据")
BASED_ON_NOTHING: Final = Sentence(en="no file by name", zh="没有具体文件")
BASED_ON_NAME: Final = Sentence(en="{path} (by name alone)", zh="{path}（仅名称）")
BASED_ON_MORE: Final = Sentence(
    en="… and {count} {count:file|files} more", zh="……另有 {count} 个文件"
)
ANSWER: Final = Sentence(en="Answer", zh="回答")
ANSWER_IS: Final = Sentence(
    en="{size}, {count} {count:line|lines}, all of it shown; the words are the model's or of the "
    "files, and recognised secrets are taken out",
    zh="{size}，共 {count} 行，全部显示；文字出自模型或文件，已识别的机密已去除",
)
CANNOT_BE_UNDONE: Final = Sentence(
    en="What was told CANNOT BE TAKEN BACK. Nothing on this machine changes.",
    zh="已发出的内容无法收回。本机不会有任何变化。",
)


def title(question: Question) -> Text:
    """Return what is asked, in one line."""
    return text(TITLE, machine=machine_name(question))


def parts(question: Question) -> Iterator[Sequence[Part]]:
    """Give the recipient and the files, then the whole answer."""
    payload = question.seal.payload
    yield [
        Fact("recipient", (value(_recipient(question), "strong"),)),
        Fact("based-on", tuple(_files(question)), exact=True),
    ]
    lines = (question.answer or "").split("\n")
    note = text(ANSWER_IS, size=render_size(payload["bytes"]), count=len(lines))
    yield [Fact("answer", (value(note, "quiet"),)), Lines(tuple(lines), 1)]


def _recipient(question: Question) -> Text:
    to = question.seal.payload["to"]
    user, channel = one_line(to["claimed_user"], 128), channel_name(to["channel"])
    return text(RECIPIENT_IS, user=user, channel=channel)


def _files(question: Question) -> Sequence[Value]:
    payload = question.seal.payload
    found = [
        value(path if file["sha256"] else text(BASED_ON_NAME, path=path))
        for file in payload["files"]
        for path in (file["path"],)
    ]
    if payload["more"]:
        found.append(value(text(BASED_ON_MORE, count=payload["more"]), "quiet"))
    return found or [value(text(BASED_ON_NOTHING), "quiet")]


CARD: Final = Card(
    approve=Sentence(en="Approve and send", zh="批准并发出"),
    named=Sentence(en="an answer sent to the chat", zh="把回答发到聊天"),
    done=Sentence(
        en="the answer was released to the chat as approved {when}",
        zh="回答已按批准内容发到聊天，{when}",
    ),
    title=title,
    parts=parts,
    labels={"recipient": RECIPIENT, "based-on": BASED_ON, "answer": ANSWER},
    undo={"no": CANNOT_BE_UNDONE},
)
