"""The page's sentences: every key that its modules name is there, and every key is named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from string import Formatter
from typing import Final

from common.sentences import LANGS, say
from local_agent.faces.page.words import catalogue
from local_agent.understand.reader import Reader

CALL: Final = re.compile(r"(?<![\w.$])t\(")
QUOTED: Final = re.compile(r'"([a-z][\w-]*)"')
DYNAMIC: Final = re.compile(r"`([a-z][\w-]*-)?\$\{[^{}]*\}(-[\w-]+)?`")
FIELD: Final = re.compile(r"{(\w+)(?::[^{}|]*\|[^{}|]*)?}")
STATIC: Final = ("common.page", "local_agent.faces.page")


def modules() -> Iterator[str]:
    for package in STATIC:
        for file in files(package).joinpath("static").iterdir():
            if file.name.endswith(".js"):
                yield file.read_text("utf-8")


SOURCES: Final = tuple(modules())


def calls() -> Iterator[tuple[str, str]]:
    """Give each call of ``t``: what its key is written as, and its facts."""
    for source in SOURCES:
        for match in CALL.finditer(source):
            inner = balanced(source, match.end())
            if not inner.startswith("key, facts"):  # its definition
                key, _, facts = split_key(inner)
                yield key, facts


def balanced(source: str, start: int) -> str:
    depth, at = 1, start
    while depth:
        depth += {"(": 1, ")": -1}.get(source[at], 0)
        at += 1
    return source[start : at - 1]


def split_key(inner: str) -> tuple[str, str, str]:
    """Split what is in a call at its first comma that is in no brackets."""
    depth = 0
    for at, char in enumerate(inner):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(char, 0)
        if char == "," and not depth:
            return inner[:at], ",", inner[at + 1 :]
    return inner, "", ""


def is_made(key: str) -> bool:
    """Tell whether a module can put a key together of parts."""
    return any(
        (before or after) and key.startswith(before) and key.endswith(after)
        for written, _ in calls()
        for before, after in DYNAMIC.findall(written)
    )


def test_every_key_that_is_named_is_in_the_catalogue() -> None:
    known, named = catalogue(), set[str]()
    for written, _ in calls():
        # Of a choice between two keys, what is compared is no key.
        chosen = written.partition("?")[2] or written
        named |= set(QUOTED.findall(chosen))
    assert len(named) > 150
    assert named - known.keys() == set()


def test_every_prefix_that_is_named_leads_to_keys() -> None:
    known = catalogue()
    parts = {part for written, _ in calls() for part in DYNAMIC.findall(written)}
    assert len(parts) > 10
    lost = [
        (before, after)
        for before, after in parts
        if not any(key.startswith(before) and key.endswith(after) for key in known)
    ]
    assert lost == []


def test_every_key_is_used() -> None:
    said = {word for source in SOURCES for word in QUOTED.findall(source)}
    assert [key for key in catalogue() if key not in said and not is_made(key)] == []


def test_every_sentence_is_there_in_both_languages() -> None:
    for key, one in catalogue().items():
        assert one.en.strip(), key
        assert one.zh.strip(), key


def test_both_languages_are_filled_with_the_same_facts() -> None:
    for key, one in catalogue().items():
        assert set(FIELD.findall(one.en)) == set(FIELD.findall(one.zh)), key
        # Every brace belongs to a field that the page fills.
        assert not set("{}") & set(FIELD.sub("", one.en + one.zh)), key


def test_every_sentence_gets_its_facts() -> None:
    known = catalogue()
    for written, facts in calls():
        for key in QUOTED.findall(written.partition("?")[2] or written):
            given = set(re.findall(r"\w+", facts))
            wanted = set(FIELD.findall(known[key].en))
            assert wanted <= given, (key, facts)


def test_a_number_is_put_in_words_by_the_page_alone() -> None:
    # Python's own formatting never sees them: a choice of words is no format of its own.
    for key, one in catalogue().items():
        for _, field, spec, _ in Formatter().parse(one.en + one.zh):
            assert field is None or not spec or spec.count("|") == 1, key


def test_each_example_is_understood_as_what_it_stands_for() -> None:
    known, reader = catalogue(), Reader()
    for lang in LANGS:
        for example, kind in (("question", "explain"), ("change", "change"), ("run", "run")):
            text = say(known[f"try-{example}"], lang, prefix=reader.prefix)
            assert reader.read(text).intent.kind == kind
