"""What a person is shown before they decide, at a terminal and in a window, to the character."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest

from common.sentences import Lang
from common.terminal import Ink
from local_agent.faces.terminal.page import ask, present, render
from local_agent.faces.terminal.tty import Terminal
from local_agent.faces.window.page import Page, Row, page_of
from local_agent.faces.window.wire import decode_order, encode_order
from local_agent.views.question import Diff, Lines
from tests.golden import golden
from tests.golden.seals import DIFFS, NOW_MS, SEALS, Risk, order, question

# Each width, language, risk and source meets each value of the others.
_LOOKS: list[tuple[int, Lang, Risk, bool]] = [
    (80, "en", "normal", False),
    (80, "zh", "high", True),
    (100, "en", "high", True),
    (100, "zh", "normal", True),
    (100, "zh", "high", False),
]


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("name", SEALS)
def test_the_page_at_a_terminal_is_the_golden_one(name: str) -> None:
    golden.check(f"pages/{name}.txt", golden.sections(_pages(name)))


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("name", SEALS)
def test_the_window_is_told_and_says_the_golden_words(name: str) -> None:
    golden.check(f"windows/{name}.txt", golden.sections(_windows(name)))


@pytest.mark.requirement("R29")
def test_the_question_and_what_is_said_of_a_wrong_code_are_the_golden_ones() -> None:
    golden.check("pages/asked.txt", golden.sections(_transcripts()))


def _pages(name: str) -> Iterator[tuple[str, str]]:
    for width, lang, risk, here in _LOOKS:
        asked = question(name, order(name, lang, risk, here=here))
        ink = Ink(on=name == "change" and (lang, risk) == ("en", "high"))
        lines = render(asked, lang=lang, width=width, ink=ink, now_ms=NOW_MS)
        title = f"{width} {lang} {risk} {'here' if here else 'afar'}"
        yield title, "\n".join(lines).replace("\x1b", "␛")


def _windows(name: str) -> Iterator[tuple[str, str]]:
    for _, lang, risk, here in (_LOOKS[2], _LOOKS[4]):
        shown = order(name, lang, risk, here=here)
        raw = encode_order(shown, DIFFS.get(name))
        assert encode_order(*decode_order(raw)) == raw
        told = raw.decode() if name == "command-argv" else hashlib.sha256(raw).hexdigest()
        yield f"{lang} {risk} order", told
        yield f"{lang} {risk} page", "\n".join(_page_lines(page_of(question(name, shown), lang)))


def _page_lines(page: Page) -> Iterator[str]:
    for label in ("title", "verdict", "source", "afar", "asked_by", "request", "place"):
        yield f"{label}: {getattr(page, label)}"
    for label, parts in (("facts", page.facts), ("body", page.body)):
        yield f"{label}:"
        for part in parts:
            yield from _part_lines(part)
    for file in page.files:
        yield f"file: {file.op} {file.path} +{file.added} −{file.removed}"


def _part_lines(part: Row | Lines | Diff) -> Iterator[str]:
    if isinstance(part, Diff):
        yield from (f"  diff: {file.path}" for file in part.model.files)
        return
    if isinstance(part, Lines):
        yield from (f"    {number} │ {line}" for number, line in enumerate(part.parts, part.first))
        return
    yield f"  {part.label}"
    yield from (f"    [{style}] {value}" for style, value in part.values)


def _transcripts() -> Iterator[tuple[str, str]]:
    for width, lang, risk, here in _LOOKS:
        asked = question("change", order("change", lang, risk, here=here))
        terminal = _Scripted(["ZZZZ", asked.code[:4], asked.code])
        typed = ask(asked, terminal, lang=lang)
        yield f"{width} {lang} {risk} asked, then {typed}", terminal.text
        paged = _Scripted(["", "q"], height=12)
        assert not present(asked, paged, lang=lang, now_ms=NOW_MS)
        yield f"{width} {lang} {risk} left on the second screen", paged.text


class _Scripted(Terminal):
    """A terminal at which somebody types these lines, then ends the input."""

    def __init__(self, lines: list[str], *, height: int = 0) -> None:
        super().__init__(-1, Ink(on=False))
        self._lines = iter(lines)
        self._height = height
        self.text = ""

    @property
    def height(self) -> int:
        return self._height

    def write(self, text: str) -> None:
        self.text += text

    def read_line(self, prompt: str) -> str:
        line = next(self._lines, "")
        self.text += f"{prompt}{line}\n"
        return line
