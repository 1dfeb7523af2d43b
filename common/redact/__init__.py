"""Secrets taken out of text before it goes to a model, to the chat or into a log (R54).

Pure.  This is damage control, not permission (R55): what may be read at all is decided before.
Every rule runs in linear time, in this order: terminal sequences, private key blocks (`keys`),
marks of providers (`marks`), URLs, headers, arguments of tools, names with their values (`places`).
Entropy is only asked where a name hints at a secret.  The product's own secrets go first, by
`redact_known`.  Where a rule errs, it takes out too much.

`RedactedStream` does the same as text comes in, so that a secret split over two pieces never gets
out: only whole lines go, and only up to a place where what stands before and what stands after,
each redacted alone, give what both give together.  What is held back is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

from common.redact.keys import MARK, is_body, may_hold_key, without_keys
from common.redact.marks import without_hashes, without_hooks, without_marked, without_personal
from common.redact.places import (
    without_arguments,
    without_headers,
    without_logins,
    without_named,
    without_parameters,
)
from common.text import strip_ansi

MIN_KNOWN_CHARS: Final = 6  # a shorter "secret" would take ordinary words out of every text

# Dotted words, and hex with dashes: names of events and ids, on every line of a log.  No rule finds
# anything in them: it needs a capital, a blank, one of "/=:_", or a mark that neither can hold, for
# each of those has a digit beside its dot or a letter beyond "f" beside its dash.
_PLAIN: Final = re.compile(r"[a-z.]*+|[0-9a-f-]*+")

# A line with none of these holds nothing that the rules for lines could find.  Each begins with a
# character of its own, not a set: only so does `re` skip what none of them begins with.  And with a
# rare one, so that it skips more: "token" and "hook" are found by their k, options by their dash.
_HOT: Final = re.compile(
    r"p(?:ass|wd?|hrase)|s(?:ess|i[dg])|c(?:red|ret(?<=secret)|ook|ode=)|b(?:ear|asi|ind)"
    r"|k(?:ey|en(?<=token)|(?<=hook))|uth(?<=auth)|jwt|_[as]k|mnemo|fied(?<=ntified)"
    r"|g(?:in (?<=login )|/bot(?<=org/bot)|oogleapis)|-(?:user|(?<= -)[pawu])"
    r"|\$[0-9a-z]{1,16}\$|:[56]\d{3}:|://[^/\s@]{0,1024}+@|ftqq"
    r"|密|秘|口令|令牌|助记词|凭证|通行证"
)
# What splits a word and is not seen: NUL and its like, what has no width; what was struck out.
_SPLIT: Final = re.compile(
    "[\\x00-\\x08\\x0e-\\x1f\\x7f\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_STRUCK: Final = re.compile("[^\\n]\\x08")
_LINES_AFTER: Final = 2  # of a value that stands below its name; below a fence one more


def redact(text: str, *, personal: bool = False) -> str:
    """Return the text without terminal sequences and without what looks like a secret.

    Args:
        text: Any text, of any length.
        personal: Take out numbers of Chinese identity cards, mobile telephones and bank cards, too.
    """
    if not personal and _PLAIN.fullmatch(text):
        return text
    cleaned = _unsplit(strip_ansi(text))
    if may_hold_key(cleaned):
        cleaned = without_keys(cleaned)
    return _by_lines(cleaned, personal=personal)


def redact_lines(text: str, *, personal: bool = False) -> str:
    """Return the same as `redact`, but with every line in its place: a mark for each line of a key.

    A terminal sequence that goes over the end of a line is taken out of each line alone.
    """
    cleaned = _unsplit("\n".join(strip_ansi(line) for line in text.split("\n")))
    if may_hold_key(cleaned):
        cleaned = without_keys(cleaned, each_line=True)
    return _by_lines(cleaned, personal=personal)


def redact_known(text: str, secrets: Iterable[str]) -> str:
    """Return the text without the given secrets, as they are and as a URL writes them.

    Secrets under 6 characters are left in: taking them out would maim any text.
    """
    return without_spellings(text, spellings_of(secrets))


def without_spellings(text: str, spellings: Iterable[str]) -> str:
    """Return the text without what `spellings_of` told, for who has the same secrets every time."""
    for spelling in spellings:
        text = text.replace(spelling, "[redacted:own]")
    return text


def spellings_of(secrets: Iterable[str]) -> tuple[str, ...]:
    """Return how secrets may be written, the longest first; without those under 6 characters."""
    spellings = {
        spelling
        for secret in secrets
        if len(secret) >= MIN_KNOWN_CHARS
        for spelling in (
            secret,
            quote(secret, "", errors="replace"),
            quote(secret, errors="replace"),
        )
    }
    return tuple(sorted(spellings, key=len, reverse=True))


def _unsplit(text: str) -> str:
    """Join what unseen characters split, on the lines where a secret is found only so."""
    if not _SPLIT.search(text):  # most texts
        return text
    return "\n".join(map(_unsplit_line, text.split("\n")))


def _unsplit_line(line: str) -> str:
    if not _SPLIT.search(line):
        return line
    alone = _SPLIT.sub("", _by_lines(line, personal=False))
    for joined in (_SPLIT.sub("", line), _SPLIT.sub("", _STRUCK.sub("", line))):
        if _by_lines(joined, personal=False) not in (joined, alone):
            return joined
    return line


def _by_lines(text: str, *, personal: bool) -> str:
    marked = without_marked(text)
    pieces = [_judged(piece) if hot else piece for hot, piece in _parts(marked)]
    joined = "".join(pieces)
    return without_personal(joined) if personal else joined


def _judged(piece: str) -> str:
    for rule in (
        without_hashes,
        without_hooks,
        without_logins,
        without_parameters,
        without_headers,
        without_arguments,
        without_named,
    ):
        piece = rule(piece)
    return piece


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the text in parts: lines that need the rules with those below them, and the others."""
    small = text.lower()
    if len(small) != len(text):  # a letter that is two in small: places would not agree
        yield True, text
        return
    done = at = 0
    while found := _HOT.search(small, at):
        start = text.rfind("\n", done, found.start()) + 1 or done
        yield False, text[done:start]
        end = _line_end(text, found.end() - 1)
        while True:
            below = end
            for _ in range(_LINES_AFTER):
                below = _line_end(text, below)
            if text.find("```", end, below) >= 0:
                below = _line_end(text, below)
            if (again := _HOT.search(small, end, below)) is None:
                break
            end = _line_end(text, again.end() - 1)
        yield True, text[start:below]
        done = at = below
    yield False, text[done:]


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


# --- as text comes in ---

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
