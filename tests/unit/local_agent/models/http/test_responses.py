"""The Responses interface: what is asked in it, how its answers are read."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_agent.errors import ModelError
from local_agent.models.backend import Usage
from local_agent.models.http.config import HttpModel
from local_agent.models.http.dialect import Message, Question
from local_agent.models.http.responses import Responses

pytestmark = pytest.mark.heavy

SCHEMA = {"type": "object", "properties": {"kind": {"type": "string"}}}
MESSAGES = (Message("user", "the request"), Message("assistant", "no"), Message("user", "again"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)


def body(question: Question, **settings: Any) -> dict[str, Any]:
    model = HttpModel(
        name="a", model="gpt-x", base_url="https://x.example", api="responses", **settings
    )
    return Responses().body(model, question)


def read(*events: dict[str, Any]) -> tuple[str, bool, Usage]:
    reader = Responses().reader()
    text = "".join(reader.take(event) for event in events)
    return text, reader.is_complete and reader.is_over, reader.usage


def delta(text: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "delta": text}


def message(text: str, kind: str = "output_text") -> dict[str, Any]:
    key = "refusal" if kind == "refusal" else "text"
    return {"type": "message", "role": "assistant", "content": [{"type": kind, key: text}]}


def completed(**response: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", **response}}


def test_a_question_in_words_is_asked_and_not_stored() -> None:
    assert body(Question("the rules", MESSAGES)) == {
        "model": "gpt-x",
        "instructions": "the rules",
        "input": [
            {
                "type": "message",
                "role": role,
                "content": [{"type": part, "text": text}],
            }
            for role, part, text in [
                ("user", "input_text", "the request"),
                ("assistant", "output_text", "no"),
                ("user", "input_text", "again"),
            ]
        ],
        "stream": True,
        "store": False,
    }


def test_what_is_configured_is_sent() -> None:
    sent = body(Question("", MESSAGES), max_output_tokens=9, effort="low", stream=False)
    assert sent["max_output_tokens"] == 9
    assert sent["reasoning"] == {"effort": "low"}
    assert sent["stream"] is False


@pytest.mark.parametrize(
    ("mode", "form"),
    [
        (
            "schema",
            {"type": "json_schema", "name": "answer", "strict": True, "schema": SCHEMA},
        ),
        ("object", {"type": "json_object"}),
        ("prompt", None),
    ],
)
def test_a_form_is_asked_for_as_the_model_takes_it(mode: Any, form: object) -> None:
    sent = body(Question("rules", MESSAGES, SCHEMA), json_mode=mode)
    assert sent.get("text", {}).get("format") == form
    assert ('"kind"' in sent["instructions"]) is (mode != "schema")


def test_words_are_read_as_they_come_and_counted() -> None:
    used = {"input_tokens": 7, "output_tokens": 3}
    assert read(
        {"type": "response.created", "response": {"status": "in_progress"}},
        {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
        {"type": "made.up", "delta": "x"},
        delta("He"),
        delta("llo"),
        {"type": "response.output_text.done", "text": "Hello"},
        {"type": "response.output_item.done", "item": message("Hello")},
        completed(output=[message("Hello")], usage=used),
    ) == ("Hello", True, Usage(7, 3))


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "response.output_item.done", "item": message("Hello")}, completed()],
        [completed(output=[{"type": "reasoning"}, message("Hello")])],
    ],
)
def test_words_that_came_in_no_delta_are_read_where_they_stand(
    events: list[dict[str, Any]],
) -> None:
    assert read(*events) == ("Hello", True, Usage())


def test_a_whole_answer_is_read() -> None:
    reader = Responses().reader()
    assert reader.take_whole({"status": "completed", "output": [message("Hello")]}) == "Hello"
    assert reader.is_complete


def test_what_has_not_ended_is_not_complete() -> None:
    assert read(delta("Hel")) == ("Hel", False, Usage())


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({"type": "response.failed", "response": {"error": {"code": "server_error"}}}, "server"),
        ({"type": "response.failed", "response": {}}, "server"),
        ({"type": "error", "code": "rate_limit_exceeded", "message": "x"}, "busy"),
        ({"type": "error", "error": {"code": "insufficient_quota"}}, "quota"),
        ({"type": "response.refusal.delta", "delta": "I"}, "declined"),
        ({"type": "response.output_item.done", "item": message("no", "refusal")}, "declined"),
        (completed(output=[message("no", "refusal")]), "declined"),
        (
            {
                "type": "response.incomplete",
                "response": {"incomplete_details": {"reason": "max_output_tokens"}},
            },
            "cut",
        ),
        (
            {
                "type": "response.incomplete",
                "response": {"incomplete_details": {"reason": "content_filter"}},
            },
            "declined",
        ),
        ({"type": "response.incomplete", "response": None}, "cut"),
    ],
)
def test_an_end_without_an_answer_is_an_error(event: dict[str, Any], code: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(event)
    assert caught.value.code == f"model.{code}"


@given(
    st.sampled_from(
        [
            *("response.output_text.delta", "response.output_item.done", "response.completed"),
            *("response.incomplete", "response.failed", "error", "response.refusal.delta"),
        ]
    ),
    st.dictionaries(st.sampled_from(["delta", "item", "response", "error", "code"]), JSON),
)
def test_no_shape_of_an_event_is_more_than_an_error(kind: str, event: dict[str, Any]) -> None:
    with suppress(ModelError):
        text, _, usage = read(event | {"type": kind})
        assert isinstance(text, str)
        assert usage.input_tokens >= 0
