"""What is sealed of an undo: the reverse change, and what it takes back (P2, P5).  Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from common.seal import CHANGE, SealedChange, Shape, check_each, check_shape, is_mapping, is_text
from local_agent.actions.changes.payload import CHANGES, change_payload

_UNDONE: Final[Shape] = {"approval_id": is_text, "short_id": is_text}


def undo_payload(
    diff_sha256: str, changes: Sequence[SealedChange], *, approval_id: str, short_id: str
) -> dict[str, Any]:
    """Return the sealed form of an undo.

    Args:
        diff_sha256: Of the reverse diff.
        changes: Of the reverse diff.
        approval_id: The approval whose effect is undone.
        short_id: The task it belonged to.
    """
    undoes = {"approval_id": approval_id, "short_id": short_id}
    return change_payload(diff_sha256, changes) | {"undoes": undoes}


def check_undo(payload: Mapping[str, Any]) -> None:
    """Return when a payload is an undo's.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    check_shape("payload", payload, {**CHANGES, "undoes": is_mapping})
    check_shape("undoes", payload["undoes"], _UNDONE)
    check_each("changes", payload["changes"], CHANGE)
