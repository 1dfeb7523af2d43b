"""A text as clauses of tagged words (`tags`).  Pure; linear in the length."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from local_agent.routing.commands import find_bare
from local_agent.routing.folding import PASTED, QUOTED
from local_agent.routing.tags import EN, LETTER, ZH, letters
from local_agent.routing.typos import meant

MAX_WORDS: Final = 400  # of one text: what a person wishes stands at its beginning
_TOKEN: Final = re.compile(
    r"(?P<zh>[\u3400-\u9fff]+)"
    r"|(?P<en>(?![-=]>)[a-z0-9_$@#./\\~*+%&|=\u00c0-\u024f-]+(?:[':][a-z0-9_./\\:]+)*(?:\(\))?)"
    r"|(?P<arrow>->|=>|[→⇒])|(?P<mark>[,;:.!?\n])"
    rf"|(?P<pasted>{PASTED}+)|(?P<quoted>{QUOTED}+)"
)
_MARKS: Final = {
    ",": LETTER["comma"], ";": LETTER["comma"], ":": LETTER["comma"], "?": LETTER["mark"],
    ".": LETTER["stop"], "!": LETTER["stop"], "\n": LETTER["stop"],
}  # fmt: skip
_ID: Final = re.compile(r"#?t-[0-9a-z]{4,5}")
_HTTP: Final = re.compile(r"(?:4[01]\d|42\d|50\d)s?")
_NUMBER: Final = re.compile(r"[\d.,]+(?:ms|s|m|h|px|%|mb|kb|gb|k|x|min)?")
_VERB: Final = re.compile(
    r"(?:[a-z]{3,}(?:ize|ise|ify)|(?:de|re|un|pre)[a-z]{4,}(?:ate|ct|ch|ck))$"
)
_Lengths = dict[str, tuple[int, ...]]  # what an entry begins with: how long those are, long first
_PHRASES: Final[dict[str, _Lengths]] = {}  # by the first word, and the second
_LONGER: Final[_Lengths] = {}  # by the first two characters


def _note(lengths: _Lengths, begins: str, length: int) -> None:
    lengths[begins] = tuple(sorted({*lengths.get(begins, ()), length}, reverse=True))


for _words in [entry.split("+") for entry in EN if "+" in entry.strip("+")]:
    _note(_PHRASES.setdefault(_words[0], {}), _words[1], len(_words))
for _entry in [entry for entry in ZH if len(entry) > 1]:
    _note(_LONGER, _entry[:2], len(_entry))
_LONGEST: Final = max(max(lengths) for after in _PHRASES.values() for lengths in after.values())
_FORCED: Final = re.compile(r" (?:--force\S*|-f|--delete|-d|--mirror|--tags)(?: |$)")
_PLURAL: Final = re.compile(r"[a-z]{2,}[^s]s$")
_HAN: Final = LETTER["han"]
_ALWAYS: Final = letters("neg approve")  # whatever they are joined to
# What asks, forbids or approves, behind which mark ever; "/events" and "#push" may be names.
_UNWISHED: Final = _ALWAYS | letters(
    "grant noask how why what when who which whether did do be should"
)
_DEEDS: Final = letters("change become off edit run push commit test")
_DONE: Final = "了"
_NOT: Final = "不"
_ASKS: Final = LETTER["ma"]
_WHETHER: Final = ("吗", "没", "么", "嘛")
_SILENT: Final = "-"  # the class of what stands between words and says nothing
_PARTICLES: Final = {"的": LETTER["of"], "着": _SILENT, "地": _SILENT, "之": _SILENT}
_SINGLE: Final = _PARTICLES | {entry: tag for entry, tag in ZH.items() if len(entry) == 1}
_Piece = tuple[str, str, int]  # kind, word, where it begins
_STOP: Final = LETTER["stop"]
_TRAILING: Final = ".:'"
_LEADING: Final = "#/\\$&|+=~>*_"  # marks of a heading or a command of some chat, before a word


class Token(NamedTuple):
    """One word with its class and its place."""

    word: str
    tag: str
    start: int
    end: int


def tag_words(written: str, folded: str, most: int = MAX_WORDS) -> list[Token]:
    """Return the words of a folded text with their classes.

    Args:
        written: The text as written, for the case of names.
        folded: The same, folded and blotted.
        most: Where so many words are read, nothing behind them is.
    """
    tokens: list[Token] = []
    begin = 0
    if bare := find_bare(folded):
        line = folded[slice(*bare)]
        tokens.append(Token(line, _command(line), *bare))
        begin = bare[1]
    pieces = _pieces(folded, begin, max(most, _LONGEST))
    place, end = 0, len(pieces)
    while place < end and len(tokens) <= most:
        kind, word, start = pieces[place]
        place += 1
        if kind == "zh":
            tokens += _chinese(word[:MAX_WORDS], start)
        elif kind != "en":
            tokens.append(_other(kind, word, start))
        elif place < end and pieces[place][1] in _PHRASES.get(word, ()):
            token, count = _phrase(pieces, place - 1, written)
            tokens.append(token)
            place += count - 1
        else:
            tokens.append(_word(pieces, place - 1, written))
    return tokens


def _pieces(folded: str, begin: int, most: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    for match in islice(_TOKEN.finditer(folded, begin), most + 1):
        kind, word = match.lastgroup or "", match[0]
        if kind != "en" or word.isalpha():
            pieces.append((kind, word, match.start()))
        elif word.strip("*~"):  # marks of bold that stand by themselves are none
            pieces += _bared(word, match.start())
    return pieces


def _bared(marked: str, start: int) -> Iterator[_Piece]:
    word = _unmarked(marked)
    start += marked.index(word)
    bare = word.rstrip(_TRAILING)
    if bare:
        yield "en", bare, start
    if bare != word:
        yield "mark", word[-1], start + len(word) - 1


def _unmarked(word: str) -> str:
    """Return a word without the marks of bold and struck text around it; a pattern keeps them."""
    plain = word.strip("*~_") if "'" in word else word.strip("*~")
    told = plain.lstrip(_LEADING)
    if told != plain and EN.get(told.replace("-", "+")) in _UNWISHED:
        return told
    return plain if plain.replace("'", "").replace("-", "").isalpha() else word


def _other(kind: str, word: str, start: int) -> Token:
    end = start + len(word)
    if kind == "mark":
        return Token(word, _MARKS.get(word, _STOP), start, end)
    return Token("", LETTER[kind], start, end)


def _command(line: str) -> str:
    """Return the class of a command line: of git's, some are other wishes."""
    words = line.split()
    if words[0] == "git" and len(words) > 1:
        if words[1] in ("push", "commit", "add") and not _FORCED.search(line):
            return LETTER["push" if "push" in words else "commit"]
        if words[1] in ("diff", "status") and len(words) == 2:
            return LETTER["diff"]
    return LETTER["command"]


def _phrase(pieces: Sequence[_Piece], place: int, written: str) -> tuple[Token, int]:
    """Return the phrase or word that begins at a place, and how many words it takes."""
    _, word, start = pieces[place]
    for count in _PHRASES[word][pieces[place + 1][1]]:
        phrase = pieces[place : place + count]
        if tag := EN.get("+".join([part for _, part, _ in phrase])):
            _, last, begun = phrase[-1]
            return Token(word, tag, start, begun + len(last)), len(phrase)
    return _word(pieces, place, written), 1


def _word(pieces: Sequence[_Piece], place: int, written: str) -> Token:
    _, word, start = pieces[place]
    end = start + len(word)
    tag = EN.get(word)
    if tag is None and place and pieces[place - 1][1] == "mind" and word.endswith("ing"):
        tag = _stem(word)
    return Token(word, tag or _shape(word, written[start:end]), start, end)


def _stem(word: str) -> str:
    """Return the class of "run" for "running": "would you mind running …" wishes it."""
    stem = word.removesuffix("ing")
    return EN.get(stem) or EN.get(f"{stem}e") or EN.get(stem[:-1], "")


def _shape(word: str, written: str) -> str:
    """Return the class of a word that no lexicon knows."""
    if "-" in word and (last := _joined_last(word)):
        return last
    if "'" in word:
        head, _, tail = word.partition("'")
        found = meant(head)
        return EN.get(f"{found}'{tail}") or EN.get(found or head) or LETTER["word"]
    if word[0] == "-":
        return LETTER["flag"] if word.strip("-") else LETTER["comma"]
    if word.replace("-", "").isalpha():
        if written[1:] != written[1:].lower() and not written.isupper():
            return LETTER["code"]
        if (tag := EN.get(word.replace("-", "+"))) is not None:
            return tag  # "auto-start": a phrase with dashes in it
        found = meant(word)
        return EN[found] if found else _by_ending(word)
    shapes = ((_ID, "id"), (_HTTP, "http"), (_NUMBER, "num"))
    return LETTER[next((name for shape, name in shapes if shape.fullmatch(word)), "code")]


def _joined_last(word: str) -> str:
    """Return the class of what forbids or approves in "pre-approve" and "x-don't"; else nothing."""
    last = EN.get(word[word.rindex("-") + 1 :], "")
    return last if last in _ALWAYS and word.replace("-", "+") not in EN else ""


def _by_ending(word: str) -> str:
    if _VERB.match(word):
        return LETTER["verb"]
    if word.endswith("ing") and len(word) > len("being"):
        return LETTER["ing"]
    if word.endswith("ed"):
        return LETTER["past"]
    return LETTER["plural" if _PLURAL.match(word) else "word"]


def _chinese(run: str, offset: int) -> Iterator[Token]:
    place, unknown, before = 0, -1, ""
    while place < len(run):
        tag, length = _known(run, place, before)
        if tag and unknown >= 0:
            yield Token(run[unknown:place], _HAN, offset + unknown, offset + place)
            unknown = -1
        if not tag:
            unknown = place if unknown < 0 else unknown
        elif tag != _SILENT:
            end = place + length
            yield Token(run[place:end], tag, offset + place, offset + end)
        before = tag
        place += length
    if unknown >= 0:
        yield Token(run[unknown:], _HAN, offset + unknown, offset + len(run))


def _known(run: str, place: int, before: str) -> tuple[str, int]:
    """Return the class and length of the longest entry at a place; an empty class where none is."""
    for length in _LONGER.get(run[place : place + 2], ()):
        entry = run[place : place + length]
        if tag := ZH.get(entry):
            return tag, len(entry)
    if run[place + 1 : place + 4].find(_NOT) >= 0 and (length := _either_way(run, place)):
        return _ASKS, length
    if run[place] != _DONE:
        return _SINGLE.get(run[place], ""), 1
    # No mere particle: "加了缓存还是慢" tells of a deed, "修好了吗" asks for it.
    after = run[place + 1 : place + 2]
    told = after in _WHETHER or (before in _DEEDS and after != "")
    return LETTER["did"] if told else _SILENT, 1


def _either_way(run: str, place: int) -> int:
    """Return how long a question is that says a word twice, once denied: "值不值", "合适不合适"."""
    for length in (1, 2):
        again = place + length + 1
        if run[again - 1 : again] == _NOT and run.startswith(run[place : again - 1], again):
            return 2 * length + 1
    return 0
