"""Text that comes in pieces, redacted so that a secret split over two of them never gets out (R54).

Only whole lines go out, and only up to a place where what stands before and what stands after,
each redacted alone, give what both give together.  What is held back is bounded.  Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from common.redact import redact_lines
from common.redact_keys import MARK, is_body

LONG_LINE: Final = 8192  # characters of an unfinished line that are waited for
MOST_HELD: Final = 65536  # characters; no private key is longer
_LINES_AHEAD: Final = 4  # seen before a line goes out: a value may stand below its name
_CHARS_AHEAD: Final = 4096  # the same within a long line
_SMALL: Final = 1024  # characters that may be looked at as often as lines come
_PROBE: Final = "A" * 64 + "\n"  # within a private key it would be taken for a line of it


class RedactedStream:
    """Gives what `redact_lines` gives, as early as that is certain.

    A line over 8,192 characters of which no part can be judged alone ends in a mark; so does every
    line of a private key that is longer than what may be held.

    Args:
        personal: As for `redact`.
    """

    def __init__(self, *, personal: bool = False) -> None:
        self._personal = personal
        self._held = ""
        self._try_at = 0  # characters held
        self._skipping_line = False
        self._inside_key = False

    def feed(self, chunk: str) -> str:
        """Take the next piece in; return what can go out now, which may be nothing."""
        if self._skipping_line:
            _, found, chunk = chunk.partition("\n")
            if not found:
                return ""
            self._skipping_line = False
            chunk = "\n" + chunk
        self._held += chunk
        gone = self._without_key_lines() if self._inside_key else ""
        unfinished = len(self._held) - self._held.rfind("\n") - 1
        due = "\n" in chunk and len(self._held) >= self._try_at
        if not due and unfinished <= LONG_LINE and len(self._held) <= MOST_HELD:
            return gone
        return gone + self._settled(unfinished)

    def end(self) -> str:
        """Return what was held back; the stream takes nothing more."""
        gone = self._without_key_lines() if self._inside_key else ""
        if self._inside_key and is_body(self._held):
            self._held = MARK
        rest, self._held = self._redacted(self._held), ""
        return gone + rest

    def _redacted(self, text: str) -> str:
        return redact_lines(text, personal=self._personal)

    def _settled(self, unfinished: int) -> str:
        held = self._held
        whole = self._redacted(held)
        for cut in _cuts(held, unfinished):
            before = self._redacted(held[:cut])
            if before + self._redacted(held[cut:]) == whole:
                self._held, self._try_at = held[cut:], 0
                return before
        if unfinished > LONG_LINE:
            self._held, self._try_at, self._skipping_line = "", 0, True
            return whole + "[redacted]"
        if len(held) > MOST_HELD:
            return self._forced()
        # Much is held: to look again at every line would take quadratic time.
        self._try_at = len(held) * 5 // 4 if len(held) > _SMALL else 0
        return ""

    def _forced(self) -> str:
        end = self._held.rfind("\n") + 1
        lines, self._held = self._held[:end], self._held[end:]
        self._try_at = 0
        probed = self._redacted(lines + _PROBE)
        self._inside_key = probed.endswith(MARK + "\n")
        return probed[: probed.rstrip("\n").rfind("\n") + 1]

    def _without_key_lines(self) -> str:
        gone: list[str] = []
        while (end := self._held.find("\n") + 1) and self._inside_key:
            self._inside_key = is_body(self._held[:end])
            if self._inside_key:
                gone.append(MARK + "\n")
                self._held = self._held[end:]
        return "".join(gone)


def _cuts(held: str, unfinished: int) -> Iterator[int]:
    """Yield where the text may be cut, the last place first, then ever further back."""
    if unfinished > LONG_LINE:
        start, at = len(held) - unfinished, len(held) - _CHARS_AHEAD
        blank = held.rfind(" ", start, at) + 1
        yield from (cut for cut in (blank, at) if cut > start)
    at, lines, wanted = len(held), 0, _LINES_AHEAD + 1
    while (at := held.rfind("\n", 0, at)) >= 0:
        lines += 1
        if lines == wanted:
            wanted += max(1, wanted - _LINES_AHEAD)
            if not is_body(held[held.rfind("\n", 0, at) + 1 : at + 1]):
                yield at + 1
