"""What of a growing answer is shown: no thoughts, and of structured edits the words about them.

Pure, linear, and bounded in what it holds.
"""

from __future__ import annotations

import json
import re
from typing import Final

_THOUGHTS: Final = "<think>"
_THOUGHTS_END: Final = "</think>"
_HELD_CHARS: Final = 200  # of the form between two strings; more is another form

_SUMMARY: Final = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*"summary"\s*:\s*"')
_PLAN: Final = re.compile(r'"\s*,\s*"plan"\s*:\s*"')
# A pair of surrogates is one character: it is taken together or not yet.
_INSIDE: Final = re.compile(
    r"(?:[^\"\\]++|\\[\"\\/bfnrt]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u(?![dD][89abAB])[0-9a-fA-F]{4})++"
)
_ESCAPE_CHARS: Final = 12  # the longest escape, which may be half here


class Spoken:
    """Leaves out the thoughts that local models write before their answer (``<think>``)."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "begins"

    def feed(self, text: str) -> str:
        """Take the next words and return those that belong to the answer."""
        if self._state == "answers":
            return text
        self._held += text
        if self._state == "begins":
            self._held = self._held.lstrip()
            if self._held.startswith(_THOUGHTS):
                self._state = "thinks"
            elif not _THOUGHTS.startswith(self._held):
                return self._answer(self._held)
        if self._state == "thinks":
            _, ended, rest = self._held.partition(_THOUGHTS_END)
            if ended:
                self._state = "answer begins"
                self._held = rest
            else:
                self._held = self._held[-len(_THOUGHTS_END) :]
        if self._state == "answer begins":
            self._held = self._held.lstrip()
            return self._answer(self._held) if self._held else ""
        return ""

    def end(self) -> str:
        """Return what was held back, as nothing more comes."""
        return self._answer(self._held) if self._state == "begins" else ""

    def _answer(self, text: str) -> str:
        self._state, self._held = "answers", ""
        return text


class GrowingWords:
    """Reads summary and plan out of structured edits while these are being written.

    Of JSON that does not begin with them nothing is shown.
    """

    def __init__(self) -> None:
        self._held = ""
        self._awaited = [_SUMMARY, _PLAN]
        self._inside = False
        self._has_shown = False
        self._before = ""  # what stands before the next words

    def feed(self, text: str) -> str:
        """Take the next piece of JSON and return the words that it adds."""
        if not self._inside and not self._awaited:
            return ""
        self._held += text
        shown = ""
        while self._inside or self._enter():
            shown += self._words()
            if self._inside:
                break
        return shown

    def _enter(self) -> bool:
        if not self._awaited:
            self._held = ""
        elif found := self._awaited[0].match(self._held):
            self._awaited.pop(0)
            self._held = self._held[found.end() :]
            self._inside = True
            self._before = "\n\n" if self._has_shown else ""
        elif len(self._held) > _HELD_CHARS:
            self._awaited.clear()
            self._held = ""
        return self._inside

    def _words(self) -> str:
        found = _INSIDE.match(self._held)
        said = _unescaped(found[0]) if found else ""
        self._held = self._held[found.end() :] if found else self._held
        # What cannot be read on is the end of the string, half an escape, or nothing of ours.
        if self._held.startswith('"') or len(self._held) >= _ESCAPE_CHARS:
            self._inside = False
        if not said:
            return ""
        said, self._before = self._before + said, ""
        self._has_shown = True
        return said


def _unescaped(text: str) -> str:
    # Line feeds may stand bare in what a model calls JSON.
    read: str = json.loads(f'"{text}"', strict=False)
    return read.encode("utf-8", "replace").decode()
