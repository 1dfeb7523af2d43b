"""Takes in the body of an answer, as events or whole, and gives its words as they come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any, Final, Protocol

from common import strict_json
from common.errors import RemoteProtocolError
from local_agent.errors import ModelError
from local_agent.models.backend import MAX_ANSWER_BYTES
from local_agent.models.http.dialect import AnswerReader, table
from local_agent.models.http.shown import Spoken
from local_agent.models.http.sse import EventReader

# An answer comes again within the event that ends it, and each byte of it may be escaped.
MAX_EVENT_BYTES: Final = 2 * MAX_ANSWER_BYTES
_LONG: Final = 65_536  # bytes of JSON that are not read on the event loop
_END: Final = b"[DONE]"

Show = Callable[[str], None]


class Answer(Protocol):
    """One answer that is coming in."""

    async def feed(self, received: bytes) -> bool:
        """Take in the next bytes and tell whether nothing more need be read.

        Raises:
            ModelError: it cannot be used.
        """
        ...

    async def end(self) -> None:
        """Judge what came, as no more will.

        Raises:
            ModelError: ``model.cut``, or as `feed`.
        """
        ...


class _Words:
    """The words of an answer, bounded and without thoughts."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._spoken = Spoken()
        self._text = StringIO()  # holds many small pieces in little
        self._size = 0

    def add(self, text: str) -> None:
        self._keep(self._spoken.feed(text) if text else "")

    def end(self) -> str:
        if rest := self._spoken.end():
            self._keep(rest)
        return self._text.getvalue()

    def _keep(self, said: str) -> None:
        self._size += len(said.encode())
        if self._size > MAX_ANSWER_BYTES:
            raise ModelError("model.too-large")
        self._text.write(said)
        self._show(said)


class StreamedAnswer:
    """An answer in events.

    Args:
        reader: Reads the events.
        show: Told of the words that each adds, empty for none; does not block.

    Attributes:
        text: The words, once it has ended.
    """

    def __init__(self, reader: AnswerReader, show: Show) -> None:
        self._reader = reader
        self._events = EventReader(max_event_bytes=MAX_EVENT_BYTES)
        self._words = _Words(show)
        self.text = ""

    async def feed(self, received: bytes) -> bool:
        """Take in the next bytes; see `Answer.feed`."""
        for event in self._events.feed(received):
            if event == _END:
                return True
            if event:
                self._words.add(self._reader.take(await _read(event, MAX_EVENT_BYTES)))
            if self._reader.is_over:
                return True
        return False

    async def end(self) -> None:
        """Judge what came; see `Answer.end`."""
        if not self._reader.is_complete:
            raise ModelError("model.cut")
        self.text = self._words.end()


class WholeAnswer:
    """An answer in one piece; arguments and attributes as of `StreamedAnswer`."""

    def __init__(self, reader: AnswerReader, show: Show) -> None:
        self._reader = reader
        self._words = _Words(show)
        self._body = bytearray()
        self.text = ""

    async def feed(self, received: bytes) -> bool:
        """Take in the next bytes; see `Answer.feed`."""
        self._body += received
        if len(self._body) > MAX_EVENT_BYTES:
            raise ModelError("model.too-large")
        return False

    async def end(self) -> None:
        """Judge what came; see `Answer.end`."""
        # Some providers send blank lines while they work.
        answer = await _read(bytes(self._body).strip(), MAX_EVENT_BYTES)
        self._words.add(self._reader.take_whole(answer))
        self.text = self._words.end()


async def _read(body: bytes, limit: int) -> Mapping[str, Any]:
    try:
        if len(body) > _LONG:
            return table(await asyncio.to_thread(_loads, body, limit))
        return table(_loads(body, limit))
    except RemoteProtocolError:
        raise ModelError("model.answer", why="protocol") from None


def _loads(body: bytes, limit: int) -> object:
    read: object = strict_json.loads(body, max_bytes=limit, floats="read")
    return read
