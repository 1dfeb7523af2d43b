"""How one side hands its next key over, on the line that its present key already vouches for.

Two signatures make it good.  The present key signs the envelope: the key that is pinned says which
one follows it.  The next key signs a proof over who speaks to whom, which key it follows and
itself: whoever announces it holds it, and it cannot be announced in another's name or place.
"""

from __future__ import annotations

from typing import Any

from common.errors import AuthError
from common.protocol.bodies import RekeyBody
from common.protocol.codec import decode_bytes, encode_bytes, framed
from common.protocol.envelope import Envelope
from common.signing import REKEY, SigningKey, VerifyKey


def rekey_body(new: SigningKey, *, iss: str, aud: str, old_key_id: str) -> dict[str, Any]:
    """Return the body that announces a key.

    Args:
        new: The next key.
        iss: ``iss`` of the envelope that will carry it.
        aud: Its ``aud``.
        old_key_id: Its ``kid``.
    """
    said = _said(new.public, iss=iss, aud=aud, old_key_id=old_key_id)
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
    said = _said(new, iss=header.iss, aud=header.aud, old_key_id=header.kid)
    try:
        new.verify(REKEY, said, decode_bytes(body.proof))
    except AuthError:
        raise AuthError("auth.rekey") from None
    return new


def _said(new: VerifyKey, *, iss: str, aud: str, old_key_id: str) -> bytes:
    return framed(iss.encode(), aud.encode(), old_key_id.encode(), new.raw)
