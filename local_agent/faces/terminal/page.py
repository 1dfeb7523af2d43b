"""The terminal approver: everything that will be done, on one page, and a code to type.

`Layout` sets a page: labels on the left, values on the right, numbered lines, nothing cut off.  Of
a change the files are told with our own counts, then every line of it (R25).

`render` is pure and is also what ``codexbridge show`` prints.  `present` and `ask` talk to the
terminal they are given and decide nothing by themselves: `ask` returns what was typed when it is
the right code, or None.  No flag, variable or pipe can stand in for the typing (P1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from common.diff.model import FileDiff
from common.diff.view import Mark, Row, RowKind, rows
from common.sentences import Lang, Sentence, say
from common.terminal import (
    ENDLESS,
    Ink,
    cells,
    clip_cells,
    exact,
    fold,
    most_cells,
    on_one_line,
    pad,
    tabs_shown,
    wrap,
)
from local_agent.cards import words
from local_agent.cards.view import LABELS, view_of
from local_agent.faces.terminal.tty import Terminal
from local_agent.views.question import (
    ChangedFile,
    Diff,
    Effect,
    Fact,
    Files,
    Lines,
    Part,
    Question,
    QuestionView,
    Steps,
    Tone,
)

MIN_WIDTH: Final = 40
MAX_WIDTH: Final = 100
INDENT: Final = "  "

_LABEL_CELLS: Final = 13
_BAR: Final = "│ "
_ON: Final = "┆ "  # before what goes on from the row above, so that it is none of its own
_LABELS: Final = (
    *LABELS.values(),
    words.MACHINE,
    words.WORKSPACE,
    words.ASKED_BY,
    words.REQUEST,
    words.CHECKED,
    words.AFTERWARDS,
    words.UNDO,
    words.WHY,
    words.CODE,
    words.CHANGES,
    words.DIFF,
    words.STEPS,
)
_STYLES: Final[Mapping[Tone, str]] = {
    "plain": "",
    "strong": "bold",
    "quiet": "dim",
    "good": "green",
    "danger": "red",
    "alarm": "alarm",
    "quoted": "",  # words that are not ours stand behind a bar, and have no colour
}

Toned = tuple[Tone, str]
_ROW_STYLES: Final[Mapping[RowKind, str]] = {
    "added": "green",
    "removed": "red",
    "context": "",
    "hunk": "dim",
    "open": "dim",
}
_SIGNS: Final[Mapping[RowKind, str]] = {"added": "+", "removed": "−"}
_MARK: Final = "        ! "
PAGED_OVER: Final = 2  # screens; up to so many are scrolled back to more quickly than paged

_EFFECTS: Final[Mapping[Effect, str]] = {
    "read-only": "dim",
    "local-write": "bold",
    "remote-write": "red",
}
_REST: Final = frozenset({"a", "all", "全部"})
_LEAVE: Final = frozenset({"q", "quit", "退出"})
_PAGE: Final = Sentence(
    en="lines {first}–{last} of {total} · Enter: next · a: all the rest · q: decide nothing › ",
    zh="第 {first}–{last} 行，共 {total} 行 · 回车：下一页 · a：显示其余全部 · q：不作决定 › ",
)


class Layout:
    """One page's language, width and emphasis.

    Args:
        lang: Language of the page.
        width: Cells of the terminal; held between 40 and 100.
        ink: Whether emphasis may be used.
    """

    def __init__(self, lang: Lang, width: int, ink: Ink) -> None:
        self.lang = lang
        self.width = max(MIN_WIDTH, min(width, MAX_WIDTH))
        self.ink = ink
        self._labels = max(_LABEL_CELLS, *(cells(say(label, lang)) + 2 for label in _LABELS))
        self._room = self.width - len(INDENT) - self._labels

    def say(self, sentence: Sentence, **facts: object) -> str:
        """Return the sentence in the page's language."""
        return say(sentence, self.lang, **facts)

    def label(self, label: Sentence) -> str:
        """Return a label, filled up to where the values begin."""
        return INDENT + pad(self.say(label), self._labels)

    def fact(self, fact: Fact) -> Iterator[str]:
        """Give a fact under its label."""
        values = [(value.tone, value.text.to(self.lang)) for value in fact.values]
        return self.row(LABELS[fact.kind], values, exactly=fact.exact)

    def row(
        self, label: Sentence, values: Sequence[Toned], *, exactly: bool = False
    ) -> Iterator[str]:
        """Give labelled values.

        Args:
            label: What they are.
            values: One or more, each beginning on a line of its own; what is quoted stands behind
                a bar, all of it.
            exactly: They are kept to the character, not broken at blanks.
        """
        head = self.label(label)
        for tone, value in values:
            bar = _BAR if tone == "quoted" else ""
            room = self._room - most_cells(bar or (_ON if exactly else ""))
            marked = "\n".join(exact(value, width=ENDLESS))
            lines = exact(value, width=room) if exactly else wrap(marked, room)
            for line in lines:
                yield self.ink("dim", head + bar) + self.ink(_STYLES[tone], line)
                head, bar = " " * cells(head), bar or (_ON if exactly else "")

    def numbered(self, lines: Lines) -> Iterator[str]:
        """Give lines of text to the character, each under its number."""
        digits = len(str(lines.first + len(lines.parts) - 1))
        for number, part in enumerate(lines.parts, start=lines.first):
            head = f"{INDENT * 2}{number:>{digits}} │ "
            for line in exact(part, width=self.width - most_cells(head)):
                yield self.ink("dim", head) + self.ink("bold", line)
                head = f"{INDENT * 2}{' ' * digits} ┆ "


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
    head = INDENT
    for line in fold(title, layout.width - len(INDENT) - most_cells(_ON)):
        yield layout.ink("dim", head) + layout.ink("bold", line)
        head = INDENT + _ON
    shown = list(rows(file))
    most = max((max(row.old_no or 0, row.new_no or 0) for row in shown), default=0)
    for row in shown:
        yield from _row(row, len(str(most)), layout)


def _row(row: Row, digits: int, layout: Layout) -> Iterator[str]:
    blank = " " * (2 * digits + 1)
    if row.kind == "hunk":
        begin = f"{INDENT}{'─' * len(blank)}─┼─ "
        section = fold(row.text, layout.width - most_cells(begin))[0]  # it decides nothing
        yield layout.ink("dim", (begin + section).rstrip())
        return
    text = layout.say(words.OPEN_END) if row.kind == "open" else tabs_shown(row.text)
    sign = _SIGNS.get(row.kind, " ")
    head = f"{INDENT}{row.old_no or '':>{digits}} {row.new_no or '':>{digits}} │{sign}"
    for line in fold(text, layout.width - most_cells(head)):
        yield layout.ink("dim", head) + layout.ink(_ROW_STYLES[row.kind], line)
        head = f"{INDENT}{blank} ┆{sign}"


def _changed(file: ChangedFile, layout: Layout, widths: tuple[int, int]) -> Iterator[str]:
    head = INDENT * 2 + pad(layout.say(words.OPS[file.op]), widths[0]) + INDENT
    counts = pad(_counts(file.diff), widths[1]) + INDENT
    come_from = [_come_from(file.old_path, layout)] if file.old_path is not None else []
    told = [*come_from, *(note.to(layout.lang) for note in file.notes)]
    notes = "".join(f"{INDENT}({note})" for note in told)
    style = "red" if file.op == "delete" else ""
    gutter = cells(head) + cells(counts)
    room = layout.width - gutter - most_cells(_ON)
    for piece in fold(on_one_line(file.path) + notes, room):
        yield head + layout.ink("dim", counts) + layout.ink(style, piece)
        head, counts = " " * gutter, _ON


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


def render(question: Question, *, lang: Lang, width: int, ink: Ink, now_ms: int) -> list[str]:
    """Return the page as lines of at most ``width`` cells, nothing left out.

    Args:
        question: What is asked.
        lang: Language of the page.
        width: Cells of the terminal; held between 40 and 100.
        ink: Whether emphasis may be used.
        now_ms: Milliseconds since the epoch, for the time left.
    """
    view, layout = view_of(question), Layout(lang, width, ink)
    page = [*_heading(view, layout), "", *_asked(view, layout), ""]
    for section in view.parts:
        page += [line for part in section for line in _part(part, layout)]
        page.append("")
    return [*page, *_consequences(view, layout), "", *_fingerprint(view, layout, now_ms)]


def render_sealed(question: Question, *, lang: Lang, width: int, ink: Ink) -> list[str]:
    """Return what is sealed as lines, as in `render`, without the lines of a diff."""
    layout = Layout(lang, width, ink)
    parts = (part for section in view_of(question).parts for part in section)
    told = (part for part in parts if not isinstance(part, Diff))
    return [line for part in told for line in _part(part, layout)]


def present(question: Question, terminal: Terminal, *, lang: Lang, now_ms: int) -> bool:
    """Put the page before a person: at once, or screen by screen where it is long.

    The code stands at its end, so that whoever has come to it has had all of it on the screen.

    Returns:
        False when the person left before the end; nothing is asked then.

    Raises:
        KeyboardInterrupt: Ctrl-C; no decision either.
    """
    page = render(question, lang=lang, width=terminal.width, ink=terminal.ink, now_ms=now_ms)
    terminal.write("\n")
    for first, last in _screens(len(page), terminal.height):
        _write(terminal, page[first:last])
        if last < len(page):
            prompt = say(_PAGE, lang, first=first + 1, last=last, total=len(page))
            typed = terminal.read_line(terminal.ink("mark", prompt)).lower()
            if typed in _LEAVE:
                return False
            if typed in _REST:
                _write(terminal, page[last:])
                break
    terminal.write("\n")
    return True


def ask(question: Question, terminal: Terminal, *, lang: Lang) -> str | None:
    """Ask until the right code is typed or the person decides nothing.

    Returns:
        What was typed, when it is the code of this question; None on an empty line or the end of
        input.

    Raises:
        KeyboardInterrupt: Ctrl-C; no decision either.
    """
    prompt = words.PROMPT_BOTH if question.high_risk else words.PROMPT
    terminal.tell(say(prompt, lang))
    terminal.tell(terminal.ink("dim", say(words.PROMPT_ELSE, lang)))
    label = terminal.ink("bold", say(words.TYPE_HERE, lang, task=question.seal.short_id))
    while typed := terminal.read_line(label):
        if question.accepts(typed):
            return typed
        wrong = words.ONE_GROUP if question.is_half(typed) else words.WRONG
        terminal.tell(terminal.ink("red", say(wrong, lang)))
    return None


def _screens(total: int, height: int) -> Iterator[tuple[int, int]]:
    if not height or total <= PAGED_OVER * height:
        yield 0, total
        return
    step = max(height - 2, 1)  # the prompt, and a line of what was read before
    for first in range(0, total, step):
        yield first, min(first + step, total)


def _write(terminal: Terminal, lines: Sequence[str]) -> None:
    terminal.write("\n".join([*lines, ""]))


def _heading(view: QuestionView, layout: Layout) -> Iterator[str]:
    """Give the title with the risk beside it."""
    risk = layout.say(words.HIGH if view.high_risk else words.NORMAL)
    styled = layout.ink("alarm" if view.high_risk else "dim", f" {risk} ")
    title = f"{view.short_id}  {view.title.to(layout.lang)}"
    title = clip_cells(title, layout.width - cells(risk) - 4)
    filling = " " * (layout.width - cells(title) - cells(risk) - 2)
    yield layout.ink("bold", title) + filling + styled
    yield layout.ink("dim", "─" * layout.width)


def _asked(view: QuestionView, layout: Layout) -> Iterator[str]:
    """Give where it would be done, and who is said to have asked."""
    yield from layout.row(words.MACHINE, [("strong", view.machine)])
    place: list[Toned] = [("strong", view.workspace)] if view.workspace else []
    place.append(("plain", view.place))
    if view.commit:
        place.append(("quiet", layout.say(words.AT_COMMIT, commit=view.commit[:12])))
    yield from layout.row(words.WORKSPACE, place, exactly=True)
    yield from layout.row(words.ASKED_BY, [("plain", view.asked_by.to(layout.lang))])
    if view.request:
        yield from layout.row(words.REQUEST, [("quoted", view.request)], exactly=True)
    if revision := view.revision:
        is_of = layout.say(words.VERSION_OF, version=revision.version, task=revision.task)
        first = layout.say(words.FIRST_REQUEST, request=revision.first)
        values: list[Toned] = [("strong", is_of), ("quoted", first)]
        yield from layout.row(words.VERSION, values, exactly=True)


def _part(part: Part, layout: Layout) -> Iterator[str]:
    match part:
        case Fact():
            return layout.fact(part)
        case Lines():
            return layout.numbered(part)
        case Files():
            return file_list(part, layout)
        case Diff():
            return diff_lines(part, layout)
        case Steps():
            return _steps(part, layout)


def _steps(part: Steps, layout: Layout) -> Iterator[str]:
    effects = {name: layout.say(said) for name, said in words.EFFECTS.items()}
    width = max(map(cells, effects.values()))
    head = layout.label(words.STEPS)
    for number, step in enumerate(part.steps, start=1):
        effect = layout.ink(_EFFECTS[step.effect], pad(effects[step.effect], width))
        begin = f"{layout.ink('dim', head)}{number}. {effect}{INDENT}"
        gutter = cells(head) + len("1. ") + width + len(INDENT)
        for line in wrap(step.what.to(layout.lang), max(layout.width - gutter, 10)):
            yield begin + line
            begin = layout.ink("dim", " " * (gutter - cells(_ON)) + _ON)
        head = " " * cells(head)


def _consequences(view: QuestionView, layout: Layout) -> Iterator[str]:
    """Give how its check went, what the chat is told, whether it can be undone, and the risk."""
    lang = layout.lang
    if check := view.check:
        said = f"{check.mark} {check.said.to(lang)}"
        yield from layout.row(words.CHECKED, [(check.tone, said)])
    yield from layout.row(words.AFTERWARDS, [("plain", view.afterwards.to(lang))])
    yield from layout.row(words.UNDO, [("strong" if view.lasts else "plain", view.undo.to(lang))])
    if view.reasons:
        tone: Tone = "danger" if view.high_risk else "plain"
        rows = [(tone, f"• {reason.to(lang)}") for reason in view.reasons]
        yield from layout.row(words.WHY, rows)


def _fingerprint(view: QuestionView, layout: Layout, now_ms: int) -> Iterator[str]:
    """Give the seal code and how long it can be used."""
    left = words.time_left(view.expires_at, now_ms, layout.lang)
    # The blank before the code belongs to its mark: the code stands below the other values.
    label, code = layout.label(words.CODE)[:-1], layout.ink("mark", f" {view.code} ")
    used = cells(label) + cells(view.code) + 2
    gap = "   " if used + 3 + cells(left) <= layout.width else "\n" + " " * (cells(label) + 1)
    yield from f"{layout.ink('dim', label)}{code}{gap}{layout.ink('dim', left)}".split("\n")
