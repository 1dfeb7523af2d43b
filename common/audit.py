"""The hash chain of the audit log (R58): how an entry is written, a chain checked, a head signed.

    hash(n) = SHA-256(AUDIT label || hash(n-1) || body(n)),   hash(0) = GENESIS

Pure and shared by both halves; where entries are kept is their stores' matter.  A chain shows that
nothing inside it was changed; that its end was not cut off shows against its signed head, and that
it was not written anew as a whole against a head that the other half keeps (`common.heads`).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from common.errors import AuthError, StoreError
from common.signing import AUDIT, AUDIT_HEAD, SigningKey, VerifyKey
from common.strict_json import canonical
from common.text import clip_bytes

HASH_BYTES: Final = 32
GENESIS: Final = bytes(HASH_BYTES)
MAX_ENTRY_BYTES: Final = 16 * 1024
MAX_VALUE_BYTES: Final = 1024

Fact = str | int | bool | None
Entry = tuple[int, bytes, bytes, bytes]  # seq, prev, body, hash

# What is wrong with a log; each has its words in `common.sentences`.
Fault = Literal[
    "malformed",  # no entry at all: a value of another type or size
    "missing",  # a number is left out, or is there twice
    "prev",  # it does not continue the entry before it
    "changed",  # its content is not what was hashed
    "end",  # entries up to the signed head are gone
    "unsigned",  # no signed head where there must be one
    "head",  # the signed head is not of this chain, or its signature does not hold
    "key",  # it holds, but for a key that is not the owner's
    "kept",  # a head of the other half was changed or is gone
    "countersigned",  # the other half signed another history of this chain
]


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


def broken(seq: int, what: Fault) -> AuthError:
    """Return the error that names the first entry which does not hold."""
    return AuthError("audit.broken", seq=seq, what=what)


def continued(head: Head, entry: tuple[object, ...]) -> Head:
    """Return the new head when ``entry`` continues the chain; its values may be of any type.

    Raises:
        AuthError: ``audit.broken`` with ``seq``, the number expected here, and ``what``.
    """
    expected = head.seq + 1
    seq, prev, body, found = entry
    if type(seq) is not int or not (_is_hash(prev) and _is_hash(found) and type(body) is bytes):
        raise broken(expected, "malformed")
    assert isinstance(prev, bytes) and isinstance(found, bytes)  # noqa: S101, PT018  for the types
    if seq != expected:
        raise broken(expected, "missing")
    if not hmac.compare_digest(prev, head.hash):
        raise broken(expected, "prev")
    if not hmac.compare_digest(found, entry_hash(head.hash, body)):
        raise broken(expected, "changed")
    return Head(seq, found)


def base_of(entry: tuple[object, ...]) -> Head:
    """Return the head that an entry says it continues: where a part of a chain begins."""
    seq, prev = entry[0], entry[1]
    if type(seq) is not int or seq <= 1 or not isinstance(prev, bytes):
        return Head()
    return Head(seq - 1, prev)


def verify_chain(entries: Iterable[tuple[object, ...]], *, after: Head | None = None) -> Head:
    """Check entries ``(seq, prev, body, hash)`` in order and return the new head.

    Args:
        entries: Numbered without a gap.
        after: The head they continue; by default the start of the chain.

    Raises:
        AuthError: ``audit.broken`` with ``seq``, the number expected where it first fails.
    """
    head = after or Head()
    for entry in entries:
        head = continued(head, entry)
    return head


@dataclass(frozen=True, slots=True)
class SignedHead:
    """A head as the owner of the chain signed it.

    Attributes:
        at: When, in milliseconds since the epoch.
    """

    seq: int
    hash: bytes = field(repr=False)
    at: int
    public_key: bytes = field(repr=False)
    signature: bytes = field(repr=False)


def sign_head(key: SigningKey, head: Head, at_ms: int) -> SignedHead:
    """Return the owner's word that the chain stood so."""
    signature = key.sign(AUDIT_HEAD, _statement(head.seq, head.hash, at_ms))
    return SignedHead(head.seq, head.hash, at_ms, key.public.raw, signature)


def verify_head(signed: SignedHead) -> None:
    """Return when the signature holds for its own ``public_key``.

    Whose key that is, the caller must know.  The values may be of any type.

    Raises:
        AuthError: ``auth.signature`` or ``auth.key-size``.
    """
    numbers, raw = (signed.seq, signed.at), (signed.public_key, signed.signature)
    if {type(value) for value in numbers} != {int} or {type(value) for value in raw} != {bytes}:
        raise AuthError("auth.signature")
    if not _is_hash(signed.hash):
        raise AuthError("auth.signature")
    statement = _statement(signed.seq, signed.hash, signed.at)
    VerifyKey(signed.public_key).verify(AUDIT_HEAD, statement, signed.signature)


def _statement(seq: int, found: bytes, at_ms: int) -> bytes:
    return canonical({"v": 1, "seq": seq, "hash": found.hex(), "at": at_ms})


def _is_hash(value: object) -> bool:
    return type(value) is bytes and len(value) == HASH_BYTES
