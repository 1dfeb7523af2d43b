"""What of an answer may leave this machine, by the level that the person chose (R53).  Pure.

    summary   secrets taken out, no long copy of a file, one message long
    ask       nothing, until a person at this machine has released it
    full      secrets taken out, three messages long

Taking secrets out is damage control and no permission (R55): what may be read at all is decided
before, by the path guard.

What was copied out of files is found however it was dressed up, in linear time.  Both sides are
read as words: blanks, punctuation, quotation marks and the numbers in front of lines do not count,
so that indenting, quoting, numbering, fencing or joining lines hides nothing.  A word of the answer
is copied when four words in a row, or a whole line but for one word, stand in a file as well.
Copied words weigh together what their lines did, with the lines without words before them; a few
foreign words between them do not part them.  Where this errs, it finds too much.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from common.redact import redact
from common.sentences import Lang, Sentence, say
from common.text import CHAT_BYTES, clip_bytes, reveal
from local_agent.workspace.registry import DisclosureLevel

WITHHELD = Sentence(
    en="[… {count} lines withheld; see them at the machine]",
    zh="[……已略去 {count} 行；请在开发机上查看]",
)
CUT = Sentence(
    en="… (the rest is at the machine)",
    zh="……（其余内容在开发机上）",
)


MAX_QUOTED_LINES: Final = 20  # in a row, of what stands in files (R53)
READ_BYTES: Final = 65_536  # of an answer that are looked at; far more than is ever told

_PASSES: Final = 4  # until taking secrets out and marking what is hidden changes nothing any more


@dataclass(frozen=True, slots=True)
class Released:
    """What may leave.

    Attributes:
        text: What is told; telling it changes nothing of it any more.
        withheld_lines: How many lines were left out because files have them.
        cut: Its end was left out.
    """

    text: str
    withheld_lines: int = 0
    cut: bool = False


def bounded(
    answer: str,
    *,
    sources: Sequence[str],
    level: DisclosureLevel,
    lang: Lang,
    limit: int = CHAT_BYTES,
) -> Released:
    """Return what of an answer may leave at once.

    Args:
        answer: What would be told.
        sources: What it may have been copied from, as a model or a search was shown it.
        level: Of the workspace; ``ask`` lets nothing leave (`releasable` is what is asked about).
        lang: Of what is said about the parts that are left out.
        limit: Bytes of UTF-8.
    """
    if level == "ask":
        return Released("", cut=bool(answer))
    if level == "full":
        return releasable(answer, lang=lang, limit=limit)
    head = clip_bytes(answer, READ_BYTES, marker="")
    text, withheld = _unquoted(redact(head), sources, lang, scattered=False)
    released = releasable(text, lang=lang, limit=limit)
    # Of what then leaves, no more may be copied even where sentences stand between the lines.
    text, more = _unquoted(released.text, sources, lang, scattered=True)
    cut = released.cut or head != answer
    if more:
        released = releasable(text, lang=lang, limit=limit)
    return Released(released.text, withheld + more, cut)


def releasable(answer: str, *, lang: Lang, limit: int = CHAT_BYTES) -> Released:
    """Return an answer as a person may release it: without secrets, nothing hidden, in bounds."""
    head = clip_bytes(answer, READ_BYTES, marker="")
    text, cut = head, head != answer
    for _ in range(_PASSES):
        before, text = text, reveal(redact(text))
        clipped = clip_bytes(text, limit, marker=_end(lang, limit))
        cut = cut or clipped != text
        text = clipped
        if text == before:
            return Released(text, cut=cut)
    return Released(say(WITHHELD, lang, count=len(head.splitlines())), cut=True)


def _end(lang: Lang, limit: int) -> str:
    return clip_bytes("\n" + say(CUT, lang), limit // 2, marker="")


def _unquoted(text: str, sources: Sequence[str], lang: Lang, *, scattered: bool) -> tuple[str, int]:
    lines = text.splitlines()
    blocks = copied_blocks(lines, sources, most=MAX_QUOTED_LINES, scattered=scattered)
    return "\n".join(_without(lines, blocks, lang)), sum(block.lines for block in blocks)


def _without(lines: Sequence[str], blocks: Sequence[Block], lang: Lang) -> list[str]:
    kept: list[str] = []
    at = 0
    for block in blocks:
        kept += lines[at : block.first]
        kept.append(say(WITHHELD, lang, count=block.lines))
        at = block.last + 1
    return [*kept, *lines[at:]]


RUN: Final = 4  # words in a row that are no chance
GAP: Final = 6  # foreign words that do not part what was copied
LONG_BYTES: Final = 160  # a longer line counts as so many lines of …
LINE_BYTES: Final = 80
CHINESE_WORD: Final = 4  # characters, at most
PROSE_WORDS: Final = 8  # a line of fewer is an item of a listing, or of a program
MAX_LINE_WORDS: Final = 64  # of a line that is compared as a whole, but for one word

# Whitespace; quotation, list, comment and diff marks; numbers of lines as listings write them.
_FRONT: Final = re.compile(r"(?:\s++|[>|│┆#*•·+−-]|//|[0-9]{1,6}+(?:\s*+[:|│┆.)\]→]|(?=\s)))*+")
_WORD: Final = re.compile(r"[a-z0-9_]+|[^\W\x00-\x7f]")
_FENCES: Final = ("```", "~~~")
_ENDS: Final = (".", "!", "?", ":", "。", "！", "？", "：")
_NOT_DRAWN: Final = frozenset({"Cf", "Mn", "Me"})
_OVER: Final = 1e-6  # sums of thirds and sevenths

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of an answer that belong to one copy.

    Attributes:
        first: The first of them, from 0.
        last: The last of them.
        lines: How many lines they were.
    """

    first: int
    last: int
    lines: int


@dataclass(slots=True)
class _Copied:
    """What stands in the files.

    Attributes:
        lines: What each line weighs, by its words.
        runs: What each word of a run weighs, by the run.
    """

    lines: dict[Words, float] = field(default_factory=dict)
    runs: dict[Words, tuple[float, ...]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Word:
    """A word of the answer; ``weight`` is 0 while it is not known to be copied."""

    text: str
    line: int
    weight: float = 0.0


def copied_blocks(
    answer: Sequence[str], sources: Iterable[str], *, most: int, scattered: bool = False
) -> list[Block]:
    """Return the parts of an answer that hold more than ``most`` lines in a row of any file.

    A long listing counts as copied wherever it comes from, between code fences or of short lines:
    a model may have seen more than is known here.

    Args:
        answer: Its lines.
        sources: What the files hold.
        most: Lines that may be quoted.
        scattered: They need not be in a row: what stands between them, such as a sentence for each,
            hides nothing.  Then there is one part at most, from the first to the last.
    """
    copied = _Copied()
    for source in sources:
        _note(copied, source.split("\n"))
    words, fences = _read(answer, copied, listing=most * 3 // 2)
    _weigh_runs(words, copied)
    blocks = list(_joined(words))
    if scattered and blocks:
        blocks = [Block(blocks[0].first, blocks[-1].last, sum(block.lines for block in blocks))]
    return [_with_fences(block, fences, len(answer)) for block in blocks if block.lines > most]


def _note(copied: _Copied, lines: Sequence[str]) -> None:
    recent: deque[tuple[str, float]] = deque(maxlen=RUN)
    empty = 0
    for line in lines:
        words = _words(line)
        if not words:
            empty += 1  # a line of signs alone is told with the next one that has words
            continue
        weight = empty + _weight(line)
        empty = 0
        copied.lines[words] = max(weight, copied.lines.get(words, 0.0))
        copied.words.update(words)
        for word in words:
            recent.append((word, weight / len(words)))
            if len(recent) == RUN:
                _note_run(copied.runs, recent)


def _note_run(runs: dict[Words, tuple[float, ...]], recent: Iterable[tuple[str, float]]) -> None:
    words, weights = zip(*recent, strict=True)
    known = runs.get(words)
    runs[words] = tuple(map(max, known, weights)) if known else weights


def _read(answer: Sequence[str], copied: _Copied, *, listing: int) -> tuple[list[_Word], set[int]]:
    """Return the words of an answer, those of copied lines weighed, and where fences stand."""
    found: list[_Word] = []
    fences: set[int] = set()
    listed = _listed(answer, listing)
    for number, line in enumerate(answer):
        if _bare(line).startswith(_FENCES):
            fences.add(number)
            continue
        words = _words(line)
        weight = _weight_of_line(words, copied.lines)
        if len(fences) % 2 or number in listed:
            weight = max(weight, _weight(line))
        found += (_Word(word, number, weight / len(words)) for word in words)
    return found, fences


def _listed(answer: Sequence[str], most: int) -> set[int]:
    """Return the lines that stand in a row of more than so many short ones."""
    listed: set[int] = set()
    row: list[int] = []
    for number, line in enumerate([*answer, _FENCES[0]]):
        count = len(_words(line))
        if 0 < count < PROSE_WORDS and not (row == [] and _ends_sentence(line)):
            row.append(number)
        elif count or _bare(line).startswith(_FENCES):
            while row and _ends_sentence(answer[row[-1]]):
                row.pop()
            listed.update(row if len(row) > most else ())
            row = []
    return listed


def _ends_sentence(line: str) -> bool:
    """Tell whether it may be a sentence before or after a listing, and none of its items."""
    return line.rstrip().endswith(_ENDS)


def _weight_of_line(words: Words, lines: Mapping[Words, float]) -> float:
    if words in lines:
        return lines[words]
    if not 1 < len(words) <= MAX_LINE_WORDS:
        return 0.0
    return max((lines.get(some, 0.0) for some in _without_a_word(words)), default=0.0)


def _without_a_word(words: Words) -> Iterator[Words]:
    for at in range(len(words)):
        end = at + 1
        yield words[:at] + words[end:]
        # A Chinese word is several characters, each of them read as one.
        while end < min(len(words), at + CHINESE_WORD) and not words[at].isascii():
            if words[end].isascii():
                break
            end += 1
            yield words[:at] + words[end:]


def _weigh_runs(words: Sequence[_Word], copied: _Copied) -> None:
    recent: deque[_Word] = deque(maxlen=RUN)
    foreign = 0
    for word in words:
        if word.text not in copied.words:
            foreign += 1  # it stands in no file, so it may have been put in
            if foreign > GAP:
                recent.clear()
            continue
        foreign = 0
        recent.append(word)
        weights = copied.runs.get(tuple(one.text for one in recent), ())
        for one, weight in zip(recent, weights, strict=False):
            one.weight = max(one.weight, weight)


def _joined(words: Sequence[_Word]) -> Iterator[Block]:
    together: list[_Word] = []
    last = 0
    for at, word in enumerate(words):
        if not word.weight:
            continue
        if together and at - last > GAP + 1:
            yield _block(together)
            together = []
        together.append(word)
        last = at
    if together:
        yield _block(together)


def _block(words: Sequence[_Word]) -> Block:
    total = sum(word.weight for word in words)
    # Part of a line counts as one: what was put in may have hidden the rest of it.
    return Block(words[0].line, words[-1].line, math.ceil(total - _OVER))


def _with_fences(block: Block, fences: set[int], count: int) -> Block:
    first = block.first - (block.first - 1 in fences)
    last = block.last + (block.last + 1 in fences and block.last + 1 < count)
    return Block(first, last, block.lines)


def _weight(line: str) -> float:
    size = len(line.strip().encode("utf-8", "replace"))
    return 1.0 if size <= LONG_BYTES else float(-(-size // LINE_BYTES))


def _bare(line: str) -> str:
    line = line.strip()
    front = _FRONT.match(line)
    return line[front.end() :] if front else line


def _words(line: str) -> Words:
    return tuple(_WORD.findall(_bare(line if line.isascii() else _plain(line)).casefold()))


def _plain(line: str) -> str:
    # What draws nothing parts no word, and what is drawn over a letter makes no other one.
    letters = unicodedata.normalize("NFKD", line)
    return "".join(char for char in letters if unicodedata.category(char) not in _NOT_DRAWN)
