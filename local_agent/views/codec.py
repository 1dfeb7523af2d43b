"""A view as JSON, and back: by the fields of its class, with nothing more and nothing less."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from common.errors import RemoteProtocolError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Json = Mapping[str, Any]  # an object that others wrote, handed on as it is

_View = TypeVar("_View")


def to_json(view: DataclassInstance) -> dict[str, Any]:
    """Return a view as a JSON object: each field under its own name."""
    return asdict(view)


def from_json(kind: type[_View], raw: object, *, loose: bool = False) -> _View:
    """Return the view that a JSON object holds.

    Args:
        kind: What it holds.
        raw: As it was read.
        loose: It was kept by this or another version: what is not known is passed over.

    Raises:
        RemoteProtocolError: ``control.malformed`` (field): something is missing, of another type,
            or not known.
    """
    known, needed = _fields(kind)  # type: ignore[arg-type]  # a class can be hashed
    if not isinstance(raw, Mapping):
        raise RemoteProtocolError("control.malformed", field=kind.__name__)
    unknown = set() if loose else raw.keys() - known.keys()
    for name in (needed - raw.keys()) | unknown:
        raise RemoteProtocolError("control.malformed", field=str(name)[:40])
    found = {name: _value(known[name], raw[name], name, loose) for name in known if name in raw}
    return kind(**found)


@lru_cache(maxsize=64)
def _fields(kind: type) -> tuple[Mapping[str, Any], frozenset[str]]:
    """Return the type of each field, and the fields without a default."""
    assert is_dataclass(kind)  # noqa: S101 - a programming error
    hints = get_type_hints(kind)
    needed = frozenset(field.name for field in fields(kind) if field.default is MISSING)
    return {field.name: hints[field.name] for field in fields(kind)}, needed


def _value(kind: Any, value: object, name: str, loose: bool) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None and types.NoneType in arguments:
            return None
        (kind,) = (one for one in arguments if one is not types.NoneType)
        return _value(kind, value, name, loose)
    if kind is Any:
        return value
    if is_dataclass(kind):
        return from_json(kind, value, loose=loose)  # type: ignore[arg-type]  # a class, not an instance
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(_value(arguments[0], item, name, loose) for item in value)
    if origin is Mapping and isinstance(value, Mapping):
        return {str(key): _value(arguments[1], item, name, loose) for key, item in value.items()}
    if origin is Literal and value in arguments:
        return value
    # A bool is an int to Python, and never a number here.
    if type(value) is kind or (kind is float and type(value) is int):
        return value
    raise RemoteProtocolError("control.malformed", field=name)
