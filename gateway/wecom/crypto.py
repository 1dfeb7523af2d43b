"""The callback crypto of WeCom (page 90968): SHA-1 signature, AES-256-CBC, receive id.

Pure: bytes and texts come in, bytes and texts go out; timestamps, nonces and random bytes are
arguments.  Nothing here parses a message; `verify` comes before `decrypt`, and both come before
any parser.  Whoever answers a failure must answer all of them alike.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from typing import Final

from Crypto.Cipher import AES
from Crypto.Cipher._mode_cbc import CbcMode  # loaded now; by itself it loads inside a request

from common.errors import AuthError, ConfigError

BLOCK_BYTES: Final = 32  # PKCS#7 over 32, not over the 16 of AES
RANDOM_BYTES: Final = 16
_HEAD_BYTES: Final = RANDOM_BYTES + 4
_TOKEN: Final = re.compile(r"[A-Za-z0-9]{1,32}", re.ASCII)
_KEY: Final = re.compile(r"[A-Za-z0-9]{43}", re.ASCII)


def check_token(token: str) -> None:
    """Return for a Token that WeCom's console takes (page 90930).

    Raises:
        ConfigError: ``config.token``.
    """
    if not _TOKEN.fullmatch(token):
        raise ConfigError("config.token")


class CallbackCrypto:
    """Verifies, opens and closes what one callback URL exchanges with WeCom.

    Args:
        token: Token of the callback settings.
        encoding_aes_key: The 43 characters of the callback settings.
        receive_id: Corp id for a self-built app; empty for an AI bot (pages 90968 and 101033).

    Raises:
        ConfigError: ``config.encoding-aes-key``.
    """

    def __init__(self, *, token: str, encoding_aes_key: str, receive_id: str) -> None:
        self._key = decode_key(encoding_aes_key)
        self._token = token.encode()
        self._receive_id = receive_id.encode()

    def sign(self, timestamp: str, nonce: str, payload: str) -> str:
        """Return the signature: 40 lower-case hex digits over the sorted values."""
        values = sorted((self._token, timestamp.encode(), nonce.encode(), payload.encode()))
        return hashlib.sha1(b"".join(values), usedforsecurity=False).hexdigest()

    def verify(self, signature: str, timestamp: str, nonce: str, payload: str) -> None:
        """Return when the signature holds.

        The scheme puts nothing between the values, so digits can wander between ``timestamp`` and
        ``nonce``: the caller bounds both by strict patterns and never keys a replay check on them.

        Raises:
            AuthError: ``callback.signature``.
        """
        wanted = self.sign(timestamp, nonce, payload).encode()
        if not hmac.compare_digest(wanted, signature.encode("utf-8", "replace")):
            raise AuthError("callback.signature")

    def decrypt(self, encrypted: str) -> bytes:
        """Return the message inside one Encrypt or echostr value.

        Raises:
            AuthError: ``callback.ciphertext`` for Base64, length and padding, which also is what
                a wrong EncodingAESKey looks like; ``callback.receive-id`` for another receiver.
        """
        try:
            sealed = binascii.a2b_base64(encrypted.encode("ascii"), strict_mode=True)
        except ValueError:
            raise AuthError("callback.ciphertext") from None
        # One text has one form: what is signed in another was made by nobody.
        if base64.b64encode(sealed).decode() != encrypted:
            raise AuthError("callback.ciphertext")
        if not sealed or len(sealed) % BLOCK_BYTES:
            raise AuthError("callback.ciphertext")
        return self._open(unpad(_aes(self._key).decrypt(sealed)))

    def encrypt(self, message: bytes, *, random: bytes) -> str:
        """Return the Encrypt value for a message.

        Args:
            message: What the receiver shall read.
            random: 16 fresh random bytes.
        """
        if len(random) != RANDOM_BYTES:
            raise ValueError(f"random must have {RANDOM_BYTES} bytes")
        length = len(message).to_bytes(4, "big")
        plain = pad(b"".join((random, length, message, self._receive_id)))
        return base64.b64encode(_aes(self._key).encrypt(plain)).decode("ascii")

    def _open(self, plain: bytes) -> bytes:
        if len(plain) < _HEAD_BYTES:
            raise AuthError("callback.ciphertext")
        end = _HEAD_BYTES + int.from_bytes(plain[RANDOM_BYTES:_HEAD_BYTES], "big")
        # Slicing past the end would cut silently and leave an empty, "equal" receive id.
        if end > len(plain):
            raise AuthError("callback.ciphertext")
        if not hmac.compare_digest(plain[end:], self._receive_id):
            raise AuthError("callback.receive-id")
        return plain[_HEAD_BYTES:end]


def _aes(key: bytes) -> CbcMode:
    """Return a cipher for one message: chained on to the next it would garble its first block."""
    return AES.new(key, AES.MODE_CBC, iv=key[:16])


def decode_key(encoding_aes_key: str) -> bytes:
    """Return the 32 key bytes; the two loose bits of the last character are ignored.

    Raises:
        ConfigError: ``config.encoding-aes-key`` unless it is 43 letters and digits.
    """
    if not _KEY.fullmatch(encoding_aes_key):
        raise ConfigError("config.encoding-aes-key")
    return base64.b64decode(encoding_aes_key + "=")


def pad(plain: bytes) -> bytes:
    """Return the text with 1 to 32 bytes of PKCS#7 padding."""
    missing = BLOCK_BYTES - len(plain) % BLOCK_BYTES
    return plain + bytes((missing,)) * missing


def unpad(padded: bytes) -> bytes:
    """Return the text without its padding.

    Raises:
        AuthError: ``callback.ciphertext`` unless every byte of the padding is right.
    """
    count = padded[-1] if padded else 0
    if not 1 <= count <= BLOCK_BYTES or padded[-count:] != padded[-1:] * count:
        raise AuthError("callback.ciphertext")
    return padded[:-count]
