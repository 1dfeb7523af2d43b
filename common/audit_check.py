"""Checks a whole audit log: its entries, its signed head, and the heads kept of the other half.

    check = LogCheck(keys=…, to_the_end=…)
    check.entry(row) …  check.signed(row)  check.kept(row) …  check.finish()

Each part holds the next: the key signs the head, the head fixes every entry, and an entry notes
each head that was kept.  So one changed byte anywhere breaks something that can be named.  Pure;
rows come in as the store has them, of whatever type.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from common.audit import (
    GENESIS,
    HASH_BYTES,
    Head,
    SignedHead,
    broken,
    continued,
    verify_head,
)
from common.errors import AuthError
from common.heads import KEPT, KeptHead, verify_kept
from common.protocol.envelope import gateway_name

STARTED: Final = "gateway.started"  # from here on a chain that is signed now and then has a head
# What came before had no signature of its owner any more: whatever was there may be gone.
RENEWED: Final = "audit.signed-anew"
ENROLLED: Final = "agent.enrolled"  # gives a machine that was paired its name
MAX_KEPT: Final = 100_000

_KEPT_MARK: Final = f'"event":"{KEPT}"'.encode()
_ENROLLED_MARK: Final = f'"event":"{ENROLLED}"'.encode()
_STARTED_MARK: Final = f'"event":"{STARTED}"'.encode()
_RENEWED_MARK: Final = f'"event":"{RENEWED}"'.encode()


@dataclass(frozen=True, slots=True)
class Checked:
    """What a whole log says of itself.

    Attributes:
        first: Number of the first entry that was seen; 1 unless only the end of a log was.
        head: Its end.
        signed: Its newest signed head; entries after it are not signed yet.
        kept: Newest head of each other half, all proven.
        renewed: Number of the newest entry that was signed over a log without its signature; before
            it nothing but the other half can tell what there was.
        gateways: Peers of ``kept`` that are gateways; the others are machines.
        machines: Names of machines by peer, as this log enrolled them, the newest last.
    """

    first: int
    head: Head
    signed: SignedHead | None
    kept: tuple[KeptHead, ...]
    renewed: int | None = None
    gateways: frozenset[str] = frozenset()
    machines: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Noted:
    """What an entry says of a head that was kept."""

    seq: int
    at: object
    facts: dict[str, Any]


class LogCheck:
    """Takes in a log in order, and raises AuthError ``audit.broken`` (seq, what) where it fails.

    Args:
        keys: Public keys of the log's owner; a head signed by any other is none.
        to_the_end: Whether the signed head must be of the very last entry.
        after: The head that the first entry continues; by default the start of the chain.
    """

    def __init__(
        self, *, keys: Container[bytes], to_the_end: bool, after: Head | None = None
    ) -> None:
        self._keys = keys
        self._to_the_end = to_the_end
        self._base = self._head = after or Head()
        self._hashes = bytearray()
        self._noted: dict[str, _Noted] = {}
        self._gateways: set[str] = set()
        self._machines: dict[str, str] = {}
        self._started = False
        self._renewed: int | None = None
        self._signed: list[SignedHead] = []
        self._kept: list[KeptHead] = []

    def entry(self, row: tuple[object, ...]) -> None:
        """Take the next entry."""
        self._head = continued(self._head, row)
        self._hashes += self._head.hash
        body = row[2]
        assert isinstance(body, bytes)  # noqa: S101  `continued` has made sure of it
        if _KEPT_MARK in body or _ENROLLED_MARK in body:
            self._note(body)
        self._started = self._started or _STARTED_MARK in body
        if _RENEWED_MARK in body:
            self._renewed = self._head.seq

    def signed(self, signed: SignedHead) -> None:
        """Take the signed head."""
        self._signed.append(signed)

    def kept(self, kept: KeptHead) -> None:
        """Take a head kept of another half."""
        if len(self._kept) >= MAX_KEPT:
            raise broken(self._head.seq, "kept")
        self._kept.append(kept)

    def finish(self) -> Checked:
        """Check how the parts hold one another, and return what was found."""
        signed = self._check_signed()
        peers = {self._check_kept(kept) for kept in self._kept}
        if len(peers) < len(self._kept):
            raise broken(self._head.seq, "kept")
        for peer, noted in self._noted.items():
            if peer not in peers:
                raise broken(noted.seq, "kept")
        return Checked(
            self._base.seq + 1,
            self._head,
            signed,
            tuple(self._kept),
            self._renewed,
            frozenset(self._gateways),
            self._machines,
        )

    def _note(self, body: bytes) -> None:
        try:
            record = json.loads(body)
            event, at, facts = record["event"], record["at"], record["facts"]
            peer = facts["peer"] if event == KEPT else None
            named = (facts["agent"], facts["machine"]) if event == ENROLLED else None
        except (ValueError, LookupError, TypeError, RecursionError):
            raise broken(self._head.seq, "malformed") from None
        if type(peer) is str:
            self._noted[peer] = _Noted(self._head.seq, at, facts)
        if named is not None and type(named[0]) is type(named[1]) is str:
            self._machines[named[0]] = named[1]

    def _check_signed(self) -> SignedHead | None:
        end = self._head.seq
        if not self._signed:
            if self._started or (self._to_the_end and end > 0):
                raise broken(end + 1, "unsigned")
            return None
        signed = self._signed[0]
        try:
            verify_head(signed)
        except AuthError:
            raise broken(end, "head") from None
        if len(self._signed) > 1:
            raise broken(end, "head")
        if signed.public_key not in self._keys:
            raise broken(end, "key")
        if signed.seq > end:
            raise broken(end + 1, "end")
        found = self._hash_at(signed.seq)
        if found is not None and not hmac.compare_digest(found, signed.hash):
            raise broken(signed.seq, "head")
        if self._to_the_end and signed.seq < end:
            raise broken(signed.seq + 1, "unsigned")
        return signed

    def _check_kept(self, kept: KeptHead) -> str:
        """Check one head against its signature, its entry, and our own chain; return its peer."""
        noted = self._noted.get(kept.peer) if type(kept.peer) is str else None
        at = noted.seq if noted else self._head.seq
        try:
            envelope = verify_kept(kept)
        except AuthError:
            raise broken(at, "kept") from None
        known = noted is not None and noted.facts == kept.facts() and noted.at == kept.at
        # Of a part of a log it may be the earlier part that notes it.
        if not known and (noted is not None or self._base.seq == 0):
            raise broken(at, "kept")
        if kept.own_seq > self._head.seq:
            raise broken(self._head.seq + 1, "end")
        found = self._hash_at(kept.own_seq)
        if found is not None and not hmac.compare_digest(found, kept.own_hash):
            raise broken(kept.own_seq, "countersigned")
        if envelope.header.iss == gateway_name(envelope.signer):
            self._gateways.add(kept.peer)
        return kept.peer

    def _hash_at(self, seq: int) -> bytes | None:
        """Return the hash of an entry; None before the part that was seen."""
        if seq == 0:
            return GENESIS
        if seq == self._base.seq:
            return self._base.hash
        start = (seq - self._base.seq - 1) * HASH_BYTES
        return bytes(self._hashes[start : start + HASH_BYTES]) if start >= 0 else None
