"""Server-sent events, read from bytes that come in any pieces.

Pure.  Only ``data`` matters here: each event of both interfaces names itself in its JSON.
"""

from __future__ import annotations

from typing import Final

from local_agent.errors import ModelError

_BOM: Final = b"\xef\xbb\xbf"


class EventReader:
    """Reads one stream; its time is linear and what it holds is bounded.

    Args:
        max_event_bytes: Of the data of one event, and of one line.
    """

    def __init__(self, *, max_event_bytes: int) -> None:
        self._max_bytes = max_event_bytes
        self._line = bytearray()  # the beginning of a line whose end has not come
        self._data: list[bytes] = []
        self._held = 0  # bytes in _data
        self._after_cr = False
        self._first_line = True

    def feed(self, received: bytes) -> list[bytes]:
        """Take in the next piece and return the data of each event that it ended.

        Raises:
            ModelError: ``model.too-large``.
        """
        if self._after_cr and received.startswith(b"\n"):
            received = received[1:]  # the second half of a CRLF
            self._after_cr = False
        events = []
        for part in received.splitlines(keepends=True):
            self._line += part
            if len(self._line) > self._max_bytes:
                raise ModelError("model.too-large")
            if part.endswith((b"\r", b"\n")):
                line = bytes(self._line).rstrip(b"\r\n")
                self._line.clear()
                if (event := self._take(line)) is not None:
                    events.append(event)
        if received:
            self._after_cr = received.endswith(b"\r")
        return events

    def _take(self, line: bytes) -> bytes | None:
        if self._first_line:
            line = line.removeprefix(_BOM)
            self._first_line = False
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value.removeprefix(b" ")
            self._held += len(value) + 1
            if self._held > self._max_bytes:
                raise ModelError("model.too-large")
            self._data.append(value)
        return None

    def _dispatch(self) -> bytes | None:
        if not self._data:
            return None
        event = b"\n".join(self._data)
        self._data.clear()
        self._held = 0
        return event
