"""The terminal approver: everything that will be done, on one page, and a code to type.

`render` is pure and is also what ``codexbridge show`` prints.  `present` and `ask` talk to the
terminal they are given and decide nothing by themselves: `ask` returns what was typed when it is
the right code, or None.  No flag, variable or pipe can stand in for the typing (P1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from common.seal import Action
from common.sentences import Lang, say
from common.terminal import Ink
from local_agent.cards import change_words, words
from local_agent.cards.question import Question
from local_agent.faces.terminal import frame
from local_agent.faces.terminal.change_part import change_part, undo_part
from local_agent.faces.terminal.command_part import command_part
from local_agent.faces.terminal.layout import Layout
from local_agent.faces.terminal.release_part import release_part
from local_agent.faces.terminal.sync_part import sync_part
from local_agent.faces.terminal.tty import Terminal

PAGED_OVER: Final = 2  # screens; up to so many are scrolled back to more quickly than paged

_Part = Callable[[Question, Layout], Iterator[str]]
_PARTS: Final[Mapping[Action, _Part]] = {
    "run_command": command_part,
    "apply_diff": change_part,
    "undo": undo_part,
    "git_sync": sync_part,
    "disclose": release_part,
}
_REST: Final = frozenset({"a", "all", "全部"})
_LEAVE: Final = frozenset({"q", "quit", "退出"})


def render(question: Question, *, lang: Lang, width: int, ink: Ink, now_ms: int) -> list[str]:
    """Return the page as lines of at most ``width`` cells, nothing left out.

    Args:
        question: What is asked.
        lang: Language of the page.
        width: Cells of the terminal; held between 50 and 100.
        ink: Whether emphasis may be used.
        now_ms: Milliseconds since the epoch, for the time left.
    """
    layout = Layout(lang, width, ink)
    return [
        *frame.heading(question, layout),
        "",
        *frame.who(question, layout),
        "",
        *_PARTS[question.seal.action](question, layout),
        "",
        *frame.consequences(question, layout),
        "",
        *frame.fingerprint(question, layout, now_ms),
    ]


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
            prompt = say(change_words.PAGE, lang, first=first + 1, last=last, total=len(page))
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
