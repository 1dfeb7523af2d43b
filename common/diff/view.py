"""A diff as a person sees it: rows, and marks on what deserves a second look.

The same for terminal, window and page: nothing in a row is hidden (R26).  Marks are about the
content of added lines (R38); which paths are delicate is the matter of `local_agent.safety`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from common.diff.model import MINUS, PLUS, DiffModel, FileDiff, Hunk
from common.encodings import LOW, UTF8, line_text
from common.redact import redact
from common.text import has_confusable, has_hidden, reveal_all, strip_ansi

RowKind = Literal["hunk", "context", "removed", "added", "open"]
MarkCode = Literal["hidden-characters", "confusable", "encoding", "long-line", "secret-looking"]

LONG_LINE: Final = 400  # characters
# Blanks are left alone as far as they indent; any more could push text out of sight.
INDENT: Final = 80
BLANK_RUN: Final = 20
# A tab is as wide as eight blanks; inside a line, columns are often lined up with a few.
INDENT_TABS: Final = 10
TAB_RUN: Final = 6

_BLANKS: Final = re.compile(
    rf"^(?:[ \t]{{{INDENT + 1},}}+|(?: *+\t){{{INDENT_TABS + 1}}}[ \t]*+)"
    rf"|(?<![ \t])(?<!^)(?:[ \t]{{{BLANK_RUN + 1},}}+|(?: *+\t){{{TAB_RUN + 1}}}[ \t]*+)"
)
_BYTES: Final = re.compile("[\udc00-\udcff]")
# Lines of these characters hide nothing and need no decoding with care.
_PLAIN: Final = re.compile(rb"[ -~\t\n]*+")


@dataclass(frozen=True, slots=True)
class Row:
    """One line to be shown.

    Attributes:
        kind: ``hunk`` begins one and its text is the section; ``open`` says that the line before
            it ends the file without a line feed, and has no text.
        old_no: Number of the line in the old file, from 1; None where it has none there.  For
            ``hunk``, where it starts.
        new_no: The same in the new file.
        text: Without its marker; every character is visible, but for blanks and tabs.
    """

    kind: RowKind
    old_no: int | None
    new_no: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Something in the added lines of a file, where it occurs first.

    Attributes:
        line: Number in the new file, from 1.
    """

    code: MarkCode
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Counts:
    """How large a diff is, counted by us."""

    files: int
    added: int
    removed: int


def counts(model: DiffModel) -> Counts:
    """Return how many files and lines a diff touches."""
    return Counts(len(model.files), model.added, model.removed)


def rows(file: FileDiff) -> Iterator[Row]:
    """Yield what a person sees of one file, in the order of the diff."""
    for hunk in file.hunks:
        yield Row("hunk", hunk.old_start, hunk.new_start, shown(hunk.section, file.encoding))
        old_no, new_no = hunk.old_first, hunk.new_first
        old_end, new_end = old_no + hunk.old_count, new_no + hunk.new_count
        for line in hunk.lines:
            kind, text = line[0], shown(line[1:], file.encoding)
            old_no += kind != PLUS
            new_no += kind != MINUS
            if kind == PLUS:
                yield Row("added", None, new_no, text)
            elif kind == MINUS:
                yield Row("removed", old_no, None, text)
            else:
                yield Row("context", old_no, new_no, text)
            ends_old = hunk.old_open and kind != PLUS and old_no == old_end
            if ends_old or (hunk.new_open and kind != MINUS and new_no == new_end):
                yield Row("open", None, None, "")


def shown(line: bytes, encoding: str = UTF8) -> str:
    """Return a line with nothing hidden in it; a byte that is no text is shown as ``⟨0xE9⟩``."""
    text = line_text(line, encoding)
    if not _PLAIN.fullmatch(line):
        named = _BYTES.sub(lambda byte: f"⟨0x{ord(byte[0]) - LOW:02X}⟩", text)
        text = "\t".join(map(reveal_all, named.split("\t")))
    if len(text) <= TAB_RUN:
        return text
    return _BLANKS.sub(lambda run: f"⟨{len(run[0])} × {_names(run[0])}⟩", text)


def marks(model: DiffModel) -> tuple[Mark, ...]:
    """Return what deserves a second look in added lines: each code once in each file."""
    return tuple(Mark(code, file.path, line) for file in model.files for code, line in _marks(file))


def _names(blanks: str) -> str:
    return ", ".join(f"U+{ord(char):04X}" for char in sorted(set(blanks)))


def _marks(file: FileDiff) -> Iterator[tuple[MarkCode, int]]:
    added = [found for hunk in file.hunks for found in _added(hunk)]
    found: dict[MarkCode, int] = {}
    for number, line in added:
        if len(line) > LONG_LINE or not _PLAIN.fullmatch(line):
            for code in _codes(line, file.encoding):
                found.setdefault(code, number)
    if (secret := _first_secret([line for _, line in added])) is not None:
        found["secret-looking"] = added[secret][0]
    yield from found.items()


def _added(hunk: Hunk) -> Iterator[tuple[int, bytes]]:
    number = hunk.new_first
    for line in hunk.lines:
        number += line[0] != MINUS
        if line[0] == PLUS:
            yield number, line[1:]


def _codes(line: bytes, encoding: str) -> Iterator[MarkCode]:
    text = line_text(line, encoding).removesuffix("\r")
    if _BYTES.search(text):
        yield "encoding"
        text = _BYTES.sub("\ufffd", text)
    if has_hidden(text):
        yield "hidden-characters"
    if has_confusable(text):
        yield "confusable"
    if len(text) > LONG_LINE:
        yield "long-line"


def _first_secret(lines: list[bytes]) -> int | None:
    """Return the index of the first line that holds what looks like a secret."""
    texts = [strip_ansi(line.decode("utf-8", "replace")) for line in lines]
    whole = "\n".join(texts)
    # All at once first: nearly every diff holds none, and what spans lines must not get through.
    if redact(whole) == whole:
        return None
    return next((n for n, text in enumerate(texts) if redact(text) != text), 0)
