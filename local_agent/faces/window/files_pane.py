"""The files of a change in a list: what becomes of each, and which of them are accepted."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from tkinter import ttk
from typing import Final

from common.sentences import Lang, say
from common.terminal import clip_cells
from local_agent.cards import words
from local_agent.faces.window.look import Look
from local_agent.faces.window.page import Entry, drawable

_COLUMNS: Final = ("op", "added", "removed")
_NAME_CELLS: Final = 26
_MOST_ROWS: Final = 8


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
