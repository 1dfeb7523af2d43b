"""What an approver sees of an action, as values: no layout, and no language chosen.

Each action has its card, with the words that are its alone, in its own folder; the registry lists
it.  Here is what cards are made of, the files of a change with our own counts and every line of it
among them (R25).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from common.diff.model import DiffModel, FileDiff
from common.diff.view import Mark, marks
from common.encodings import told
from common.seal import SealedChange, Undo
from common.sentences import LANGS, Lang, Sentence, say
from common.text import one_line
from local_agent.views.question import (
    ChangedFile,
    Diff,
    FactKind,
    Files,
    LeftOut,
    Part,
    Question,
    Text,
    Tone,
    Value,
)

CHANNELS: Final = {"wecom_app": Sentence(en="WeCom", zh="企业微信")}
SAID_BY: Final = Sentence(
    en="{model} in its own words: not checked, and no part of what you approve",
    zh="{model} 的原话：未经核实，不属于批准内容",
)
CHANGES_ARE: Final = Sentence(
    en="{count} {count:file|files}, +{added} −{removed}, counted on this machine",
    zh="{count} 个文件，+{added} −{removed}（由本机计算）",
)
LEFT_OUT: Final = Sentence(
    en="{kept} of {total} files. Left out: {paths}. For the whole again: codexbridge cancel "
    "{task}, then codexbridge retry {task}",
    zh="共 {total} 个文件中的 {kept} 个。未包含：{paths}。如需完整改动：codexbridge cancel {task}，"
    "再运行 codexbridge retry {task}",
)
KEPT_PARTLY: Final = Sentence(
    en="Only a part of what was proposed, in {partly} {partly:file|files}. For the whole again: "
    "codexbridge cancel {task}, then codexbridge retry {task}",
    zh="其中 {partly} 个文件只保留了部分改动。如需完整改动：codexbridge cancel {task}，"
    "再运行 codexbridge retry {task}",
)
LEFT_OUT_AND_PARTLY: Final = Sentence(
    en="{kept} of {total} files, and of {partly} of them only a part of what was proposed. "
    "Left out: {paths}. For the whole again: codexbridge cancel {task}, then codexbridge retry "
    "{task}",
    zh="共 {total} 个文件中的 {kept} 个，其中 {partly} 个只保留了部分改动。未包含：{paths}。"
    "如需完整改动：codexbridge cancel {task}，再运行 codexbridge retry {task}",
)
CHANGES_ONLY: Final = Sentence(
    en="Nothing else is touched. All of it is done, or nothing.",
    zh="不会改动其他内容。要么全部完成，要么什么都不做。",
)
BECOMES_PROGRAM: Final = Sentence(en="may be executed afterwards", zh="之后将可以执行")
NO_PROGRAM: Final = Sentence(en="may no longer be executed", zh="之后将不能执行")
IN_ENCODING: Final = Sentence(en="text in {encoding}", zh="{encoding} 编码的文本")
EMPTY: Final = Sentence(en="empty", zh="空文件")
NO_TEXT: Final = Sentence(
    en="its content is not text, and is not shown", zh="内容不是文本，不予显示"
)

_EXECUTABLE: Final = "100755"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What an approver sees of an action.

    Attributes:
        approve: On the button that approves it.
        named: What it is, in a receipt.
        title: Gives what is asked, in one line.
        parts: Gives what would be done, section by section.
        labels: Of the facts in them.
        undo: Whether and how it can be taken back, where it says that in words of its own.
        discloses: What goes to the chat, where it says that in words of its own.
        done: In a receipt, that it was done as approved; None where its exit code tells.
        not_done: In a receipt, that it was begun and not done; None as before.
    """

    approve: Sentence
    named: Sentence
    title: Callable[[Question], Text]
    parts: Callable[[Question], Iterator[Sequence[Part]]]
    labels: Mapping[FactKind, Sentence]
    undo: Mapping[Undo, Sentence]
    discloses: Mapping[str, Sentence] = field(default_factory=dict)
    done: Sentence | None = None
    not_done: Sentence | None = None


def text(sentence: Sentence, /, **facts: object) -> Text:
    """Return a sentence with its facts, in both languages; so are facts that are a `Text`."""

    def said(lang: Lang) -> str:
        known = {name: f.to(lang) if isinstance(f, Text) else f for name, f in facts.items()}
        return say(sentence, lang, **known)

    return Text(*map(said, LANGS))


def plain(same: str) -> Text:
    """Return what is the same in every language."""
    return Text(same, same)


def value(of: Text | str, tone: Tone = "plain") -> Value:
    """Return one value of a fact."""
    return Value(of if isinstance(of, Text) else plain(of), tone)


def channel_name(channel: str) -> Text | str:
    """Return what people call a channel."""
    known = CHANNELS.get(channel)
    return Text(known.en, known.zh) if known else one_line(channel, 32)


def model_name(model: str) -> str:
    """Return what the person calls a model, on one line."""
    return one_line(model, 200)


def machine_name(question: Question) -> str:
    """Return the name of the machine on which it would be done, on one line."""
    return one_line(question.told.machine, 64)


def files_of(question: Question) -> Files:
    """Return the files that change, each with what in it deserves a second look."""
    model = question.diff or DiffModel(())
    diffs = {file.path: file for file in model.files}
    found: defaultdict[str, list[Mark]] = defaultdict(list)
    for mark in marks(model):
        found[mark.path].append(mark)
    alone = question.seal.action != "git_sync"
    left = question.told.left_out
    return Files(
        files=tuple(
            _changed(change, diffs.get(change.path), tuple(found[change.path]))
            for change in question.changes
        ),
        count=text(
            CHANGES_ARE,
            count=len(question.changes),
            added=model.added,
            removed=model.removed,
        ),
        only=text(CHANGES_ONLY) if alone else None,
        left_out=_left_out(question, left) if left is not None else None,
    )


def diff_of(question: Question) -> Diff:
    """Return every line of the files that are text."""
    model = question.diff or DiffModel(())
    return Diff(model, whole=len(model.files) == len(question.changes))


def _left_out(question: Question, left: LeftOut) -> Text:
    """Return what a change was narrowed from, and how to get all of it back."""
    task = question.seal.short_id
    if not left.count:
        return text(KEPT_PARTLY, partly=left.partly, task=task)
    more = ["…"] if left.count > len(left.paths) else []
    kept = len(question.changes)
    return text(
        LEFT_OUT_AND_PARTLY if left.partly else LEFT_OUT,
        kept=kept,
        partly=left.partly,
        total=kept + left.count,
        paths=", ".join([*(one_line(path, 200) for path in left.paths), *more]),
        task=task,
    )


def _changed(change: SealedChange, file: FileDiff | None, found: tuple[Mark, ...]) -> ChangedFile:
    return ChangedFile(
        path=change.path,
        op=change.op,
        old_path=change.old_path if change.op in ("rename", "copy") else None,
        diff=file,
        notes=tuple(_notes(change, file)),
        marks=found,
    )


def _notes(change: SealedChange, file: FileDiff | None) -> Iterator[Text]:
    if file is None:
        yield text(NO_TEXT)
    if change.encoding is not None:
        yield text(IN_ENCODING, encoding=told(change.encoding))
    if change.op != "delete" and change.size == 0:
        yield text(EMPTY)
    if change.new_mode == _EXECUTABLE and change.old_mode != _EXECUTABLE:
        yield text(BECOMES_PROGRAM)
    if change.old_mode == _EXECUTABLE and change.new_mode not in (None, _EXECUTABLE):
        yield text(NO_PROGRAM)
