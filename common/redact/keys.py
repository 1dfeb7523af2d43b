"""Private keys taken out of text: whole, cut short, in a diff, numbered, quoted or escaped (R54).

A block is recognised by its first or its last line, and each line between by what it may hold, so
that a block cut short ends at the first line that cannot belong to it.  Pure, in linear time.
"""

from __future__ import annotations

import re
from typing import Final

MARK: Final = "[redacted:private-key]"

_BEGIN: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----|^Private-Lines: \d{1,4}"
)
_END: Final = re.compile(
    r"-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----|^Private-MAC: [0-9a-f]{40,64}"
)
# A line of a key block as a diff, a numbered listing, a quotation or a source string shows it.
_LINE: Final = re.compile(
    r"[\s>|:#*+\-\"'`0-9./]{0,24}+(?:[A-Za-z0-9+/=]{0,100}+|[A-Za-z-]{1,20}: [^\r\n]{0,200}+)"
    r"(?:\\[nr]){0,2}[\"'`,;+\\ ]{0,8}\r?\n?"
)
_BASE64_RUN: Final = re.compile(r"[A-Za-z0-9+/=]{16}")
# A block without its first and last lines: how the body of each kind begins, or whole lines of 64
# characters in a row, which stand in no other text but in the armour of something public.
_HEADS: Final = tuple(  # each begins with a letter, to which `re` goes at once
    re.compile(head + r"[A-Za-z0-9+/=]{20}")
    for head in (
        r"b(?<![A-Za-z0-9/]b)3BlbnNzaC1rZXktdjE",
        r"M(?<![A-Za-z0-9/]M)II[A-Za-z0-9+/]{2,3}(?:IBA[AD]|gIBAAK)",
        r"M(?<![A-Za-z0-9/]M)(?:H[cg]CAQEE|I[GH][A-Za-z0-9+/]AgEAMB|C4CAQAwBQYDK2V)",
        # A whole block in base64 once more, as Kubernetes keeps it.
        r"LS0tLS1CRUdJTi(?=[A-Za-z0-9+/]{0,40}(?:UFJJVkFUR|BSSVZBVEU|UklWQVRF))",
    )
)
# The same on one line, as DER in base64 or with its line ends escaped; the last is never longer.
_ONE_LINE: Final = (
    *(re.compile(head.pattern + r"[A-Za-z0-9+/=\\]{80,}+") for head in _HEADS),
    re.compile(r"MC4CAQAwBQYDK2V[A-Za-z0-9+/=]{49}"),
)
_BEFORE: Final = r"[\s>|:#*+\-\"'`0-9./]{0,24}?"
_FULL_LINE: Final = re.compile(
    _BEFORE + r"(?<![A-Za-z0-9/])"
    r"(?=[^\r\n]{0,62}[g-z])(?=[^\r\n]{0,62}[A-Z])(?:[A-Za-z0-9+/]{64}|[A-Za-z0-9+/]{70})"
    r"(?:\\[nr]){0,2}[\"'`,;+\\ ]{0,8}\r?\n?"
)
# The second of them stands behind the end of a line, which is found faster than a long word.
_FULL_LINES: Final = re.compile(
    r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]" + _BEFORE + r"[A-Za-z0-9+/]{64}"
)
_PUBLIC: Final = re.compile(
    r"-{4,5} ?(?P<edge>BEGIN|END) (?![^\r\n-]*PRIVATE KEY)[A-Z0-9 ]{1,64}-{4,5}"
)
# How lines of base64 begin that are no key: images, archives, documents, certificates, public keys.
_OTHER: Final = re.compile(
    _BEFORE + r"(?:iVBORw0KGgo|/9j/|R0lGODlh|UklGR|UEsDB|H4sI|QlpoO|/Td6WFo|N3q8ry|KLUv|JVBERi0"
    r"|d09GR|d09GM|AAABAA|AGFzbQ|f0VMR|MII[A-Za-z0-9+/]{2}[DTjz](?:CC|ANBgkq)|MFkwEwYHK|MHYwEAYHK)"
)


def may_hold_key(text: str) -> bool:
    """Tell cheaply whether `without_keys` may find something."""
    marked = any(mark in text for mark in ("PRIVATE KEY", "Private-"))
    return marked or _has_head(text) or _FULL_LINES.search(text) is not None


def is_body(line: str) -> bool:
    """Tell whether the line may be of a key block whose first line was not seen."""
    return _LINE.fullmatch(line) is not None and _BASE64_RUN.search(line) is not None


def without_keys(text: str, *, each_line: bool = False) -> str:
    """Return the text with a mark in place of every private key.

    Args:
        text: Without terminal sequences.
        each_line: A mark for every line of a key, so that all lines keep their numbers.
    """
    reading = _Reading(each_line=each_line)
    for line in text.splitlines(keepends=True):
        reading.take(line)
    return _without_bodies("".join(reading.kept), each_line=each_line)


def _without_bodies(text: str, *, each_line: bool) -> str:
    """Return the text without bodies of keys of which neither first nor last line is there."""
    for one_line in _ONE_LINE:
        text = one_line.sub(MARK, text)
    lines = text.splitlines(keepends=True)
    kept: list[str] = []
    public, at = False, 0
    while at < len(lines):
        if edge := _PUBLIC.search(lines[at]):
            public = edge["edge"] == "BEGIN"
        end = at if public and not _has_head(lines[at]) else _body_end(lines, at)
        if end == at:
            end = _other_end(lines, at)
            kept += lines[at:end]
            at = end
            continue
        marks = lines[at:end] if each_line else lines[end - 1 : end]
        kept += [MARK + _ending(line) for line in marks]
        at = end
    return "".join(kept)


def _body_end(lines: list[str], at: int) -> int:
    """Return behind which line a body ends that begins here; ``at`` itself where none does."""
    known = _has_head(lines[at]) and _LINE.fullmatch(lines[at]) is not None
    full = all(map(_FULL_LINE.fullmatch, [*lines[at : at + 2], ""][:2]))
    if not known and (not full or _OTHER.match(lines[at])):
        return at
    end = at + 1
    while end < len(lines) and is_body(lines[end]):
        end += 1
    return end


def _other_end(lines: list[str], at: int) -> int:
    """Return behind which line what is no key ends: the line itself, or all lines of its base64."""
    end = at + 1
    if is_body(lines[at]) and _OTHER.match(lines[at]):
        while end < len(lines) and is_body(lines[end]) and not _has_head(lines[end]):
            end += 1
    return end


class _Reading:
    def __init__(self, *, each_line: bool) -> None:
        self.kept: list[str] = []
        self._each_line = each_line
        self._inside = False

    def take(self, line: str) -> None:
        if self._inside and not _END.search(line):
            if _LINE.fullmatch(line):
                self._drop(line)
                return
            self._inside = False
            if not self._each_line:
                self.kept.append("\n")
        rest = line
        if end := _first_end(rest):
            if not self._inside:
                self._drop_body()
            if self._each_line or not self._inside:
                self.kept.append(MARK)
            rest, self._inside = rest[end:], False
        rest, self._inside = _without_begins(rest, inside=self._inside)
        if self._inside and self._each_line:
            rest += _ending(line)
        self.kept.append(rest)

    def _drop(self, line: str) -> None:
        if self._each_line:
            self.kept.append(MARK + _ending(line))

    def _drop_body(self) -> None:
        first = len(self.kept)
        while first and is_body(self.kept[first - 1]):
            first -= 1
        dropped = self.kept[first:]
        del self.kept[first:]
        for line in dropped:
            self._drop(line)


def _has_head(text: str) -> bool:
    return any(head.search(text) for head in _HEADS)


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _first_end(line: str) -> int:
    # The end of a block that began on an earlier line; 0 when there is none.
    end, begin = _END.search(line), _BEGIN.search(line)
    return end.end() if end and not (begin and begin.start() < end.start()) else 0


def _without_begins(line: str, *, inside: bool) -> tuple[str, bool]:
    pieces: list[str] = []
    at = 0
    while begin := _BEGIN.search(line, at):
        pieces += [line[at : begin.start()], MARK]
        end = _END.search(line, begin.end())
        if end is None:
            # The rest of the line is key, whether or not its newlines are escaped.
            return "".join(pieces), True
        at = end.end()
    return "".join([*pieces, line[at:]]), inside
