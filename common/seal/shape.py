"""The closed shape of a stored seal: each field known, present and of its type (R2, R21).

Only `common.seal` reads this; it turns what passes here into its frozen dataclasses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from common.errors import RemoteProtocolError

_HEX64: Final = re.compile(r"[0-9a-f]{64}")
_OID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
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
    _PAYLOADS[value["action"]](value["payload"])
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


def _is_oid(value: object) -> bool:
    return isinstance(value, str) and _OID.fullmatch(value) is not None


def _is_oid_or_none(value: object) -> bool:
    return value is None or _is_oid(value)


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
    "action": _one_of("run_command", "apply_diff", "undo", "git_sync", "disclose"),
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
_COPY: Final[dict[str, _Check]] = {
    "approval_id": _is_text,
    "short_id": _is_text,
    "diff_sha256": _is_hash,
}


_MODES: Final = ("100644", "100755", None)
_CHANGE: Final[dict[str, _Check]] = {
    "op": _one_of("add", "modify", "delete", "rename", "copy"),
    "path": _is_text,
    "old_path": _is_text_or_none,
    "old_sha256": lambda value: value is None or _is_hash(value),
    "old_mode": _one_of(*_MODES),
    "new_sha256": lambda value: value is None or _is_hash(value),
    "new_mode": _one_of(*_MODES),
    "size": _is_count,
}
_CHANGES: Final[dict[str, _Check]] = {
    "diff_sha256": _is_hash,
    "changes": lambda value: isinstance(value, list) and bool(value),
}
_UNDONE: Final[dict[str, _Check]] = {"approval_id": _is_text, "short_id": _is_text}
_SYNC: Final[dict[str, _Check]] = {
    "branch": _is_text,
    "remote": _is_text,
    "url": _is_text,
    "ref": _is_text,
    "remote_oid": _is_oid_or_none,
    "head": _is_oid_or_none,
    "ahead": _is_count,
    "behind": _is_count,
    "commit": lambda value: value is None or isinstance(value, dict),
    "steps": lambda value: isinstance(value, list) and bool(value),
    "timeout": _is_count,
}
_COMMIT: Final[dict[str, _Check]] = {
    "message": _is_text,
    "tree": _is_oid,
    "author": _is_text,
    "email": _is_text,
    "diff_sha256": _is_hash,
    "changes": lambda value: isinstance(value, list) and bool(value),
}
_STEP: Final[dict[str, _Check]] = {
    "name": _one_of("check", "add", "commit", "push"),
    "effect": _one_of("read-only", "local-write", "remote-write"),
}
_DISCLOSE: Final[dict[str, _Check]] = {
    "answer_sha256": _is_hash,
    "bytes": _is_count,
    "files": lambda value: isinstance(value, list),
    "more": _is_count,
    "to": _is_mapping,
}
_READ_FILE: Final[dict[str, _Check]] = {
    "path": _is_text,
    "sha256": lambda value: value is None or _is_hash(value),
}
_RECIPIENT: Final[dict[str, _Check]] = {"channel": _is_text, "claimed_user": _is_text}


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
    # Only a check of a proposed change has it; a command on the workspace itself has none.
    copied: dict[str, _Check] = {"copy": _is_mapping} if "copy" in payload else {}
    _check_shape("payload", payload, _COMMAND | form | copied)
    if copied:
        _check_shape("copy", payload["copy"], _COPY)
    _check_shape("executable", payload["executable"], _EXECUTABLE)
    _check_shape("sandbox", payload["sandbox"], _SANDBOX)


def _check_changes(payload: Mapping[str, Any]) -> None:
    _check_shape("payload", payload, _CHANGES)
    _check_each("changes", payload["changes"], _CHANGE)


def _check_undo(payload: Mapping[str, Any]) -> None:
    _check_shape("payload", payload, _CHANGES | {"undoes": _is_mapping})
    _check_shape("undoes", payload["undoes"], _UNDONE)
    _check_each("changes", payload["changes"], _CHANGE)


def _check_sync(payload: Mapping[str, Any]) -> None:
    _check_shape("payload", payload, _SYNC)
    _check_each("steps", payload["steps"], _STEP)
    if payload["commit"] is not None:
        _check_shape("commit", payload["commit"], _COMMIT)
        _check_each("changes", payload["commit"]["changes"], _CHANGE)


def _check_disclose(payload: Mapping[str, Any]) -> None:
    _check_shape("payload", payload, _DISCLOSE)
    _check_each("files", payload["files"], _READ_FILE)
    _check_shape("to", payload["to"], _RECIPIENT)


def _check_each(name: str, values: list[Any], checks: Mapping[str, _Check]) -> None:
    for value in values:
        _check_shape(name, value, checks)


_PAYLOADS: Final[dict[str, Callable[[Mapping[str, Any]], None]]] = {
    "run_command": _check_command,
    "apply_diff": _check_changes,
    "undo": _check_undo,
    "git_sync": _check_sync,
    "disclose": _check_disclose,
}
