"""Values of JSON that a provider or a program sent: nobody has promised their shape.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def table(value: object) -> Mapping[str, Any]:
    """Return the object that was sent, empty where it was none."""
    return value if isinstance(value, Mapping) else {}


def tables(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list that was sent."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def words(value: object) -> str:
    """Return the text that was sent, empty where it was none."""
    return value if isinstance(value, str) else ""


def count(value: object) -> int:
    """Return the number that was sent, 0 where it was none."""
    return max(value, 0) if isinstance(value, int) and not isinstance(value, bool) else 0
