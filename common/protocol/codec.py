"""Closed records and their fields: what everything from the other side is read with (R2, R19).

A record is a JSON object with exactly the names it must have, each of exactly its type and within
its bound.  No coercion, no defaults, nothing left over.  What records there are stands in
`frames`, `bodies`, `handshake` and `pairing`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from common import strict_json
from common.errors import InputError, RemoteProtocolError

Check = Callable[[object], bool]

MAX_SEQ: Final = strict_json.MAX_INTEGER
NONCE_BYTES: Final = 32
_MAX_URL: Final = 512
_SECURE: Final = {"https": True, "wss": True, "http": False, "ws": False}


def read_object(data: str | bytes, *, max_bytes: int) -> dict[str, Any]:
    """Parse one JSON text that must be an object.

    Raises:
        RemoteProtocolError: ``json.*`` as `strict_json.loads`, or ``json.malformed``.
    """
    value = strict_json.loads(data, max_bytes=max_bytes)
    if type(value) is not dict:
        raise RemoteProtocolError("json.malformed")
    return value


def closed(record: Mapping[str, Any], checks: Mapping[str, Check]) -> Mapping[str, Any]:
    """Return the record when it has exactly these fields and each passes its check.

    Raises:
        RemoteProtocolError: ``record.fields`` or ``record.field``; tells our own name of the
            field, never what was in it.
    """
    if record.keys() != checks.keys():
        raise RemoteProtocolError("record.fields")
    for name, check in checks.items():
        if not check(record[name]):
            raise RemoteProtocolError("record.field", field=name)
    return record


def utf8(max_bytes: int, *, min_bytes: int = 0) -> Check:
    """Return a check for text of so many UTF-8 bytes, without lone surrogates."""

    def check(value: object) -> bool:
        if type(value) is not str or len(value) > max_bytes:
            return False
        try:
            return min_bytes <= len(value.encode()) <= max_bytes
        except UnicodeEncodeError:
            return False

    return check


def matching(pattern: str) -> Check:
    """Return a check for text that is wholly the pattern."""
    compiled = re.compile(pattern, re.ASCII)

    def check(value: object) -> bool:
        return type(value) is str and compiled.fullmatch(value) is not None

    return check


def integer(low: int, high: int) -> Check:
    """Return a check for an integer within the bounds, both included; true is not 1."""

    def check(value: object) -> bool:
        return type(value) is int and low <= value <= high

    return check


def one_of(values: Iterable[str]) -> Check:
    """Return a check for one of these texts."""
    known = frozenset(str(value) for value in values)

    def check(value: object) -> bool:
        return isinstance(value, str) and value in known

    return check


def raw_bytes(size: int) -> Check:
    """Return a check for the one base64 form of exactly ``size`` bytes."""

    def check(value: object) -> bool:
        if type(value) is not str or len(value) != (size + 2) // 3 * 4:
            return False
        try:
            raw = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return False
        return len(raw) == size and encode_bytes(raw) == value

    return check


def encode_bytes(raw: bytes) -> str:
    """Return the base64 form (RFC 4648 section 4, padded)."""
    return base64.b64encode(raw).decode("ascii")


def decode_bytes(checked: str) -> bytes:
    """Return the bytes of a field that passed `raw_bytes`."""
    return base64.b64decode(checked)


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


SEQ: Final[Check] = integer(1, MAX_SEQ)
SEEN: Final[Check] = integer(0, MAX_SEQ)  # the last sequence number received; 0 for none
SECONDS: Final[Check] = integer(0, 2**40)
# Up to the year 6429: what a calendar cannot show would fail whoever tells the hour of it.
MILLISECONDS: Final[Check] = integer(0, 2**47)
NAME: Final[Check] = matching(r"[A-Za-z0-9_-]{1,64}")
MACHINE: Final[Check] = matching(r"[a-z0-9-]{1,32}")  # R10
KEY_ID: Final[Check] = matching(r"[0-9a-f]{16}")
SHA256_HEX: Final[Check] = matching(r"[0-9a-f]{64}")
NONCE: Final[Check] = raw_bytes(NONCE_BYTES)
URL: Final[Check] = utf8(_MAX_URL, min_bytes=1)
