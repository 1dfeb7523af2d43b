"""The second stage: what a model is asked where the words are not sure, and how it is read.

A model may say which kind of answer is wanted.  ``run`` and ``git_sync`` are not among what it may
say, so no answer of it can bring a command nearer (R63), and confidence is no authority: it only
tells whether a person is answered or asked again.  Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from common import strict_json
from common.errors import InputError, RemoteProtocolError
from common.model.intent import MAX_FILES, TaskKind
from local_agent.understand.reading import THRESHOLD, Reading

MAX_ANSWER_BYTES: Final = 4096
MAX_EXPLANATION: Final = 200  # characters
_NEVER: Final = frozenset({TaskKind.RUN, TaskKind.GIT_SYNC})
_KINDS: Final = tuple(kind.value for kind in TaskKind if kind not in _NEVER)
_CHANGES: Final = frozenset({TaskKind.CHANGE, TaskKind.DIAGNOSE})
_FIELDS: Final = frozenset({"kind", "confidence", "explanation"})


@dataclass(frozen=True, slots=True)
class Classified:
    """What a model said of a text.

    Attributes:
        kind: Never ``run`` or ``git_sync``.
        confidence: 0 to 1.
        explanation: Why, in its words; data, and shown as such.
    """

    kind: TaskKind
    confidence: float
    explanation: str


def classification_schema() -> dict[str, Any]:
    """Return the strict JSON schema of an answer."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": sorted(_FIELDS),
        "properties": {
            "kind": {"type": "string", "enum": list(_KINDS)},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "explanation": {"type": "string", "maxLength": MAX_EXPLANATION},
        },
    }


def read_classification(text: str) -> Classified:
    """Read a model's answer.

    Raises:
        InputError: ``classify.answer``: it is not exactly what the schema asks for.
    """
    try:
        value = strict_json.loads(text, max_bytes=MAX_ANSWER_BYTES, floats="read")
    except RemoteProtocolError:
        raise InputError("classify.answer") from None
    if not isinstance(value, Mapping) or value.keys() != _FIELDS:
        raise InputError("classify.answer")
    kind, confidence, why = value["kind"], value["confidence"], value["explanation"]
    if (
        not isinstance(kind, str)
        or kind not in _KINDS
        or not isinstance(why, str)
        or len(why) > MAX_EXPLANATION
    ):
        raise InputError("classify.answer")
    if type(confidence) not in (int, float) or not 0 <= confidence <= 1:
        raise InputError("classify.answer")
    return Classified(TaskKind(kind), float(confidence), why)


def merged(read: Reading, classified: Classified, *, threshold: float = THRESHOLD) -> Reading:
    """Return how a text is read once a model was asked.

    Only what the words left open moves, and only where the model is at least as sure as they
    have to be; what they are certain of is never asked about, whatever comes back.

    Args:
        threshold: What both are measured by (setting ``nl.confidence_threshold``).
    """
    if not read.unsure or classified.kind in _NEVER or classified.confidence < threshold:
        return read
    old = read.intent
    text = read.subject
    files = old.params.files
    wanted = old.params.model_copy(
        update={
            "files": files[:MAX_FILES] if files else None,
            "cmd": None,
            "question": text if classified.kind is TaskKind.EXPLAIN else None,
            "change_request": text if classified.kind in _CHANGES else None,
            "query": text if classified.kind is TaskKind.SEARCH else None,
        }
    )
    intent = old.model_copy(
        update={"kind": classified.kind, "confidence": classified.confidence, "params": wanted}
    )
    return replace(read, intent=intent, unsure=False, rule="asked-a-model")
