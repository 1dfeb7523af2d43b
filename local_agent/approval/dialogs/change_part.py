"""What a page says about a change: its files with our own counts, then every line of it (R25)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from common.diff.model import DiffModel, FileDiff
from common.diff.view import Mark, Row, RowKind, marks, rows
from common.seal import SealedChange
from common.sentences import Lang, say
from common.terminal import cells, exact, fold, pad, wrap
from common.text import one_line
from local_agent.approval.dialogs import change_words
from local_agent.approval.dialogs.layout import ENDLESS, INDENT, Layout
from local_agent.approval.dialogs.question import LeftOut, Question
from local_agent.approval.dialogs.said_part import said_part

_EXECUTABLE: Final = "100755"
_STYLES: Final[Mapping[RowKind, str]] = {
    "added": "green",
    "removed": "red",
    "context": "",
    "hunk": "dim",
    "open": "dim",
}
_SIGNS: Final[Mapping[RowKind, str]] = {"added": "+", "removed": "−"}
_TAB: Final = "⇥"
_TAB_STOP: Final = 4
_MARK: Final = "        ! "


def change_part(question: Question, layout: Layout) -> Iterator[str]:
    """Give what the model says of it, the files that change, then the whole diff."""
    said = list(said_part(question, layout))
    yield from [*said, ""] if said else ()
    yield from file_list(question, layout)
    yield ""
    yield from diff_lines(question, layout)


def undo_part(question: Question, layout: Layout) -> Iterator[str]:
    """Give whose change is taken back, the files, and the whole reverse diff."""
    task = question.seal.payload["undoes"]["short_id"]
    said = layout.say(change_words.TAKES_BACK_IS, task=task)
    yield from layout.row(change_words.TAKES_BACK, [("bold", said)])
    yield ""
    yield from change_part(question, layout)


def file_list(question: Question, layout: Layout) -> Iterator[str]:
    """Give one line for each file, and below it what in it deserves a second look."""
    model = question.diff or DiffModel(())
    said = layout.say(
        change_words.CHANGES_ARE,
        count=len(question.changes),
        added=model.added,
        removed=model.removed,
    )
    notes = [("bold", said)]
    if question.seal.action != "git_sync":
        notes.append(("dim", layout.say(change_words.CHANGES_ONLY)))
    if question.left_out is not None:
        notes.append(("bold", left_out(question, question.left_out, layout.lang)))
    yield from layout.row(change_words.CHANGES, notes)
    files = {file.path: file for file in model.files}
    found: defaultdict[str, list[Mark]] = defaultdict(list)
    for mark in marks(model):
        found[mark.path].append(mark)
    widths = (
        max(cells(layout.say(change_words.OPS[change.op])) for change in question.changes),
        max(cells(_counts(files.get(change.path))) for change in question.changes),
    )
    for change in question.changes:
        yield from _change(change, files.get(change.path), layout, widths)
        yield from _marks(found[change.path], layout)


def left_out(question: Question, left: LeftOut, lang: Lang) -> str:
    """Return what a change was narrowed from, and how to get all of it back."""
    more = ["…"] if left.count > len(left.paths) else []
    kept = len(question.changes)
    return say(
        change_words.LEFT_OUT,
        lang,
        kept=kept,
        total=kept + left.count,
        paths=", ".join([*(one_line(path, 200) for path in left.paths), *more]),
        task=question.seal.short_id,
    )


def diff_lines(question: Question, layout: Layout) -> Iterator[str]:
    """Give every line of the diff, file by file."""
    files = question.diff.files if question.diff else ()
    whole = len(files) == len(question.changes)
    said = layout.say(change_words.DIFF_WHOLE if whole else change_words.DIFF_TEXT)
    yield from layout.row(change_words.DIFF, [("dim", said)])
    for file in files:
        yield ""
        yield from file_lines(file, layout)


def file_lines(file: FileDiff, layout: Layout) -> Iterator[str]:
    """Give every line of one file's diff, with its numbers on both sides."""
    op = layout.say(change_words.OPS[file.op])
    title = f"{op}  {_visible(file.path)}"
    if file.op in ("rename", "copy"):
        title += f"  {layout.say(change_words.FROM, path=_visible(file.old_path or ''))}"
    for line in fold(title, layout.width - len(INDENT)):
        yield INDENT + layout.ink("bold", line)
    shown = list(rows(file))
    most = max((max(row.old_no or 0, row.new_no or 0) for row in shown), default=0)
    for row in shown:
        yield from _row(row, len(str(most)), layout)


def _row(row: Row, digits: int, layout: Layout) -> Iterator[str]:
    blank = " " * (2 * digits + 1)
    if row.kind == "hunk":
        begin = f"{INDENT}{'─' * len(blank)}─┼─ "
        section = fold(row.text, layout.width - cells(begin))[0]  # it decides nothing
        yield layout.ink("dim", (begin + section).rstrip())
        return
    text = layout.say(change_words.OPEN_END) if row.kind == "open" else tabs_shown(row.text)
    sign = _SIGNS.get(row.kind, " ")
    head = f"{INDENT}{row.old_no or '':>{digits}} {row.new_no or '':>{digits}} │{sign}"
    for line in fold(text, layout.width - cells(head)):
        yield layout.ink("dim", head) + layout.ink(_STYLES[row.kind], line)
        head = f"{INDENT}{blank} ┆{sign}"


def tabs_shown(text: str) -> str:
    """Return the text with each tab as an arrow that reaches to the next stop."""
    first, *parts = text.split("\t")
    shown, column = [first], cells(first)
    for part in parts:
        gap = _TAB_STOP - column % _TAB_STOP
        shown += (_TAB, " " * (gap - 1), part)
        column += gap + cells(part)
    return "".join(shown)


def _change(
    change: SealedChange, file: FileDiff | None, layout: Layout, widths: tuple[int, int]
) -> Iterator[str]:
    head = INDENT * 2 + pad(layout.say(change_words.OPS[change.op]), widths[0]) + INDENT
    counts = pad(_counts(file), widths[1]) + INDENT
    notes = "".join(f"{INDENT}({note})" for note in _notes(change, file, layout))
    style = "red" if change.op == "delete" else ""
    gutter = cells(head) + cells(counts)
    for piece in fold(_visible(change.path) + notes, layout.width - gutter):
        yield head + layout.ink("dim", counts) + layout.ink(style, piece)
        head, counts = " " * gutter, ""


def _counts(file: FileDiff | None) -> str:
    return f"+{file.added} −{file.removed}" if file else ""


def _notes(change: SealedChange, file: FileDiff | None, layout: Layout) -> Iterator[str]:
    if change.op in ("rename", "copy"):
        yield layout.say(change_words.FROM, path=_visible(change.old_path or ""))
    if file is None:
        yield layout.say(change_words.NO_TEXT)
    if change.op != "delete" and change.size == 0:
        yield layout.say(change_words.EMPTY)
    if change.new_mode == _EXECUTABLE and change.old_mode != _EXECUTABLE:
        yield layout.say(change_words.BECOMES_PROGRAM)
    if change.old_mode == _EXECUTABLE and change.new_mode not in (None, _EXECUTABLE):
        yield layout.say(change_words.NO_PROGRAM)


def _marks(found: Sequence[Mark], layout: Layout) -> Iterator[str]:
    for mark in found:
        what = layout.say(change_words.MARKS[mark.code])
        said = layout.say(change_words.MARK_AT, line=mark.line, what=what)
        for line in wrap(said, layout.width - len(_MARK)):
            yield layout.ink("red", _MARK + line)


def _visible(path: str) -> str:
    return "".join(exact(path, width=ENDLESS))
