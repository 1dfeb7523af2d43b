"""What the subcommands share when they print: language, colour, width, tables and JSON."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from common.sentences import Lang, Sentence, say
from common.terminal import Ink, cells, exact, pad, table, wrap

MAX_ANSWER: Final = 16
_HIDDEN: Final = re.compile(r"[^ -~\n]+")  # JSON itself escapes what lies below the blank


@dataclass(frozen=True, slots=True)
class Screen:
    """Standard output as a person sees it.

    Attributes:
        lang: Language of everything printed.
        ink: Emphasis, off where standard output is no terminal or NO_COLOR is set.
        width: Cells in a line.
        live: Whether a line may be written over.
    """

    lang: Lang
    ink: Ink
    width: int
    live: bool

    def say(self, sentence: Sentence, **facts: object) -> str:
        """Return the sentence in this screen's language."""
        return say(sentence, self.lang, **facts)

    def tell(self, sentence: Sentence, **facts: object) -> None:
        """Print the sentence."""
        print(self.say(sentence, **facts))

    def fields(self, rows: Sequence[tuple[Sentence, Sequence[str]]]) -> None:
        """Print labelled values, one value a line; what others wrote has to be revealed before."""
        width = max(cells(self.say(label)) for label, _ in rows) + 2
        for label, values in rows:
            head = pad(self.say(label), width)
            for value in values:
                print(self.ink("dim", head) + value)
                head = " " * width

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Print aligned columns."""
        for line in table(rows):
            print(line.rstrip())

    def prose(self, text: str) -> list[str]:
        """Return a sentence as lines of this terminal; where nobody watches, as it is."""
        return wrap(text, self.width) if self.live else [text]

    def quote(self, text: str, indent: int) -> list[str]:
        """Return what others wrote as lines: nothing hidden, nothing dropped."""
        return exact(text, width=max(self.width - indent, 20))


def screen_for(lang: Lang, environ: Mapping[str, str]) -> Screen:
    """Return the screen of this process."""
    live = sys.stdout.isatty() and environ.get("TERM") != "dumb"
    width = shutil.get_terminal_size().columns
    return Screen(lang, Ink(on=live and not environ.get("NO_COLOR")), width, live)


def at_keyboard() -> bool:
    """Tell whether standard input is a terminal; a service may have none at all."""
    return sys.stdin is not None and sys.stdin.isatty()


def read_answer(question: str) -> str:
    """Ask on standard output and return one short line, lower case, without its blanks.

    What is longer than an answer is none: it is read to its end, so that its rest does not answer
    the next question.
    """
    print(question, end="", flush=True)
    line = rest = sys.stdin.readline(MAX_ANSWER)
    while len(rest) == MAX_ANSWER and not rest.endswith("\n"):
        rest = sys.stdin.readline(MAX_ANSWER)
    if not rest.endswith("\n"):
        print()  # Ctrl-D ends no line on the screen
    return line.strip().lower() if line == rest else "…"


def print_json(value: Any) -> None:
    """Print one JSON document for programs; a terminal finds nothing in it to obey."""
    document = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    print_as_it_is(_HIDDEN.sub(lambda found: _escaped(found[0]), document) + "\n")


def print_json_line(value: Any) -> None:
    """Print one JSON document on one line, at once, in UTF-8 whatever the terminal's encoding."""
    document = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    line = _HIDDEN.sub(lambda found: _escaped(found[0]), document)
    print_as_it_is(line + "\n")


def print_as_it_is(text: str) -> None:
    """Print, in UTF-8, what is copied or piped: a terminal folds nothing of it."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def _escaped(run: str) -> str:
    return run if run.isprintable() else "".join(map(_escaped_char, run))


def _escaped_char(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex(" ", 2).split()
    return char if char.isprintable() else "".join(f"\\u{unit}" for unit in units)
