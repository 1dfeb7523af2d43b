"""Texts that only show: a pane with its scroll bars, and the labelled facts."""

from __future__ import annotations

import re
import tkinter as tk
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from tkinter import ttk
from typing import Final

from common.text import has_cjk
from local_agent.faces.window.look import Look
from local_agent.faces.window.page import QUOTED, Row
from local_agent.views.question import Lines

Piece = tuple[str, str | tuple[str, ...]]  # a text and its tags

_AT_ONCE: Final = 2000  # pieces handed to Tk in one call
_MARK: Final = re.compile(r"⟨(?:U\+[0-9A-F]|0x|[0-9])[^⟩]{0,40}⟩")


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
        look, palette, tag = self.look, self.look.palette, self.text.tag_configure
        side = look.px(12) if self.text.cget("wrap") == "none" else 0
        tag("fact", wrap="word", font=look.font(13), lmargin1=side, lmargin2=side)
        tag("label", font=look.font(12), foreground=palette.dim, spacing1=look.px(8))
        tag("number", font=look.font(13, mono=True), foreground=palette.dim)
        tag("exact", font=look.font(14, mono=True), lmargin2=look.px(48), spacing1=look.px(3))
        edge = look.px(12)
        tag(QUOTED, lmargin1=side + edge, lmargin2=side + edge, background=palette.hunk)
        tag("bold", font=look.font(13, bold=True))
        tag("dim", foreground=palette.dim)
        tag("red", foreground=palette.red)
        tag("green", foreground=palette.green)
        bold = look.font(13, bold=True)
        tag("alarm", font=bold, background=palette.alarm, foreground=palette.alarm_text)
        tag("hidden", background=palette.mark, foreground=palette.mark_text)
        tag("chinese", wrap="char")  # Tk breaks words at blanks alone
        self.put(piece for fact in facts for piece in _pieces(fact))


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
            yield "\n", tags if style == QUOTED else "fact"
        return
    digits = len(str(fact.first + len(fact.parts) - 1))
    for number, part in enumerate(fact.parts, start=fact.first):
        yield f"{number:>{digits}}  ", ("fact", "number")
        yield from marked(part, "fact", "exact")
        yield "\n", ("fact", "exact")
