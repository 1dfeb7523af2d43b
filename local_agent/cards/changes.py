"""The files of a change with our own counts, and every line of it (R25)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from common.diff.model import DiffModel, FileDiff
from common.diff.view import Mark, marks
from common.seal.records import SealedChange
from common.text import one_line
from local_agent.cards import words
from local_agent.cards.question import Question
from local_agent.cards.texts import text
from local_agent.views.question import ChangedFile, Diff, Files, LeftOut, Text

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
            words.CHANGES_ARE,
            count=len(question.changes),
            added=model.added,
            removed=model.removed,
        ),
        only=text(words.CHANGES_ONLY) if alone else None,
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
        words.LEFT_OUT,
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
        yield text(words.NO_TEXT)
    if change.op != "delete" and change.size == 0:
        yield text(words.EMPTY)
    if change.new_mode == _EXECUTABLE and change.old_mode != _EXECUTABLE:
        yield text(words.BECOMES_PROGRAM)
    if change.old_mode == _EXECUTABLE and change.new_mode not in (None, _EXECUTABLE):
        yield text(words.NO_PROGRAM)
