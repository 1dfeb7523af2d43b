"""The second stage: what a model is asked where the words are not sure, and how it is read.

A model may say which kind of answer is wanted.  ``run`` and ``git_sync`` are not among what it may
say, so no answer of it can bring a command nearer (R63), and confidence is no authority: it only
tells whether a person is answered or asked again.  Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from common import strict_json
from common.errors import InputError, RemoteProtocolError
from common.model.intent import TaskKind
from local_agent.understand.reading import THRESHOLD, Reading

MAX_ANSWER_BYTES: Final = 4096
_CHANGES: Final = ("change", "diagnose")


class Classified(BaseModel):
    """What a model said of a text.

    Attributes:
        kind: Never ``run`` or ``git_sync``.
        confidence: 0 to 1.
        explanation: Why, in its words; data, and shown as such.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    kind: Literal["help", "status", "explain", "change", "diagnose", "search", "review"]
    confidence: Annotated[float, Field(ge=0, le=1)]
    explanation: Annotated[str, Field(max_length=200)]


def classification_schema() -> dict[str, Any]:
    """Return the strict JSON schema of an answer."""
    return Classified.model_json_schema()


def read_classification(text: str) -> Classified:
    """Read a model's answer.

    Raises:
        InputError: ``classify.answer``: it is not exactly what the schema asks for.
    """
    try:
        value = strict_json.loads(text, max_bytes=MAX_ANSWER_BYTES, floats="read")
        return Classified.model_validate(value)
    except (RemoteProtocolError, ValidationError):
        raise InputError("classify.answer") from None


def merged(read: Reading, classified: Classified, *, threshold: float = THRESHOLD) -> Reading:
    """Return how a text is read once a model was asked.

    Only what the words left open moves, and only where the model is at least as sure as they
    have to be; what they are certain of is never asked about, whatever comes back.

    Args:
        threshold: What both are measured by (setting ``nl.confidence_threshold``).
    """
    if not read.unsure or classified.confidence < threshold:
        return read
    if classified.kind in _CHANGES and read.rule.startswith("asks"):
        return read  # a question leads to no change, whoever reads it
    old, text = read.intent, read.subject
    wanted = old.params.model_copy(
        update={
            "cmd": None,
            "question": text if classified.kind == "explain" else None,
            "change_request": text if classified.kind in _CHANGES else None,
            "query": text if classified.kind == "search" else None,
        }
    )
    kind, confidence = TaskKind(classified.kind), classified.confidence
    intent = old.model_copy(update={"kind": kind, "confidence": confidence, "params": wanted})
    return replace(read, intent=intent, unsure=False, rule="asked-a-model")
