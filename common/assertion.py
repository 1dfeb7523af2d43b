"""What a passkey signed for one approval, checked with public keys alone (WebAuthn, ADR 44).

    challenge = SHA-256( label ‖ digest ‖ session ‖ random ), 32 bytes each after the label

The agent keeps the random bytes from asking to answering, and the whole record with the decision;
so a receipt proves offline which digest was signed.  Pure: no journal, no clock, no randomness.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key

from common.errors import AuthError, RemoteProtocolError
from common.records import SHA256_HEX, TEXT, Fields, closed, decode_bytes, raw_bytes
from common.strict_json import loads

RP_ID: Final = "localhost"  # an address such as 127.0.0.1 cannot be one
SIZE: Final = 32  # bytes of a digest, of what names a session, of what the agent drew
ORIGIN: Final = re.compile(r"http://localhost:[1-9][0-9]{0,4}")

_LABEL: Final = b"codexbridge passkey approval v1\0"
_PRESENT_AND_VERIFIED: Final = 0x01 | 0x04
_FIELDS: Final[Fields] = {
    "session": raw_bytes(SIZE),
    "random": raw_bytes(SIZE),
    "client_data": TEXT,
    "authenticator_data": TEXT,
    "signature": TEXT,
    "public_key": TEXT,  # SubjectPublicKeyInfo
    "passkey": SHA256_HEX,  # which one it was, as `store.passkeys` names it
}


def challenge_of(digest: str, session: bytes, random: bytes) -> bytes:
    """Return what an authenticator signs to approve the seal of this digest, once."""
    parts = bytes.fromhex(digest), session, random
    if any(len(part) != SIZE for part in parts):  # or bytes could move from one to the next
        raise ValueError("each part has 32 bytes")
    return hashlib.sha256(_LABEL + b"".join(parts)).digest()


def check_assertion(record: Mapping[str, Any], digest: str) -> None:
    """Return when a passkey signed exactly this digest, by a person who was verified.

    Raises:
        AuthError: ``passkey.refused``.
    """
    try:
        named = closed(dict(record), _FIELDS)
        raw = {name: decode_bytes(named[name]) for name in _FIELDS if name != "passkey"}
        said = loads(raw["client_data"], max_bytes=len(raw["client_data"]))
        wanted = challenge_of(digest, raw["session"], raw["random"])
        data = raw["authenticator_data"]
        holds = (
            said["type"] == "webauthn.get"
            and said.get("crossOrigin", False) is False
            and ORIGIN.fullmatch(said["origin"])
            and hmac.compare_digest(base64.urlsafe_b64decode(said["challenge"] + "="), wanted)
            and hmac.compare_digest(data[:SIZE], hashlib.sha256(RP_ID.encode()).digest())
            and data[SIZE] & _PRESENT_AND_VERIFIED == _PRESENT_AND_VERIFIED
        )
        signed = data + hashlib.sha256(raw["client_data"]).digest()
        _verify(raw["public_key"], raw["signature"], signed)
    except (InvalidSignature, RemoteProtocolError, LookupError, TypeError, ValueError):
        raise AuthError("passkey.refused") from None
    if not holds:
        raise AuthError("passkey.refused")


def _verify(public_key: bytes, signature: bytes, signed: bytes) -> None:
    match load_der_public_key(public_key):
        case ec.EllipticCurvePublicKey() as key:
            key.verify(signature, signed, ec.ECDSA(SHA256()))
        case ed25519.Ed25519PublicKey() as key:
            key.verify(signature, signed)
        case rsa.RSAPublicKey() as key:
            key.verify(signature, signed, padding.PKCS1v15(), SHA256())
        case _:
            raise TypeError
