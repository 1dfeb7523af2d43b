"""What the two interfaces have in common: a question, a form of answer, a reader of the answer.

Pure.  Nothing that a provider sends is trusted to have the shape that it should have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from local_agent.models.backend import Usage
from local_agent.models.http.config import HttpModel, JsonMode


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
    """

    instructions: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None


class AnswerReader(Protocol):
    """Reads one answer in the words of one interface."""

    @property
    def is_complete(self) -> bool:
        """Whether the provider has said that this was all."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing that matters can follow."""
        ...

    @property
    def usage(self) -> Usage:
        """Tokens, as far as they were told."""
        ...

    def take(self, event: Mapping[str, Any]) -> str:
        """Take one event of a stream and return the words that it adds to the answer.

        Raises:
            ModelError: the answer will not be one.
        """
        ...

    def take_whole(self, answer: Mapping[str, Any]) -> str:
        """Take an answer that came in one piece and return its words.

        Raises:
            ModelError: as `take`.
        """
        ...


class Dialect(Protocol):
    """One interface."""

    @property
    def path(self) -> str:
        """The address of its function, below the base URL."""
        ...

    def body(self, model: HttpModel, question: Question) -> dict[str, Any]:
        """Return the request."""
        ...

    def reader(self) -> AnswerReader:
        """Return a reader of one answer."""
        ...


def spoken_form(question: Question, json_mode: JsonMode) -> str:
    """Return the instructions, with the form of the answer in words where it takes words."""
    if question.schema is None or json_mode == "schema":
        return question.instructions
    return (
        f"{question.instructions}\n\nAnswer with one JSON object and nothing else: no words before "
        "or after it, no code fence. It must follow this JSON schema:\n"
        f"{json.dumps(question.schema, ensure_ascii=False)}"
    )


def table(value: object) -> Mapping[str, Any]:
    """Return the object that was sent, empty where it was none."""
    return value if isinstance(value, Mapping) else {}


def tables(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list that was sent."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def words(value: object) -> str:
    """Return the text that was sent, empty where it was none."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    """Return the number that was sent, 0 where it was none."""
    return max(value, 0) if isinstance(value, int) and not isinstance(value, bool) else 0
