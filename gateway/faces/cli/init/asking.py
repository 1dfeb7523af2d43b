"""The terminal of `gateway init`: what is asked and told, and whether somebody pressed Enter."""

from __future__ import annotations

import io
import re
import select
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from getpass import getpass
from shutil import get_terminal_size
from typing import Any, Final

from common.arguments import with_config
from common.doctor import Doctor, Examined, Tone
from common.sentences import Lang, Sentence, explain, say
from common.terminal import Ink
from gateway.doctor import DIAGNOSES
from gateway.faces.cli.error_texts import ERRORS
from gateway.faces.cli.init.draft import SECRETS, Name

EXPECTED: Final = frozenset({"port.not-running"})  # it is started here
QR_BORDER: Final = 2
_QR_INK: Final = "\x1b[97;40m{}\x1b[0m"  # dark on light on every terminal


@dataclass(frozen=True, slots=True)
class Question:
    """One value that is asked for.

    Attributes:
        name: The setting.
        label: What it is called in WeCom's console.
        where: Where it is found there.
        flag: The option that gives it instead; empty for secrets.
        value: Makes the setting of what was typed.
        make: Makes a value where nothing was typed.
        form: What it must be like as a whole, and the words that say so.
    """

    name: Name
    label: Sentence
    where: Sentence
    flag: str = ""
    value: Callable[[str], Any] = str
    make: Callable[[], str] | None = None
    form: tuple[str, Sentence] | None = None


class Screen:
    """A person at a terminal, or nobody.

    Args:
        lang: Of everything told.
        environ: The process environment.
        config: The settings file that the command line named.
        asks: Whether there is somebody to ask; else standard output is for the result alone.
    """

    def __init__(self, lang: Lang, environ: Mapping[str, str], *, config: Any, asks: bool) -> None:
        self.lang: Lang = lang
        self.asks = asks
        self.doctor = Doctor(DIAGNOSES, ERRORS, lang)
        self._config = config
        self._out = sys.stdout if asks else sys.stderr
        self._ink = Ink(on=self._out.isatty() and not environ.get("NO_COLOR"))

    def tell(self, sentence: Sentence, /, **facts: object) -> None:
        """Print a sentence to a person; a program reads the result alone."""
        if self.asks:
            self.print(say(sentence, self.lang, **facts))

    def print(self, text: str = "") -> None:
        """Print as it is."""
        print(with_config(text, self._config), file=self._out, flush=True)

    def title(self, sentence: Sentence, **facts: object) -> None:
        """Begin a step."""
        if self.asks:
            self.print("\n" + self._ink("bold", say(sentence, self.lang, **facts)))

    def show(self, found: Sequence[Examined]) -> None:
        """Print what the doctor found: what is ill, and to a person what is well."""
        least = (Tone.BAD, Tone.WARN, Tone.GOOD) if self.asks else (Tone.BAD, Tone.WARN)
        found = [
            one for one in found if one.finding.tone in least and one.finding.code not in EXPECTED
        ]
        if found:
            width = get_terminal_size().columns
            self.print("\n".join(self.doctor.lines(found, ink=self._ink, width=width)))

    def complain(self, error: Any) -> None:
        """Print what is wrong with an answer."""
        self.print(self._ink("red", explain(error, ERRORS, self.lang)))

    def ask(self, question: Question, default: str = "") -> str:
        """Return what was typed for a question; nothing only where it can be made.

        Raises:
            KeyboardInterrupt: the terminal was closed.
        """
        self.print()
        self.print(self._ink("dim", say(question.where, self.lang)))
        label = say(question.label, self.lang)
        prompt = f"{label} [{default}]: " if default else f"{label}: "
        read = getpass if question.name in SECRETS else input
        while True:
            try:
                # Full-width letters, as an input method leaves them, mean the usual ones.
                typed = unicodedata.normalize("NFKC", read(prompt)).strip() or default
            except EOFError:
                raise KeyboardInterrupt from None
            if typed and question.form and not re.fullmatch(question.form[0], typed):
                self.print(self._ink("red", say(question.form[1], self.lang)))
            elif typed or question.make is not None:
                return typed

    def entered(self, seconds: float) -> bool:
        """Wait for Enter that long; tells whether it came.

        Raises:
            KeyboardInterrupt: the terminal was closed.
        """
        if not select.select([sys.stdin], [], [], seconds)[0]:
            return False
        if not sys.stdin.readline():
            raise KeyboardInterrupt
        return True

    def qr(self, text: str) -> None:
        """Draw it, where a terminal can show it."""
        import segno

        drawn, code = io.StringIO(), segno.make(text, micro=False)
        fits = code.symbol_size(border=QR_BORDER)[0] <= get_terminal_size().columns
        if fits and self._out.isatty() and (self._out.encoding or "").lower().startswith("utf"):
            code.terminal(drawn, border=QR_BORDER, compact=True)
            self.print("\n".join(_QR_INK.format(row) for row in drawn.getvalue().splitlines()))
