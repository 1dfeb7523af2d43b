"""A text as clauses of tagged words (`tags`).  Pure; linear in the length."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
_PHRASES: Final[dict[str, tuple[int, ...]]] = {}  # first word: how long its phrases are
for _entry in EN:
    if "+" in _entry.strip("+"):
        _first, *_more = _entry.split("+")
        _counts = {*_PHRASES.get(_first, ()), len(_more) + 1}
        _PHRASES[_first] = tuple(sorted(_counts, reverse=True))
_LENGTHS: Final[dict[str, tuple[int, ...]]] = {}
for _entry in ZH:
    _LENGTHS[_entry[0]] = tuple(sorted({*_LENGTHS.get(_entry[0], ()), len(_entry)}, reverse=True))
_FORCED: Final = re.compile(r" (?:--force\S*|-f|--delete|-d|--mirror|--tags)(?: |$)")
_PLURAL: Final = re.compile(r"[a-z]{2,}[^s]s$")
_HAN: Final = LETTER["han"]
_DEEDS: Final = letters("change become off edit run push commit test")
_DONE: Final = "了"
_WHETHER: Final = ("吗", "没", "么", "嘛")
_SILENT: Final = "-"  # the class of what stands between words and says nothing
_PARTICLES: Final = {"的": LETTER["of"], "着": _SILENT, "地": _SILENT, "之": _SILENT}
_Piece = tuple[str, str, int]  # kind, word, where it begins
_STOP: Final = LETTER["stop"]
_TRAILING: Final = ".:'"


class Token(NamedTuple):
    """One word with its class and its place."""

    word: str
    tag: str
    start: int
    end: int


def tag_words(written: str, folded: str) -> list[Token]:
    """Return the words of a folded text with their classes.

    Args:
        written: The text as written, for the case of names.
        folded: The same, folded and blotted.
    """
    tokens: list[Token] = []
    begin = 0
    if bare := find_bare(folded):
        line = folded[slice(*bare)]
        tokens.append(Token(line, _command(line), *bare))
        begin = bare[1]
    pieces = _pieces(folded, begin)
    place = 0
    while place < len(pieces) and len(tokens) <= MAX_WORDS:
        kind, word, start = pieces[place]
        if kind == "en":
            token, count = _english(pieces, place, written)
            tokens.append(token)
            place += count
            continue
        if kind == "zh":
            tokens += _chinese(word[:MAX_WORDS], start)
        else:
            tokens.append(_other(pieces[place]))
        place += 1
    return tokens


def _pieces(folded: str, begin: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    for match in _TOKEN.finditer(folded, begin):
        kind, word, start = match.lastgroup or "", match[0], match.start()
        if kind == "en" and not word.strip("*~"):
            continue  # marks of bold that stand by themselves
        if kind == "en" and (plain := _unmarked(word)) != word:
            start += word.index(plain)
            word = plain
        if kind == "en" and word[-1] in _TRAILING:
            bare = word.rstrip(_TRAILING)
            if bare:
                pieces.append(("en", bare, start))
            pieces.append(("mark", word[-1], start + len(word) - 1))
        else:
            pieces.append((kind, word, start))
        if len(pieces) > MAX_WORDS:
            break
    return pieces


def _unmarked(word: str) -> str:
    """Return a word without the marks of bold and struck text around it; a pattern keeps them."""
    plain = word.strip("*~_") if "'" in word else word.strip("*~")
    return plain if plain.replace("'", "").replace("-", "").isalpha() else word


def _other(piece: _Piece) -> Token:
    kind, word, start = piece
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


def _english(pieces: Sequence[_Piece], place: int, written: str) -> tuple[Token, int]:
    """Return the word or phrase that begins at a place, and how many words it takes."""
    _, word, start = pieces[place]
    for count in _PHRASES.get(word, ()):
        phrase = pieces[place : place + count]
        if tag := EN.get("+".join([part for _, part, _ in phrase])):
            _, last, begun = phrase[-1]
            return Token(word, tag, start, begun + len(last)), len(phrase)
    end = start + len(word)
    tag = EN.get(word)
    if tag is None and place and pieces[place - 1][1] == "mind" and word.endswith("ing"):
        tag = _stem(word)
    return Token(word, tag or _shape(word, written[start:end]), start, end), 1


def _stem(word: str) -> str:
    """Return the class of "run" for "running": "would you mind running …" wishes it."""
    stem = word.removesuffix("ing")
    return EN.get(stem) or EN.get(f"{stem}e") or EN.get(stem[:-1], "")


def _shape(word: str, written: str) -> str:
    """Return the class of a word that no lexicon knows."""
    if "'" in word:
        head, _, tail = word.partition("'")
        found = meant(head)
        return EN.get(f"{found}'{tail}") or EN.get(found or head) or LETTER["word"]
    if word[0] == "-":
        return LETTER["flag"] if word.strip("-") else LETTER["comma"]
    if word.replace("-", "").isalpha():
        if written[1:] != word[1:] and not written.isupper():
            return LETTER["code"]
        if (tag := EN.get(word.replace("-", "+"))) is not None:
            return tag  # "auto-start": a phrase with dashes in it
        found = meant(word)
        return EN[found] if found else _by_ending(word)
    shapes = ((_ID, "id"), (_HTTP, "http"), (_NUMBER, "num"))
    return LETTER[next((name for shape, name in shapes if shape.fullmatch(word)), "code")]


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
    for length in _LENGTHS.get(run[place], ()):
        if place + length <= len(run) and (tag := ZH.get(run[place : place + length])):
            return tag, length
    if run[place] != _DONE:
        return _PARTICLES.get(run[place], ""), 1
    # No mere particle: "加了缓存还是慢" tells of a deed, "修好了吗" asks for it.
    after = run[place + 1 : place + 2]
    told = after in _WHETHER or (before in _DEEDS and after != "")
    return LETTER["did"] if told else _SILENT, 1
