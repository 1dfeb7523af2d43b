"""WeCom's callback encryption from WeCom's side, written independently of ``gateway.wecom.crypto``.

Source: WeCom developer page 90968.  Another library, another structure: what this encrypts, the
gateway has to read by its own means.  Pure but for randomness, which is an argument.
"""

from __future__ import annotations

import base64
import hashlib
import struct

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC

BLOCK = 32


class SimulatedCrypto:
    """Encrypts callbacks as WeCom does, and reads encrypted passive replies.

    Args:
        token: The callback token.
        encoding_aes_key: 43 characters of [A-Za-z0-9].
        receive_id: The corp id for a self-built app.
    """

    def __init__(self, token: str, encoding_aes_key: str, receive_id: str) -> None:
        self._token = token
        self._receive_id = receive_id.encode()
        key = base64.b64decode(encoding_aes_key + "=")
        self._cipher = Cipher(AES256(key), CBC(key[:16]))

    def encrypt(self, message: bytes, random16: bytes) -> str:
        """Return the Base64 ``Encrypt`` of one message."""
        return self.encrypt_padded(padded(self.framed(message, random16)))

    def framed(self, message: bytes, random16: bytes, *, receive_id: bytes | None = None) -> bytes:
        """Return the plain text of one message, without padding; for another receiver if named."""
        receiver = self._receive_id if receive_id is None else receive_id
        return random16 + struct.pack("!I", len(message)) + message + receiver

    def encrypt_padded(self, plain: bytes) -> str:
        """Return the Base64 of plain text as it stands, whose length must be one of blocks."""
        encryptor = self._cipher.encryptor()
        return base64.b64encode(encryptor.update(plain) + encryptor.finalize()).decode()

    def decrypt(self, encrypted: str) -> bytes:
        """Return the message of a Base64 ``Encrypt``.

        Raises:
            ValueError: padding, length or receive id are not as WeCom would accept them.
        """
        decryptor = self._cipher.decryptor()
        plain = decryptor.update(base64.b64decode(encrypted, validate=True)) + decryptor.finalize()
        padding = plain[-1]
        if not 1 <= padding <= BLOCK or plain[-padding:] != bytes([padding]) * padding:
            raise ValueError("padding")
        plain = plain[:-padding]
        (length,) = struct.unpack_from("!I", plain, 16)
        end = 20 + length
        if end > len(plain) or plain[end:] != self._receive_id:
            raise ValueError("receive id")
        return plain[20:end]

    def signature(self, timestamp: str, nonce: str, encrypted: str) -> str:
        """Return ``msg_signature``: SHA-1 over the sorted values, lower-case hexadecimal."""
        values = sorted((self._token, timestamp, nonce, encrypted))
        return hashlib.sha1("".join(values).encode(), usedforsecurity=False).hexdigest()


def padded(plain: bytes) -> bytes:
    """Return the text with its padding, up to a multiple of 32 bytes."""
    padding = BLOCK - len(plain) % BLOCK
    return plain + bytes([padding]) * padding
