"""How a page is set: labels on the left, values on the right, numbered lines, nothing cut off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from common.sentences import Lang, Sentence, say
from common.terminal import Ink, cells, exact, pad, wrap
from local_agent.cards import change_words, words

MIN_WIDTH: Final = 50
MAX_WIDTH: Final = 100
INDENT: Final = "  "
QUOTED: Final = "quoted"  # the style of words that are not ours
ENDLESS: Final = 1 << 30  # cells: marked, and broken into lines by whoever asked

_LABEL_CELLS: Final = 13
_BAR: Final = "│ "
_LABELS: Final = (
    words.MACHINE,
    words.WORKSPACE,
    words.ASKED_BY,
    words.REQUEST,
    words.SAID,
    words.NAMED,
    words.REASON,
    words.RECIPIENT,
    words.BASED_ON,
    words.ANSWER,
    words.COMMAND,
    words.COPY,
    words.CHECKED,
    words.PROGRAM,
    words.FOLDER,
    words.ENVIRONMENT,
    words.SANDBOX,
    words.NETWORK,
    words.LIMITS,
    words.AFTERWARDS,
    words.UNDO,
    words.WHY,
    words.CODE,
    change_words.CHANGES,
    change_words.DIFF,
    change_words.TAKES_BACK,
    change_words.BRANCH,
    change_words.REMOTE,
    change_words.STANDING,
    change_words.COMMIT,
    change_words.STEPS,
    change_words.GIT,
)

Styled = tuple[str, str]  # (style or "", text)


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

    def row(
        self, label: Sentence, values: Sequence[Styled], *, whole: bool = False
    ) -> Iterator[str]:
        """Give labelled values.

        Args:
            label: What they are.
            values: One or more, each beginning on a line of its own; what is ``QUOTED`` stands
                behind a bar, all of it.
            whole: They are kept to the character, not broken at blanks.
        """
        head = self.label(label)
        for style, value in values:
            bar, colour = (_BAR, "") if style == QUOTED else ("", style)
            room = self._room - cells(bar)
            marked = "\n".join(exact(value, width=ENDLESS)) if not whole else value
            lines = exact(value, width=room) if whole else wrap(marked, room)
            for line in lines:
                yield self.ink("dim", head + bar) + self.ink(colour, line)
                head = " " * cells(head)

    def numbered(self, parts: Sequence[str], first: int) -> Iterator[str]:
        """Give lines of text to the character, each under its number."""
        digits = len(str(first + len(parts) - 1))
        gutter = len(INDENT) * 2 + digits + 3
        for number, part in enumerate(parts, start=first):
            head = f"{INDENT * 2}{number:>{digits}} │ "
            for line in exact(part, width=self.width - gutter):
                yield self.ink("dim", head) + self.ink("bold", line)
                head = f"{INDENT * 2}{' ' * digits} ┆ "
