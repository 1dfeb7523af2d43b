"""The two interfaces, Chat Completions and Responses: what is asked in them, how answers are read.

Pure.  Nothing that a provider sends is trusted to have the shape that it should have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from local_agent.errors import ModelError
from local_agent.models.backend import Usage
from local_agent.models.faults import of_refusal
from local_agent.models.http.config import HttpModel, JsonMode
from local_agent.models.shapes import count, table, tables, words

_PART: Final = {"user": "input_text", "assistant": "output_text"}
# Why a provider stopped, where it is not that all was said.
_STOPPED: Final = {
    "length": "model.cut",
    "max_tokens": "model.cut",
    "content_filter": "model.declined",
    "sensitive": "model.declined",  # GLM
    "model_context_window_exceeded": "model.context",  # GLM
    "insufficient_system_resource": "model.busy",  # DeepSeek
    "network_error": "model.server",  # GLM
}


@dataclass(frozen=True, slots=True)
class Message:
    """One part of the conversation after our instructions."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        schema: Of the JSON that is wanted; None for words.
        once: It is not asked again where no answer came.
    """

    instructions: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    once: bool = False


class Chat:
    """Chat Completions, the older form: DeepSeek, Qwen, GLM, Moonshot, Ollama, vLLM, others."""

    path: Final = "chat/completions"

    def body(self, model: HttpModel, question: Question) -> dict[str, Any]:
        """Return the request."""
        messages = [{"role": "system", "content": _spoken_form(question, model.json_mode)}]
        messages += [{"role": said.role, "content": said.text} for said in question.messages]
        body: dict[str, Any] = {"model": model.model, "messages": messages, "stream": model.stream}
        if model.stream:
            body["stream_options"] = {"include_usage": True}
        if model.max_output_tokens is not None:
            body["max_tokens"] = model.max_output_tokens
        if model.effort is not None:
            body["reasoning_effort"] = model.effort
        if question.schema is not None and model.json_mode != "prompt":
            body["response_format"] = _chat_format(model, question.schema)
        return body

    def reader(self) -> ChatReader:
        """Return a reader of one answer."""
        return ChatReader()


class ChatReader:
    """Reads one answer.

    Attributes:
        is_complete: Whether the provider has said that this was all.
        is_over: Whether nothing that matters can follow.
        usage: Tokens, as far as they were told.
    """

    is_over: Final = False  # usage comes after the reason to stop; "[DONE]" ends the stream

    def __init__(self) -> None:
        self.is_complete = False
        self.usage = Usage()

    def take(self, event: Mapping[str, Any]) -> str:
        """Take one event of a stream and return the words that it adds to the answer.

        Raises:
            ModelError: the answer will not be one.
        """
        return self._take(event, "delta")

    def take_whole(self, answer: Mapping[str, Any]) -> str:
        """Take an answer that came in one piece and return its words.

        Raises:
            ModelError: as `take`.
        """
        return self._take(answer, "message")

    def _take(self, sent: Mapping[str, Any], part: str) -> str:
        if sent.get("error"):
            raise of_refusal(sent)
        if used := table(sent.get("usage")):
            spent = count(used.get("prompt_tokens")), count(used.get("completion_tokens"))
            self.usage = Usage(*spent)
        choices = [choice for choice in tables(sent.get("choices")) if not choice.get("index")]
        return self._choice(choices[0], part) if choices else ""

    def _choice(self, choice: Mapping[str, Any], part: str) -> str:
        said = table(choice.get(part))
        if words(said.get("refusal")):
            raise ModelError("model.declined")
        if reason := words(choice.get("finish_reason")):
            if (code := _STOPPED.get(reason)) is not None:
                raise ModelError(code, why="length") if code == "model.cut" else ModelError(code)
            self.is_complete = True
        return words(said.get("content"))


class Responses:
    """Responses: OpenAI, and servers that follow it."""

    path: Final = "responses"

    def body(self, model: HttpModel, question: Question) -> dict[str, Any]:
        """Return the request; nothing of it is to be stored by the provider."""
        body: dict[str, Any] = {
            "model": model.model,
            "instructions": _spoken_form(question, model.json_mode),
            "input": [_item(message) for message in question.messages],
            "stream": model.stream,
            "store": False,
        }
        if model.max_output_tokens is not None:
            body["max_output_tokens"] = model.max_output_tokens
        if model.effort is not None:
            body["reasoning"] = {"effort": model.effort}
        if question.schema is not None and model.json_mode != "prompt":
            body["text"] = {"format": _responses_format(model, question.schema)}
        return body

    def reader(self) -> ResponsesReader:
        """Return a reader of one answer."""
        return ResponsesReader()


class ResponsesReader:
    """Reads one answer; see `ChatReader`."""

    def __init__(self) -> None:
        self.is_complete = False
        self.usage = Usage()
        self._has_words = False

    @property
    def is_over(self) -> bool:
        """Whether nothing that matters can follow."""
        return self.is_complete

    def take(self, event: Mapping[str, Any]) -> str:
        """Take one event; see `ChatReader.take`."""
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
                raise of_refusal(event)
        return ""

    def take_whole(self, answer: Mapping[str, Any]) -> str:
        """Take an answer in one piece; see `ChatReader.take_whole`."""
        return self._end(answer, words(answer.get("status")))

    def _end(self, answer: Mapping[str, Any], status: str) -> str:
        if answer.get("error") or status == "failed":
            raise of_refusal(answer)
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


Dialect = Chat | Responses
AnswerReader = ChatReader | ResponsesReader


def _chat_format(model: HttpModel, schema: Mapping[str, Any]) -> dict[str, Any]:
    if model.json_mode == "object":
        return {"type": "json_object"}
    named = {"name": "answer", "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": named}


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


def _responses_format(model: HttpModel, schema: Mapping[str, Any]) -> dict[str, Any]:
    if model.json_mode == "object":
        return {"type": "json_object"}
    return {"type": "json_schema", "name": "answer", "strict": True, "schema": dict(schema)}


def _spoken_form(question: Question, json_mode: JsonMode) -> str:
    """Return the instructions, with the form of the answer in words where it takes words."""
    if question.schema is None or json_mode == "schema":
        return question.instructions
    return (
        f"{question.instructions}\n\nAnswer with one JSON object and nothing else: no words before "
        "or after it, no code fence. It must follow this JSON schema:\n"
        f"{json.dumps(question.schema, ensure_ascii=False)}"
    )
