"""The lines of ``codex app-server``: JSON-RPC 2.0 without its version key, one message a line.

Sans-I/O.  Written for 0.169; fields and messages that are not known are let be, for the protocol
grows with every release.  What cannot be read at all ends the conversation: a program that speaks
anything else is not the one that we started.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from common import strict_json
from common.errors import RemoteProtocolError

MAX_LINE_BYTES: Final = 4 * 1024 * 1024  # R62
_MAX_ID_CHARS: Final = 100
_NO_SUCH_METHOD: Final = -32601  # of JSON-RPC


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a request of ours; ``error`` is its text where it was refused."""

    number: int
    result: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A notification."""

    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AskedFor:
    """A request of the program, which waits for our answer; ``name`` is its own number for it."""

    name: int | str
    method: str
    params: Mapping[str, Any]


Message = Answered | Told | AskedFor


def decode(line: bytes) -> Message:
    """Return what a line says.

    Raises:
        RemoteProtocolError: ``json.*``, or ``codex.message``: it is none of the three.
    """
    message = strict_json.loads(line, max_bytes=MAX_LINE_BYTES, floats="read")
    if not isinstance(message, dict):
        raise RemoteProtocolError("codex.message")
    method, name = message.get("method"), message.get("id")
    if method is None:
        return _answer(message, name)
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    if not isinstance(method, str):
        raise RemoteProtocolError("codex.message")
    if name is None:
        return Told(method, params)
    if isinstance(name, bool) or not isinstance(name, int | str) or len(str(name)) > _MAX_ID_CHARS:
        raise RemoteProtocolError("codex.message")
    return AskedFor(name, method, params)


def request(number: int, method: str, params: Mapping[str, object]) -> bytes:
    """Return a request of ours."""
    return _encode({"id": number, "method": method, "params": params})


def notification(method: str) -> bytes:
    """Return a notification of ours."""
    return _encode({"method": method})


def answer(to: AskedFor, result: Mapping[str, object] | None) -> bytes:
    """Return our answer; without a result: that we know no such request, which is a refusal."""
    if result is None:
        error = {"code": _NO_SUCH_METHOD, "message": "not supported"}
        return _encode({"id": to.name, "error": error})
    return _encode({"id": to.name, "result": result})


def _answer(message: Mapping[str, Any], number: object) -> Answered:
    if isinstance(number, bool) or not isinstance(number, int):
        raise RemoteProtocolError("codex.message")
    error, result = message.get("error"), message.get("result")
    if error is not None:
        said = error.get("message") if isinstance(error, dict) else None
        return Answered(number, error=said if isinstance(said, str) else "")
    return Answered(number, result if isinstance(result, dict) else {})


def _encode(message: Mapping[str, object]) -> bytes:
    # A file name that is no UTF-8 would come as a lone surrogate, which the program cannot read.
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
