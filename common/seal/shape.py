"""Closed shapes: each field of a stored record known, present and of its type (R2, R21).

The checks that the envelope and the payload of each action are written with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from common.errors import RemoteProtocolError

_HEX64: Final = re.compile(r"[0-9a-f]{64}")
_OID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DECIMAL: Final = re.compile(r"0|[1-9][0-9]{0,19}")

Check = Callable[[Any], bool]
Shape = Mapping[str, Check]


def require(field: str, holds: bool) -> None:
    """Return when it holds.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    if not holds:
        raise RemoteProtocolError("seal.malformed", field=field)


def check_shape(name: str, value: Any, shape: Shape) -> None:
    """Require exactly the named fields, each as its check wants it.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    require(name, isinstance(value, dict) and value.keys() == shape.keys())
    for field, check in shape.items():
        require(f"{name}.{field}", check(value[field]))


def check_each(name: str, values: list[Any], shape: Shape) -> None:
    """Require that each of a list is of a shape; as `check_shape`."""
    for value in values:
        check_shape(name, value, shape)


def is_text(value: object) -> bool:
    return isinstance(value, str)


def is_count(value: object) -> bool:
    # A bool is an int to Python, and never to a seal.
    return type(value) is int and value >= 0


def is_decimal(value: object) -> bool:
    return isinstance(value, str) and _DECIMAL.fullmatch(value) is not None


def is_hash(value: object) -> bool:
    return isinstance(value, str) and _HEX64.fullmatch(value) is not None


def is_oid(value: object) -> bool:
    return isinstance(value, str) and _OID.fullmatch(value) is not None


def is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_list(value: object) -> bool:
    return isinstance(value, list)


def is_filled_list(value: object) -> bool:
    return isinstance(value, list) and bool(value)


def is_mapping(value: object) -> bool:
    return isinstance(value, dict)


def one_of(*allowed: object) -> Check:
    # Compared with the type, because True == 1.
    return lambda value: any(type(value) is type(item) and value == item for item in allowed)


def or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)
