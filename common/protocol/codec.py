"""What both sides sign has one form: parts joined, and the address of the gateway."""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import urlsplit

from common.errors import InputError
from common.records import raw_bytes, utf8

NONCE_BYTES: Final = 32
_MAX_URL: Final = 512
_MAX_HOST: Final = 253
_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_USERINFO: Final = re.compile(r"//.*@", re.DOTALL)
_CODE: Final = re.compile(r"CB1-\w*")
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
        host = _host(host)
    except ValueError:
        host, port = "", None
    if not host or parts.scheme not in _SECURE or parts.username is not None:
        raise InputError("input.gateway-url", url=_shown(url[:_MAX_URL]))
    secure = _SECURE[parts.scheme]
    name = f"[{host}]" if ":" in host else host
    suffix = "" if port is None or port == (443 if secure else 80) else f":{port}"
    return f"{'https' if secure else 'http'}://{name}{suffix}"


def _host(host: str) -> str:
    """Return the one spelling of a host; a name of other letters as the network knows it.

    Raises:
        ValueError: it is no host.
    """
    if ":" in host:
        return str(ipaddress.IPv6Address(host if "%" not in host else ""))
    name = host.encode("idna").decode("ascii") if not host.isascii() else host
    if not all(map(_LABEL.fullmatch, name.split("."))) or len(name) > _MAX_HOST:
        raise ValueError(name)
    return name


def _shown(url: str) -> str:
    """Return what was given instead of an address without what of it may be a secret."""
    return _CODE.sub("CB1-…", _USERINFO.sub("//", url))
