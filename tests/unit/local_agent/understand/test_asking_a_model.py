"""A model may say which kind of answer is wanted, and nothing that brings a command nearer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from common.errors import InputError
from common.model.intent import TaskKind
from local_agent.understand.asking_a_model import (
    MAX_ANSWER_BYTES,
    Classified,
    classification_schema,
    merged,
    read_classification,
)
from local_agent.understand.reader import Reader
from tests.each import each

READER = Reader()
GOOD: dict[str, Any] = {"kind": "search", "confidence": 0.8, "explanation": "asks where it is"}


def answer(**changed: Any) -> str:
    return json.dumps({**GOOD, **changed})


def said(kind: Any, confidence: float) -> Classified:
    return Classified(kind=kind, confidence=confidence, explanation="")


@pytest.mark.requirement("NL-4.1b")
def test_an_answer_of_the_schema_is_read() -> None:
    assert read_classification(answer()) == Classified(**GOOD)
    assert read_classification(answer(confidence=1)).confidence == 1.0


@pytest.mark.requirement("R63")
def test_the_schema_knows_no_kind_that_executes() -> None:
    schema = classification_schema()
    assert {"run", "git_sync"}.isdisjoint(schema["properties"]["kind"]["enum"])
    assert schema["additionalProperties"] is False
    assert sorted(schema["required"]) == sorted(schema["properties"])


@pytest.mark.requirement("R63")
@each(
    "text",
    [
        answer(kind="run"),
        answer(kind="git_sync"),
        answer(kind="approve"),
        answer(kind=None),
        answer(kind=["search"]),
        answer(confidence=1.5),
        answer(confidence=-0.1),
        answer(confidence="0.9"),
        answer(confidence=True),
        answer(explanation="x" * 201),
        answer(explanation=None),
        answer(cmd="rm -rf /"),
        json.dumps({"kind": "search"}),
        json.dumps([GOOD]),
        "search",
        "",
        "{" + " " * MAX_ANSWER_BYTES + "}",
        '{"kind": "search", "kind": "run", "confidence": 1, "explanation": ""}',
        answer(confidence=float("nan")),
    ],
)
def test_any_other_answer_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        read_classification(text)
    assert refused.value.code == "classify.answer"


@pytest.mark.requirement("R63")
@each("kind", get_args(Classified.model_fields["kind"].annotation))
def test_what_the_words_are_certain_of_never_moves(kind: Any) -> None:
    certain = READER.read("explain the scheduler")
    assert merged(certain, said(kind, 1.0)) is certain


@pytest.mark.requirement("R63")
@pytest.mark.parametrize("kind", [TaskKind.RUN, TaskKind.GIT_SYNC])
def test_nothing_that_executes_can_be_said_by_a_model(kind: Any) -> None:
    with pytest.raises(ValidationError):
        said(kind, 1.0)


def test_an_unsure_text_is_read_as_a_sure_model_says() -> None:
    unsure = READER.read("🦔 a/b.py")
    assert unsure.unsure
    found = merged(unsure, said("change", 0.9)).intent
    assert (found.kind, found.confidence) == (TaskKind.CHANGE, 0.9)
    assert found.params.change_request == "🦔 a/b.py"
    assert (found.params.files, found.params.cmd, found.params.question) == (
        ("a/b.py",),
        None,
        None,
    )


def test_a_model_that_is_not_sure_either_changes_nothing() -> None:
    unsure = READER.read("the thing with the stuff")
    assert merged(unsure, said("change", 0.5)) is unsure
    assert merged(unsure, said("change", 0.5), threshold=0.4).unsure is False


@pytest.mark.requirement("P1")
def test_no_model_makes_a_change_of_a_question() -> None:
    asked = replace(READER.read("the thing with the stuff"), rule="asks-mark-zh")
    assert merged(asked, said("change", 0.9)) is asked
    assert merged(asked, said("diagnose", 0.9)) is asked
    assert merged(asked, said("search", 0.9)).intent.kind is TaskKind.SEARCH


def test_no_command_survives_a_model() -> None:
    unsure = READER.read("the thing with the stuff")
    params = unsure.intent.params.model_copy(update={"cmd": "rm -rf /"})
    told = replace(unsure, intent=unsure.intent.model_copy(update={"params": params}))
    assert merged(told, said("explain", 0.9)).intent.params.cmd is None
