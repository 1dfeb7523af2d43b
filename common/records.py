"""Closed records: how all that is signed, sealed or kept as evidence is checked (R2, R19).

A record is a JSON object with exactly the names it must have, each of exactly its type and within
its bound.  No coercion, no defaults, nothing left over.  What fields a record has stands with what
it is for: in a table, or in the annotations of the dataclass that it becomes.

    @dataclass(frozen=True, slots=True)
    class CancelBody:
        task_id: Annotated[str, NAME]
        claimed_user: Annotated[str, USER]

    CancelBody(**closed(record, fields_of(CancelBody)))

Pure.  What a person or a provider writes is pydantic's matter (docs/adr/0032).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, get_type_hints

from common import strict_json
from common.errors import RemoteProtocolError

Check = Callable[[Any], bool]
Fields = Mapping[str, Check]

_KNOWN: Final[dict[type, Fields]] = {}  # read from annotations once


# --- records ---


def read_object(data: str | bytes, *, max_bytes: int) -> dict[str, Any]:
    """Parse one JSON text that must be an object.

    Raises:
        RemoteProtocolError: ``json.*`` as `strict_json.loads`, or ``json.malformed``.
    """
    value = strict_json.loads(data, max_bytes=max_bytes)
    if type(value) is not dict:
        raise RemoteProtocolError("json.malformed")
    return value


def fields_of(kind: type) -> Fields:
    """Return the fields of the record that a dataclass is read from.

    Each is annotated with its check.  It is of the stored form: what is a tuple afterwards, or
    bytes, may be checked as a list, or as base64.
    """
    if (fields := _KNOWN.get(kind)) is None:
        hints = get_type_hints(kind, include_extras=True)
        fields = _KNOWN[kind] = {name: hint.__metadata__[0] for name, hint in hints.items()}
    return fields


def first_fault(record: object, fields: Fields) -> str | None:
    """Return the first field that is not as it must be; "" for other fields, None for no fault."""
    if type(record) is not dict or record.keys() != fields.keys():
        return ""
    for name, check in fields.items():
        if not check(record[name]):
            return name
    return None


def closed(record: Any, fields: Fields) -> dict[str, Any]:
    """Return the record when it has exactly these fields and each passes its check.

    Raises:
        RemoteProtocolError: ``record.fields`` or ``record.field``; tells our own name of the
            field, never what was in it.
    """
    fault = first_fault(record, fields)
    if fault is None:
        checked: dict[str, Any] = record
        return checked
    if fault:
        raise RemoteProtocolError("record.field", field=fault)
    raise RemoteProtocolError("record.fields")


# --- checks ---


def record_of(fields: Fields) -> Check:
    """Return a check for a record within a record."""
    return lambda value: first_fault(value, fields) is None


def list_of(check: Check, *, least: int = 0, most: int = strict_json.MAX_INTEGER) -> Check:
    """Return a check for a list of so many items, each of which passes a check."""
    return lambda value: (
        type(value) is list and least <= len(value) <= most and all(map(check, value))
    )


def filled(check: Check) -> Check:
    """Return a check for what passes another, and is not empty."""
    return lambda value: check(value) and bool(value)


def or_none(check: Check) -> Check:
    """Return a check for what passes another, or null."""
    return lambda value: value is None or check(value)


def one_of(values: Iterable[str]) -> Check:
    """Return a check for one of these texts."""
    known = frozenset(str(value) for value in values)
    return lambda value: isinstance(value, str) and value in known


def integer(low: int, high: int) -> Check:
    """Return a check for an integer within the bounds, both included; true is not 1."""
    return lambda value: type(value) is int and low <= value <= high


def matching(pattern: str) -> Check:
    """Return a check for text that is wholly the pattern."""
    fullmatch = re.compile(pattern, re.ASCII).fullmatch
    return lambda value: type(value) is str and fullmatch(value) is not None


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


def _exactly(kind: type) -> Check:
    return lambda value: type(value) is kind


# Of one type, whatever is in it: what bounds these is the size of the whole.
TEXT: Final = _exactly(str)
FLAG: Final = _exactly(bool)
LIST: Final = _exactly(list)
RECORD: Final = _exactly(dict)
TEXTS: Final = list_of(TEXT)

COUNT: Final = integer(0, strict_json.MAX_INTEGER)
SEQ: Final = integer(1, strict_json.MAX_INTEGER)
SECONDS: Final = integer(0, 2**40)
# Up to the year 6429: what a calendar cannot show would fail whoever tells the hour of it.
MILLISECONDS: Final = integer(0, 2**47)
NAME: Final = matching(r"[A-Za-z0-9_-]{1,64}")
SHORT_ID: Final = matching(r"T-[0-9A-Z]{4,5}")
SEAL_CODE: Final = matching(r"[0-9A-Z]{4}-[0-9A-Z]{4}")
MACHINE: Final = matching(r"[a-z0-9-]{1,32}")  # R10
KEY_ID: Final = matching(r"[0-9a-f]{16}")
SHA256_HEX: Final = matching(r"[0-9a-f]{64}")
OID: Final = matching(r"[0-9a-f]{40}|[0-9a-f]{64}")  # of an object of git
