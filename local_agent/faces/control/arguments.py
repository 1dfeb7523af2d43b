"""What a request over the control socket was given; checked by type and range, nothing more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.errors import RemoteProtocolError


class Arguments:
    """The arguments of a request, each checked as it is used.

    Each method raises RemoteProtocolError ``control.malformed`` where something else was given.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    def has(self, name: str) -> bool:
        """Tell whether it was given at all."""
        return name in self._given

    def text(self, name: str) -> str:
        """Return a text."""
        value = self._given.get(name)
        if not isinstance(value, str):
            raise RemoteProtocolError("control.malformed", field=name)
        return value

    def texts(self, name: str, most: int) -> list[str]:
        """Return a list of at most ``most`` texts."""
        value = self._given.get(name)
        if not isinstance(value, list) or len(value) > most:
            raise RemoteProtocolError("control.malformed", field=name)
        if not all(isinstance(item, str) for item in value):
            raise RemoteProtocolError("control.malformed", field=name)
        return value

    def flag(self, name: str) -> bool:
        """Return a yes or no."""
        value = self._given.get(name)
        if not isinstance(value, bool):
            raise RemoteProtocolError("control.malformed", field=name)
        return value

    def integer(self, name: str, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``."""
        value = self._given.get(name)
        if type(value) is not int or not low <= value <= high:
            raise RemoteProtocolError("control.malformed", field=name)
        return value
