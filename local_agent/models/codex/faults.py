"""What a turn that failed means to us, by codex's own name of the fault.

Pure.  As of a model behind HTTP (`local_agent.models.http.faults`): the words choose nothing but
one of our codes, and reach people on one line, bounded and without secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.redact import redact, redact_known
from common.text import one_line
from local_agent.errors import ModelError

_SAID_BYTES: Final = 200
_READ_CHARS: Final = 10_000

_BY_NAME: Final = {
    "contextWindowExceeded": "model.context",
    "sessionBudgetExceeded": "model.quota",
    "usageLimitExceeded": "model.quota",
    "rateLimitExceeded": "model.busy",
    "flexUnavailable": "model.busy",
    "policyCapacityUnavailable": "model.busy",
    "serverOverloaded": "model.server",
    "internalServerError": "model.server",
    "modelNotFound": "model.not-found",
    "unauthorized": "model.key",
    "badRequest": "model.request",
    "cyberPolicy": "model.declined",
    "misalignmentPolicyViolation": "model.declined",
    "inferenceHookDenied": "model.declined",
    "responseStreamDisconnected": "model.cut",
}
_BY_STATUS: Final = {
    401: "model.key",
    402: "model.quota",
    403: "model.key",
    404: "model.not-found",
    413: "model.context",
    429: "model.busy",
}
# Of what codex calls “other”, by its own sentence; the first that fits.
_BY_SENTENCE: Final = (
    ("Incomplete response returned, reason: content_filter", "model.declined"),
    ("stream disconnected before completion: error sending request", "model.unreachable"),
    ("Incomplete response returned", "model.cut"),
    ("stream disconnected before completion", "model.cut"),
    ("Missing environment variable", "model.key"),
)
_TOO_LONG: Final = "Incomplete response returned, reason: max_output_tokens"


def of_turn(error: object, *, key: str | None) -> ModelError:
    """Return what the error of a turn means.

    Args:
        error: ``turn.error``, as the program gave it.
        key: Never to be repeated, should the provider do so.
    """
    told = error if isinstance(error, Mapping) else {}
    message = told.get("message")
    message = message[:_READ_CHARS] if isinstance(message, str) else ""
    if _TOO_LONG in message:
        return ModelError("model.cut", why="length")
    return ModelError(_code(told.get("codexErrorInfo"), message), **said(message, key=key))


def said(words: str, *, key: str | None) -> dict[str, str]:
    """Return words of the program or its provider as facts of an error."""
    clean = redact(redact_known(words[:_READ_CHARS], [key] if key else []))
    line = one_line(clean, _SAID_BYTES)
    return {"why": "said", "said": line} if line else {}


def _code(info: object, message: str) -> str:
    if isinstance(info, str) and info in _BY_NAME:
        return _BY_NAME[info]
    if isinstance(info, Mapping) and len(info) == 1:
        name, facts = next(iter(info.items()))
        status = facts.get("httpStatusCode") if isinstance(facts, Mapping) else None
        if isinstance(status, int):
            return _of_status(status)
        return _BY_NAME.get(name, "model.unreachable")
    for sentence, code in _BY_SENTENCE:
        if sentence in message:
            return code
    return "model.request"


def _of_status(status: int) -> str:
    return _BY_STATUS.get(status, "model.request" if 400 <= status < 500 else "model.server")
