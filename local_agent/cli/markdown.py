"""A how-to page on a terminal: the Markdown that those pages are written in, laid out to its width.

Headings, paragraphs, lists, tables and blocks of code; nothing else stands in them.  A block of
code keeps its lines, which are copied; everything else breaks between words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from common.terminal import Ink, cells, fold_text, pad

INDENT: Final = "  "  # of everything but headings
_GAP: Final = "  "  # between the columns of a table
_NARROWEST: Final = 12  # cells of a column; with less, a row stands on lines of its own
_WORD: Final = re.compile("[!-~]+")
_FENCE: Final = re.compile(r" *```")
_HEADING: Final = re.compile(r"(#+) +(.*)")
_ITEM: Final = re.compile(r"( *)([-*+]|\d+\.) +")
_CODE: Final = re.compile(r"(`[^`]*`)")
_STRONG: Final = re.compile(r"\*\*([^*]+)\*\*")
_NAMED: Final = re.compile(r"\*([^*]+)\*")  # what stands on a button or a card
_COLUMN_END: Final = re.compile(r"(?<!\\)\|")
_OPENING: Final = frozenset("（“《「")


def render(page: str, *, width: int, ink: Ink) -> list[str]:
    """Return the page as lines of at most ``width`` cells, but for code and for very long words."""
    lines, shown, at = page.rstrip("\n").split("\n"), list[str](), 0
    while at < len(lines):
        end = _block_end(lines, at)
        shown += _block(lines[at:end], width, ink)
        at = end
    return shown


def _block_end(lines: Sequence[str], at: int) -> int:
    """Return where the block that begins at a line ends."""
    first, end = lines[at], at + 1
    if _FENCE.match(first):
        while end < len(lines) and not _FENCE.match(lines[end]):
            end += 1
        return min(end + 1, len(lines))
    if first.startswith("|"):
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
    elif first.strip() and not _HEADING.match(first):
        while end < len(lines) and _goes_on(lines[end]):
            end += 1
    return end


def _goes_on(line: str) -> bool:
    begins = _FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line) or line[:1] == "|"
    return bool(line.strip()) and not begins


def _block(lines: Sequence[str], width: int, ink: Ink) -> Iterator[str]:
    first = lines[0]
    if _FENCE.match(first):
        yield from (f"{INDENT * 2}{line}" if line else "" for line in lines[1:-1])
    elif heading := _HEADING.match(first):
        title = fold_text(_inline(heading[2], Ink(on=False)), width)
        yield from (ink("bold", line) for line in title.split("\n"))
        if heading[1] == "#":
            yield "─" * min(cells(title), width)
    elif first.startswith("|"):
        yield from _table([_cells(line) for line in lines], width - len(INDENT), ink)
    else:
        item = _ITEM.match(first)
        head = INDENT + (item[0] if item else " " * (len(first) - len(first.lstrip())))
        text = _joined([first.removeprefix(item[0] if item else ""), *lines[1:]])
        for line in fold_text(_inline(text, ink), width - len(head)).split("\n"):
            yield (head + line).rstrip()
            head = " " * len(head)


def _joined(lines: Sequence[str]) -> str:
    """Return the lines of a paragraph as one; between Chinese characters there is no blank."""
    text = ""
    for line in map(str.strip, lines):
        tight = text and _is_wide(text[-1]) and (_is_wide(line[0]) or not text[-1].isalnum())
        text += line if tight or not text or text[-1] in _OPENING else f" {line}"
    return text


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"


def _inline(text: str, ink: Ink) -> str:
    parts = _CODE.split(text.replace("\\|", "|"))
    parts[::2] = (
        _NAMED.sub(r"“\1”", _STRONG.sub(lambda found: ink("bold", found[1]), part))
        for part in parts[::2]
    )
    return "".join(parts)


def _cells(row: str) -> list[str]:
    return [_inline(cell.strip(), Ink(on=False)) for cell in _COLUMN_END.split(row)[1:-1]]


def _table(rows: Sequence[Sequence[str]], width: int, ink: Ink) -> Iterator[str]:
    head, body = rows[0], rows[2:]
    widths = _widths([head, *body], width)
    if widths is None:
        for first, *others in body:
            yield from _hanging(first, INDENT, width)
            for name, cell in zip(head[1:], others, strict=True):
                told = f"{name}{_colon(name)}{cell}" if len(others) > 1 else cell
                yield from _hanging(told, INDENT * 3, width) if cell else ()
        return
    yield from (ink("bold", line) for line in _row(head, widths))
    yield INDENT + _GAP.join("─" * size for size in widths)
    for row in body:
        yield from _row(row, widths)


def _colon(name: str) -> str:
    return "：" if name and _is_wide(name[-1]) else ": "


def _hanging(text: str, indent: str, width: int) -> Iterator[str]:
    yield from (indent + line for line in fold_text(text, width - len(indent)).split("\n"))


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Return the cells of each column, None where they have no room beside each other."""
    natural = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    room = width - len(_GAP) * (len(natural) - 1)
    given: dict[int, int] = {}
    for at in sorted(range(len(natural)), key=natural.__getitem__):
        share = (room - sum(given.values())) // (len(natural) - len(given))
        words = (cells(word) for row in rows for word in _WORD.findall(row[at]))
        given[at] = min(natural[at], max(share, _NARROWEST, *words))
    return [given[at] for at in range(len(natural))] if sum(given.values()) <= room else None


def _row(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    columns = [fold_text(cell, size).split("\n") for cell, size in zip(row, widths, strict=True)]
    for number in range(max(map(len, columns))):
        parts = (column[number] if number < len(column) else "" for column in columns)
        line = _GAP.join(pad(part, size) for part, size in zip(parts, widths, strict=True))
        yield (INDENT + line).rstrip()
