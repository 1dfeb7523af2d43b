"""How a set of secrets is made: from templates, by a seeded generator, at test time.

No file of the repository holds what a scanner would take for a secret, and nothing made here opens
anything.  ``‹w36›`` stands for 36 characters of the class ``w`` (`CLASSES`); ``‹u›`` for a UUID,
``‹p›`` for a password as people choose them, ``‹m›`` for a phrase of twelve words.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import Final

CLASSES: Final[Mapping[str, str]] = {
    "w": ascii_letters + digits,
    "a": ascii_letters,
    "l": ascii_lowercase + digits,
    "U": ascii_uppercase + digits,
    "x": "0123456789abcdef",
    "X": "0123456789ABCDEF",
    "d": digits,
    "b": ascii_letters + digits + "+/",
    "v": ascii_letters + digits + "-_",
    "q": ascii_uppercase + "234567",
}
_PASSWORDS: Final = (
    "Sommer2024!", "correct-horse-7", "p@ssw0rd#1", "Zx9$kLm2Qq", "letmein123", "admin888",
    "Wecom@2025", "qwer1234ASDF", "Tr0ub4dor&3", "db_pass_9917", "R3dis-only", "abc.DEF.123",
    "changeit2", "Passw0rd!", "1qaz@WSX", "s3cr3t-v4lue", "root@123", "Hunter2hunter",
)  # fmt: skip
_WORDS: Final = (
    "ability", "cactus", "dolphin", "elbow", "fabric", "galaxy", "hamster", "indoor", "jungle",
    "kitchen", "lemon", "machine", "napkin", "oxygen", "panther", "quantum", "ribbon", "salmon",
)  # fmt: skip
_HOLE: Final = re.compile(r"‹([a-zA-Z])(\d*)›")
_STRUCK: Final = re.compile("[^\\n]\\x08")
_UNSEEN: Final = ("Cc", "Cf", "Mn")
WINDOW: Final = 8  # characters in a row of a secret that must not come through


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One kind of secret.

    Attributes:
        name: What issues it.
        secret: Template of the secret.
        names: Names that files give it, as words: ``"openai api key"``.
        marked: It is known by itself, whatever stands around it.
        shapes: Texts of its own in which it stands, at ``§``.
    """

    name: str
    secret: str
    names: Sequence[str] = ()
    marked: bool = False
    shapes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One text with one secret in it; ``written`` is how, where unseen characters split it."""

    format: str
    setting: str
    text: str
    secret: str
    written: str = ""

    def survives_in(self, shown: str) -> bool:
        """Tell whether the secret, or eight characters in a row of it, can be read.

        What its surroundings say as well, such as the name of who issued it, is no part of it.
        """
        size = min(len(self.secret), WINDOW)
        around = self.text.replace(self.written or self.secret, "\n")
        shown = _as_drawn(shown) if self.written else shown
        windows = (self.secret[at : at + size] for at in range(len(self.secret) - size + 1))
        return any(
            window in shown for window in windows if "\n" not in window and window not in around
        )


def _as_drawn(text: str) -> str:
    """Return the text as a terminal draws it: without what was struck out or has no width."""
    return "".join(
        char
        for char in _STRUCK.sub("", text)
        if char == "\n" or unicodedata.category(char) not in _UNSEEN
    )


def filled(template: str, chance: random.Random) -> str:
    """Return the template with every hole filled."""
    return _HOLE.sub(lambda hole: _made(hole[1], int(hole[2] or 0), chance), template)


def named(setting: str, name: str) -> str:
    """Return a setting with a name in it, in the spelling that the setting asks for."""
    words = name.split()
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    spellings = {
        "«N»": "_".join(words).upper(),
        "«n»": "_".join(words),
        "«k»": "-".join(words),
        "«c»": camel,
        "«P»": camel[0].upper() + camel[1:],
        "«H»": "-".join(word.capitalize() for word in words),
        "«d»": ".".join(words),
        "«t»": name,
        "«z»": f"{words[0][:2]}\u200b{words[0][2:]}" + "".join(f"_{word}" for word in words[1:]),
    }
    for mark, spelling in spellings.items():
        setting = setting.replace(mark, spelling)
    return setting


def cases(
    formats: Sequence[Format],
    *,
    alone: Mapping[str, str],
    under_a_name: Mapping[str, str],
    split: Mapping[str, Callable[[str], str]],
    seed: int,
    instances: int = 3,
) -> Iterator[Case]:
    """Yield every format in every setting that can tell it, each secret in a third of them.

    Args:
        formats: What is there to be found.
        alone: Settings for what is marked.
        under_a_name: Settings for what has names.
        split: Ways to write what is marked so that it looks the same and is not.
        seed: Of all that is random.
        instances: Secrets of each format.
    """
    chance = random.Random(seed)
    for form in formats:
        settings = _settings(form, alone, under_a_name)
        secrets = [filled(form.secret, chance) for _ in range(instances)]
        for number, (setting, text) in enumerate(settings):
            secret = secrets[number % instances]
            around = filled(text, chance)
            yield Case(form.name, setting, around.replace("§", secret), secret)
        for number, (setting, write) in enumerate(split.items() if form.marked else ()):
            secret = secrets[number % instances]
            written = write(secret)
            yield Case(form.name, setting, f"we use {written} here\nnext line", secret, written)


def _settings(
    form: Format, alone: Mapping[str, str], under_a_name: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    if form.marked:
        yield from alone.items()
    for number, (setting, text) in enumerate(under_a_name.items()):
        if form.names:
            yield setting, named(text, form.names[number % len(form.names)])
    for number, shape in enumerate(form.shapes):
        yield f"own {number}", shape
        if "\n" not in shape:
            yield f"own {number}, in a diff", f" context\n+{shape}\n more"
            yield f"own {number}, numbered", f"  41\tcontext\n  42\t{shape}\n  43\tmore"


def _made(kind: str, size: int, chance: random.Random) -> str:
    if kind == "u":
        made = "".join(chance.choices(CLASSES["x"], k=32))
        return f"{made[:8]}-{made[8:12]}-4{made[13:16]}-a{made[17:20]}-{made[20:]}"
    if kind == "p":
        return chance.choice(_PASSWORDS)
    if kind == "m":
        return " ".join(chance.sample(_WORDS, 12))
    while True:
        made = "".join(chance.choices(CLASSES[kind], k=size))
        # Of twenty random characters, one in thirty holds no digit: no secret that we could know.
        if kind in "adqU" or size < 8 or any(char.isdigit() for char in made):
            return made
