"""Views: what is told of tasks, approvals and the agent, typed and without layout or language.

Here: a view as JSON, and back, by the fields of its class, with nothing more and nothing less.
What was stored, by whichever version, stands in it as `Kept`: its fields are told beside those of
the view that holds it, just as they were stored.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import lru_cache
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from common.errors import RemoteProtocolError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Json = Mapping[str, Any]  # an object that others wrote, handed on as it is

_View = TypeVar("_View")


@dataclass(frozen=True, slots=True)
class Kept(Generic[_View]):
    """What some version of this program stored: read as a view, told as it stands.

    Attributes:
        kind: What it is read as.
        stored: All of it, whatever this version knows of it.
    """

    kind: type[_View]
    stored: Json

    @property
    def view(self) -> _View:
        """What this version can read of it.

        Raises:
            RemoteProtocolError: ``control.malformed``: what must be there is of another type.
        """
        return from_json(self.kind, self.stored, loose=True)


def to_json(view: DataclassInstance) -> dict[str, Any]:
    """Return a view as a JSON object: each field under its own name."""
    told: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for field in fields(view):
        value = getattr(view, field.name)
        if isinstance(value, Kept):
            kept |= value.stored
        else:
            told[field.name] = _plain(value)
    return told | kept


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return to_json(value) if is_dataclass(value) and not isinstance(value, type) else value


def from_json(kind: type[_View], raw: object, *, loose: bool = False) -> _View:
    """Return the view that a JSON object holds.

    Args:
        kind: What it holds.
        raw: As it was read.
        loose: It was kept by this or another version: what is not known is passed over, and so is
            what may be missing and cannot be read.

    Raises:
        RemoteProtocolError: ``control.malformed`` (field): something is missing, of another type,
            or not known.
    """
    known, needed, kept = _fields(kind)  # type: ignore[arg-type]  # a class can be hashed
    if not isinstance(raw, Mapping):
        raise RemoteProtocolError("control.malformed", field=kind.__name__)
    others = {name: value for name, value in raw.items() if name not in known}
    unknown = set() if loose or kept else others.keys()
    for name in (needed - raw.keys()) | unknown:
        raise RemoteProtocolError("control.malformed", field=str(name)[:40])
    found: dict[str, Any] = {}
    for name in known.keys() & raw.keys():
        try:
            found[name] = _value(known[name], raw[name], name, loose)
        except RemoteProtocolError:
            if not loose or name in needed:
                raise  # else another version wrote it, and the rest is told without it
    return kind(**found, **{name: Kept(inner, others) for name, inner in kept.items()})


@lru_cache(maxsize=64)
def _fields(kind: type) -> tuple[Mapping[str, Any], frozenset[str], Mapping[str, type]]:
    """Return the type of each field, the fields without a default, and what was kept."""
    assert is_dataclass(kind)  # noqa: S101 - a programming error
    hints = get_type_hints(kind)
    kept = {name: get_args(hint)[0] for name, hint in hints.items() if get_origin(hint) is Kept}
    own = [field for field in fields(kind) if field.name not in kept]
    needed = frozenset(field.name for field in own if field.default is MISSING)
    return {field.name: hints[field.name] for field in own}, needed, kept


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
