"""Any text is read, soon, and what asks or forbids never acts, whatever stands around it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.model.intent import MAX_FILES, TaskKind
from local_agent.understand.commands import find_named
from local_agent.understand.folding import blot, fold
from local_agent.understand.params import find_files, find_query
from local_agent.understand.reader import Reader
from local_agent.understand.wishes import beyond_tests, split_wish
from tests.each import each

READER = Reader()
ACTS = {TaskKind.CHANGE, TaskKind.RUN, TaskKind.GIT_SYNC}
LONG_CHARS = 20_000
WORDS = """
    please can you run the tests fix push my changes why how don't and then a.py `x` ? ! , npm ```
    帮我 跑 测试 把 改成 为什么 吗 不要 推送 提交 的 了 ， 。 ？ T-7K3F 批准
"""
texts = st.lists(st.sampled_from(WORDS.split()) | st.text(max_size=8), max_size=30).map(" ".join)


@given(st.text() | texts)
def test_any_text_is_read_and_kept_as_it_was_written(text: str) -> None:
    reading = READER.read(text)
    params = reading.intent.params
    assert len(params.files or ()) <= MAX_FILES
    assert all(path in text for path in params.files or ())
    assert params.cmd is None or params.cmd in text
    assert params.query is None or params.query in text


@given(st.text() | texts)
def test_folding_keeps_every_place(text: str) -> None:
    assert len(fold(text)) == len(text) == len(blot(fold(text)))


@pytest.mark.parametrize(
    "ask", ["why does it {}?", "should I {}?", "is it safe to {}?", "为什么{}？"]
)
@given(text=st.text(alphabet="abcdefghijklmnopqrstuvwxyz ", max_size=40))
def test_a_question_never_acts(ask: str, text: str) -> None:
    assert _deed(ask.replace("{}", text)) is None


@pytest.mark.parametrize("forbid", ["don't {}", "please never {}", "不要{}", "先别{}"])
@given(text=st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=20))
def test_what_is_forbidden_is_not_done(forbid: str, text: str) -> None:
    assert _deed(forbid.replace("{}", text)) is None


@each(
    "shape",
    [
        "在",
        "a",
        "a.b-",
        "a/",
        "\"'`“",
        " \t",
        "``` ",
        "don't 不要 ",
        "的测试",
        "find x, ",
        "run ",
        "git ",
    ],
)
def test_a_long_text_takes_time_by_its_length(shape: str) -> None:
    half, whole = (_fastest(shape * (chars // len(shape))) for chars in (5_000, LONG_CHARS))
    assert whole < max(half * 10, 0.1), "four times the text took more than ten times as long"


@pytest.mark.parametrize(
    ("begins", "goes_on", "ends"),
    [
        ("run ```", " ", "x"),
        ("", ".", " fix it"),
        ("```", "a ", " fix it"),
        ("run ", "abc ", "the" + ", fix x" * 20),
        ("npm ", "-a b ", ", x"),
    ],
)
def test_a_long_command_takes_time_by_its_length(begins: str, goes_on: str, ends: str) -> None:
    half, whole = (
        _fastest(begins + goes_on * (chars // len(goes_on)) + ends)
        for chars in (5_000, LONG_CHARS - 200)
    )
    assert whole < max(half * 10, 0.1), "four times the text took more than ten times as long"


@each("read", [find_files, find_query, find_named, split_wish, beyond_tests])
@each("shape", ["在", "a", "a.b-", "a/", "“", "的测试", ", x"])
def test_so_does_each_reader_of_it(read: object, shape: str) -> None:
    assert callable(read)
    begun = time.process_time()
    read(shape * (LONG_CHARS // len(shape)))
    assert time.process_time() - begun < 1.0


def _deed(text: str) -> TaskKind | None:
    reading = READER.read(text)
    return reading.intent.kind if reading.intent.kind in ACTS and not reading.unsure else None


def _fastest(text: str) -> float:
    taken = []
    for _ in range(3):
        begun = time.process_time()
        READER.read(text)
        taken.append(time.process_time() - begun)
    return min(taken)
