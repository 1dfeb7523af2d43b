"""What the demo writes to the terminal: ticks, chat bubbles, and the call to the person."""

from __future__ import annotations

import shutil
from typing import Any

from common.sentences import Lang, Sentence, say
from common.terminal import Ink, cells, pad, wrap
from common.text import reveal
from gateway.simulator import sentences as S  # noqa: N812 - a table of constants

FACT_COLUMN = 34


class DemoScreen:
    """Writes lines as they come; a pipe gets the same without emphasis.

    Args:
        lang: Language of the person.
        terminal: Whether a person sits there.
    """

    def __init__(self, lang: Lang, *, terminal: bool) -> None:
        self._lang: Lang = lang
        self._ink = Ink(on=terminal)

    def title(self, sentence: Sentence) -> None:
        """Write the headline."""
        print(self._ink("bold", say(sentence, self._lang)) + "\n", flush=True)

    def done(self, sentence: Sentence, fact: object) -> None:
        """Tick off one part, with where it is."""
        text = pad(say(sentence, self._lang), FACT_COLUMN)
        print(f"  {self._ink('green', '✓')} {text} {fact}".rstrip(), flush=True)

    def tell(self, sentence: Sentence, **facts: object) -> None:
        """Write one remark."""
        print("  " + say(sentence, self._lang, **facts), flush=True)

    def call(self, sentence: Sentence, **facts: object) -> None:
        """Write what the person is asked to do now."""
        print("\n● " + self._ink("bold", say(sentence, self._lang, **facts)) + "\n", flush=True)

    def bubble(self, bubble: dict[str, Any]) -> None:
        """Write one chat message, folded beside its speaker."""
        who = say(S.DEMO_ME if bubble["sender"] == "member" else S.DEMO_APP, self._lang)
        width = max(shutil.get_terminal_size().columns - cells(who) - 6, 20)
        lines = [
            piece
            for line in reveal(str(bubble["text"])).splitlines()
            for piece in (wrap(line, width) or [""])
        ]
        for number, line in enumerate(lines):
            head = self._ink("dim", who if number == 0 else " " * cells(who))
            print(f"  {head} {self._ink('dim', '│')} {line}", flush=True)

    def gap(self) -> None:
        """Write an empty line."""
        print(flush=True)
