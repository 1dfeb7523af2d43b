"""A text as clauses of tagged words (`tags`).  Pure; linear in the length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from local_agent.routing.commands import find_bare
from local_agent.routing.folding import PASTED, QUOTED
from local_agent.routing.tags import EN, LETTER, ZH
from local_agent.routing.typos import meant

MAX_TOKENS: Final = 600  # of one text: what a person wishes stands at its beginning
_TOKEN: Final = re.compile(
    r"(?P<zh>[\u3400-\u9fff]+)"
    r"|(?P<en>[a-z0-9_$@#./\\~*+%&|=\u00c0-\u024f-]+(?:[':][a-z0-9_./\\:]+)*(?:\(\))?)"
    r"|(?P<mark>[,;:.!?\n])"
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
    if "_" in _entry:
        _first, *_more = _entry.split("_")
        _counts = {*_PHRASES.get(_first, ()), len(_more) + 1}
        _PHRASES[_first] = tuple(sorted(_counts, reverse=True))
_LENGTHS: Final[dict[str, tuple[int, ...]]] = {}
for _entry in ZH:
    _LENGTHS[_entry[0]] = tuple(sorted({*_LENGTHS.get(_entry[0], ()), len(_entry)}, reverse=True))
_FORCED: Final = re.compile(r" (?:--force\S*|-f|--delete|-d|--mirror|--tags)(?: |$)")
_PLURAL: Final = re.compile(r"[a-z]{2,}[^s]s$")
_HAN: Final = LETTER["han"]
_DEEDS: Final = frozenset(
    LETTER[name] for name in ("change", "become", "off", "edit", "run", "push", "commit", "test")
)
_OF: Final = "的"
_SILENT: Final = "了着地之"  # particles between words


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
    raw: list[tuple[str, int, int]] = []
    begin = 0
    if bare := find_bare(folded):
        tokens.append(Token(folded[slice(*bare)], _command(folded[slice(*bare)]), *bare))
        begin = bare[1]
    for match in _TOKEN.finditer(folded, begin):
        kind = match.lastgroup
        if kind == "en":
            start, end = match.span()
            word = match[0]
            if len(word) > 1 and word[-1] in ".:'":
                bare = word.rstrip(".:'")
                if bare:
                    raw.append((bare, start, start + len(bare)))
                tokens += _english(raw, written)
                raw = []
                tokens.append(Token(word[-1], _MARKS.get(word[-1], LETTER["stop"]), end - 1, end))
            else:
                raw.append((word, start, end))
            continue
        if raw:
            tokens += _english(raw, written)
            raw = []
        if kind == "zh":
            tokens += _chinese(match[0], match.start())
        elif kind == "mark":
            tokens.append(Token(match[0], _MARKS[match[0]], match.start(), match.end()))
        else:
            tokens.append(Token("", LETTER[kind or "quoted"], match.start(), match.end()))
        if len(tokens) > MAX_TOKENS:
            break
    return [*tokens, *_english(raw, written)]


def _command(line: str) -> str:
    """Return the class of a command line: of git's, some are other wishes."""
    words = line.split()
    if words[0] == "git" and len(words) > 1:
        if words[1] in ("push", "commit", "add") and not _FORCED.search(line):
            return LETTER["push" if "push" in words else "commit"]
        if words[1] in ("diff", "status") and len(words) == 2:
            return LETTER["diff"]
    return LETTER["command"]


def _english(raw: list[tuple[str, int, int]], written: str) -> Iterator[Token]:
    place = 0
    while place < len(raw):
        word, start, end = raw[place]
        count, tag = _phrase(raw, place)
        if not tag and place and raw[place - 1][0] == "mind" and word.endswith("ing"):
            tag = _stem(word)
        if not tag:
            tag = EN.get(word) or _shape(word, written[start:end])
        else:
            end = raw[place + count - 1][2]
        yield Token(word, tag, start, end)
        place += count


def _stem(word: str) -> str:
    """Return the class of "run" for "running": "would you mind running …" wishes it."""
    stem = word.removesuffix("ing")
    return EN.get(stem) or EN.get(f"{stem}e") or EN.get(stem[:-1], "")


def _phrase(raw: list[tuple[str, int, int]], place: int) -> tuple[int, str]:
    for count in _PHRASES.get(raw[place][0], ()):
        if place + count <= len(raw):
            phrase = "_".join([word for word, _, _ in raw[place : place + count]])
            if tag := EN.get(phrase):
                return count, tag
    return 1, ""


def _shape(word: str, written: str) -> str:
    if "'" in word:
        head, _, tail = word.partition("'")
        found = meant(head)
        return EN.get(f"{found}'{tail}") or EN.get(found or head) or LETTER["word"]
    if word[0] == "-":
        return LETTER["flag"] if word.strip("-") else LETTER["comma"]
    if word.isalpha() or "-" in word and word.replace("-", "").isalpha():
        if written[1:] != word[1:] and not written.isupper():
            return LETTER["code"]
        if (found := meant(word)) is not None:
            return EN[found]
        if _VERB.match(word):
            return LETTER["verb"]
        if word.endswith("ing") and len(word) > 5:
            return LETTER["ing"]
        return LETTER[
            "past" if word.endswith("ed") else "plural" if _PLURAL.match(word) else "word"
        ]
    if _ID.fullmatch(word):
        return LETTER["id"]
    if _HTTP.fullmatch(word):
        return LETTER["http"]
    if _NUMBER.fullmatch(word):
        return LETTER["num"]
    return LETTER["code"]


def _goes_on(following: str, before: str) -> bool:
    """Tell whether 了 is no mere particle: "加了缓存还是慢" tells of a deed, "修好了吗" asks for it."""
    return following in ("吗", "没", "么", "嘛") or (before in _DEEDS and following != "")


def _chinese(run: str, offset: int) -> Iterator[Token]:
    place, unknown, before = 0, -1, ""
    while place < len(run):
        char = run[place]
        tag, length = "", 1
        for length in _LENGTHS.get(char, ()):
            if place + length <= len(run) and (tag := ZH.get(run[place : place + length], "")):
                break
        if not tag:
            length = 1
            if char == _OF or char in _SILENT:
                tag = LETTER["of"] if char == _OF else "-"
        if tag and unknown >= 0:
            yield Token(run[unknown:place], _HAN, offset + unknown, offset + place)
            unknown = -1
        if not tag:
            unknown = place if unknown < 0 else unknown
        elif char == "了" and _goes_on(run[place + 1 : place + 2], before):
            yield Token(char, LETTER["did"], offset + place, offset + place + 1)
        elif tag != "-":
            yield Token(run[place : place + length], tag, offset + place, offset + place + length)
        before = tag
        place += length
    if unknown >= 0:
        yield Token(run[unknown:], _HAN, offset + unknown, offset + len(run))
