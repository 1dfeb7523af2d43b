"""The window's program: reads one order, shows it, writes one answer (R27).

Started by `program` as ``python -I -m``, in a clean environment.  It has no part in the decision
but to show it and to tell it: the gate, in the agent, checks whatever comes out of here.  `Frame`
is the window itself: its parts in their places, what is still missing, and the person's answer.
"""

from __future__ import annotations

import sys
import tkinter as tk
from tkinter import ttk
from typing import BinaryIO, Final

from common.clock import Clock, SystemClock
from common.diff.model import DiffModel
from common.errors import CodexBridgeError
from common.sentences import Lang, Sentence, say
from common.strict_json import canonical, loads
from common.text import has_cjk
from local_agent.actions.registry import ACTIONS
from local_agent.cards import words
from local_agent.cards.question import read_question
from local_agent.faces.window.hands import DecisionButton, Hands
from local_agent.faces.window.look import SIZE, Look, bring_up, open_root
from local_agent.faces.window.page import (
    ARMING,
    CHECK,
    CLOSES,
    CODE_FOR,
    CODE_HOW,
    CODE_TITLE,
    LATER,
    NARROW,
    NONE_TICKED,
    NOT_WHOLE,
    QUOTED,
    READ_FIRST,
    READY,
    REJECT,
    TRIAL_TITLE,
    UNTICKED,
    WINDOW_TITLE,
    Page,
    code_missing,
    drawable,
    page_of,
)
from local_agent.faces.window.page import TRIAL as TRIAL_TEXT
from local_agent.faces.window.panes import Content, Facts, Files, Pane
from local_agent.faces.window.program import PRESSED, PROBE, TRIAL, TRIAL_S
from local_agent.faces.window.wire import (
    MAX_ANSWER,
    MAX_DIFF,
    MAX_TOLD,
    MAX_TYPED,
    Answer,
    Choice,
    Order,
    decode_order,
    encode_answer,
)
from local_agent.views.question import Question

_TICK_MS: Final = 100
_SIDE: Final = 340  # pixels at 96 dots per inch
_CODE_SIZE: Final = (620, 360)
_MAX_READ: Final = MAX_TOLD + MAX_DIFF + 1024


class Frame:
    """One question on the screen.

    Args:
        root: The window, not yet on the screen.
        look: Colours and fonts.
        question: What is asked, read and verified here.
        order: How it is to be shown.
        clock: Tells the time.
    """

    def __init__(
        self, root: tk.Tk, look: Look, question: Question, order: Order, clock: Clock
    ) -> None:
        self._root = root
        self._look = look
        self._question = question
        self._order = order
        self._clock = clock
        self._ends_at = clock.now().mono + order.lasts_s
        self._decision: Choice = "none"
        self._hands = Hands(root, clock)
        self._seen = False
        self._files: Files | None = None
        self._typed = tk.StringVar(root)
        self._build(page_of(question, order.lang))
        self._hands.guard(root)
        root.protocol("WM_DELETE_WINDOW", self._later)
        root.bind("<KeyPress-Escape>", lambda _event: self._later())

    def run(self) -> Answer:
        """Show the window until it is answered, closed, or its time is over."""
        self._reject.focus_set()
        self._tick()
        self._root.mainloop()
        approving = self._decision == "approve" and self._question.high_risk
        return Answer(
            approval_id=self._order.shown.approval_id,
            digest=self._question.digest,
            nonce=self._order.nonce,
            decision=self._decision,
            typed=self._typed.get()[:MAX_TYPED] if approving else "",
            keep=self._files.kept if self._files and self._decision == "narrow" else (),
        )

    # building

    def _build(self, page: Page) -> None:
        root, look = self._root, self._look
        root.title(self._say(WINDOW_TITLE, task=self._question.seal.short_id))
        root.configure(background=look.palette.ground)
        outer = tk.Frame(root, background=look.palette.ground)
        outer.pack(fill="both", expand=True, padx=look.px(20), pady=(look.px(16), look.px(14)))
        outer.columnconfigure(0, weight=1)
        outer.rowconfigure(3, weight=1)
        if page.verdict is not None:
            strip = self._verdict(outer, *page.verdict)
            strip.grid(row=0, column=0, sticky="ew", pady=(0, look.px(12)))
        self._heading(outer, page).grid(row=1, column=0, sticky="ew")
        self._banner(outer, page).grid(row=2, column=0, sticky="ew", pady=look.px(12))
        self._middle(outer, page).grid(row=3, column=0, sticky="nsew")
        self._foot(outer).grid(row=4, column=0, sticky="ew", pady=(look.px(12), 0))
        self._buttons(outer).grid(row=5, column=0, sticky="ew", pady=(look.px(10), 0))

    def _verdict(self, parent: tk.Misc, style: str, said: str) -> tk.Frame:
        """Return how the check ended: what whoever comes back to the window looks for."""
        look, palette = self._look, self._look.palette
        ground, colour = {
            "green": (palette.added, palette.green),
            "red": (palette.removed, palette.red),
        }.get(style, (palette.badge, palette.text))
        frame = tk.Frame(parent, background=colour)
        label = self._label(
            frame, said, size=17, bold=True, wrap=True, colour=colour, ground=ground
        )
        label.configure(padx=look.px(14), pady=look.px(8))
        label.pack(fill="both", expand=True, padx=(look.px(6), 0))
        return frame

    def _heading(self, parent: tk.Misc, page: Page) -> tk.Frame:
        look, palette = self._look, self._look.palette
        frame = tk.Frame(parent, background=palette.ground)
        frame.columnconfigure(0, weight=1)
        title = self._label(frame, page.title, size=22, bold=True, wrap=True)
        title.grid(row=0, column=0, sticky="ew", padx=(0, look.px(16)))
        high = self._question.high_risk
        badge = self._label(
            frame,
            self._say(words.HIGH if high else words.NORMAL),
            size=13,
            bold=True,
            colour=palette.alarm_text if high else palette.dim,
            ground=palette.alarm if high else palette.badge,
        )
        badge.configure(padx=look.px(12), pady=look.px(4))
        badge.grid(row=0, column=1, sticky="ne")
        place = self._label(frame, page.place, size=13, wrap=True, colour=palette.dim)
        place.grid(row=1, column=0, columnspan=2, sticky="ew", pady=(look.px(2), 0))
        return frame

    def _banner(self, parent: tk.Misc, page: Page) -> tk.Frame:
        look, palette = self._look, self._look.palette
        ground = palette.remote if page.afar else palette.local
        colour = palette.remote_text if page.afar else palette.text
        edge = palette.remote_edge if page.afar else palette.local_edge
        frame = tk.Frame(parent, background=edge)
        inner = tk.Frame(frame, background=ground)
        inner.pack(fill="both", expand=True, padx=(look.px(4), 0))
        spaced = {"anchor": "w", "fill": "x", "padx": look.px(14)}
        head = self._label(inner, page.source, size=13, bold=True, colour=colour, ground=ground)
        head.pack(**spaced, pady=(look.px(8), 0))  # type: ignore[arg-type]  # a plain dict
        by = self._label(inner, page.asked_by, size=13, wrap=True, colour=colour, ground=ground)
        by.pack(**spaced)  # type: ignore[arg-type]  # same
        if page.request:
            request = self._request(inner, page.request, colour=colour, ground=ground)
            request.pack(**spaced, pady=(look.px(4), 0))  # type: ignore[arg-type]  # same
        tk.Frame(inner, background=ground, height=look.px(8)).pack()
        return frame

    def _request(self, parent: tk.Misc, request: str, *, colour: str, ground: str) -> tk.Frame:
        pane = Pane(parent, self._look, wrap=True, mono=False)
        pane.configure(background=ground, padx=0, pady=0)
        lines = min(1 + len(request) // 110 + request.count("\n"), 3)
        pane.text.configure(
            height=lines,
            background=ground,
            highlightbackground=ground,
            foreground=colour,
            font=self._look.font(15),
            padx=0,
            pady=0,
            wrap="char" if has_cjk(request) else "word",
        )
        pane.fact_tags()
        pane.put([(request, QUOTED)])
        return pane

    def _middle(self, parent: tk.Misc, page: Page) -> tk.Frame:
        look = self._look
        frame = tk.Frame(parent, background=look.palette.ground)
        frame.columnconfigure(0, minsize=look.px(_SIDE))
        frame.columnconfigure(1, weight=1)
        frame.rowconfigure(0, weight=1)
        side = tk.Frame(frame, background=look.palette.ground)
        side.columnconfigure(0, weight=1)
        side.rowconfigure(1, weight=1)
        side.grid(row=0, column=0, sticky="nsew", padx=(0, look.px(12)))
        if page.files:
            self._list(side, page).grid(row=0, column=0, sticky="ew", pady=(0, look.px(10)))
        Facts(side, look, page.facts).grid(row=1, column=0, sticky="nsew")
        self._content = Content(
            frame,
            look,
            body=page.body,
            diff=self._question.diff or DiffModel(()),
            lang=self._order.lang,
        )
        self._content.grid(row=0, column=1, sticky="nsew")
        self._content.on_view = self._refresh
        self._content.on_whole = self._on_whole
        if self._files is not None:
            self._files.on_show = self._content.show
            self._content.on_shown = self._files.visit
        return frame

    def _list(self, parent: tk.Misc, page: Page) -> Files:
        ticks = self._order.shown.can_narrow
        self._files = Files(parent, self._look, page.files, lang=self._order.lang, ticks=ticks)
        self._files.on_change = self._refresh
        return self._files

    def _foot(self, parent: tk.Misc) -> tk.Frame:
        look, palette = self._look, self._look.palette
        frame = tk.Frame(parent, background=palette.ground)
        frame.columnconfigure(3, weight=1)
        self._label(frame, self._say(words.CODE), size=13, colour=palette.dim).grid(
            row=0, column=0, padx=(0, look.px(10))
        )
        code = self._label(
            frame, self._question.code, size=20, bold=True, mono=True, ground=palette.badge
        )
        code.configure(padx=look.px(10), pady=look.px(2))
        code.grid(row=0, column=1)
        if self._question.high_risk:
            self._entry(frame).grid(row=0, column=2, padx=(look.px(12), 0))
        self._status = self._label(frame, "", size=12, colour=palette.dim)
        self._status.grid(row=0, column=3, sticky="ew", padx=look.px(12))
        self._left = self._label(frame, "", size=12, colour=palette.dim)
        self._left.grid(row=0, column=4, sticky="e")
        return frame

    def _entry(self, parent: tk.Misc) -> ttk.Entry:
        entry = ttk.Entry(
            parent, textvariable=self._typed, width=12, font=self._look.font(16, mono=True)
        )
        # The code is typed, so that it was read; and nothing else can be let fall in here.
        for event in ("<<Paste>>", "<<PasteSelection>>", "<KeyPress-Return>"):
            entry.bind(event, lambda _event: "break")
        self._typed.trace_add("write", lambda *_names: self._refresh())
        return entry

    def _buttons(self, parent: tk.Misc) -> tk.Frame:
        look = self._look
        frame = tk.Frame(parent, background=look.palette.ground)
        self._reject = self._button(frame, REJECT, "reject")
        self._after = self._button(frame, LATER, "none")
        shown, plain = self._order.shown, [self._reject, self._after]
        self._check = self._narrow = None
        if shown.can_check:
            self._check = self._button(frame, CHECK, "check")
        if shown.can_narrow:
            self._narrow = self._button(frame, NARROW, "narrow")
        approve = ACTIONS[self._question.seal.action].card.approve
        self._approve = self._button(frame, approve, "approve", accent=True)
        for button in plain:
            button.pack(side="left", padx=(0, look.px(8)), ipadx=look.px(10), ipady=look.px(3))
        for last in (self._approve, self._narrow, self._check):
            if last is not None:
                last.pack(side="right", padx=(look.px(8), 0), ipadx=look.px(10), ipady=look.px(3))
        return frame

    def _button(
        self, parent: tk.Misc, text: Sentence, decision: Choice, *, accent: bool = False
    ) -> DecisionButton:
        return DecisionButton(
            parent,
            self._say(text),
            hands=self._hands,
            act=lambda: self._decide(decision),
            accent=accent,
        )

    def _label(
        self,
        parent: tk.Misc,
        text: str,
        *,
        size: int,
        bold: bool = False,
        mono: bool = False,
        wrap: bool = False,
        colour: str | None = None,
        ground: str | None = None,
    ) -> tk.Label:
        palette = self._look.palette
        label = tk.Label(
            parent,
            text=text,
            font=self._look.font(size, bold=bold, mono=mono),
            foreground=colour or palette.text,
            background=ground or palette.ground,
            anchor="w",
            justify="left",
            padx=0,
            borderwidth=0,
        )
        if wrap:
            label.bind("<Configure>", lambda event: label.configure(wraplength=event.width))
        return label

    # what is missing, and what was decided

    def _tick(self) -> None:
        now = self._clock.now()
        left_s = int(self._ends_at - now.mono)
        if left_s <= 0 or now.wall_ms >= self._question.seal.expires_at:
            self._root.destroy()
            return
        left = f"{left_s // 60}:{left_s % 60:02}"
        waits = words.time_left(self._question.seal.expires_at, now.wall_ms, self._order.lang)
        self._set(self._left, self._say(CLOSES, left=left, waits=waits))
        self._refresh()
        self._root.after(_TICK_MS, self._tick)

    def _refresh(self) -> None:
        """Tell what is missing, and enable what is possible."""
        self._seen = self._seen or (self._content.whole and self._content.at_end)
        still = self._hands.pointer_counts
        missing = self._missing()
        files = self._files
        self._set(self._status, self._say(missing if still and missing else self._hint(still)))
        self._reject.enable(possible=still)
        self._after.enable(possible=still)
        self._approve.enable(possible=still and missing is None)
        if self._check is not None:
            self._check.enable(possible=still)
        if self._narrow is not None and files is not None:
            self._narrow.enable(possible=still and bool(files.kept) and not files.all_kept)

    def _hint(self, still: bool) -> Sentence:
        return READY if still else ARMING

    def _missing(self) -> Sentence | None:
        """Return what must still be done before it can be approved."""
        files = self._files
        if not self._content.whole:
            return NOT_WHOLE
        if files is not None and not files.all_kept:
            return UNTICKED if files.kept else NONE_TICKED
        if not self._question.high_risk:
            return None
        # The files of several steps are not all of them: commands stand between.
        visited = files is not None and files.all_visited and not self._question.parts
        if not self._seen and not visited:
            return READ_FIRST
        return code_missing(self._question, self._typed.get())

    def _on_whole(self) -> None:
        """Wait once more: a button that has just come to life must not take a hasty hand."""
        self._hands.disturb()
        self._refresh()

    def _decide(self, decision: Choice) -> None:
        if decision != "approve" or self._missing() is None:
            self._decision = decision
            self._root.destroy()

    def _later(self) -> None:
        self._root.destroy()

    def _set(self, label: tk.Label, text: str) -> None:
        if label.cget("text") != text:
            label.configure(text=text)

    def _say(self, sentence: Sentence, **facts: object) -> str:
        return say(sentence, self._order.lang, **facts)


def run(source: BinaryIO, target: BinaryIO) -> int:
    """Answer one order; return the exit code, 0 when an answer was written."""
    raw = source.read(_MAX_READ)
    try:
        if raw == PROBE:
            Look(open_root(), "light")
            target.write(canonical({"tk": True}) + b"\n")
        elif raw.startswith(TRIAL):
            target.write(_try(raw.removeprefix(TRIAL)))
        else:
            target.write(_ask(raw))
    except (CodexBridgeError, tk.TclError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    target.flush()
    return 0


def _try(raw: bytes) -> bytes:
    """Show a window that asks nothing; return `PRESSED` when its button was, else nothing.

    It says that it is a test, or a one-time code and what it is for.
    """
    told = loads(raw, max_bytes=MAX_ANSWER)
    lang: Lang = "zh" if told.get("lang") == "zh" else "en"
    title, size, said = TRIAL_TITLE, SIZE, [(17, say(TRIAL_TEXT, lang))]
    if code := told.get("code"):
        facts = {**code, "title": drawable(code["title"][lang])}
        title, size = CODE_TITLE, _CODE_SIZE
        said = [(17, say(CODE_FOR, lang, **facts)), (34, code["once"]), (14, say(CODE_HOW, lang))]
    root = open_root()
    look = Look(root, "dark" if told.get("theme") == "dark" else "light")
    hands, pressed = Hands(root, SystemClock()), []

    def press() -> None:
        pressed.append(PRESSED)
        root.destroy()

    def tick() -> None:
        later.enable(possible=hands.pointer_counts)
        root.after(_TICK_MS, tick)

    root.title(say(title, lang))
    root.configure(background=look.palette.ground)
    # From below as in a real one: the button is where it will be.
    later = DecisionButton(root, say(LATER, lang), hands=hands, act=press)
    later.pack(side="bottom", anchor="w", padx=look.px(110), pady=look.px(20))
    for points, words_ in said:
        text = tk.Label(root, text=words_, font=look.font(points, mono=points == 34))
        text.configure(background=look.palette.ground, foreground=look.palette.text)
        text.configure(wraplength=look.px(size[0] - 60), justify="left")
        text.pack(expand=True)
    hands.guard(root)
    root.protocol("WM_DELETE_WINDOW", root.destroy)
    root.after(TRIAL_S * 1000, root.destroy)
    tick()
    bring_up(root, look, size)
    root.mainloop()
    return b"".join(pressed)


def _ask(raw: bytes) -> bytes:
    order, diff = decode_order(raw)
    question = read_question(order.shown, diff=diff)
    root = open_root()
    look = Look(root, order.theme)
    frame = Frame(root, look, question, order, SystemClock())
    bring_up(root, look)
    return encode_answer(frame.run())


if __name__ == "__main__":
    sys.exit(run(sys.stdin.buffer, sys.stdout.buffer))
