"""A guard takes deeds away from the texts that it is for, and leaves the others alone."""

from __future__ import annotations

import pytest

from common.model.intent import TaskKind
from local_agent.understand.folding import blot, fold, seen
from local_agent.understand.guards import Guard, fitting, guards
from local_agent.understand.reader import Reader, guess
from local_agent.understand.reading import ACTS, DEEDS
from tests.each import each

MOST = 40
READER = Reader()


def _names(text: str) -> list[str]:
    return [guard.name for guard in fitting(blot(fold(seen(text))))]


def test_they_are_few_and_take_away_deeds_alone() -> None:
    assert len(guards()) <= MOST
    assert len({guard.name for guard in guards()}) == len(guards())
    assert all(guard.bars and guard.bars <= ACTS for guard in guards())


@each("guard", guards())
def test_each_fits_its_example_and_spares_the_other(guard: Guard) -> None:
    assert guard.name in _names(guard.example)
    assert guard.name not in _names(guard.spares)


@each("guard", guards())
@pytest.mark.requirement("P1")
def test_what_one_fits_is_never_the_deed_that_it_bars(guard: Guard) -> None:
    for text in (guard.example, guard.example.upper(), f"@dev {guard.example}"):
        found = guess(text)
        assert found.kind not in guard.bars or not found.sure or guard.name not in _names(text)


@pytest.mark.requirement("P1")
@each(
    "text",
    [
        "d\u043en't push",  # a Cyrillic o
        "d\u200bo not push it",
        "ｄｏｎ'ｔ push",
        "不\u200b要推送",
        "別推送上去",
        "do\u0335n\u0335't run anything",
        "@dev 请不要把它推到 main 上去",
        "." * 6000 + "don't push",
    ],
)
def test_no_dress_hides_a_ban(text: str) -> None:
    found = guess(text)
    assert found.kind not in DEEDS or not found.sure
    assert READER.read(text).intent.kind not in (TaskKind.RUN, TaskKind.GIT_SYNC)


@pytest.mark.requirement("P1")
@each(
    "text",
    [
        "he said “delete the cache folder”, what did he mean?",
        "“提交并推送”这句话是谁写的",
        "the ticket says 'run the migrations', is that right?",
        "```\nrun the tests\n```",
        "> please push it\n谁发的这条？",
    ],
)
def test_what_is_quoted_is_no_deed(text: str) -> None:
    found = guess(text)
    assert found.kind not in DEEDS or not found.sure
