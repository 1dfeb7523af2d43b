"""What both sides sign has one form: parts joined, and the address of the gateway."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from common.errors import InputError
from common.records import raw_bytes, utf8

NONCE_BYTES: Final = 32
_MAX_URL: Final = 512
_SECURE: Final = {"https": True, "wss": True, "http": False, "ws": False}

NONCE: Final = raw_bytes(NONCE_BYTES)
URL: Final = utf8(_MAX_URL, min_bytes=1)


def framed(*parts: bytes) -> bytes:
    """Join parts, each led by its length as four big-endian bytes, so that no border can move."""
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def origin_of(url: str) -> str:
    """Return the one form of an address that both sides sign: ``https://host[:port]``.

    The agent dials ``wss://gateway.example.com/agent/v1/link`` where the gateway calls itself
    ``https://Gateway.example.com/``; both name one origin.  Whether an unencrypted origin may be
    used at all (R15) is for the side that dials to decide.

    Raises:
        InputError: ``input.gateway-url``.
    """
    try:
        parts = urlsplit(url if len(url) <= _MAX_URL else "")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if not host or parts.scheme not in _SECURE or parts.username is not None:
        raise InputError("input.gateway-url", url=url[:_MAX_URL])
    secure = _SECURE[parts.scheme]
    name = f"[{host}]" if ":" in host else host
    suffix = "" if port is None or port == (443 if secure else 80) else f":{port}"
    return f"{'https' if secure else 'http'}://{name}{suffix}"
