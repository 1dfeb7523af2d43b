"""The files of a change with our own counts, and every line of it (R25)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from common.diff.model import DiffModel, FileDiff
from common.diff.view import Mark, marks
from common.seal.records import SealedChange
from common.sentences import Sentence
from common.text import one_line
from local_agent.actions.card import text
from local_agent.views.question import ChangedFile, Diff, Files, LeftOut, Question, Text

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
CHANGES_ONLY: Final = Sentence(
    en="Nothing else is touched. All of it is done, or nothing.",
    zh="不会改动其他内容。要么全部完成，要么什么都不做。",
)
BECOMES_PROGRAM: Final = Sentence(en="may be executed afterwards", zh="之后将可以执行")
NO_PROGRAM: Final = Sentence(en="may no longer be executed", zh="之后将不能执行")
EMPTY: Final = Sentence(en="empty", zh="空文件")
NO_TEXT: Final = Sentence(
    en="its content is not text, and is not shown", zh="内容不是文本，不予显示"
)

_EXECUTABLE: Final = "100755"


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
    more = ["…"] if left.count > len(left.paths) else []
    kept = len(question.changes)
    return text(
        LEFT_OUT,
        kept=kept,
        total=kept + left.count,
        paths=", ".join([*(one_line(path, 200) for path in left.paths), *more]),
        task=question.seal.short_id,
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
    if change.op != "delete" and change.size == 0:
        yield text(EMPTY)
    if change.new_mode == _EXECUTABLE and change.old_mode != _EXECUTABLE:
        yield text(BECOMES_PROGRAM)
    if change.old_mode == _EXECUTABLE and change.new_mode not in (None, _EXECUTABLE):
        yield text(NO_PROGRAM)
