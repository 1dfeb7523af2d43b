"""Which encodings a workspace declares for its files: ``.editorconfig`` and ``.gitattributes``.

What is declared is only tried (`common.encodings`): where a file is no text in it, it is not used.
Read from the folder of a file upwards, and never obeyed in anything else.  Blocking.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Final, NamedTuple

from common.encodings import UTF8, cookie, encoded, encoding_of, in_utf8, known, told
from common.errors import InputError

MAX_BYTES: Final = 64 * 1024  # of one such file
_MAX_RULES: Final = 200  # of one such file
_MAX_WAYS: Final = 50  # that braces in one pattern stand for
_PAIR: Final = re.compile(r"([\w-]+)\s*+[=:]\s*+(\S+).*")
_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")
_ATTRIBUTE: Final = "working-tree-encoding"


class Rule(NamedTuple):
    """That files of a name are in an encoding; None takes back what another rule says."""

    folder: str
    glob: str
    encoding: str | None


_Rules = tuple[tuple[Rule, ...], tuple[Rule, ...]]


class Encodings:
    """The encodings of one open workspace.

    Args:
        read: Gives the content of a file by its path, empty where there is none.
        usual: The workspace's setting.
    """

    def __init__(self, read: Callable[[str], bytes], usual: str | None) -> None:
        self._read = read
        self.usual = usual
        self._known: dict[str, _Rules] = {}

    def declared(self, path: str) -> tuple[str, ...]:
        """Return what is declared for a file, whatever it holds."""
        kinds = self._rules(path.rpartition("/")[0])
        found = (
            next((rule.encoding for rule in reversed(rules) if _names(rule, path)), None)
            for rules in kinds
        )
        return tuple(one for one in found if one is not None)

    def of(self, path: str, content: bytes) -> str | None:
        """Return the encoding in which a file is a text; None where it is none."""
        if content.isascii():
            return self.wanted(path, content)[0]
        own = cookie(path, content)
        declared = self.declared(path)
        return encoding_of(content, (own, *declared) if own else declared, self.usual)

    def wanted(self, path: str, content: bytes) -> Sequence[str]:
        """Return the encodings in which new text may be written, the first one that has it all."""
        declared = (cookie(path, content), *self.declared(path))
        found = [one for one in declared if one is not None]
        return found[:1] or ([self.usual, UTF8] if self.usual else [UTF8])

    def rewritten(self, path: str, before: bytes, text: bytes) -> tuple[bytes, str]:
        """Return new text of a file in the encoding of that, and which it is.

        Args:
            path: Of the file.
            before: Its content; empty for a new one.
            text: In UTF-8.

        Raises:
            InputError: ``change.no-character`` with ``path``, ``encoding`` and ``character``.
        """
        was = self.of(path, before)
        keeps = was and not before.isascii() and cookie(path, before) == cookie(path, text)
        for encoding in [was] if was and keeps else self.wanted(path, text):
            try:
                return encoded(text.decode(), encoding), encoding
            except UnicodeEncodeError as error:
                lacks = {"encoding": told(encoding), "character": error.object[error.start]}
            except UnicodeDecodeError:
                break  # bytes of a program: as they are
        else:
            raise InputError("change.no-character", path=path, **lacks)
        return text, UTF8

    def shown(self, path: str, content: bytes) -> bytes:
        """Return a file as UTF-8, where it is a text."""
        return content if content.isascii() else in_utf8(content, self.of(path, content) or UTF8)

    def _rules(self, folder: str) -> _Rules:
        if (found := self._known.get(folder)) is None:
            editor, git = self._rules(folder.rpartition("/")[0]) if folder else ((), ())
            names = (f"{folder}/.editorconfig", f"{folder}/.gitattributes")
            text, attributes = map(self._text, names)
            if re.match(r"(?is)[^\[]*^\s*root\s*=\s*true\b", text, re.MULTILINE):
                editor = ()
            found = self._known[folder] = (
                (*editor, *islice(_editor_rules(folder, text), _MAX_RULES)),
                (*git, *islice(_git_rules(folder, attributes), _MAX_RULES)),
            )
        return found

    def _text(self, path: str) -> str:
        return self._read(path.removeprefix("/")).decode("utf-8", "replace")


def _editor_rules(folder: str, text: str) -> Iterator[Rule]:
    globs: list[str] = []
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            globs = _unfolded(line[1:-1])
        elif (pair := _PAIR.fullmatch(line)) and pair[1].lower() == "charset":
            yield from (Rule(folder, glob, known(pair[2])) for glob in globs)


def _git_rules(folder: str, text: str) -> Iterator[Rule]:
    for line in text.splitlines():
        glob, *attributes = line.split() or [""]
        for attribute in attributes:
            name, _, value = attribute.partition("=")
            if name.lstrip("-!") == _ATTRIBUTE:
                yield Rule(folder, glob, known(value))


def _unfolded(glob: str) -> list[str]:
    """Return the patterns that one with braces stands for."""
    found = [glob]
    while len(found) < _MAX_WAYS and (braces := _BRACES.search(found[0])):
        whole, ways = braces[0], braces[1].split(",")
        found = [one.replace(whole, way, 1) for one in found for way in ways]
    return found[:_MAX_WAYS]


def _names(rule: Rule, path: str) -> bool:
    glob = rule.glob
    if "/" not in glob:
        return fnmatchcase(path.rpartition("/")[2], glob)
    inside = path.removeprefix(f"{rule.folder}/" if rule.folder else "")
    return _fits(inside.split("/"), glob.strip("/").split("/"))


def _fits(parts: list[str], globs: list[str]) -> bool:
    if not globs:
        return not parts
    if globs[0] == "**" and globs.count("**") <= 2:
        return any(_fits(parts[at:], globs[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], globs[0]) and _fits(parts[1:], globs[1:])
