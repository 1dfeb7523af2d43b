"""The Responses interface: what is asked in it and how its answer is read.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from local_agent.errors import ModelError
from local_agent.models.backend import Usage
from local_agent.models.http import faults
from local_agent.models.http.config import HttpModel
from local_agent.models.http.dialect import (
    AnswerReader,
    Message,
    Question,
    count,
    spoken_form,
    table,
    tables,
    words,
)

_PART: Final = {"user": "input_text", "assistant": "output_text"}


class Responses:
    """OpenAI, and servers that follow it."""

    path: Final = "responses"

    def body(self, model: HttpModel, question: Question) -> dict[str, Any]:
        """Return the request; nothing of it is to be stored by the provider."""
        body: dict[str, Any] = {
            "model": model.model,
            "instructions": spoken_form(question, model.json_mode),
            "input": [_item(message) for message in question.messages],
            "stream": model.stream,
            "store": False,
        }
        if model.max_output_tokens is not None:
            body["max_output_tokens"] = model.max_output_tokens
        if model.effort is not None:
            body["reasoning"] = {"effort": model.effort}
        if question.schema is not None and model.json_mode != "prompt":
            body["text"] = {"format": _format(model, question.schema)}
        return body

    def reader(self) -> AnswerReader:
        """Return a reader of one answer."""
        return _Reader()


class _Reader:
    def __init__(self) -> None:
        self.is_complete = False
        self.usage = Usage()
        self._has_words = False

    @property
    def is_over(self) -> bool:
        return self.is_complete

    def take(self, event: Mapping[str, Any]) -> str:
        match event.get("type"):
            case "response.output_text.delta":
                return self._add(words(event.get("delta")))
            case "response.refusal.delta" | "response.refusal.done":
                raise ModelError("model.declined")
            case "response.output_item.done" if not self._has_words:
                return self._add(_words_of(table(event.get("item"))))
            case "response.completed" | "response.incomplete" | "response.failed" as kind:
                return self._end(table(event.get("response")), kind.removeprefix("response."))
            case "error":
                raise faults.of_refusal(event)
        return ""

    def take_whole(self, answer: Mapping[str, Any]) -> str:
        return self._end(answer, words(answer.get("status")))

    def _end(self, answer: Mapping[str, Any], status: str) -> str:
        if answer.get("error") or status == "failed":
            raise faults.of_refusal(answer)
        if status == "incomplete":
            raise _incomplete(words(table(answer.get("incomplete_details")).get("reason")))
        used = table(answer.get("usage"))
        self.usage = Usage(count(used.get("input_tokens")), count(used.get("output_tokens")))
        self.is_complete = True
        if self._has_words:
            return ""
        return "".join(_words_of(item) for item in tables(answer.get("output")))

    def _add(self, text: str) -> str:
        self._has_words = self._has_words or bool(text)
        return text


def _words_of(item: Mapping[str, Any]) -> str:
    if item.get("type") != "message":
        return ""
    parts = tables(item.get("content"))
    if any(part.get("type") == "refusal" for part in parts):
        raise ModelError("model.declined")
    return "".join(words(part.get("text")) for part in parts if part.get("type") == "output_text")


def _incomplete(reason: str) -> ModelError:
    if reason == "content_filter":
        return ModelError("model.declined")
    return ModelError("model.cut", why="length")


def _item(message: Message) -> dict[str, Any]:
    part = {"type": _PART[message.role], "text": message.text}
    return {"type": "message", "role": message.role, "content": [part]}


def _format(model: HttpModel, schema: Mapping[str, Any]) -> dict[str, Any]:
    if model.json_mode == "object":
        return {"type": "json_object"}
    return {"type": "json_schema", "name": "answer", "strict": True, "schema": dict(schema)}
