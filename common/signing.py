"""Ed25519 keys and labels (R12, R16).  A signature is never valid under two labels.

Pure: key bytes come in, signatures go out.  Where keys are kept is `common.keystore`'s matter.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from common.errors import AuthError

AGENT_AUTH: Final = b"codexbridge/agent-auth/v1\0"
GATEWAY_AUTH: Final = b"codexbridge/gateway-auth/v1\0"
ENVELOPE: Final = b"codexbridge/envelope/v1\0"
APPROVAL: Final = b"codexbridge/approval/v1\0"
AUDIT: Final = b"codexbridge/audit/v1\0"
AUDIT_HEAD: Final = b"codexbridge/audit-head/v1\0"
PAIR: Final = b"codexbridge/pair/v1\0"
REKEY: Final = b"codexbridge/rekey/v1\0"
ACK: Final = b"codexbridge/ack/v1\0"
RECEIPT: Final = b"codexbridge/receipt/v1\0"

KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64

_FIELD: Final = 2**255 - 19
_SIGN_BIT: Final = 2**255
# The y of the points of order 1, 2, 4 and 8: https://eprint.iacr.org/2020/1244, table 5.
_SMALL_ORDER: Final = frozenset(
    {
        0,
        1,
        _FIELD - 1,
        0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
        _FIELD - 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
    }
)


class VerifyKey:
    """A public key.  ``key_id`` names it: the first 16 hex digits of its SHA-256.

    One under which a single signature fits any message is refused: the library would take it, and
    then nothing that it "signed" were under one label, or from anybody.

    The library's form of it is made for each check: it costs a tenth of the check, and a gateway
    that kept one for each of its agents would hold a kilobyte more for each of them.
    """

    __slots__ = ("key_id", "raw")

    def __init__(self, raw: bytes) -> None:
        if len(raw) != KEY_BYTES:
            raise AuthError("auth.key-size")
        if _is_weak(raw):
            raise AuthError("auth.key-weak")
        self.raw = bytes(raw)
        self.key_id = hashlib.sha256(self.raw).hexdigest()[:16]

    def verify(self, label: bytes, message: bytes, signature: bytes) -> None:
        """Return when the signature holds.

        Raises:
            AuthError: ``auth.signature``; says nothing of why.
        """
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, label + message)
        except InvalidSignature:
            raise AuthError("auth.signature") from None

    def __eq__(self, other: object) -> bool:
        """Two keys are one when their bytes are."""
        return isinstance(other, VerifyKey) and other.raw == self.raw

    def __hash__(self) -> int:
        """By the bytes."""
        return hash(self.raw)


def _is_weak(raw: bytes) -> bool:
    """Tell whether a key has a second form, or is of small order."""
    y = int.from_bytes(raw, "little") % _SIGN_BIT
    return y >= _FIELD or y in _SMALL_ORDER


def parse_public_key(text: str) -> VerifyKey:
    """Return the public key that a person gave, in base64 or in hex.

    Raises:
        AuthError: ``auth.key-size`` or ``auth.key-weak``.
    """
    given = "".join(text.split())
    try:
        raw = base64.b64decode(given, validate=True)
        if len(given) == 2 * KEY_BYTES:
            raw = bytes.fromhex(given)
    except ValueError:
        raw = b""
    return VerifyKey(raw)


class SigningKey:
    """A private key.  Its bytes never appear in a representation or an error."""

    def __init__(self, raw: bytes) -> None:
        if len(raw) != KEY_BYTES:
            raise AuthError("auth.key-size")
        self._key = Ed25519PrivateKey.from_private_bytes(raw)
        self.public = VerifyKey(self._key.public_key().public_bytes_raw())

    @classmethod
    def generate(cls) -> SigningKey:
        """Return a fresh key from the system's randomness."""
        return cls(Ed25519PrivateKey.generate().private_bytes_raw())

    def private_bytes(self) -> bytes:
        """Return the 32 secret bytes, for the keystore alone."""
        return self._key.private_bytes_raw()

    def sign(self, label: bytes, message: bytes) -> bytes:
        """Return the 64-byte signature over label and message."""
        return self._key.sign(label + message)
