"""What a provider's refusal means to us, by status, type and code.

Pure.  A provider's own words choose nothing but one of our codes, and reach people only on one
line, bounded and without secrets, as the fact ``said``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from common import strict_json
from common.errors import RemoteProtocolError
from common.redact import redact, redact_known
from common.text import one_line
from local_agent.errors import ModelError

MAX_REFUSAL_BYTES: Final = 65_536
SAID_BYTES: Final = 200
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


class NotBegunError(Exception):
    """A request ended before any byte of an answer; the same may be asked again.

    Args:
        fault: What it means if it is not.
        after_s: Seconds that the provider asks us to wait, where it does.
    """

    def __init__(self, fault: ModelError, after_s: float | None = None) -> None:
        super().__init__(fault.code)
        self.fault = fault
        self.after_s = after_s


def of_status(status: int, body: bytes, *, secrets: Sequence[str] = ()) -> ModelError:
    """Return what an answer other than 200 means.

    Args:
        status: Its status.
        body: Its body, or the beginning of it.
        secrets: Never to be repeated, should the provider do so.
    """
    try:
        answer = strict_json.loads(body, max_bytes=MAX_REFUSAL_BYTES, floats="read")
    except RemoteProtocolError:
        answer = None
    return of_refusal(answer, status=status, secrets=secrets)


def of_refusal(
    answer: object, *, status: int | None = None, secrets: Sequence[str] = ()
) -> ModelError:
    """Return what an error object means, alone or within ``{"error": …}``."""
    error = answer.get("error", answer) if isinstance(answer, Mapping) else answer
    if isinstance(error, str):
        error = {"message": error}
    told = error if isinstance(error, Mapping) else {}
    message = told.get("message")
    said = _said(message, secrets)
    if 300 <= (status or 0) < 400:
        return ModelError("model.request", why="redirect")
    code = _code(told, message, status)
    return ModelError(code, why="said", said=said) if said else ModelError(code)


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


def _said(message: object, secrets: Sequence[str]) -> str:
    if not isinstance(message, str):
        return ""
    return one_line(redact(redact_known(message[:MAX_REFUSAL_BYTES], secrets)), SAID_BYTES)
