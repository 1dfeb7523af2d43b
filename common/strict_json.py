"""The one JSON reader for what comes from outside (R19), and the one stored form (R21).

Python's own reader takes duplicate keys, NaN and lone surrogates, and raises RecursionError on
deep nesting; none of that may reach a caller.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, Literal, NoReturn

from common.errors import RemoteProtocolError

MAX_DEPTH = 32
MAX_INTEGER = 2**53
MAX_FLOAT_CHARS = 40
_CANONICAL = json.JSONEncoder(
    ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False
)
_PLAIN = frozenset((str, int, bool, type(None)))
# Possessive, and an unterminated string runs to the end: else a text of escaped quotes would take
# time by the square of its length (8 KiB before authentication: 0.3 s; 256 KiB: minutes).
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


def loads(
    data: bytes | str, *, max_bytes: int, floats: Literal["refused", "read"] = "refused"
) -> Any:
    """Parse one JSON text.

    Args:
        data: UTF-8 bytes or text.
        max_bytes: Refuse longer input before looking at it.
        floats: ``read`` for what a service outside sends, whose numbers we do not choose; even
            then one that is infinite, or of more than 40 characters, is refused.

    Returns:
        dict, list, str, int, bool or None; float only where they are read.

    Raises:
        RemoteProtocolError: ``json.too-large``, ``json.too-deep`` or ``json.malformed``.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if len(raw) > max_bytes:
        raise RemoteProtocolError("json.too-large", limit=max_bytes)
    _check_depth(raw)
    try:
        value = _READERS[floats].decode(raw.decode("utf-8"))
        _refuse_surrogates(value)
        return value
    except (ValueError, RecursionError):
        raise RemoteProtocolError("json.malformed") from None


def canonical(value: object) -> bytes:
    """Return the one stored form: sorted keys, ASCII, no blanks, integers only (R21).

    Raises:
        TypeError: on a float or on a value JSON cannot hold: a programming error.
    """
    _refuse_floats(value)
    return _CANONICAL.encode(value).encode("ascii")


def _check_depth(raw: bytes) -> None:
    # Cheap first: with so few opening brackets in all, no nesting can be too deep.
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    # The reader refuses an unterminated string, and never looks for brackets in it.
    for byte in _STRING.sub(b"", raw):
        if byte in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise RemoteProtocolError("json.too-deep", limit=MAX_DEPTH)
        elif byte in b"]}":
            depth -= 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("duplicate key")
    for name, value in pairs:
        # A lone surrogate passes the reader and would raise only when it is written out.
        name.encode()
        _refuse_surrogates(value)
    return result


def _refuse_surrogates(value: object) -> None:
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, list):
        for item in value:
            _refuse_surrogates(item)


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"not an integer: {text[:20]}")


def _bounded(text: str) -> int:
    if len(text) > 17 or abs(number := int(text)) > MAX_INTEGER:
        raise ValueError("integer out of range")
    return number


def _finite(text: str) -> float:
    if len(text) > MAX_FLOAT_CHARS or math.isinf(number := float(text)):
        raise ValueError("float out of range")
    return number


def _reader(parse_float: Callable[[str], float]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_unique,
        parse_constant=_refuse,
        parse_float=parse_float,
        parse_int=_bounded,
    )


# Made once: for each text anew it would cost as much as the reading of a small frame.
_READERS = {"refused": _reader(_refuse), "read": _reader(_finite)}


def _refuse_floats(value: object) -> None:
    if isinstance(value, float):
        raise TypeError("floats have no one stored form")
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return
    for item in value:
        if type(item) not in _PLAIN:  # most records are flat: nothing to look into
            _refuse_floats(item)
