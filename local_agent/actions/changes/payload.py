"""What is sealed of a change of files: the hash of its diff, and each file by content (P2).  Pure.

An undo seals the same and what it takes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from common.seal import (
    CHANGE,
    SealedChange,
    Shape,
    check_each,
    check_shape,
    is_filled_list,
    is_hash,
    stored_change,
)

CHANGES: Final[Shape] = {"diff_sha256": is_hash, "changes": is_filled_list}


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
    check_shape("payload", payload, CHANGES)
    check_each("changes", payload["changes"], CHANGE)
