"""Which lines of a text are shown where not all of it may be.  Pure.

Content goes to a model as it is, except that terminal sequences and control characters are taken
out and secrets replaced (R54), in that order: nothing can hide a secret from the rules that look
for it.  Lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from common.redact import redact_lines
from common.text import clip_bytes, strip_ansi

MAX_LINE_BYTES: Final = 2000  # of one line; generated files have lines as long as themselves
_READ_CHARS: Final = 4 * MAX_LINE_BYTES  # of a line that are looked through before it is clipped
_WORD_CHARS: Final = 1024  # of a word that is cut with its line, at most
_MARGIN: Final = 200  # lines around what is shown, so that no rule sees half of a key
_AROUND: Final = (120, 60, 30, 15, 8, 4, 2, 1, 0)  # lines shown before and after one that matters
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Cutting:
    """Lines of a text.

    Attributes:
        first_line: Number of the first, from 1.
        cut: The text has others, too.
    """

    text: str
    first_line: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Beside:
    """Bytes that are sent beside a text.

    Attributes:
        piece: For each of its parts that is shown apart.
        line: For each line, such as its number.
    """

    piece: int = 0
    line: int = 0


NOTHING: Final = Beside()


def readable(content: bytes) -> list[str]:
    """Return the lines of a file, without what only a terminal would obey, each of bounded length.

    Secrets are still in them.
    """
    lines = content.decode("utf-8", "replace").split("\n")
    if not lines[-1]:
        lines.pop()
    return [_plain(_begun(line)) for line in lines]


def _begun(line: str) -> str:
    """Return what is looked at of a line: of a word that is cut, which may be a secret, nothing."""
    if len(line) <= _READ_CHARS:
        return line
    return line[: max(line.rfind(" ", 0, _READ_CHARS), _READ_CHARS - _WORD_CHARS)]


def _plain(line: str) -> str:
    return line if line.isprintable() else _CONTROL.sub("", strip_ansi(line))


def clean(lines: Sequence[str]) -> list[str]:
    """Return the same lines with every secret replaced (R54)."""
    return redact_lines("\n".join(lines)).split("\n") if lines else []


def size_of(lines: Iterable[str]) -> int:
    """Return the UTF-8 bytes that lines take where all of them are shown."""
    return sum(min(_size(line), MAX_LINE_BYTES) for line in lines)


def cut_lines(
    lines: Sequence[str],
    limit: int,
    matters: Iterable[int] = (),
    *,
    is_clean: bool = False,
    beside: Beside = NOTHING,
) -> list[Cutting]:
    """Return what fits of a text, secrets replaced: all of it, or what is around certain lines.

    Args:
        lines: As of `readable`, or of `clean`.
        is_clean: They are as of `clean`.
        limit: UTF-8 bytes of everything that is returned, with what comes to it.
        beside: What comes to it when it is sent.
        matters: Numbers of lines that matter, the most important first; without any the text is
            shown from its beginning.
    """
    if not lines:
        return [Cutting("", 1, cut=False)] if beside.piece <= limit else []
    wanted = [number for number in dict.fromkeys(matters) if 1 <= number <= len(lines)]
    if not wanted:
        return _shown(lines, [(0, len(lines))], limit, is_clean=is_clean, beside=beside)
    line_bytes = (min(_size(line), MAX_LINE_BYTES) + beside.line for line in lines)
    sizes = [0, *accumulate(line_bytes)]
    if sizes[-1] + beside.piece <= limit:
        return _shown(lines, [(0, len(lines))], limit, is_clean=is_clean, beside=beside)
    for around in _AROUND:
        spans = _spans(wanted, around, len(lines))
        if sum(sizes[end] - sizes[begin] + beside.piece for begin, end in spans) <= limit:
            return _shown(lines, spans, limit, is_clean=is_clean, beside=beside)
    # Not even those lines themselves: the most important ones.
    kept = 1
    while kept < len(wanted) and _fits(wanted[: kept + 1], sizes, limit, beside):
        kept += 1
    spans = _spans(wanted[:kept], 0, len(lines))
    return _shown(lines, spans, limit, is_clean=is_clean, beside=beside)


def cut_clean(text: str, limit: int) -> list[Cutting]:
    """Return the beginning of a text that is clean already, cut on the end of a line."""
    kept = text.encode()[:limit].decode("utf-8", "ignore")
    if len(kept) < len(text):
        kept = kept[: kept.rfind("\n") + 1]
    return [Cutting(kept, 1, cut=len(kept) < len(text))] if kept else []


def _fits(wanted: Sequence[int], sizes: Sequence[int], limit: int, beside: Beside) -> bool:
    return sum(sizes[number] - sizes[number - 1] + beside.piece for number in wanted) <= limit


def _spans(wanted: Iterable[int], around: int, count: int) -> list[tuple[int, int]]:
    """Return half-open ranges of indexes around these line numbers, joined where they touch."""
    spans: list[tuple[int, int]] = []
    for number in sorted(wanted):
        begin, end = max(number - 1 - around, 0), min(number + around, count)
        if spans and begin <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((begin, end))
    return spans


def _shown(
    lines: Sequence[str],
    spans: Iterable[tuple[int, int]],
    limit: int,
    *,
    is_clean: bool,
    beside: Beside,
) -> list[Cutting]:
    found: list[Cutting] = []
    for begin, end in spans:
        limit -= beside.piece
        part = lines[begin:end] if is_clean else _cleaned(lines, begin, end, limit)
        taken: list[str] = []
        for line in part:
            clipped = clip_bytes(line, MAX_LINE_BYTES - 1)
            if _size(clipped) + beside.line > limit:
                break
            taken.append(clipped)
            limit -= _size(clipped) + beside.line
        if not taken:
            break
        text = "".join(f"{line}\n" for line in taken)
        is_cut = len(taken) < len(lines) or taken != part
        found.append(Cutting(text, begin + 1, cut=is_cut))
    return found


def _cleaned(lines: Sequence[str], begin: int, end: int, limit: int) -> list[str]:
    # No more lines than could be shown: each takes a byte at least.
    end = min(end, begin + _most(lines, begin, end, limit))
    first, last = max(begin - _MARGIN, 0), min(end + _MARGIN, len(lines))
    return clean(lines[first:last])[begin - first : end - first]


def _most(lines: Sequence[str], begin: int, end: int, limit: int) -> int:
    """Return how many lines from ``begin`` on could fit, were every secret in them gone."""
    # What is taken out makes a line shorter by no more than it was long: the half again is ample
    # for text with secrets in it, and a text that is nothing else is cut short and says so.
    room = limit + limit // 2
    for count, line in enumerate(lines[begin:end]):
        room -= min(_size(line), MAX_LINE_BYTES)
        if room < 0:
            return count + 1
    return end - begin


def _size(line: str) -> int:
    return len(line.encode()) + 1
