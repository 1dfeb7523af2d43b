"""The Chat Completions interface: what is asked in it and how its answer is read.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from local_agent.errors import ModelError
from local_agent.models.backend import Usage
from local_agent.models.http import faults
from local_agent.models.http.config import HttpModel
from local_agent.models.http.dialect import (
    AnswerReader,
    Question,
    count,
    spoken_form,
    table,
    tables,
    words,
)

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


class Chat:
    """DeepSeek, Qwen, GLM, Moonshot, Ollama, vLLM, and what else follows OpenAI's older form."""

    path: Final = "chat/completions"

    def body(self, model: HttpModel, question: Question) -> dict[str, Any]:
        """Return the request."""
        messages = [{"role": "system", "content": spoken_form(question, model.json_mode)}]
        messages += [{"role": said.role, "content": said.text} for said in question.messages]
        body: dict[str, Any] = {"model": model.model, "messages": messages, "stream": model.stream}
        if model.stream:
            body["stream_options"] = {"include_usage": True}
        if model.max_output_tokens is not None:
            body["max_tokens"] = model.max_output_tokens
        if model.effort is not None:
            body["reasoning_effort"] = model.effort
        if question.schema is not None and model.json_mode != "prompt":
            body["response_format"] = _format(model, question.schema)
        return body

    def reader(self) -> AnswerReader:
        """Return a reader of one answer."""
        return _Reader()


class _Reader:
    is_over: Final = False  # usage comes after the reason to stop; "[DONE]" ends the stream

    def __init__(self) -> None:
        self.is_complete = False
        self.usage = Usage()

    def take(self, event: Mapping[str, Any]) -> str:
        return self._take(event, "delta")

    def take_whole(self, answer: Mapping[str, Any]) -> str:
        return self._take(answer, "message")

    def _take(self, sent: Mapping[str, Any], part: str) -> str:
        if sent.get("error"):
            raise faults.of_refusal(sent)
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


def _format(model: HttpModel, schema: Mapping[str, Any]) -> dict[str, Any]:
    if model.json_mode == "object":
        return {"type": "json_object"}
    named = {"name": "answer", "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": named}
