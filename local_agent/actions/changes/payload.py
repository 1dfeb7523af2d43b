"""What is sealed of a change of files, and of an undo: each file by content (P2, P5).  Pure.

A change seals the hash of its diff and its files; an undo seals the same and what it takes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from common.records import LIST, RECORD, SHA256_HEX, TEXT, Fields, filled
from common.seal import SealedChange, check_changes, check_record, stored_change

_CHANGE: Final[Fields] = {"diff_sha256": SHA256_HEX, "changes": filled(LIST)}
_UNDO: Final[Fields] = {**_CHANGE, "undoes": RECORD}
_UNDONE: Final[Fields] = {"approval_id": TEXT, "short_id": TEXT}


def change_payload(diff_sha256: str, changes: Sequence[SealedChange]) -> dict[str, Any]:
    """Return the sealed form of a change.

    Args:
        diff_sha256: Of the diff's bytes, which lie in the blob store under that name.
        changes: One for each file of the diff, in its order.
    """
    return {"diff_sha256": diff_sha256, "changes": [stored_change(change) for change in changes]}


def check_change(payload: Mapping[str, Any]) -> None:
    """Return when a payload is a change's.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    check_record("payload", payload, _CHANGE)
    check_changes(payload["changes"])


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
    check_record("payload", payload, _UNDO)
    check_record("undoes", payload["undoes"], _UNDONE)
    check_changes(payload["changes"])
