"""The labelled messages are well formed, varied, and no two splits share one."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Final

import pytest

from bench.route import Answer, keyword_kind, score
from common.model.intent import TaskKind
from tests.each import each
from tests.routing_set.messages import ACTS, NEVER_ACTS, SPLITS, Labelled, Split, labelled

pytestmark = pytest.mark.heavy

AT_LEAST = 400
AT_LEAST_OF_EACH_KIND = 30
AT_LEAST_PER_LANGUAGE: Final[Mapping[Split, int]] = MappingProxyType(
    {
        "dev": 30,
        "unseen": 30,
        "other": 12,
        "fresh": 25,
        "blind": 15,
        "daily": 30,
        "varied": 30,
        "habits": 30,
        "voices": 20,
        "plain": 30,
        "usual": 30,
        "common": 30,
        "verdict": 15,
        "judge": 15,
    }
)
TAGS = {
    "approval", "code", "command", "dictation", "emoji", "full-width", "look-alike", "mixed",
    "negation", "never-acts", "no-verb", "polite", "question", "several", "short", "slang",
    "symptom", "trace", "traditional", "typo", "word-order",
}  # fmt: skip


def _normalised(text: str) -> str:
    """Fold width and case; drop the prefix, punctuation and blanks."""
    folded = unicodedata.normalize("NFKC", text).casefold().removeprefix("@dev")
    return re.sub(r"[\W_]+", "", folded) or folded


@each("split", SPLITS)
def test_a_split_is_large_and_covers_each_kind_in_each_language(split: Split) -> None:
    messages = labelled(split)
    counts = Counter((message.tags[0], message.kind) for message in messages)
    assert len(messages) >= AT_LEAST
    assert set(counts) == {(lang, kind) for lang in ("en", "zh") for kind in TaskKind}
    assert min(counts.values()) >= AT_LEAST_PER_LANGUAGE[split]


@each("split", SPLITS)
def test_no_kind_is_rare_in_a_split(split: Split) -> None:
    counts = Counter(message.kind for message in labelled(split))
    assert min(counts[kind] for kind in TaskKind) >= AT_LEAST_OF_EACH_KIND


@each("split", SPLITS)
def test_no_text_of_a_split_occurs_twice(split: Split) -> None:
    texts = [message.text for message in labelled(split)]
    assert [text for text, times in Counter(texts).items() if times > 1] == []


@pytest.mark.parametrize(("one", "another"), tuple(combinations(SPLITS, 2)))
def test_no_text_of_one_split_occurs_in_another(one: Split, another: Split) -> None:
    texts, others = ({_normalised(m.text) for m in labelled(split)} for split in (one, another))
    assert texts & others == set()


def test_every_tag_is_known_and_used() -> None:
    used = {tag for split in SPLITS for message in labelled(split) for tag in message.tags[1:]}
    assert used == TAGS


@each("split", SPLITS)
def test_a_message_that_never_acts_accepts_no_kind_that_acts(split: Split) -> None:
    wrong = [
        message.text
        for message in labelled(split)
        if NEVER_ACTS in message.tags and ({message.kind} | message.also) & ACTS
    ]
    assert wrong == []


@each("split", SPLITS)
def test_other_accepted_kinds_differ_from_the_label(split: Split) -> None:
    assert [message.text for message in labelled(split) if message.kind in message.also] == []


@each("split", SPLITS)
def test_what_must_be_extracted_stands_in_the_text(split: Split) -> None:
    missing = [
        (message.text, named)
        for message in labelled(split)
        for named in (*message.files, message.cmd, message.query)
        if named is not None and named not in message.text
    ]
    assert missing == []


def test_the_keywords_of_the_baseline_are_asked_in_their_order() -> None:
    texts = ("why run it", "please ADD a test", "rerun", "an error", "find it", "review", "你好")
    assert [keyword_kind(text).value for text in texts] == [
        "explain", "change", "run", "diagnose", "search", "review", "explain"
    ]  # fmt: skip


def test_the_score_counts_what_is_accepted_forbidden_and_extracted() -> None:
    why = Labelled(
        "why run a.py", TaskKind.EXPLAIN, frozenset(), ("en", NEVER_ACTS), files=("a.py", "b.py")
    )
    run = Labelled("run x", TaskKind.RUN, frozenset({TaskKind.STATUS}), ("en",), cmd="x")
    made = score(
        (why, run),
        (Answer(TaskKind.RUN, files=("src/a.py",)), Answer(TaskKind.STATUS, cmd="x -v")),
    )
    assert made.right["overall"].share == 0.5
    assert made.right["kind run"].share == 1.0
    assert made.forbidden == (why,)
    assert made.confused == {(TaskKind.EXPLAIN, TaskKind.RUN): 1}
    assert (made.found["files"].hits, made.found["files"].of) == (1, 2)
    assert (made.found["cmd"].hits, made.found["query"].of) == (1, 0)
