"""What an authenticator is asked, and what it answers: bounded, parsed and verified (WebAuthn).

    request_options ─▶ browser ─▶ authenticator ─▶ answer ─▶ verify_assertion ─▶ sign count, record
    creation_options ─▶ … ─▶ verify_registration ─▶ NewCredential

Whatever is wrong with an answer has one code, and is not told to anybody.  No state, no journal and
no decision: those are `local_agent.faces.page.passkeys`'.  The library is imported where it is
used, since it is an extra (``codexbridge[passkey]``); it takes a while, so off the event loop.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from common.assertion import ORIGIN, RP_ID
from common.errors import AuthError, ConfigError, LocalProtocolError
from common.records import encode_bytes
from common.strict_json import loads

TIMEOUT_MS: Final = 60_000

_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]+")
_MAX_ID_CHARS: Final = 1364  # of 1023 bytes, the most that WebAuthn allows
# Characters of base64url, checked before anything is decoded.
_MAX_CHARS: Final = {
    "clientDataJSON": 4096,
    "authenticatorData": 2048,
    "signature": 1024,
    "attestationObject": 16_384,
}
_ES256, _EDDSA, _RS256 = -7, -8, -257  # COSE; the last is what older Windows Hello has
# What "none" is asked for may still come signed by the credential itself.  The other formats bring
# certificates, which prove nothing that anybody here wants to know.
_FORMATS: Final = frozenset({"none", "packed"})


@dataclass(frozen=True, slots=True)
class NewCredential:
    """What an authenticator has made.

    Attributes:
        public_key: In COSE form.
        aaguid: Which kind of authenticator it says it is.
    """

    credential_id: bytes
    public_key: bytes
    sign_count: int
    aaguid: str


def require_library() -> None:
    """Return when passkeys can be verified here.  Blocking.

    Raises:
        ConfigError: ``passkey.not-installed``.
    """
    try:
        import webauthn  # noqa: F401 - whether it is there
    except ImportError:
        raise ConfigError("passkey.not-installed") from None


def check_origin(origin: str) -> None:
    """Require the origin that a server passes to be its own, and no header of a browser.

    Raises:
        LocalProtocolError: ``passkey.origin``.
    """
    if not ORIGIN.fullmatch(origin):
        raise LocalProtocolError("passkey.origin")


def refused() -> AuthError:
    """Return the one error for whatever does not verify."""
    return AuthError("passkey.refused")


def creation_options(
    *, name: str, user_id: bytes, challenge: bytes, known: Sequence[bytes]
) -> dict[str, Any]:
    """Return what ``navigator.credentials.create`` takes as JSON.

    Args:
        name: What the person calls the passkey.
        user_id: Random: an authenticator may keep passkeys of other machines for ``localhost``.
        challenge: Random, for one answer.
        known: Credential ids that are not to be made again.
    """
    from webauthn import generate_registration_options
    from webauthn.helpers import options_to_json_dict
    from webauthn.helpers.cose import COSEAlgorithmIdentifier
    from webauthn.helpers.structs import (
        AttestationConveyancePreference,
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    options = generate_registration_options(
        rp_id=RP_ID,
        rp_name="CodexBridge",
        user_id=user_id,
        user_name=name,
        user_display_name=name,
        challenge=challenge,
        timeout=TIMEOUT_MS,
        attestation=AttestationConveyancePreference.NONE,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.DISCOURAGED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[PublicKeyCredentialDescriptor(id=one) for one in known],
        supported_pub_key_algs=[COSEAlgorithmIdentifier(one) for one in (_ES256, _EDDSA, _RS256)],
    )
    return options_to_json_dict(options)


def request_options(*, challenge: bytes, known: Sequence[bytes]) -> dict[str, Any]:
    """Return what ``navigator.credentials.get`` takes as JSON.

    Args:
        challenge: What is to be signed.
        known: Ids of the credentials that may sign it.
    """
    from webauthn import generate_authentication_options
    from webauthn.helpers import options_to_json_dict
    from webauthn.helpers.structs import (
        PublicKeyCredentialDescriptor,
        UserVerificationRequirement,
    )

    options = generate_authentication_options(
        rp_id=RP_ID,
        challenge=challenge,
        timeout=TIMEOUT_MS,
        allow_credentials=[PublicKeyCredentialDescriptor(id=one) for one in known],
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json_dict(options)


def credential_id_of(answer: object) -> bytes:
    """Return which credential an answer says it is by.

    Raises:
        AuthError: ``passkey.refused``.
    """
    with _refusing():
        if type(answer) is not dict or answer.get("type") != "public-key":
            raise refused()
        if answer.get("id") != answer.get("rawId"):
            raise refused()
        return _decoded(answer.get("rawId"), _MAX_ID_CHARS)


def verify_assertion(
    answer: object, *, challenge: bytes, origin: str, public_key: bytes
) -> tuple[int, Mapping[str, str]]:
    """Return the sign count of an answer to `request_options`, and what was signed.

    That is the bytes, the signature and its key, by their names in `common.assertion`.

    Args:
        answer: As ``PublicKeyCredential.toJSON`` gives it; of what else it holds nothing is read.
        challenge: What must have been signed.
        origin: The server's own.
        public_key: Of the credential by which the answer says it is.

    Raises:
        AuthError: ``passkey.refused``: another challenge, origin or relying party; nobody was there
            or was verified; not signed by that key; or no such answer at all.
    """
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    from webauthn import verify_authentication_response
    from webauthn.helpers import decode_credential_public_key, decoded_public_key_to_cryptography
    from webauthn.helpers.structs import AuthenticationCredential, AuthenticatorAssertionResponse

    raw_id = credential_id_of(answer)
    with _refusing():
        said = _response(answer, "clientDataJSON", "authenticatorData", "signature")
        _check_client(said["clientDataJSON"])
        verified = verify_authentication_response(
            credential=AuthenticationCredential(
                id=_encoded(raw_id),
                raw_id=raw_id,
                response=AuthenticatorAssertionResponse(
                    client_data_json=said["clientDataJSON"],
                    authenticator_data=said["authenticatorData"],
                    signature=said["signature"],
                ),
            ),
            expected_challenge=challenge,
            expected_rp_id=RP_ID,
            expected_origin=origin,
            credential_public_key=public_key,
            # Whether it goes on is looked at where it is written, so that two answers at once
            # cannot both pass.
            credential_current_sign_count=0,
            require_user_verification=True,
        )
        key = decoded_public_key_to_cryptography(decode_credential_public_key(public_key))
        response = {
            "client_data": said["clientDataJSON"],
            "authenticator_data": said["authenticatorData"],
            "signature": said["signature"],
            "public_key": key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        }
        record = {name: encode_bytes(value) for name, value in response.items()}
        return verified.new_sign_count, record


def verify_registration(answer: object, *, challenge: bytes, origin: str) -> NewCredential:
    """Return what was made in answer to `creation_options`.

    Args:
        answer: As ``PublicKeyCredential.toJSON`` gives it; of what else it holds nothing is read.
        challenge: The one of this ceremony.
        origin: The server's own.

    Raises:
        AuthError: ``passkey.refused``; as `verify_assertion`, or its key is none that can verify.
    """
    from webauthn import verify_registration_response
    from webauthn.helpers import (
        decode_credential_public_key,
        decoded_public_key_to_cryptography,
        parse_attestation_object,
    )
    from webauthn.helpers.cose import COSEAlgorithmIdentifier
    from webauthn.helpers.structs import AuthenticatorAttestationResponse, RegistrationCredential

    raw_id = credential_id_of(answer)
    with _refusing():
        said = _response(answer, "clientDataJSON", "attestationObject")
        _check_client(said["clientDataJSON"])
        if parse_attestation_object(said["attestationObject"]).fmt not in _FORMATS:
            raise refused()
        verified = verify_registration_response(
            credential=RegistrationCredential(
                id=_encoded(raw_id),
                raw_id=raw_id,
                response=AuthenticatorAttestationResponse(
                    client_data_json=said["clientDataJSON"],
                    attestation_object=said["attestationObject"],
                ),
            ),
            expected_challenge=challenge,
            expected_rp_id=RP_ID,
            expected_origin=origin,
            require_user_verification=True,
            supported_pub_key_algs=[
                COSEAlgorithmIdentifier(one) for one in (_ES256, _EDDSA, _RS256)
            ],
        )
        key = verified.credential_public_key
        # Else a point that lies on no curve would be found out at the first approval.
        decoded_public_key_to_cryptography(decode_credential_public_key(key))
        if verified.credential_id != raw_id:
            raise refused()
        return NewCredential(raw_id, key, verified.sign_count, verified.aaguid)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except Exception:  # noqa: BLE001 - the library names no root of what it raises for garbled input
        raise refused() from None


def _response(answer: object, *names: str) -> Mapping[str, bytes]:
    response = answer.get("response") if type(answer) is dict else None
    if type(response) is not dict:
        raise refused()
    return {name: _decoded(response.get(name), _MAX_CHARS[name]) for name in names}


def _decoded(text: object, most: int) -> bytes:
    """Return what base64url without padding stands for; each value has one spelling."""
    if type(text) is not str or len(text) > most or not _BASE64URL.fullmatch(text):
        raise refused()
    value = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if _encoded(value) != text:
        raise refused()
    return value


def _encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _check_client(data: bytes) -> None:
    """Require that no other site had our page in a frame; the library does not look at that."""
    said = loads(data, max_bytes=_MAX_CHARS["clientDataJSON"])
    if type(said) is not dict or said.get("crossOrigin", False) is not False:
        raise refused()
    if "topOrigin" in said:
        raise refused()
