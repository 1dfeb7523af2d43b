"""How text lands on a terminal: cells, wrapping, emphasis.  Chinese takes two cells a character.

How many a character takes is not the same everywhere.  Columns are aligned by what is usual; lines
are broken by the most that a terminal in use may draw: one that broke a line itself would set what
somebody else wrote at the left edge, where only our own words stand.

Pure: whether colours may be used and how wide the terminal is comes in as arguments.  Nothing is
ever dropped by wrapping: what a person approves must be on the screen to its last character.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from common.text import ELLIPSIS, reveal_all

BLANK_RUN: Final = 20  # R26: longer runs of blanks are told as a count

_WIDE: Final = frozenset("WF")
_NO_CELL: Final = frozenset({"Mn", "Me", "Cf"})
_MAYBE_WIDE: Final = _WIDE | {"A"}  # in Chinese surroundings, by UAX 11
# Flags, and what has been wide since Unicode 16: hexagrams, trigrams, counting rods.
_WIDE_FOR_SOME: Final = re.compile(
    "[\U0001f1e6-\U0001f1ff\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff\U0001d300-\U0001d376]"
)
_WIDENS: Final = "\ufe0f"  # makes a picture of the character before it
TAB_RUN: Final = 2  # shown as eight cells each, three are a longer run than that
_BLANKS: Final = re.compile(rf"(?: *+\t){{{TAB_RUN + 1},}}+ *+|[ \t]{{{BLANK_RUN + 1},}}+")
_NEVER_FIRST: Final = frozenset("，。、；：？！）】》」』”’…,.;:?!)]}")
# A run of ASCII with the marks that belong to it, or one other character: between those a line may
# break.
_WORDS: Final = re.compile(" +|[“‘]*[!-~\0][!-~\0…”’]*[，。、；：？！）】》」』]*|[^ -~]")
_GLUE: Final = "\0"  # a blank at which no line breaks
# What is pasted into a shell: between backticks, or at the end of a line.
_COMMAND: Final = re.compile(r"[(“]*`[^`]{1,100}`[!-_a-~”]*|(?<=.)codexbridge [ -~]{1,100}$")
_ONLY_COMMAND: Final = re.compile(r" +codexbridge (?!.* {2})[ -~]+")
_COLUMN: Final = re.compile(r" *+\S++(?: \S++)*? {2,}| +")  # below what follows it goes on
_SGR_CODE: Final = re.compile(r"\x1b\[[\d;]*m")
_NO_CELLS: Final = "\u2060"
_LEAST_ROOM: Final = 24  # cells in a column
_SGR: Final = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "alarm": "1;7;31",
    "mark": "1;7",
}
ENDLESS: Final = 1 << 30  # cells: whoever asked breaks the line
_TAB: Final = "⇥"
_TAB_STOP: Final = 4


@dataclass(frozen=True, slots=True)
class Ink:
    """Emphasis that reads on light and on dark terminals, or none at all.

    Attributes:
        on: Whether control sequences may be written.
    """

    on: bool

    def __call__(self, style: str, text: str) -> str:
        """Return ``text`` in a style: bold, dim, red, green, alarm, mark, or nothing for none."""
        if not (self.on and text and style):
            return text
        return f"\x1b[{_SGR[style]}m{text}\x1b[0m"


def cells(text: str) -> int:
    """Return how many terminal cells the text takes on one line."""
    if text.isascii():
        return len(text)
    return sum(_cell(char) for char in text)


def most_cells(text: str) -> int:
    """Return how many terminal cells the text takes at the most, whatever the terminal."""
    if text.isascii():
        return len(text)
    return sum(_most(char) for char in text)


def pad(text: str, width: int) -> str:
    """Return the text filled with blanks to ``width`` cells; a wider one is left as it is."""
    return text + " " * (width - cells(text))


def clip_cells(text: str, width: int) -> str:
    """Return the text within ``width`` cells, ending in an ellipsis where it was cut."""
    if most_cells(text) <= width:
        return text
    return fold(text, max(width - most_cells(ELLIPSIS), 1))[0] + ELLIPSIS


def fold(text: str, width: int) -> list[str]:
    """Cut one line into pieces of at most ``width`` cells; joined they give it back.

    A closing mark takes its character along to the next line, as Chinese typesetting wants it.
    """
    if most_cells(text) <= width:
        return [text]
    pieces, piece, used = [], "", 0
    for char in text:
        size = _most(char)
        if piece and used + size > width:
            carried = piece[-1] if char in _NEVER_FIRST and len(piece) > 1 else ""
            pieces.append(piece.removesuffix(carried) if carried else piece)
            piece, used = carried, most_cells(carried)
        piece += char
        used += size
    return [*pieces, piece]


def wrap(text: str, width: int, *, cut: bool = True) -> list[str]:
    """Break prose into lines of at most ``width`` cells, at blanks where there are any.

    Line ends in the text are kept; Chinese, which has no blanks, breaks between characters.  A word
    longer than a line is cut, or, so that it can be copied, has a longer line to itself.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in _WORDS.findall(paragraph):
            if most_cells(line + word.rstrip()) <= width:
                line += word
                continue
            carried = line[-1] if word in _NEVER_FIRST and not line[-1:].isascii() else ""
            if kept := line.removesuffix(carried).rstrip():
                lines.append(kept)
            begun = carried + word.lstrip()
            *full, line = fold(begun, width) if cut else [begun]
            lines += full
        lines.append(line.rstrip())
    return lines


def fold_text(text: str, width: int) -> str:
    """Break text of ours into lines of at most ``width`` cells, as `wrap` does, through no word.

    A command that fits into a line stays on one, and so does one that has its line to itself, to
    be copied; emphasis takes no cells, and what stands in a column goes on there.
    """
    codes = iter(_SGR_CODE.findall(text))
    bare = _SGR_CODE.sub(_NO_CELLS, text.replace(_NO_CELLS, ""))
    told = "\n".join(line for part in bare.split("\n") for line in _folded(part, width))
    return re.sub(_NO_CELLS, lambda _: next(codes), told)


def _folded(line: str, width: int) -> list[str]:
    if cells(line) <= width or _ONLY_COMMAND.fullmatch(line):
        return [line]
    begun = _COLUMN.match(line)
    head = begun[0] if begun and cells(begun[0]) <= width - _LEAST_ROOM else ""
    room = width - cells(head)

    def glued(command: re.Match[str]) -> str:
        return command[0].replace(" ", _GLUE) if cells(command[0]) <= room else command[0]

    lines = wrap(_COMMAND.sub(glued, line.removeprefix(head)), room, cut=False)
    heads = [head, *([" " * cells(head)] * len(lines))]
    return [above + part.replace(_GLUE, " ") for above, part in zip(heads, lines, strict=False)]


def exact(text: str, *, width: int) -> list[str]:
    """Break text that will run into lines, every character of it visible.

    Control and hidden characters are marked, a line feed is marked and then breaks the line, and
    a long run of blanks or tabs, which could push the rest out of sight, is told as a count (R26).
    """
    lines: list[str] = []
    parts = text.split("\n")
    for number, part in enumerate(parts):
        ending = "⟨U+000A⟩" if number < len(parts) - 1 else ""
        lines += fold(_revealed(part) + ending, width)
    return lines


def _revealed(part: str) -> str:
    shown, at = "", 0
    for run in _BLANKS.finditer(part):
        names = ", ".join(f"U+{ord(char):04X}" for char in sorted(set(run[0])))
        shown += f"{reveal_all(part[at : run.start()])}⟨{len(run[0])} × {names}⟩"
        at = run.end()
    return shown + reveal_all(part[at:])


def table(rows: Sequence[Sequence[str]], *, gap: int = 2) -> list[str]:
    """Return rows as lines with aligned columns; the last column is not padded."""
    if not rows:
        return []
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "".join(
            pad(value, width + gap) for value, width in zip(row[:-1], widths, strict=False)
        ).replace("\n", " ")
        + row[-1]
        for row in rows
    ]


def on_one_line(text: str) -> str:
    """Return the text with everything in it visible, its line ends marked and joined."""
    return "".join(exact(text, width=ENDLESS))


def tabs_shown(text: str) -> str:
    """Return the text with each tab as an arrow that reaches to the next stop."""
    first, *parts = text.split("\t")
    shown, column = [first], cells(first)
    for part in parts:
        gap = _TAB_STOP - column % _TAB_STOP
        shown += (_TAB, " " * (gap - 1), part)
        column += gap + cells(part)
    return "".join(shown)


def _cell(char: str) -> int:
    if unicodedata.category(char) in _NO_CELL:
        return 0
    return 2 if unicodedata.east_asian_width(char) in _WIDE else 1


def _most(char: str) -> int:
    if char == _WIDENS:
        return 1
    usual = _cell(char)
    if usual != 1:
        return usual
    is_wide = unicodedata.east_asian_width(char) in _MAYBE_WIDE or _WIDE_FOR_SOME.match(char)
    return 2 if is_wide else 1
