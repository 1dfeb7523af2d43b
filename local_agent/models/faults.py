"""What a refusal means to us: a provider's by status, type and code, codex's by its own names.

Pure.  Their own words choose nothing but one of our codes, and reach people only on one line,
bounded and without secrets, as the fact ``said``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from common import strict_json
from common.errors import RemoteProtocolError
from common.redact import redact, redact_known
from common.text import one_line
from local_agent.errors import ModelError

MAX_REFUSAL_BYTES: Final = 65_536
SAID_BYTES: Final = 200
_READ_CHARS: Final = 10_000  # of what is said
_CODE_CHARS: Final = 64

# Types and codes of OpenAI, DeepSeek, DashScope, Moonshot, GLM, vLLM, Ollama and llama.cpp.
_BY_NAME: Final[Mapping[str, frozenset[str]]] = {
    "model.quota": frozenset(
        {
            *("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "1113"),
            *("exceeded_current_quota_error", "arrearage", "accessdenied.unpurchased"),
            *("insufficient_balance", "allocationquota.freetieronly"),
        }
    ),
    "model.context": frozenset(
        {
            *("context_length_exceeded", "exceed_context_size_error", "request_too_large", "1261"),
            *("model_context_window_exceeded", "string_above_max_length"),
        }
    ),
    "model.declined": frozenset(
        {
            *("content_filter", "content_policy_violation", "data_inspection_failed", "1301"),
            *("datainspectionfailed", "content_filtered", "sensitive", "invalid_prompt"),
        }
    ),
    "model.key": frozenset(
        {
            *("invalid_api_key", "authentication_error", "invalid_authentication_error"),
            *("permission_error", "invalidapikey", "account_deactivated"),
        }
    ),
    "model.not-found": frozenset(
        {"model_not_found", "resource_not_found_error", "not_found_error", "modelnotfound", "1211"}
    ),
    "model.busy": frozenset(
        {
            *("rate_limit_exceeded", "rate_limit_error", "rate_limit_reached_error", "slow_down"),
            *("engine_overloaded_error", "server_is_overloaded", "overloaded_error", "throttling"),
            *("insufficient_system_resource", "1302", "1305"),
        }
    ),
}
_BY_STATUS: Final = {
    401: "model.key",
    402: "model.quota",
    403: "model.key",
    404: "model.not-found",
    413: "model.context",
    429: "model.busy",
}
# Half of the providers tell an overflow in words alone.
_OVERFLOW: Final = re.compile(
    r"context (?:length|window|size)|maximum context|range of input length|prompt is too long"
    r"|too many tokens|token limit",
    re.IGNORECASE,
)
# Codex names its faults itself.
_BY_CODEX_NAME: Final = {
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
# Of what codex calls “other”, by its own sentence; the first that fits.
_BY_SENTENCE: Final = (
    ("Incomplete response returned, reason: content_filter", "model.declined"),
    ("stream disconnected before completion: error sending request", "model.unreachable"),
    ("Incomplete response returned", "model.cut"),
    ("stream disconnected before completion", "model.cut"),
    ("Missing environment variable", "model.key"),
)
_TOO_LONG: Final = "Incomplete response returned, reason: max_output_tokens"


def of_status(status: int, body: bytes, *, key: str | None = None) -> ModelError:
    """Return what an answer other than 200 means.

    Args:
        status: Its status.
        body: Its body, or the beginning of it.
        key: Never to be repeated, should the provider do so.
    """
    try:
        answer = strict_json.loads(body, max_bytes=MAX_REFUSAL_BYTES, floats="read")
    except RemoteProtocolError:
        answer = None
    return of_refusal(answer, status=status, key=key)


def of_refusal(answer: object, *, status: int | None = None, key: str | None = None) -> ModelError:
    """Return what an error object means, alone or within ``{"error": …}``."""
    error = answer.get("error", answer) if isinstance(answer, Mapping) else answer
    if isinstance(error, str):
        error = {"message": error}
    told = error if isinstance(error, Mapping) else {}
    message = told.get("message")
    if 300 <= (status or 0) < 400:
        return ModelError("model.request", why="redirect")
    return ModelError(_code(told, message, status), **said(message, key=key))


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
    return ModelError(_code_of_turn(told.get("codexErrorInfo"), message), **said(message, key=key))


def said(words: object, *, key: str | None) -> dict[str, str]:
    """Return the words of a provider or a program as facts of an error, none where there are none.

    Args:
        words: As they came.
        key: Never to be repeated, should they do so.
    """
    if not isinstance(words, str):
        return {}
    clean = redact(redact_known(words[:_READ_CHARS], [key] if key else []))
    line = one_line(clean, SAID_BYTES)
    return {"why": "said", "said": line} if line else {}


def _code(told: Mapping[str, Any], message: object, status: int | None) -> str:
    names = {str(told.get(field))[:_CODE_CHARS].lower() for field in ("code", "type")}
    for code, known in _BY_NAME.items():
        if not names.isdisjoint(known):
            return code
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if isinstance(message, str) and _OVERFLOW.search(message[:MAX_REFUSAL_BYTES]):
        return "model.context"
    is_ours = 400 <= (status or 0) < 500 or "invalid_request_error" in names
    return "model.request" if is_ours else "model.server"


def _code_of_turn(info: object, message: str) -> str:
    if isinstance(info, str) and info in _BY_CODEX_NAME:
        return _BY_CODEX_NAME[info]
    if isinstance(info, Mapping) and len(info) == 1:
        name, facts = next(iter(info.items()))
        status = facts.get("httpStatusCode") if isinstance(facts, Mapping) else None
        if isinstance(status, int):
            ours = "model.request" if 400 <= status < 500 else "model.server"
            return _BY_STATUS.get(status, ours)
        return _BY_CODEX_NAME.get(name, "model.unreachable")
    for sentence, code in _BY_SENTENCE:
        if sentence in message:
            return code
    return "model.request"
