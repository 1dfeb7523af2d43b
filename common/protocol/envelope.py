"""What one side signed for the other (R16): sealed once, kept as bytes, verified before it is read.

An envelope lives longer than a connection.  It is signed when its number is assigned, waits in the
store as the very bytes of its frame, and can be verified by whoever holds the public key.  Order
and duplicates across envelopes are `link`'s matter.

One kind hands the signer's next key over, on the line that its present key already vouches for.
Two signatures make it good.  The present key signs the envelope: the key that is pinned says which
one follows it.  The next key signs a proof over who speaks to whom, which key it follows and
itself: whoever announces it holds it, and it cannot be announced in another's name or place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from common import strict_json
from common.clock import Instant
from common.errors import AuthError, LocalProtocolError, RemoteProtocolError
from common.protocol.bodies import (
    BODIES,
    Body,
    CancelBody,
    EventBody,
    HeadBody,
    RekeyBody,
    ResultBody,
    TaskBody,
    TombstoneBody,
)
from common.protocol.codec import framed
from common.protocol.frames import (
    FRAME_BYTES,
    EnvelopeType,
    Sealed,
    decode_frame,
    encode_frame,
)
from common.records import (
    KEY_ID,
    NAME,
    SECONDS,
    SEQ,
    closed,
    decode_bytes,
    encode_bytes,
    fields_of,
    matching,
    one_of,
    read_object,
)
from common.signing import ENVELOPE, REKEY, SigningKey, VerifyKey

__all__ = [
    "MAX_LIFE_S",
    "SKEW_S",
    "CancelBody",
    "Envelope",
    "EventBody",
    "HeadBody",
    "Header",
    "RekeyBody",
    "ResultBody",
    "TaskBody",
    "TombstoneBody",
    "agent_name",
    "announced_key",
    "gateway_name",
    "open_envelope",
    "rekey_body",
    "seal_envelope",
    "signer_of",
    "verify_envelope",
]

SKEW_S: Final = 60  # R17: how far the two clocks may be apart
_DAY_S: Final = 86_400
MAX_LIFE_S: Final[Mapping[str, int]] = {  # longer than R17 says: a task may queue
    "task": _DAY_S,
    "cancel": 300,
    "tombstone": 7 * _DAY_S,
    "event": 7 * _DAY_S,
    "result": 7 * _DAY_S,
    "head": 7 * _DAY_S,
    "rekey": 90 * _DAY_S,  # a machine that was away for longer is paired again
}
_HEADER_BYTES: Final = 1024
_PARTY: Final = matching(r"(?:gateway:[0-9a-f]{16}|agent:[A-Za-z0-9_-]{1,64})")


@dataclass(frozen=True, slots=True)
class Header:
    """Who says what to whom, as which number, and until when.

    Attributes:
        typ: One of the kinds of body.
        kid: The signing key's ``key_id``.
        iss: Who signed: ``gateway:<key_id>`` or ``agent:<agent_id>``.
        aud: For whom it is.
        jti: Unique name of this envelope.
        seq: Its number from ``iss`` to ``aud``: 1, 2, 3 … without a gap.
        iat: When it was signed, in seconds since the epoch.
        exp: From when on it must not be acted upon, in seconds since the epoch.
    """

    typ: Annotated[EnvelopeType, one_of(BODIES)]
    kid: Annotated[str, KEY_ID]
    iss: Annotated[str, _PARTY]
    aud: Annotated[str, _PARTY]
    jti: Annotated[str, NAME]
    seq: Annotated[int, SEQ]
    iat: Annotated[int, SECONDS]
    exp: Annotated[int, SECONDS]


@dataclass(frozen=True, slots=True)
class Envelope:
    """A verified envelope.

    Attributes:
        header: See `Header`.
        body: The record, checked against its kind; `content` gives it typed.
        frame: The bytes of the frame, as sent and as stored.
        sha256: Hex hash over the signed bytes: names exactly this envelope for ever.
        signer: The key that verifies it.
        expired: It was past its ``exp`` when opened.  It may be recorded; it must never be run.
    """

    header: Header
    body: dict[str, Any]
    frame: bytes = field(repr=False)
    sha256: str
    signer: VerifyKey = field(repr=False)
    expired: bool = False

    @property
    def content(self) -> Body:
        """Return the body as the class of its kind."""
        return BODIES[self.header.typ].from_dict(self.body)


def gateway_name(key: VerifyKey) -> str:
    """Return the name of a gateway in ``iss`` and ``aud``."""
    return f"gateway:{key.key_id}"


def agent_name(agent_id: str) -> str:
    """Return the name of an agent in ``iss`` and ``aud``."""
    return f"agent:{agent_id}"


def seal_envelope(
    key: SigningKey,
    *,
    typ: EnvelopeType,
    iss: str,
    aud: str,
    jti: str,
    seq: int,
    iat: int,
    exp: int,
    body: Mapping[str, Any],
) -> Envelope:
    """Sign a body, and return it with the frame to store and send.

    Args:
        key: The signer's key; its ``key_id`` becomes ``kid``.
        typ: Kind of the body; bounds the life by `MAX_LIFE_S`.
        iss: `gateway_name` or `agent_name` of the signer.
        aud: The same of the receiver.
        jti: A fresh unique name.
        seq: The next number from ``iss`` to ``aud``.
        iat: Now, in seconds since the epoch.
        exp: End of life, in seconds since the epoch.
        body: The record, as of ``to_dict`` of its class.

    Raises:
        LocalProtocolError: ``envelope.invalid`` when the other side would refuse it.
    """
    header = Header(typ, key.public.key_id, iss, aud, jti, seq, iat, exp)
    record = {name: getattr(header, name) for name in Header.__slots__}
    try:
        _check_header(record)
        BODIES[typ].from_dict(body)
    except RemoteProtocolError as error:
        raise LocalProtocolError("envelope.invalid", why=error.code, **error.facts) from None
    head, content = strict_json.canonical(record), strict_json.canonical(dict(body))
    message = framed(head, content)
    sealed = Sealed(typ, head.decode(), content.decode(), key.sign(ENVELOPE, message))
    return Envelope(
        header,
        dict(body),
        encode_frame(sealed).encode("ascii"),
        hashlib.sha256(message).hexdigest(),
        key.public,
    )


def open_envelope(
    frame: bytes,
    *,
    key: VerifyKey,
    iss: str,
    aud: str,
    at: Instant,
    skew_s: int = SKEW_S,
) -> Envelope:
    """Return what a frame holds, when it may be acted upon at this moment.

    Raises:
        AuthError: ``auth.signature`` or ``auth.envelope``: not signed by ``key``, or not from
            ``iss`` to ``aud``.
        RemoteProtocolError: ``envelope.expired``, ``clock-skew``, or a malformed frame.
    """
    sealed = decode_frame(frame, max_bytes=FRAME_BYTES)
    if not isinstance(sealed, Sealed):
        raise RemoteProtocolError("frame.unexpected")
    envelope = verify_envelope(sealed, frame, key=key, iss=iss, aud=aud, at=at, skew_s=skew_s)
    if envelope.expired:
        raise RemoteProtocolError("envelope.expired", seq=envelope.header.seq)
    return envelope


def verify_envelope(
    sealed: Sealed,
    frame: bytes,
    *,
    key: VerifyKey,
    iss: str,
    aud: str,
    at: Instant,
    skew_s: int = SKEW_S,
) -> Envelope:
    """Verify a decoded frame, then read it; one past its time comes back marked ``expired``.

    Raises:
        AuthError: ``auth.signature`` or ``auth.envelope``.
        RemoteProtocolError: ``clock-skew`` when it was signed in our future, else ``json.*`` or
            ``record.*``.
    """
    message = framed(sealed.header.encode(), sealed.body.encode())
    key.verify(ENVELOPE, message, sealed.sig)
    record = read_object(sealed.header, max_bytes=_HEADER_BYTES)
    _check_header(record)
    header = Header(**record)
    if (header.typ, header.kid, header.iss, header.aud) != (sealed.t, key.key_id, iss, aud):
        raise AuthError("auth.envelope")
    if header.iat > at.wall_s + skew_s:
        raise RemoteProtocolError("clock-skew", seconds=header.iat - at.wall_s)
    body = read_object(sealed.body, max_bytes=FRAME_BYTES)
    BODIES[header.typ].from_dict(body)
    return Envelope(
        header,
        body,
        frame,
        hashlib.sha256(message).hexdigest(),
        key,
        expired=at.wall_s > header.exp + skew_s,
    )


def signer_of(frame: bytes) -> str:
    """Return the ``kid`` of an envelope of our own making, as it was stored; verifies nothing.

    Raises:
        RemoteProtocolError: it is no sealed frame.
    """
    sealed = decode_frame(frame, max_bytes=FRAME_BYTES)
    if not isinstance(sealed, Sealed):
        raise RemoteProtocolError("frame.unexpected")
    return str(read_object(sealed.header, max_bytes=_HEADER_BYTES)["kid"])


def _check_header(record: Mapping[str, Any]) -> None:
    closed(record, fields_of(Header))
    if not 0 < record["exp"] - record["iat"] <= MAX_LIFE_S[record["typ"]]:
        raise RemoteProtocolError("record.field", field="exp")


# --- the next key ---


def rekey_body(new: SigningKey, *, iss: str, aud: str, old_key_id: str) -> dict[str, Any]:
    """Return the body that announces a key.

    Args:
        new: The next key.
        iss: ``iss`` of the envelope that will carry it.
        aud: Its ``aud``.
        old_key_id: Its ``kid``.
    """
    said = _rekey_said(new.public, iss=iss, aud=aud, old_key_id=old_key_id)
    proof = encode_bytes(new.sign(REKEY, said))
    return RekeyBody(public_key=encode_bytes(new.public.raw), proof=proof).to_dict()


def announced_key(envelope: Envelope) -> VerifyKey:
    """Return the key that a verified ``rekey`` envelope announces, once that key is proven too.

    Raises:
        AuthError: ``auth.rekey``: it came too late, announces the key that it replaces, or its
            proof does not hold.
    """
    header, body = envelope.header, envelope.content
    if not isinstance(body, RekeyBody) or envelope.expired:
        raise AuthError("auth.rekey")
    new = VerifyKey(decode_bytes(body.public_key))
    if new.key_id == header.kid:
        raise AuthError("auth.rekey")
    said = _rekey_said(new, iss=header.iss, aud=header.aud, old_key_id=header.kid)
    try:
        new.verify(REKEY, said, decode_bytes(body.proof))
    except AuthError:
        raise AuthError("auth.rekey") from None
    return new


def _rekey_said(new: VerifyKey, *, iss: str, aud: str, old_key_id: str) -> bytes:
    return framed(iss.encode(), aud.encode(), old_key_id.encode(), new.raw)
