"""The panes of the window: texts that only show, what is decided on, and the files of a change.

What is decided on stands whole, in one pane that is read from top to end.  In the list of files it
is told what becomes of each, and chosen which of them are accepted.
"""

from __future__ import annotations

import re
import tkinter as tk
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from tkinter import ttk
from typing import Final

from common.diff.model import DiffModel, FileDiff
from common.diff.view import Row as DiffRow
from common.diff.view import RowKind, rows
from common.sentences import Lang, say
from common.terminal import clip_cells, tabs_shown
from common.text import has_cjk
from local_agent.cards import words
from local_agent.faces.window.look import Look
from local_agent.faces.window.page import HEADING, QUOTED, Entry, Row, drawable, without_astral
from local_agent.views.question import Diff, Lines

Piece = tuple[str, str | tuple[str, ...]]  # a text and its tags

_AT_ONCE: Final = 2000  # pieces handed to Tk in one call
_MARK: Final = re.compile(r"⟨(?:U\+[0-9A-F]|0x|[0-9])[^⟩]{0,40}⟩")
FOLD: Final = 400  # characters of a line before it goes on below: Tk is slow beyond
_BEFORE_LISTENING: Final = 2000  # pieces put in before the window listens again: some 20 ms

_TAGS: Final[dict[RowKind, str]] = {
    "context": "",
    "added": "added",
    "removed": "removed",
    "hunk": "hunk",
    "open": "open",
}
_SIGNS: Final[dict[RowKind, str]] = {"added": "+", "removed": "−"}
_COLUMNS: Final = ("op", "added", "removed")
_NAME_CELLS: Final = 26
_MOST_ROWS: Final = 8


class Pane(tk.Frame):
    """A text that only shows, with its scroll bars.

    Args:
        parent: What it stands in.
        look: Colours and fonts.
        wrap: Whether long lines are broken; else they are scrolled sideways.
        mono: Whether all characters are of one width.
    """

    def __init__(self, parent: tk.Misc, look: Look, *, wrap: bool, mono: bool) -> None:
        palette = look.palette
        super().__init__(parent, background=palette.line, padx=1, pady=1)
        self.look = look
        self.on_view: Callable[[], None] = lambda: None
        self.text = tk.Text(
            self,
            wrap="word" if wrap else "none",
            font=look.font(13, mono=mono),
            background=palette.panel,
            foreground=palette.text,
            insertwidth=0,
            borderwidth=0,
            highlightthickness=look.px(2),
            highlightbackground=palette.panel,
            highlightcolor=palette.focus,
            padx=look.px(12 if wrap else 0),
            pady=look.px(8 if wrap else 0),
            spacing1=look.px(1),
            spacing3=look.px(1),
            cursor="arrow",
            width=1,
            height=1,
            takefocus=True,
        )
        self._bars(wrap)
        self.columnconfigure(0, weight=1)
        self.rowconfigure(0, weight=1)
        self.text.grid(row=0, column=0, sticky="nsew")

    def _bars(self, wrap: bool) -> None:
        self._down = ttk.Scrollbar(self, orient="vertical", command=self.text.yview)
        self.text.configure(yscrollcommand=self._scrolled)
        if not wrap:
            self._across = ttk.Scrollbar(self, orient="horizontal", command=self.text.xview)
            self.text.configure(xscrollcommand=self._scrolled_across)

    def _scrolled(self, first: float, last: float) -> None:
        self._down.set(first, last)
        if float(first) <= 0 and float(last) >= 1:
            self._down.grid_remove()
        else:
            self._down.grid(row=0, column=1, sticky="ns")
        self.on_view()

    def _scrolled_across(self, first: float, last: float) -> None:
        self._across.set(first, last)
        # It stays once it was needed: a bar that comes and goes would move the text for ever.
        if self.text.winfo_ismapped() and (float(first) > 0 or float(last) < 1):
            self._across.grid(row=1, column=0, sticky="ew")

    @property
    def at_end(self) -> bool:
        """Whether the last line is on the screen."""
        return self.text.yview()[1] >= 1.0

    def put(self, pieces: Iterable[Piece]) -> None:
        """Append pieces of text, each with its tags."""
        self.text.configure(state="normal")
        rest = iter(pieces)
        while some := list(islice(rest, _AT_ONCE)):
            first, *more = (part for piece in some for part in piece)
            self.text.insert("end", str(first), *more)
        self.text.configure(state="disabled")

    def put_facts(self, facts: Sequence[Row | Lines]) -> None:
        """Append labelled facts."""
        self.fact_tags()
        self.put(piece for fact in facts for piece in _pieces(fact))

    def fact_tags(self) -> None:
        """Say what labelled facts look like."""
        look, palette, tag = self.look, self.look.palette, self.text.tag_configure
        side = look.px(12) if self.text.cget("wrap") == "none" else 0
        tag("fact", wrap="word", font=look.font(13), lmargin1=side, lmargin2=side + look.px(12))
        tag("label", font=look.font(12), foreground=palette.dim, spacing1=look.px(8))
        tag("number", font=look.font(13, mono=True), foreground=palette.dim)
        tag("exact", font=look.font(14, mono=True), lmargin2=look.px(48), spacing1=look.px(3))
        edge = look.px(12)
        tag(QUOTED, lmargin1=side + edge, lmargin2=side + edge, background=palette.hunk)
        space = look.px(6)
        tag(
            HEADING,
            font=look.font(14, bold=True),
            background=palette.heading,
            spacing1=space,
            spacing3=space,
        )
        tag("bold", font=look.font(13, bold=True))
        tag("dim", foreground=palette.dim)
        tag("red", foreground=palette.red)
        tag("green", foreground=palette.green)
        bold = look.font(13, bold=True)
        tag("alarm", font=bold, background=palette.alarm, foreground=palette.alarm_text)
        tag("hidden", background=palette.mark, foreground=palette.mark_text)
        tag("chinese", wrap="char")  # Tk breaks words at blanks alone


class Facts(Pane):
    """Labels with their values below them, and lines under their numbers."""

    def __init__(self, parent: tk.Misc, look: Look, facts: Sequence[Row | Lines]) -> None:
        super().__init__(parent, look, wrap=True, mono=False)
        self.put_facts(facts)


def marked(text: str, *tags: str) -> Iterator[Piece]:
    """Give the text with the marks of its hidden characters set off."""
    end = 0
    for mark in _MARK.finditer(text):
        yield text[end : mark.start()], tags
        yield mark[0], (*tags, "hidden")
        end = mark.end()
    yield text[end:], tags


def _pieces(fact: Row | Lines) -> Iterator[Piece]:
    if isinstance(fact, Row):
        yield f"{fact.label}\n", ("fact", "label")
        for style, value in fact.values:
            tags = ("fact", style, "chinese") if has_cjk(value) else ("fact", style)
            yield from marked(value, *tags)
            yield "\n", tags if style in (QUOTED, HEADING) else "fact"
        return
    digits = len(str(fact.first + len(fact.parts) - 1))
    for number, part in enumerate(fact.parts, start=fact.first):
        yield f"{number:>{digits}}  ", ("fact", "number")
        yield from marked(part, "fact", "exact")
        yield "\n", ("fact", "exact")


class Content(Pane):
    """The command or the steps; then the diff, one file after the other, both sides numbered.

    Of several steps of a playbook one comes after the other, the diff of each in its place.

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
        body: Sequence[Row | Lines | Diff],
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
        self.fact_tags()
        self._tags()
        self._parts = self._parts_of(body, diff)
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
        while count < _BEFORE_LISTENING:
            part = next(self._parts, None)
            if part is None:
                self.whole = True
                self.on_whole()
                return
            self.put(part)
            count += len(part)
        self.after(1, self._go_on)

    def _parts_of(
        self, body: Sequence[Row | Lines | Diff], diff: DiffModel
    ) -> Iterator[list[Piece]]:
        """Give all of it in parts; each is to be put in before the next is asked for."""
        for fact in body:
            if isinstance(fact, Diff):
                yield from self._files_of(fact.model)
            else:
                yield list(_pieces(fact))
        if body and diff.files:
            yield [("\n", "")]
        yield from self._files_of(diff)

    def _files_of(self, diff: DiffModel) -> Iterator[list[Piece]]:
        for file in diff.files:
            self._starts[file.path] = self.text.index("end-1c")
            pieces = self._file(file)
            while part := list(islice(pieces, _BEFORE_LISTENING)):
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


class Files(tk.Frame):
    """The files of a change; where parts can be accepted, each with a box to tick.

    Args:
        parent: What it stands in.
        look: Colours and fonts.
        files: What changes.
        lang: Language.
        ticks: Whether there are boxes.
    """

    def __init__(
        self,
        parent: tk.Misc,
        look: Look,
        files: Sequence[Entry],
        *,
        lang: Lang,
        ticks: bool,
    ) -> None:
        super().__init__(parent, background=look.palette.ground)
        self._look = look
        self._ticks = ticks
        self._paths = {str(number): file.path for number, file in enumerate(files)}
        self._kept = set(self._paths.values())
        self.visited: set[str] = set()
        self.on_show: Callable[[str], None] = lambda _path: None
        self.on_change: Callable[[], None] = lambda: None
        self._images = _boxes(self) if ticks else ("", "")
        self._tree = self._make(min(max(len(files), 2), _MOST_ROWS))
        for number, file in enumerate(files):
            self._add(str(number), file, lang)

    @property
    def kept(self) -> tuple[str, ...]:
        """The paths of the ticked files, in the order of the diff."""
        return tuple(path for path in self._paths.values() if path in self._kept)

    @property
    def all_kept(self) -> bool:
        """Whether none was unticked."""
        return len(self._kept) == len(self._paths)

    @property
    def all_visited(self) -> bool:
        """Whether each file was looked at by its name here."""
        return len(self.visited) == len(self._paths)

    def visit(self, path: str) -> None:
        """Take note that a file is on the screen because it was chosen here."""
        self.visited.add(path)
        self.on_change()

    def _make(self, height: int) -> ttk.Treeview:
        tree = ttk.Treeview(
            self,
            columns=_COLUMNS,
            displaycolumns=_COLUMNS,
            show="tree",
            height=height,
            selectmode="browse",
        )
        px = self._look.px
        tree.column("#0", width=px(190), minwidth=px(120), stretch=True)
        tree.column("op", width=px(68), minwidth=px(68), stretch=False, anchor="w")
        for column in ("added", "removed"):
            tree.column(column, width=px(44), minwidth=px(44), stretch=False, anchor="e")
        tree.tag_configure("delete", foreground=self._look.palette.red)
        tree.tag_configure("add", foreground=self._look.palette.green)
        bar = ttk.Scrollbar(self, orient="vertical", command=tree.yview)
        tree.configure(yscrollcommand=bar.set)
        tree.bind("<<TreeviewSelect>>", self._on_select)
        tree.bind("<ButtonPress-1>", self._on_click, add="+")
        tree.bind("<KeyPress-space>", self._on_space)
        self.columnconfigure(0, weight=1)
        self.rowconfigure(0, weight=1)
        tree.grid(row=0, column=0, sticky="nsew")
        if len(self._paths) > height:
            bar.grid(row=0, column=1, sticky="ns")
        return tree

    def _add(self, item: str, file: Entry, lang: Lang) -> None:
        self._tree.insert(
            "",
            "end",
            iid=item,
            text=f" {_short(file.path)}",
            image=self._images[1],
            values=(
                say(words.OPS[file.op], lang),
                f"+{file.added}" if file.added else "",
                f"−{file.removed}" if file.removed else "",
            ),
            tags=(file.op,),
        )

    def _on_select(self, _event: tk.Event[tk.Misc]) -> None:
        for item in self._tree.selection():
            self.on_show(self._paths[item])

    def _on_click(self, event: tk.Event[tk.Misc]) -> None:
        if self._ticks and self._tree.identify_element(event.x, event.y) == "image":
            self._toggle(self._tree.identify_row(event.y))

    def _on_space(self, _event: tk.Event[tk.Misc]) -> str:
        if self._ticks:
            self._toggle(self._tree.focus())
        return "break"

    def _toggle(self, item: str) -> None:
        if path := self._paths.get(item):
            self._kept ^= {path}
            self._tree.item(item, image=self._images[path in self._kept])
            self.on_change()


def _short(path: str) -> str:
    """Return a path with its end, which names the file; the diff has it whole."""
    shown = drawable(path)
    if clip_cells(shown, _NAME_CELLS) == shown:
        return shown
    return "…" + clip_cells(shown[::-1], _NAME_CELLS - 1).removesuffix("…")[::-1]


def _boxes(widget: tk.Misc) -> tuple[str, str]:
    """Return the theme's own pictures of an empty and of a ticked box."""
    theme = str(widget.tk.call("ttk::style", "theme", "use")).removeprefix("sun-valley-")
    names = (f"ttk::theme::sv_{theme}::I(check-{kind}rest)" for kind in ("unsel-", ""))
    empty, ticked = (str(widget.tk.call("set", name)) for name in names)
    return empty, ticked
