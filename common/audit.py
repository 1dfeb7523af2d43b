"""The hash chain of the audit log (R58): how an entry is written, and how a chain is checked.

    hash(n) = SHA-256(AUDIT label || hash(n-1) || body(n)),   hash(0) = GENESIS

Pure and shared by both halves; where entries are kept is their stores' matter.  A chain shows that
nothing inside it was changed; that its end was not cut off shows only against a head that somebody
else keeps.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from common.errors import AuthError, StoreError
from common.signing import AUDIT
from common.strict_json import canonical
from common.text import clip_bytes

HASH_BYTES: Final = 32
GENESIS: Final = bytes(HASH_BYTES)
MAX_ENTRY_BYTES: Final = 16 * 1024
MAX_VALUE_BYTES: Final = 1024

Fact = str | int | bool | None


@dataclass(frozen=True, slots=True)
class Head:
    """The newest entry of a chain: ``seq`` 0 and `GENESIS` when it is empty."""

    seq: int = 0
    hash: bytes = GENESIS


def entry_body(event: str, at_ms: int, facts: Mapping[str, Fact]) -> bytes:
    """Return the bytes of one entry: ASCII JSON, every text clipped to 1 KiB.

    Args:
        event: Dotted name of what happened, such as ``approval.approved``.
        at_ms: When, in milliseconds since the epoch.
        facts: Ids, hashes, names, counts.  Never a secret, a body or a file's content.

    Raises:
        StoreError: ``audit.too-large``: over 16 KiB.  Without an entry nothing may happen (R4).
    """
    bounded = {
        name: clip_bytes(fact, MAX_VALUE_BYTES) if isinstance(fact, str) else fact
        for name, fact in facts.items()
    }
    body = canonical({"event": event, "at": at_ms, "facts": bounded})
    if len(body) > MAX_ENTRY_BYTES:
        raise StoreError("audit.too-large", event=event, limit=MAX_ENTRY_BYTES)
    return body


def entry_hash(prev: bytes, body: bytes) -> bytes:
    """Return the hash that chains ``body`` to the entry before it.

    Raises:
        AuthError: ``audit.hash-size``: ``prev`` is no hash, and the border would be ambiguous.
    """
    if len(prev) != HASH_BYTES:
        raise AuthError("audit.hash-size")
    return hashlib.sha256(AUDIT + prev + body).digest()


def verify_chain(
    entries: Iterable[tuple[int, bytes, bytes, bytes]], *, after: Head | None = None
) -> Head:
    """Check entries ``(seq, prev, body, hash)`` in order and return the new head.

    Args:
        entries: Numbered without a gap.
        after: The head they continue; by default the start of the chain.

    Raises:
        AuthError: ``audit.broken`` with ``seq``, the number expected where it first fails.
    """
    head = after or Head()
    for seq, prev, body, found in entries:
        expected = head.seq + 1
        whole = (
            seq == expected
            and hmac.compare_digest(prev, head.hash)
            and hmac.compare_digest(found, entry_hash(head.hash, body))
        )
        if not whole:
            raise AuthError("audit.broken", seq=expected)
        head = Head(seq, found)
    return head
