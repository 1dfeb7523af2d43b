"""An authenticator in software, with the browser around it: ES256, attestation "none".

Written from the WebAuthn specification and not from the library that verifies it; what it answers
can be wrong in one place at a time.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

PORT: Final = 8474
ORIGIN: Final = f"http://localhost:{PORT}"
UP, UV, AT, ED = 0x01, 0x04, 0x40, 0x80  # user present, verified; attested; extended
AAGUID: Final = bytes(range(16))


def encoded(value: bytes) -> str:
    """Return base64url without padding, as in all JSON of WebAuthn."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    """Return what `encoded` was given."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass(kw_only=True)
class Authenticator:
    """One passkey; made by `create`, used by `get`.

    Attributes:
        counts: Whether it has a counter; passkeys that are synchronised have none.
    """

    counts: bool = True
    count: int = 0
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    @property
    def public_key(self) -> bytes:
        """The key in COSE form (RFC 9053)."""
        point = self.key.public_key().public_numbers()
        x, y = point.x.to_bytes(32, "big"), point.y.to_bytes(32, "big")
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})

    def create(self, options: Mapping[str, Any], **wrong: Any) -> dict[str, Any]:
        """Answer ``navigator.credentials.create``."""
        changed = {
            "type": "webauthn.create",
            "challenge": options["challenge"],
            "flags": UP | UV | AT,
            "fmt": "none",
            "public_key": self.public_key,
        } | wrong
        client = _client_data(changed)
        attested = AAGUID + struct.pack(">H", len(self.credential_id)) + self.credential_id
        auth_data = _auth_data(changed, self.count) + attested + changed["public_key"]
        made = {"fmt": changed["fmt"], "attStmt": {}, "authData": auth_data}
        return self._answer(clientDataJSON=client, attestationObject=cbor2.dumps(made))

    def get(self, options: Mapping[str, Any], **wrong: Any) -> dict[str, Any]:
        """Answer ``navigator.credentials.get``."""
        if self.counts:
            self.count += 1
        changed = {
            "type": "webauthn.get",
            "challenge": options["challenge"],
            "flags": UP | UV,
        } | wrong
        client = _client_data(changed)
        auth_data = _auth_data(changed, self.count)
        signed = auth_data + hashlib.sha256(client).digest()
        signature = self.key.sign(signed, ec.ECDSA(hashes.SHA256()))
        return self._answer(clientDataJSON=client, authenticatorData=auth_data, signature=signature)

    def _answer(self, **response: bytes) -> dict[str, Any]:
        return {
            "id": encoded(self.credential_id),
            "rawId": encoded(self.credential_id),
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {name: encoded(value) for name, value in response.items()},
        }


def assertion(digest: str, key: Any = None, **wrong: Any) -> dict[str, str]:
    """Return the record of what a key signed for a digest, as it is kept with an approval.

    Args:
        key: Of any kind that a passkey may have; one of its own where there is none.
        wrong: What is otherwise in the answer, or in the record.
    """
    key = key or ec.generate_private_key(ec.SECP256R1())
    drawn = {"session": bytes(32), "random": b"\7" * 32}
    label = b"codexbridge passkey approval v1\0"
    parts = label + bytes.fromhex(digest) + drawn["session"] + drawn["random"]
    challenge = encoded(hashlib.sha256(parts).digest())
    changed = {"type": "webauthn.get", "challenge": challenge, "flags": UP | UV} | wrong
    client, auth_data = _client_data(changed), _auth_data(changed, 1)
    signed = auth_data + hashlib.sha256(client).digest()
    how: tuple[Any, ...] = ()
    if isinstance(key, ec.EllipticCurvePrivateKey):
        how = (ec.ECDSA(hashes.SHA256()),)
    elif isinstance(key, rsa.RSAPrivateKey):
        how = (padding.PKCS1v15(), hashes.SHA256())
    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    record = {
        **drawn,
        "client_data": client,
        "authenticator_data": auth_data,
        "signature": key.sign(signed, *how),
        "public_key": key.public_key().public_bytes(*form),
    }
    return {name: base64.b64encode(value).decode() for name, value in record.items()} | {
        "passkey": "5a" * 32
    }


def _client_data(changed: Mapping[str, Any]) -> bytes:
    said = {
        "type": changed["type"],
        "challenge": changed["challenge"],
        "origin": changed.get("origin", ORIGIN),
        "crossOrigin": changed.get("cross_origin", False),
    }
    return json.dumps(said | changed.get("more", {})).encode()


def _auth_data(changed: Mapping[str, Any], count: int) -> bytes:
    rp_id = changed.get("rp_id", "localhost")
    flags, told = changed["flags"], changed.get("count", count)
    extensions: bytes = changed.get("extensions", b"")
    flags |= ED if extensions else 0
    return hashlib.sha256(rp_id.encode()).digest() + struct.pack(">BI", flags, told) + extensions
