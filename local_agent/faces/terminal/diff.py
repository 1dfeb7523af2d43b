"""What a page says about a change: its files with our own counts, then every line of it (R25)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from common.diff.model import FileDiff
from common.diff.view import Mark, Row, RowKind, rows
from common.terminal import cells, fold, pad, wrap
from local_agent.cards import words
from local_agent.faces.shown import on_one_line, tabs_shown
from local_agent.faces.terminal.layout import INDENT, Layout, Toned
from local_agent.views.question import ChangedFile, Diff, Files

_STYLES: Final[Mapping[RowKind, str]] = {
    "added": "green",
    "removed": "red",
    "context": "",
    "hunk": "dim",
    "open": "dim",
}
_SIGNS: Final[Mapping[RowKind, str]] = {"added": "+", "removed": "−"}
_MARK: Final = "        ! "


def file_list(change: Files, layout: Layout) -> Iterator[str]:
    """Give one line for each file, and below it what in it deserves a second look."""
    notes: list[Toned] = [("strong", change.count.to(layout.lang))]
    if change.only is not None:
        notes.append(("quiet", change.only.to(layout.lang)))
    if change.left_out is not None:
        notes.append(("strong", change.left_out.to(layout.lang)))
    yield from layout.row(words.CHANGES, notes)
    widths = (
        max(cells(layout.say(words.OPS[file.op])) for file in change.files),
        max(cells(_counts(file.diff)) for file in change.files),
    )
    for file in change.files:
        yield from _changed(file, layout, widths)
        yield from _marks(file.marks, layout)


def diff_lines(diff: Diff, layout: Layout) -> Iterator[str]:
    """Give every line of the diff, file by file."""
    said = layout.say(words.DIFF_WHOLE if diff.whole else words.DIFF_TEXT)
    yield from layout.row(words.DIFF, [("quiet", said)])
    for file in diff.model.files:
        yield ""
        yield from file_lines(file, layout)


def file_lines(file: FileDiff, layout: Layout) -> Iterator[str]:
    """Give every line of one file's diff, with its numbers on both sides."""
    op = layout.say(words.OPS[file.op])
    title = f"{op}  {on_one_line(file.path)}"
    if file.op in ("rename", "copy"):
        title += f"  {_come_from(file.old_path or '', layout)}"
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
    text = layout.say(words.OPEN_END) if row.kind == "open" else tabs_shown(row.text)
    sign = _SIGNS.get(row.kind, " ")
    head = f"{INDENT}{row.old_no or '':>{digits}} {row.new_no or '':>{digits}} │{sign}"
    for line in fold(text, layout.width - cells(head)):
        yield layout.ink("dim", head) + layout.ink(_STYLES[row.kind], line)
        head = f"{INDENT}{blank} ┆{sign}"


def _changed(file: ChangedFile, layout: Layout, widths: tuple[int, int]) -> Iterator[str]:
    head = INDENT * 2 + pad(layout.say(words.OPS[file.op]), widths[0]) + INDENT
    counts = pad(_counts(file.diff), widths[1]) + INDENT
    come_from = [_come_from(file.old_path, layout)] if file.old_path is not None else []
    told = [*come_from, *(note.to(layout.lang) for note in file.notes)]
    notes = "".join(f"{INDENT}({note})" for note in told)
    style = "red" if file.op == "delete" else ""
    gutter = cells(head) + cells(counts)
    for piece in fold(on_one_line(file.path) + notes, layout.width - gutter):
        yield head + layout.ink("dim", counts) + layout.ink(style, piece)
        head, counts = " " * gutter, ""


def _come_from(path: str, layout: Layout) -> str:
    return layout.say(words.FROM, path=on_one_line(path))


def _counts(file: FileDiff | None) -> str:
    return f"+{file.added} −{file.removed}" if file else ""


def _marks(found: Sequence[Mark], layout: Layout) -> Iterator[str]:
    for mark in found:
        what = layout.say(words.MARKS[mark.code])
        said = layout.say(words.MARK_AT, line=mark.line, what=what)
        for line in wrap(said, layout.width - len(_MARK)):
            yield layout.ink("red", _MARK + line)
