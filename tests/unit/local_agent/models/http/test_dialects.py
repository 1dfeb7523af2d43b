"""The two interfaces: what is asked in them, how their answers are read."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_agent.errors import ModelError
from local_agent.models.backend import Usage
from local_agent.models.http.config import HttpModel
from local_agent.models.http.dialects import Chat, Message, Question, Responses

pytestmark = pytest.mark.heavy

SCHEMA = {"type": "object", "properties": {"kind": {"type": "string"}}}
MESSAGES = (Message("user", "the request"), Message("assistant", "no"), Message("user", "again"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)


def chat_body(question: Question, **settings: Any) -> dict[str, Any]:
    model = HttpModel(name="a", model="qwen", base_url="https://x.example", api="chat", **settings)
    return Chat().body(model, question)


def chat_read(*events: dict[str, Any]) -> tuple[str, bool, Usage]:
    reader = Chat().reader()
    text = "".join(reader.take(event) for event in events)
    assert not reader.is_over
    return text, reader.is_complete, reader.usage


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_a_question_in_words_is_asked() -> None:
    assert chat_body(Question("the rules", MESSAGES)) == {
        "model": "qwen",
        "messages": [
            {"role": "system", "content": "the rules"},
            {"role": "user", "content": "the request"},
            {"role": "assistant", "content": "no"},
            {"role": "user", "content": "again"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_what_is_configured_is_sent_by_chat() -> None:
    sent = chat_body(Question("", MESSAGES), max_output_tokens=9, effort="low", stream=False)
    assert (sent["max_tokens"], sent["reasoning_effort"]) == (9, "low")
    assert (sent["stream"], "stream_options" in sent) == (False, False)


@pytest.mark.parametrize(
    ("mode", "form"),
    [
        (
            "schema",
            {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
            },
        ),
        ("object", {"type": "json_object"}),
        ("prompt", None),
    ],
)
def test_a_form_is_asked_for_as_the_model_takes_it_by_chat(mode: Any, form: object) -> None:
    sent = chat_body(Question("rules", MESSAGES, SCHEMA), json_mode=mode)
    assert sent.get("response_format") == form
    rules = sent["messages"][0]["content"]
    assert ('"kind"' in rules) is (mode != "schema")
    assert ("JSON" in rules) is (mode != "schema")


def test_words_are_read_as_they_come_and_counted_by_chat() -> None:
    assert chat_read(
        chunk(role="assistant", content=""),
        chunk(content=None, reasoning_content="hm"),
        chunk(content="He"),
        chunk(content="llo"),
        chunk("stop"),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
    ) == ("Hello", True, Usage(7, 3))


def test_no_usage_is_no_error() -> None:
    assert chat_read(chunk("stop", content="Hello"), {"usage": None}) == ("Hello", True, Usage())


def test_only_the_first_choice_is_read() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": "stop"}]}
    assert chat_read(other, chunk(content="a")) == ("a", False, Usage())


def test_a_whole_answer_is_read_by_chat() -> None:
    reader = Chat().reader()
    said = {"role": "assistant", "content": "Hello", "reasoning_content": "hm"}
    choice = {"index": 0, "message": said, "finish_reason": "stop"}
    assert reader.take_whole({"choices": [choice]}) == "Hello"
    assert reader.is_complete


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (chunk("length"), "cut"),
        (chunk("content_filter"), "declined"),
        (chunk("sensitive"), "declined"),
        (chunk("insufficient_system_resource"), "busy"),
        (chunk("model_context_window_exceeded"), "context"),
        (chunk("network_error"), "server"),
        (chunk(refusal="I will not"), "declined"),
        ({"error": {"code": "rate_limit_exceeded", "message": "x"}}, "busy"),
        ({"error": "x"}, "server"),
    ],
)
def test_an_end_without_an_answer_is_an_error_by_chat(event: dict[str, Any], code: str) -> None:
    with pytest.raises(ModelError) as caught:
        chat_read(event)
    assert caught.value.code == f"model.{code}"


@given(
    st.dictionaries(st.sampled_from(["choices", "usage", "error"]), JSON)
    | st.fixed_dictionaries({"choices": st.lists(st.fixed_dictionaries({"delta": JSON}))})
)
def test_no_shape_of_an_event_is_more_than_an_error_by_chat(event: dict[str, Any]) -> None:
    with suppress(ModelError):
        text, _, usage = chat_read(event)
        assert isinstance(text, str)
        assert usage.input_tokens >= 0


def responses_body(question: Question, **settings: Any) -> dict[str, Any]:
    model = HttpModel(
        name="a", model="gpt-x", base_url="https://x.example", api="responses", **settings
    )
    return Responses().body(model, question)


def responses_read(*events: dict[str, Any]) -> tuple[str, bool, Usage]:
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
    assert responses_body(Question("the rules", MESSAGES)) == {
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


def test_what_is_configured_is_sent_by_responses() -> None:
    sent = responses_body(Question("", MESSAGES), max_output_tokens=9, effort="low", stream=False)
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
def test_a_form_is_asked_for_as_the_model_takes_it_by_responses(mode: Any, form: object) -> None:
    sent = responses_body(Question("rules", MESSAGES, SCHEMA), json_mode=mode)
    assert sent.get("text", {}).get("format") == form
    assert ('"kind"' in sent["instructions"]) is (mode != "schema")


def test_words_are_read_as_they_come_and_counted_by_responses() -> None:
    used = {"input_tokens": 7, "output_tokens": 3}
    assert responses_read(
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
    assert responses_read(*events) == ("Hello", True, Usage())


def test_a_whole_answer_is_read_by_responses() -> None:
    reader = Responses().reader()
    assert reader.take_whole({"status": "completed", "output": [message("Hello")]}) == "Hello"
    assert reader.is_complete


def test_what_has_not_ended_is_not_complete() -> None:
    assert responses_read(delta("Hel")) == ("Hel", False, Usage())


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
def test_an_end_without_an_answer_is_an_error_by_responses(
    event: dict[str, Any], code: str
) -> None:
    with pytest.raises(ModelError) as caught:
        responses_read(event)
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
def test_no_shape_of_an_event_is_more_than_an_error_by_responses(
    kind: str, event: dict[str, Any]
) -> None:
    with suppress(ModelError):
        text, _, usage = responses_read(event | {"type": kind})
        assert isinstance(text, str)
        assert usage.input_tokens >= 0
