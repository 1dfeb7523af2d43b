"""The closed shape of a stored seal: each field known, present and of its type (R2, R21).

Only `common.seal` reads this; it turns what passes here into its frozen dataclasses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from common.errors import RemoteProtocolError

_HEX64: Final = re.compile(r"[0-9a-f]{64}")
_DECIMAL: Final = re.compile(r"0|[1-9][0-9]{0,19}")

_Check = Callable[[Any], bool]


def check_seal(value: Any) -> None:
    """Return when the parsed JSON is a seal.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    _check_shape("seal", value, _SEAL)
    _check_shape("workspace", value["workspace"], _PLACE)
    _check_shape("source", value["source"], _SOURCE)
    _check_command(value["payload"])
    for found in value["base"].values():
        _require("base", _is_hash(found) or found == "absent")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    # A bool is an int to Python, and never to a seal.
    return type(value) is int and value >= 0


def _is_decimal(value: object) -> bool:
    return isinstance(value, str) and _DECIMAL.fullmatch(value) is not None


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HEX64.fullmatch(value) is not None


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


def _one_of(*allowed: object) -> _Check:
    # Compared with the type, because True == 1.
    return lambda value: any(type(value) is type(item) and value == item for item in allowed)


# Inode numbers take 64 bits, and JSON integers keep to 53: identities are decimal text.
_PLACE: Final[dict[str, _Check]] = {"path": _is_text, "dev": _is_decimal, "ino": _is_decimal}
_SOURCE: Final[dict[str, _Check]] = dict.fromkeys(
    ("channel", "claimed_user", "gateway_key_id", "envelope_sha256"), _is_text
)
_SEAL: Final[dict[str, _Check]] = {
    "v": _one_of(1),
    "approval_id": _is_text,
    "task_id": _is_text,
    "short_id": _is_text,
    "version": _is_count,
    "agent_id": _is_text,
    "workspace": _is_mapping,
    "git_head": _is_text_or_none,
    "source": _is_mapping,
    "policy_sha256": _is_hash,
    "action": _one_of("run_command"),
    "payload": _is_mapping,
    "base": _is_mapping,
    "undo": _one_of("yes", "no", "partly"),
    "discloses": _is_texts,
    "created_at": _is_count,
    "expires_at": _is_count,
    "nonce": _is_text,
}
_COMMAND: Final[dict[str, _Check]] = {
    "cwd": _is_text,
    "env_names": _is_texts,
    "env_sha256": _is_hash,
    "executable": _is_mapping,
    "sandbox": _is_mapping,
    "network": _one_of(True, False),
    "timeout": _is_count,
    "output_cap": _is_count,
}
_ARGV: Final[dict[str, _Check]] = {"argv": lambda value: _is_texts(value) and bool(value)}
_SHELL: Final[dict[str, _Check]] = {"shell": _is_text, "script": _is_text}
_EXECUTABLE: Final[dict[str, _Check]] = _PLACE | {
    "sha256": lambda value: value is None or _is_hash(value)
}
_SANDBOX: Final[dict[str, _Check]] = {"level": _is_text, "profile_sha256": _is_hash}


def _require(field: str, holds: bool) -> None:
    if not holds:
        raise RemoteProtocolError("seal.malformed", field=field)


def _check_shape(name: str, value: Any, checks: Mapping[str, _Check]) -> None:
    """Require exactly the named fields, each as its check wants it."""
    _require(name, isinstance(value, dict) and value.keys() == checks.keys())
    for field, check in checks.items():
        _require(f"{name}.{field}", check(value[field]))


def _check_command(payload: Mapping[str, Any]) -> None:
    form = _ARGV if "argv" in payload else _SHELL
    _check_shape("payload", payload, _COMMAND | form)
    _check_shape("executable", payload["executable"], _EXECUTABLE)
    _check_shape("sandbox", payload["sandbox"], _SANDBOX)
