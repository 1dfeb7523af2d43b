"""The terminal approver: everything that will be done, on one page, and a code to type.

`render` is pure and is also what ``codexbridge show`` prints.  `present` and `ask` talk to the
terminal they are given and decide nothing by themselves: `ask` returns what was typed when it is
the right code, or None.  No flag, variable or pipe can stand in for the typing (P1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from common.sentences import Lang, Sentence, say
from common.terminal import Ink, cells, clip_cells, pad, wrap
from local_agent.cards import words
from local_agent.cards.view import view_of
from local_agent.faces.terminal.diff import diff_lines, file_list
from local_agent.faces.terminal.layout import INDENT, Layout, Toned
from local_agent.faces.terminal.tty import Terminal
from local_agent.views.question import (
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


def render(question: Question, *, lang: Lang, width: int, ink: Ink, now_ms: int) -> list[str]:
    """Return the page as lines of at most ``width`` cells, nothing left out.

    Args:
        question: What is asked.
        lang: Language of the page.
        width: Cells of the terminal; held between 50 and 100.
        ink: Whether emphasis may be used.
        now_ms: Milliseconds since the epoch, for the time left.
    """
    view, layout = view_of(question), Layout(lang, width, ink)
    page = [*_heading(view, layout), "", *_asked(view, layout), ""]
    for section in view.parts:
        page += [line for part in section for line in _part(part, layout)]
        page.append("")
    return [*page, *_consequences(view, layout), "", *_fingerprint(view, layout, now_ms)]


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
    terminal.write(f"{say(prompt, lang)}\n{terminal.ink('dim', say(words.PROMPT_ELSE, lang))}\n")
    label = terminal.ink("bold", say(words.TYPE_HERE, lang, task=question.seal.short_id))
    while typed := terminal.read_line(label):
        if question.accepts(typed):
            return typed
        wrong = words.ONE_GROUP if question.is_half(typed) else words.WRONG
        terminal.write(terminal.ink("red", say(wrong, lang)) + "\n")
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
        yield from layout.row(words.REQUEST, [("plain", view.request)], exactly=True)
    if revision := view.revision:
        is_of = layout.say(words.VERSION_OF, version=revision.version, task=revision.task)
        first = layout.say(words.FIRST_REQUEST, request=revision.first)
        values: list[Toned] = [("strong", is_of), ("plain", first)]
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
            begin = " " * gutter
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
    yield f"{layout.ink('dim', label)}{code}   {layout.ink('dim', left)}"
