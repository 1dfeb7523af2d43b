"""What is sealed of a release: the hash of an answer, and to whom it would go (P2, R53).  Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from common.records import COUNT, LIST, RECORD, SHA256_HEX, TEXT, Fields, fields_of
from common.seal import ReadFile, check_each, check_record

_DISCLOSE: Final[Fields] = {
    "answer_sha256": SHA256_HEX,
    "bytes": COUNT,
    "files": LIST,
    "more": COUNT,
    "to": RECORD,
}
_RECIPIENT: Final[Fields] = {"channel": TEXT, "claimed_user": TEXT}


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
    check_record("payload", payload, _DISCLOSE)
    check_each("files", payload["files"], fields_of(ReadFile))
    check_record("to", payload["to"], _RECIPIENT)
