"""The Chat Completions interface: what is asked in it, how its answers are read."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_agent.errors import ModelError
from local_agent.models.backend import Usage
from local_agent.models.http.chat import Chat
from local_agent.models.http.config import HttpModel
from local_agent.models.http.dialect import Message, Question

pytestmark = pytest.mark.heavy

SCHEMA = {"type": "object", "properties": {"kind": {"type": "string"}}}
MESSAGES = (Message("user", "the request"), Message("assistant", "no"), Message("user", "again"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)


def body(question: Question, **settings: Any) -> dict[str, Any]:
    model = HttpModel(name="a", model="qwen", base_url="https://x.example", api="chat", **settings)
    return Chat().body(model, question)


def read(*events: dict[str, Any]) -> tuple[str, bool, Usage]:
    reader = Chat().reader()
    text = "".join(reader.take(event) for event in events)
    assert not reader.is_over
    return text, reader.is_complete, reader.usage


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_a_question_in_words_is_asked() -> None:
    assert body(Question("the rules", MESSAGES)) == {
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


def test_what_is_configured_is_sent() -> None:
    sent = body(Question("", MESSAGES), max_output_tokens=9, effort="low", stream=False)
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
def test_a_form_is_asked_for_as_the_model_takes_it(mode: Any, form: object) -> None:
    sent = body(Question("rules", MESSAGES, SCHEMA), json_mode=mode)
    assert sent.get("response_format") == form
    rules = sent["messages"][0]["content"]
    assert ('"kind"' in rules) is (mode != "schema")
    assert ("JSON" in rules) is (mode != "schema")


def test_words_are_read_as_they_come_and_counted() -> None:
    assert read(
        chunk(role="assistant", content=""),
        chunk(content=None, reasoning_content="hm"),
        chunk(content="He"),
        chunk(content="llo"),
        chunk("stop"),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
    ) == ("Hello", True, Usage(7, 3))


def test_no_usage_is_no_error() -> None:
    assert read(chunk("stop", content="Hello"), {"usage": None}) == ("Hello", True, Usage())


def test_only_the_first_choice_is_read() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": "stop"}]}
    assert read(other, chunk(content="a")) == ("a", False, Usage())


def test_a_whole_answer_is_read() -> None:
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
def test_an_end_without_an_answer_is_an_error(event: dict[str, Any], code: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(event)
    assert caught.value.code == f"model.{code}"


@given(
    st.dictionaries(st.sampled_from(["choices", "usage", "error"]), JSON)
    | st.fixed_dictionaries({"choices": st.lists(st.fixed_dictionaries({"delta": JSON}))})
)
def test_no_shape_of_an_event_is_more_than_an_error(event: dict[str, Any]) -> None:
    with suppress(ModelError):
        text, _, usage = read(event)
        assert isinstance(text, str)
        assert usage.input_tokens >= 0
