"""Heads that one half keeps of the other's audit log: what is stored of them, and what they prove.

Each half signs an envelope that says "this is my head, and this is the newest head of yours that I
keep" (`common.protocol.bodies.HeadBody`).  Whoever receives it keeps the frame itself, as proof
against the signer, and notes it in its own chain, so that what is kept cannot be exchanged later.
Pure; the stores of the halves keep the rows.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Final

from common.audit import GENESIS, HASH_BYTES, Fact, Head
from common.clock import Instant
from common.errors import AuthError, RemoteProtocolError
from common.protocol.codec import framed
from common.protocol.envelope import Envelope, HeadBody, verify_envelope
from common.protocol.frames import FRAME_BYTES, Sealed, decode_frame, encode_frame
from common.records import read_object
from common.signing import ENVELOPE, VerifyKey

KEPT: Final = "head.kept"  # the audit event that notes a kept head
FORKED: Final = "audit.forked"  # the alarm: the other half signed what contradicts a chain

MAX_FRAME_BYTES: Final = 8 * 1024  # far more than a head needs

_HEADER_BYTES: Final = 1024
_ANY_TIME: Final = Instant(wall_ms=2**50, mono=0.0)  # a proof is read whenever it was made


@dataclass(frozen=True, slots=True)
class KeptHead:
    """The newest head that the other half signed.

    Attributes:
        peer: Names the other half: a pairing, or an agent.
        seq: Number of the newest entry of its chain.
        hash: Hash of that entry.
        own_seq: Number of the newest entry of our chain that it keeps; 0 for none.
        own_hash: Hash of that entry.
        public_key: The key that verifies ``frame``.
        frame: The signed envelope as it came.
        at: When it came, in milliseconds since the epoch.
    """

    peer: str
    seq: int
    hash: bytes = field(repr=False)
    own_seq: int
    own_hash: bytes = field(repr=False)
    public_key: bytes = field(repr=False)
    frame: bytes = field(repr=False)
    at: int

    def facts(self) -> dict[str, Fact]:
        """Return what the audit entry says of it: enough that no part can be exchanged."""
        return {
            "peer": self.peer,
            "seq": self.seq,
            "hash": self.hash.hex(),
            "own_seq": self.own_seq,
            "own_hash": self.own_hash.hex(),
            "key": self.public_key.hex(),
            "frame_sha256": hashlib.sha256(self.frame).hexdigest(),
        }


def kept_head(peer: str, envelope: Envelope, said: HeadBody, *, at_ms: int) -> KeptHead:
    """Return what to keep of a verified envelope: its frame in the one form, and what it says.

    Raises:
        AuthError: ``head.too-large``: padded beyond what a head can need, by whoever signed it.
    """
    # Blanks outside the signature may be anybody's: they must not make it unwanted.
    frame = encode_frame(decode_frame(envelope.frame)).encode("ascii")
    if len(frame) > MAX_FRAME_BYTES:
        raise AuthError("head.too-large")
    return KeptHead(
        peer=peer,
        seq=said.seq,
        hash=bytes.fromhex(said.hash),
        own_seq=said.peer_seq,
        own_hash=bytes.fromhex(said.peer_hash),
        public_key=envelope.signer.raw,
        frame=frame,
        at=at_ms,
    )


def next_body(own: Head, kept: KeptHead | None, at_ms: int) -> HeadBody:
    """Return what to sign: our head, and the newest of theirs that we keep."""
    theirs = Head(kept.seq, kept.hash) if kept else Head()
    return HeadBody(own.seq, own.hash.hex(), theirs.seq, theirs.hash.hex(), at_ms)


def contradicts(said: HeadBody, *, kept: KeptHead | None, own_hash: bytes | None) -> bool:
    """Tell whether what the other half signed cannot be true beside what this one knows.

    Args:
        said: What it says of its chain and of ours.
        kept: What it said before.
        own_hash: Hash of our entry number ``said.peer_seq``; None when there is none.
    """
    if own_hash is None or not hmac.compare_digest(own_hash, bytes.fromhex(said.peer_hash)):
        return True
    if kept is None:
        return False
    went_back = said.seq < kept.seq or said.peer_seq < kept.own_seq
    return went_back or (said.seq == kept.seq and bytes.fromhex(said.hash) != kept.hash)


def own_hash_at(seq: int, found: bytes | None) -> bytes | None:
    """Return the hash at a number, given what the store has there: before the first is GENESIS."""
    return GENESIS if seq == 0 else found


def prove(frame: bytes, public_key: bytes) -> Envelope:
    """Return what a kept frame says: proof of who signed it, never an order to act.

    Raises:
        AuthError: not signed by this key, or not in the one form that it had on the wire.
        RemoteProtocolError: malformed.
    """
    key, sealed = VerifyKey(public_key), decode_frame(frame, max_bytes=FRAME_BYTES)
    if not isinstance(sealed, Sealed) or encode_frame(sealed).encode("ascii") != frame:
        raise AuthError("auth.envelope")
    key.verify(ENVELOPE, framed(sealed.header.encode(), sealed.body.encode()), sealed.sig)
    header = read_object(sealed.header, max_bytes=_HEADER_BYTES)
    return verify_envelope(
        sealed,
        frame,
        key=key,
        iss=str(header.get("iss")),
        aud=str(header.get("aud")),
        at=_ANY_TIME,
    )


def verify_kept(kept: KeptHead) -> Envelope:
    """Return the envelope of a kept head when every part of the row is what was signed.

    The values may be of any type.

    Raises:
        AuthError: ``audit.kept-head``.
    """
    whole = (
        type(kept.peer) is str
        and all(type(number) is int for number in (kept.seq, kept.own_seq, kept.at))
        and all(
            type(value) is bytes and len(value) == HASH_BYTES
            for value in (kept.hash, kept.own_hash, kept.public_key)
        )
        and type(kept.frame) is bytes
        and len(kept.frame) <= MAX_FRAME_BYTES
    )
    if not whole:
        raise AuthError("audit.kept-head")
    try:
        envelope = prove(kept.frame, kept.public_key)
    except (AuthError, RemoteProtocolError):
        raise AuthError("audit.kept-head") from None
    said = envelope.content
    if (
        not isinstance(said, HeadBody)
        or kept_head(kept.peer, envelope, said, at_ms=kept.at) != kept
    ):
        raise AuthError("audit.kept-head")
    return envelope
