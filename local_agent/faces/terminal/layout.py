"""How a page is set: labels on the left, values on the right, numbered lines, nothing cut off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from common.sentences import Lang, Sentence, say
from common.terminal import Ink, cells, exact, pad, wrap
from local_agent.cards import words
from local_agent.cards.view import LABELS
from local_agent.faces.shown import ENDLESS
from local_agent.views.question import Fact, Lines, Tone

MIN_WIDTH: Final = 50
MAX_WIDTH: Final = 100
INDENT: Final = "  "

_LABEL_CELLS: Final = 13
_BAR: Final = "│ "
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


class Layout:
    """One page's language, width and emphasis.

    Args:
        lang: Language of the page.
        width: Cells of the terminal; held between 50 and 100.
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
            room = self._room - cells(bar)
            marked = "\n".join(exact(value, width=ENDLESS))
            lines = exact(value, width=room) if exactly else wrap(marked, room)
            for line in lines:
                yield self.ink("dim", head + bar) + self.ink(_STYLES[tone], line)
                head = " " * cells(head)

    def numbered(self, lines: Lines) -> Iterator[str]:
        """Give lines of text to the character, each under its number."""
        digits = len(str(lines.first + len(lines.parts) - 1))
        gutter = len(INDENT) * 2 + digits + 3
        for number, part in enumerate(lines.parts, start=lines.first):
            head = f"{INDENT * 2}{number:>{digits}} │ "
            for line in exact(part, width=self.width - gutter):
                yield self.ink("dim", head) + self.ink("bold", line)
                head = f"{INDENT * 2}{' ' * digits} ┆ "
