"""The sentences of the chat: whole in both languages, bounded, with true hours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta, timezone
from types import ModuleType

import pytest

from common.errors import InputError
from common.model.state import Reason, TaskState
from common.sentences import Lang, Sentence
from common.terminal import cells
from common.text import CHAT_BYTES
from gateway.flow import alarms, cards, offline, people, replies, withdrawal
from gateway.flow.outbox import MAY_BE_A_COPY
from gateway.flow.replies import PARTS, Speaker, as_list, with_words
from gateway.store.agents import Agent
from gateway.store.tasks import Task
from tests.each import each

ZONE = timezone(timedelta(hours=8))
NOON_MS = 1_767_240_000_000
SPEAKER = Speaker("en", ZONE, NOON_MS)
COPY = f"{MAY_BE_A_COPY.format(number='99999999.99')}\n"
TASK = Task(
    task_id="t-1",
    short_id="T-7K3F",
    agent_id="a",
    app="main",
    user_id="zhang",
    chat="",
    channel="wecom_app",
    text="@dev test\nwith a second line",
    lang="en",
    state=TaskState.RECEIVED,
    envelope_sha256="0" * 64,
    created_at=NOON_MS,
    updated_at=NOON_MS,
    expires_at=NOON_MS + 3_600_000,
)

MACHINE = Agent("a", "dev-1", b"", "k", 1, 1, 0, NOON_MS, NOON_MS, NOON_MS, None, None, None)
SPENT = InputError("access.day-is-spent", limit=2, until_ms=NOON_MS + 5_400_000)


def _sentences() -> Iterator[tuple[str, Sentence]]:
    for module in (replies, alarms, offline, withdrawal):
        yield from _sentences_of(module)


def _sentences_of(module: ModuleType) -> Iterator[tuple[str, Sentence]]:
    for name, value in vars(module).items():
        if isinstance(value, Sentence):
            yield name, value
        elif isinstance(value, Mapping):
            for key, sentence in value.items():
                if isinstance(sentence, Sentence):
                    yield f"{name}[{key}]", sentence


SENTENCES = dict(_sentences())


@each("name", SENTENCES)
def test_both_languages_tell_the_same_facts_within_one_message(name: str) -> None:
    sentence = SENTENCES[name]
    assert sentence.fields("en") == sentence.fields("zh")
    assert max(len(sentence.en.encode()), len(sentence.zh.encode())) < CHAT_BYTES // 2


@pytest.mark.requirement("P7")
def test_every_reason_has_its_own_words() -> None:
    for table in (replies.FINAL, replies.OUTCOME):
        assert set(table) == set(Reason)
        assert len({sentence.en for sentence in table.values()}) == len(Reason)


def test_the_waiting_sentence_is_the_agreed_one() -> None:
    assert replies.WAITS_THERE.en == "Proposal ready; waiting for local approval on {machine}"


@each("name", [name for name in SENTENCES if not name.startswith("FINAL")])
def test_a_reply_is_short_enough_for_a_phone(name: str) -> None:
    sentence = SENTENCES[name]
    assert max(cells(sentence.en), cells(sentence.zh)) <= 200, sentence


WHY = "assert [1, 2, 3] == [1, 2, 4]"
FAILED = ("1 of 3 tests failed: test_retry (test_login.py)", "3 个测试中 1 个失败：test_retry")


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(
    ("reason", "words", "en", "zh"),
    [
        (
            Reason.FAILED,
            (f"{FAILED[0]}\n{WHY}", f"{FAILED[1]}\n{WHY}"),
            f"T-7K3F ✗ {FAILED[0]}\n{WHY}\nMore on dev-1:\ncodexbridge show T-7K3F",
            f"T-7K3F ✗ {FAILED[1]}\n{WHY}\n在 dev-1 上查看：\ncodexbridge show T-7K3F",
        ),
        (
            Reason.COMPLETED,
            ("✓ 3 tests passed (2.1 s)", "✓ 3 个测试通过（2.1 秒）"),
            "T-7K3F ✓ 3 tests passed (2.1 s) · dev-1",
            "T-7K3F ✓ 3 个测试通过（2.1 秒） · dev-1",
        ),
        (
            Reason.COMPLETED,
            ("“retry”: 1 place\nlogin.py (1)", "“retry”：1 处\nlogin.py（1）"),
            "T-7K3F “retry”: 1 place\nlogin.py (1)\nMore on dev-1:\ncodexbridge show T-7K3F",
            "T-7K3F “retry”：1 处\nlogin.py（1）\n在 dev-1 上查看：\ncodexbridge show T-7K3F",
        ),
        (Reason.COMPLETED, ("", ""), "T-7K3F completed · dev-1", "T-7K3F 已完成 · dev-1"),
        (
            Reason.COMPLETED,
            ("⚠ exit code 0, but", "⚠ 退出码 0，但"),
            "T-7K3F ⚠ exit code 0, but · dev-1",
            "T-7K3F ⚠ 退出码 0，但 · dev-1",
        ),
        (
            Reason.REJECTED,
            ("“later”. Nothing was done.", "“明天再跑”。没有执行任何操作。"),
            "T-7K3F – rejected on dev-1. “later”. Nothing was done.",
            "T-7K3F – 已在 dev-1 上拒绝。“明天再跑”。没有执行任何操作。",
        ),
        (
            Reason.UNKNOWN,
            ("", ""),
            "T-7K3F ⚠ interrupted on dev-1, outcome unknown.",
            "T-7K3F ⚠ 在 dev-1 上中断，结果不明。",
        ),
    ],
)
def test_an_end_begins_with_what_came_of_it(
    reason: Reason, words: tuple[str, str], en: str, zh: str
) -> None:
    assert SPEAKER.final(TASK, "dev-1", reason, words[0]) == [en]
    assert Speaker("zh", ZONE, NOON_MS).final(TASK, "dev-1", reason, words[1]) == [zh]


def test_an_end_leaves_room_for_where_the_rest_is() -> None:
    said = SPEAKER.final(TASK, "dev-1", Reason.FAILED, "测" * 5000)
    assert len(said) == PARTS
    assert said[-1].endswith("…\nMore on dev-1:\ncodexbridge show T-7K3F")
    assert all(len(part.encode()) <= CHAT_BYTES for part in said)


@pytest.mark.requirement("R73")
def test_a_long_answer_goes_in_messages_that_end_with_a_sentence() -> None:
    answer = "先读取配置，再连接。" * 100 + "最后一句。"
    said = SPEAKER.final(TASK, "dev-1", Reason.COMPLETED, answer)
    heads, parts = zip(*(part.split("\n", 1) for part in said), strict=True)
    assert heads == ("T-7K3F (1/2) · dev-1", "T-7K3F (2/2) · dev-1")
    assert parts[0].endswith("再连接。")
    assert parts[-1].endswith("最后一句。\nMore on dev-1:\ncodexbridge show T-7K3F")
    assert "".join(parts).startswith(answer)


@pytest.mark.requirement("P3", "R73")
@each("lang", ["en", "zh"])
@each("limit", [2000, 2048, 4000, 6000, 20_000])
def test_no_two_parts_of_ends_read_the_same_and_each_leaves_room_for_the_mark_of_a_copy(
    lang: Lang, limit: int
) -> None:
    speaker = Speaker(lang, ZONE, NOON_MS)
    answer = (
        ("It is read first. 先读取配置，再连接。\n" * 1000)
        .encode()[:limit]
        .decode("utf-8", "ignore")
    )
    tasks = [replace(TASK, short_id=short_id) for short_id in ("T-7K3F", "T-7K3G")]
    ends = [(task, machine) for task in tasks for machine in ("dev-1", "dev-2")]
    said = [
        (task.short_id, part)
        for task, machine in ends
        for part in speaker.final(task, machine, Reason.COMPLETED, answer)
    ]
    assert len({*said}) == len(said)
    assert all(part.startswith(short_id) for short_id, part in said)
    assert all(len(part.encode()) <= CHAT_BYTES - len(COPY.encode()) for _, part in said)


@pytest.mark.parametrize(
    ("at_ms", "hour"),
    [
        (NOON_MS, "12:00"),
        (NOON_MS + 11 * 3_600_000 + 59 * 60_000, "23:59"),
        (NOON_MS + 12 * 3_600_000, "01-02 00:00"),
        (NOON_MS - 13 * 3_600_000, "12-31 23:00"),
    ],
)
def test_hours_are_told_in_the_zone_with_the_day_when_it_is_another_one(
    at_ms: int, hour: str
) -> None:
    assert SPEAKER.hour(at_ms) == hour


def test_a_task_is_listed_in_one_line() -> None:
    line = SPEAKER.task_line(TASK)
    assert line == "T-7K3F · queued until 13:00 · @dev test with a second line"
    stopped = replace(TASK, cancel_asked_at=NOON_MS)
    assert SPEAKER.task_line(stopped).count("\n") == 0


PERIOD = re.compile(r"\d ?(?:(?:s|min|h)\b|秒|分|小时)")
RUNS = re.compile(r"\{(left|wait|minutes|hours|seconds)\}")
STANDS = {"TASKS_LEFT", "DISK_HAS_ROOM"}  # how many tasks are left; how long a disk was full


@pytest.mark.requirement("P7")
def test_no_sentence_of_the_chat_holds_a_time_that_runs_while_it_waits() -> None:
    modules = (replies, cards, people, alarms, offline, withdrawal)
    named = [(name, one) for module in modules for name, one in _sentences_of(module)]
    for name, sentence in named:
        for text in (sentence.en, sentence.zh):
            assert name in STANDS or not RUNS.search(text), (name, text)


@pytest.mark.requirement("P7")
@each("lang", ["en", "zh"])
def test_what_is_said_of_times_names_the_hour(lang: Lang) -> None:
    speaker = Speaker(lang, ZONE, NOON_MS)
    away, until_ms = replace(MACHINE, connected_at=None), NOON_MS + 5_400_000
    waits = replace(TASK, state=TaskState.WAITING_APPROVAL, waiting_until=until_ms, seal_code="X")
    for text, hour in (
        (speaker.accepted(TASK, away, prefix="@dev"), "13:00"),
        (speaker.waiting(TASK, "dev-1", "x", code="X", until_ms=until_ms), "13:30"),
        (speaker.task_line(TASK), "13:00"),
        (speaker.task_line(waits), "13:30"),
        (str(cards.waiting(speaker, TASK, "dev-1", "x", code="X", until_ms=until_ms)), "13:30"),
        (speaker.progress(TASK, "dev-1", "10 tests", at_ms=NOON_MS - 60_000), "11:59"),
        (speaker.refusal(SPENT, prefix="@dev"), "13:30"),
    ):
        assert hour in text
        assert not PERIOD.search(text), text


def test_an_error_without_a_sentence_says_its_code_and_nothing_else() -> None:
    said = SPEAKER.refusal(InputError("input.never-heard-of"), prefix="@dev")
    assert "input.never-heard-of" in said


def test_a_fact_is_never_read_as_a_template() -> None:
    said = SPEAKER.refusal(InputError("task.bad-id", given="{prefix}{id}"), prefix="@dev")
    assert "{prefix}{id}" in said


def test_words_of_others_fill_what_room_there_is_and_no_more() -> None:
    assert with_words("head", "  ") == "head"
    assert with_words("head", "body") == "head\nbody"
    assert len(with_words("head", "测" * 2000).encode()) <= CHAT_BYTES
    assert with_words("x" * CHAT_BYTES, "body") == "x" * CHAT_BYTES
    assert len(as_list(["测" * 100] * 20).encode()) <= CHAT_BYTES


def test_no_part_of_a_long_answer_is_blank() -> None:
    words = "x" * 1500 + "\n" * 4200 + "y"
    parts = SPEAKER.final(TASK, "dev-1", Reason.FAILED, words)
    assert [bool(part.strip()) for part in parts] == [True, True]
