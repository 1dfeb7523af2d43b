"""A row that is passed over could not have fitted, whatever the text and the pattern."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_agent.routing.folding import blot, fold
from local_agent.routing.rules import RULES
from local_agent.routing.screening import Screen, read_demands
from local_agent.routing.tagging import tag_words
from local_agent.routing.tags import LETTER, pattern
from tests.each import each
from tests.routing_set.messages import SPLITS, labelled

pytestmark = pytest.mark.heavy

PATTERNS = [pattern(rule.words) for rule in RULES]
PLAIN = [re.compile(one) for one in PATTERNS]
TABLE = Screen(PATTERNS)


def plainly_first(compiled: list[re.Pattern[str]], text: str) -> int | None:
    return next((place for place, one in enumerate(compiled) if one.match(text)), None)


def test_the_table_decides_as_if_every_row_were_tried() -> None:
    texts = [one.text for split in SPLITS for one in labelled(split)]
    words = [tag_words(text, blot(fold(text))) for text in texts]
    tagged = {"".join(word.tag for word in found) for found in words} - {""}
    assert len(tagged) > 2000
    assert [text for text in tagged if TABLE.first(text) != plainly_first(PLAIN, text)] == []


@given(st.text(st.sampled_from(sorted(LETTER.values())), min_size=1, max_size=8))
def test_so_it_does_for_any_words(text: str) -> None:
    assert TABLE.first(text) == plainly_first(PLAIN, text)


pieces = st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", "(?:a|b)", "$", "^"])
patterns = st.recursive(
    pieces,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(st.sampled_from(["(?:", "(?=", "(?!"]), inner).map(
            lambda two: f"{two[0]}{two[1]})"
        ),
        st.tuples(inner, st.sampled_from("*+?")).map(lambda two: f"(?:{two[0]}){two[1]}"),
    ),
    max_leaves=8,
)


@given(st.lists(patterns, min_size=1, max_size=4), st.text("abcd", min_size=1, max_size=5))
def test_so_it_does_for_any_patterns(several: list[str], text: str) -> None:
    compiled = [re.compile(one) for one in several]
    assert Screen(several).first(text) == plainly_first(compiled, text)


@pytest.mark.parametrize(
    ("read", "needs", "firsts"),
    [
        ("ab*", ["a"], "a"),
        ("a*(?:b|cd)", ["bc"], "abc"),
        ("(?=.*[ab])(?!c).*c+", ["ab", "c"], None),
        ("[^a]", [], None),
        ("a?", [], None),
    ],
)
def test_demands_are_the_letters_that_a_pattern_cannot_do_without(
    read: str, needs: list[str], firsts: str | None
) -> None:
    letters = None if firsts is None else frozenset(firsts)
    assert read_demands(read)[:2] == (tuple(map(frozenset, needs)), letters)


@each("unreadable", ["a{2}", "[a-c]", r"a\b", "(?<=a)b", "(a)"])
def test_what_cannot_be_read_is_refused_and_not_passed_over(unreadable: str) -> None:
    with pytest.raises(ValueError, match="not readable"):
        read_demands(unreadable)
