"""From the text of a command to an argv list, or to a script where only a shell can read it (R42).

Plain words, quoted or not, need no shell.  Operators, expansions, globs, redirections, assignments
and shell built-ins do; then the whole text is the script, shown and sealed as such.  In doubt it is
a shell line, which is the stricter class.  Pure; nothing is run or looked up here.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from common.errors import InputError

MAX_BYTES: Final = 20_000  # security limits table, command text
SHELL: Final = "/bin/sh"

_OPERATORS: Final = frozenset("|&;<>()$`*?[\n")
_EXPANDS_IN_QUOTES: Final = frozenset("$`")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_OF_SHELL: Final = (
    "! . : [[ { } alias bg break case cd command continue do done elif else esac eval exec exit"
    " export fg fi for function getopts hash if in jobs local read readonly return set shift"
    " source then times trap type ulimit umask unalias unset until wait while"
)
_WORDS_OF_SHELL: Final = frozenset(_OF_SHELL.split())


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What a text asks to run: ``argv``, or ``script`` for the shell; one of them is None."""

    argv: tuple[str, ...] | None = None
    script: str | None = None

    @property
    def display(self) -> str:
        """The form for people, which a shell would read back as the same words."""
        return shlex.join(self.argv) if self.argv is not None else (self.script or "")


def read_command_line(text: str) -> CommandLine:
    """Return how the text is to be run.

    Raises:
        InputError: ``command.empty``, ``command.too-long``, ``command.control-character`` or
            ``command.quotes`` (a quote or an escape that does not end).
    """
    line = text.strip(" \t\n")
    _check_readable([text], line)
    try:
        words = shlex.split(line)
    except ValueError:
        raise InputError("command.quotes") from None
    if not words or not words[0]:
        raise InputError("command.empty")
    if _needs_shell(line) or words[0] in _WORDS_OF_SHELL:
        return CommandLine(script=line)
    return CommandLine(argv=tuple(words))


def of_argv(argv: Sequence[str]) -> CommandLine:
    """Return what an argv list asks to run: it is never read as text, so nothing in it is special.

    Raises:
        InputError: ``command.empty``, ``command.too-long`` or ``command.control-character``.
    """
    _check_readable(argv, "".join(argv))
    if not argv or not argv[0]:
        raise InputError("command.empty")
    return CommandLine(argv=tuple(argv))


def _check_readable(words: Iterable[str], shown: Iterable[str]) -> None:
    if sum(len(word.encode("utf-8", "replace")) for word in words) > MAX_BYTES:
        raise InputError("command.too-long", limit=MAX_BYTES)
    if any(char not in "\t\n" and unicodedata.category(char) in ("Cc", "Cs") for char in shown):
        # Refused, never stripped: what is shown is what runs (R7).
        raise InputError("command.control-character")


def read_argv(line: str) -> tuple[str, ...] | None:
    """Return the arguments of a command line, or None where it needs a shell.

    Raises:
        InputError: ``command.*``.
    """
    return read_command_line(line).argv


def _needs_shell(line: str) -> bool:
    """Tell whether a shell would read more than words in a line whose quotes are balanced."""
    if "\\\n" in line:
        return True  # a shell drops both characters; splitting into words would keep them
    quote = ""
    starts_word = True
    index = 0
    while index < len(line):
        char = line[index]
        if quote:
            if char in _EXPANDS_IN_QUOTES and quote == '"':
                return True
            if char == "\\" and quote == '"':
                index += 1 if line[index + 1] in '"\\' else 0
            elif char == quote:
                quote = ""
        elif char == "\\":
            index += 1
        elif char in "'\"":
            quote = char
        elif char in _OPERATORS or (starts_word and (char in "~#" or _assigns(line, index))):
            return True
        starts_word = not quote and char in " \t"
        index += 1
    return False


def _assigns(line: str, index: int) -> bool:
    # Only before the first word is NAME=value an assignment.
    return not line[:index].strip(" \t") and _ASSIGNMENT.match(line, index) is not None
