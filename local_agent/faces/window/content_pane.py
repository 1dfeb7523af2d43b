"""The middle of the window: what is decided on, whole, in one pane that is read from top to end."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from common.diff.model import DiffModel, FileDiff
from common.diff.view import Row as DiffRow
from common.diff.view import RowKind, rows
from common.sentences import Lang, say
from local_agent.cards import words
from local_agent.faces.shown import tabs_shown
from local_agent.faces.window.look import Look
from local_agent.faces.window.page import Row, drawable, without_astral
from local_agent.faces.window.panes import Pane, Piece, marked
from local_agent.views.question import Lines

FOLD: Final = 400  # characters of a line before it goes on below: Tk is slow beyond
_AT_ONCE: Final = 2000  # pieces put in before the window listens again: some 20 ms

_TAGS: Final[dict[RowKind, str]] = {
    "context": "",
    "added": "added",
    "removed": "removed",
    "hunk": "hunk",
    "open": "open",
}
_SIGNS: Final[dict[RowKind, str]] = {"added": "+", "removed": "−"}


class Content(Pane):
    """The command or the steps; then the diff, one file after the other, both sides numbered.

    A long diff is put in a part at a time, so that the window is there at once and listens.

    Args:
        parent: What it stands in.
        look: Colours and fonts.
        body: What stands before the diff.
        diff: What changes.
        lang: Language of the headings.
    """

    def __init__(
        self,
        parent: tk.Misc,
        look: Look,
        *,
        body: Sequence[Row | Lines],
        diff: DiffModel,
        lang: Lang,
    ) -> None:
        super().__init__(parent, look, wrap=False, mono=True)
        self._lang = lang
        self._starts: dict[str, str] = {}
        self._wanted = ""
        self.whole = False
        self.on_shown: Callable[[str], None] = lambda _path: None
        self.on_whole: Callable[[], None] = lambda: None
        self.put_facts(body)
        self._tags()
        if body and diff.files:
            self.put([("\n", "")])
        self._parts = self._parts_of(diff)
        self._go_on()

    def show(self, path: str) -> None:
        """Bring a file to the top, as soon as it is there."""
        self._wanted = path
        start = self._starts.get(path)
        if start is None and not self.whole:
            return
        if start is not None:
            self.text.yview(start)
        self._wanted = ""
        self.on_shown(path)

    def _go_on(self) -> None:
        count = 0
        while count < _AT_ONCE:
            part = next(self._parts, None)
            if part is None:
                self.whole = True
                self.on_whole()
                return
            self.put(part)
            count += len(part)
        self.after(1, self._go_on)

    def _parts_of(self, diff: DiffModel) -> Iterator[list[Piece]]:
        """Give the diff in parts; each is to be put in before the next is asked for."""
        for file in diff.files:
            self._starts[file.path] = self.text.index("end-1c")
            pieces = self._file(file)
            while part := list(islice(pieces, _AT_ONCE)):
                yield part
            if file.path == self._wanted:
                self.show(file.path)

    def _tags(self) -> None:
        palette, look, tag = self.look.palette, self.look, self.text.tag_configure
        tag(
            "file",
            font=look.font(13, bold=True),
            background=palette.heading,
            spacing1=look.px(6),
            spacing3=look.px(6),
        )
        tag("file-note", font=look.font(12), foreground=palette.dim, background=palette.heading)
        tag("hunk", background=palette.hunk, foreground=palette.hunk_text)
        tag("added", background=palette.added)
        tag("removed", background=palette.removed)
        tag("open", foreground=palette.dim)
        tag("line-number", foreground=palette.dim, background=palette.gutter)
        tag("added-number", foreground=palette.text, background=palette.added_number)
        tag("removed-number", foreground=palette.text, background=palette.removed_number)
        tag("hidden", background=palette.mark, foreground=palette.mark_text)
        self.text.tag_raise("hidden")

    def _file(self, file: FileDiff) -> Iterator[Piece]:
        name = drawable(file.path)
        if file.old_path not in (None, file.path):
            name = f"{drawable(file.old_path or '')} → {name}"
        op = say(words.OPS[file.op], self._lang)
        yield f"  {name}   ", "file"
        added = f"   +{file.added}" if file.added else ""
        removed = f"   −{file.removed}" if file.removed else ""
        yield f"{op}{added}{removed}\n", ("file", "file-note")
        ends = (
            end
            for hunk in file.hunks
            for end in (hunk.old_first + hunk.old_count, hunk.new_first + hunk.new_count)
        )
        digits = len(str(max(ends, default=0)))
        for row in rows(file):
            yield from self._row(row, digits)

    def _row(self, row: DiffRow, digits: int) -> Iterator[Piece]:
        tag = _TAGS[row.kind]
        gutter = " " * (2 * digits + 3)
        if row.kind == "hunk":
            yield f"{gutter} @@ {row.old_no} → {row.new_no} @@ {without_astral(row.text)}\n", tag
            return
        if row.kind == "open":
            yield f"{gutter}  {say(words.OPEN_END, self._lang)}\n", tag
            return
        numbers = f" {row.old_no or '':>{digits}} {row.new_no or '':>{digits}} "
        sign = _SIGNS.get(row.kind, " ")
        text = without_astral(tabs_shown(row.text))
        for start in range(0, max(len(text), 1), FOLD):
            yield numbers, f"{tag or 'line'}-number"
            yield f" {sign} ", tag
            yield from marked(text[start : start + FOLD], tag)
            yield "\n", tag
            numbers, sign = gutter, "┆"
