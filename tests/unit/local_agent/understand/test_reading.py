"""A reading as it is kept with its task: whole, strict, and of one release."""

from __future__ import annotations

import json
from typing import Any

import pytest

from common.model.intent import TaskIntent, TaskKind
from common.verbs import Topic
from local_agent.understand.reader import Reader
from local_agent.understand.reading import Kind, Reading, read_kept, write_reading

INTENT = TaskIntent(kind=TaskKind.RUN, confidence=0.9, summary="run the tests")
WHOLE = Reading(
    INTENT,
    Topic.TEST,
    unsure=True,
    subject="跑一下测试 \U0001f680",
    task_id="T-7K3F",
    taken="run the tests",
    left="then push",
    beyond="src/api",
    likeliest=(Kind.RUN, Kind.CHANGE, Kind.HELP),
    rule="words",
)


@pytest.mark.parametrize(
    "reading",
    [
        WHOLE,
        Reading(INTENT),
        *map(Reader().read, ("@dev test", "修复登录", "", "undo T-7K3F a.py")),
    ],
)
def test_what_is_kept_is_read_as_it_was(reading: Reading) -> None:
    assert read_kept(write_reading(reading), reading.intent) == reading


def changed(**facts: Any) -> str:
    return json.dumps(json.loads(write_reading(WHOLE)) | facts)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "{}",
        "{",
        changed(v=2),
        changed(v="1"),
        changed(mood="calm"),
        changed(topic="weather"),
        changed(unsure=1),
        changed(unsure="true"),
        changed(likeliest=["run", "dance"]),
        changed(likeliest="run"),
        changed(subject=None),
    ],
)
def test_what_is_not_exactly_of_this_release_is_read_anew(text: str) -> None:
    assert read_kept(text, INTENT) is None


def test_the_intent_is_kept_once_and_not_here() -> None:
    assert "intent" not in json.loads(write_reading(WHOLE))
    other = INTENT.model_copy(update={"kind": TaskKind.EXPLAIN})
    kept = read_kept(write_reading(WHOLE), other)
    assert kept is not None
    assert kept.intent == other
