"""What is sealed of a release: the hash of an answer, and to whom it would go (P2, R53).  Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from common.seal import (
    ReadFile,
    Shape,
    check_each,
    check_shape,
    is_count,
    is_hash,
    is_list,
    is_mapping,
    is_text,
    or_none,
)

_DISCLOSE: Final[Shape] = {
    "answer_sha256": is_hash,
    "bytes": is_count,
    "files": is_list,
    "more": is_count,
    "to": is_mapping,
}
_READ_FILE: Final[Shape] = {"path": is_text, "sha256": or_none(is_hash)}
_RECIPIENT: Final[Shape] = {"channel": is_text, "claimed_user": is_text}


def disclose_payload(
    answer: bytes,
    files: Sequence[ReadFile],
    *,
    more: int,
    channel: str,
    claimed_user: str,
) -> dict[str, Any]:
    """Return the sealed form of a release: the hash of an answer, and to whom it would go.

    Args:
        answer: The exact bytes that would leave; they lie in the blob store under their hash.
        files: What it is based on.
        more: Files that it is based on besides.
        channel: Where it would go.
        claimed_user: Who is said to have asked; never verified on this machine.
    """
    return {
        "answer_sha256": hashlib.sha256(answer).hexdigest(),
        "bytes": len(answer),
        "files": [asdict(file) for file in files],
        "more": more,
        "to": {"channel": channel, "claimed_user": claimed_user},
    }


def check_release(payload: Mapping[str, Any]) -> None:
    """Return when a payload is a release's.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    check_shape("payload", payload, _DISCLOSE)
    check_each("files", payload["files"], _READ_FILE)
    check_shape("to", payload["to"], _RECIPIENT)
