"""Takes in the body of an answer, as events or whole, and gives its words as they come.

All of it is linear and bounded in what it holds.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any, Final

from common import strict_json
from common.errors import RemoteProtocolError
from local_agent.errors import ModelError
from local_agent.models.backend import MAX_ANSWER_BYTES
from local_agent.models.http.dialects import AnswerReader
from local_agent.models.shapes import table

# An answer comes again within the event that ends it, and each byte of it may be escaped.
MAX_EVENT_BYTES: Final = 2 * MAX_ANSWER_BYTES
_LONG: Final = 65_536  # bytes of JSON that are not read on the event loop
_BOM: Final = b"\xef\xbb\xbf"
_END: Final = b"[DONE]"

_THOUGHTS: Final = "<think>"
_THOUGHTS_END: Final = "</think>"
_HELD_CHARS: Final = 200  # of the form between two strings; more is another form

_SUMMARY: Final = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*"summary"\s*:\s*"')
_PLAN: Final = re.compile(r'"\s*,\s*"plan"\s*:\s*"')
# A pair of surrogates is one character: it is taken together or not yet.
_INSIDE: Final = re.compile(
    r"(?:[^\"\\]++|\\[\"\\/bfnrt]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u(?![dD][89abAB])[0-9a-fA-F]{4})++"
)
# Half a pair, which is no text; what is kept comes first.
_HALF: Final = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u])"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_ESCAPE_CHARS: Final = 12  # the longest escape, which may be half here

Show = Callable[[str], None]


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
        """Take in the next bytes and tell whether nothing more need be read.

        Raises:
            ModelError: it cannot be used.
        """
        for event in self._events.feed(received):
            if event == _END:
                return True
            if event:
                self._words.add(self._reader.take(await _read(event, MAX_EVENT_BYTES)))
            if self._reader.is_over:
                return True
        return False

    async def end(self) -> None:
        """Judge what came, as no more will.

        Raises:
            ModelError: ``model.cut``, or as `feed`.
        """
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
        """Take in the next bytes; see `StreamedAnswer.feed`."""
        self._body += received
        if len(self._body) > MAX_EVENT_BYTES:
            raise ModelError("model.too-large")
        return False

    async def end(self) -> None:
        """Judge what came; see `StreamedAnswer.end`."""
        # Some providers send blank lines while they work.
        answer = await _read(bytes(self._body).strip(), MAX_EVENT_BYTES)
        self._words.add(self._reader.take_whole(answer))
        self.text = self._words.end()


class EventReader:
    """Reads server-sent events from bytes that come in any pieces.

    Only ``data`` matters here: each event of both interfaces names itself in its JSON.

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


class Spoken:
    """Leaves out the thoughts that local models write before their answer (``<think>``)."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "begins"

    def feed(self, text: str) -> str:
        """Take the next words and return those that belong to the answer."""
        if self._state == "answers":
            return text
        self._held += text
        if self._state == "begins":
            self._held = self._held.lstrip()
            if self._held.startswith(_THOUGHTS):
                self._state = "thinks"
            elif not _THOUGHTS.startswith(self._held):
                return self._answer(self._held)
        if self._state == "thinks":
            _, ended, rest = self._held.partition(_THOUGHTS_END)
            if ended:
                self._state = "answer begins"
                self._held = rest
            else:
                self._held = self._held[-len(_THOUGHTS_END) :]
        if self._state == "answer begins":
            self._held = self._held.lstrip()
            return self._answer(self._held) if self._held else ""
        return ""

    def end(self) -> str:
        """Return what was held back, as nothing more comes."""
        return self._answer(self._held) if self._state == "begins" else ""

    def _answer(self, text: str) -> str:
        self._state, self._held = "answers", ""
        return text


class GrowingWords:
    """Reads summary and plan out of structured edits while these are being written.

    Of JSON that does not begin with them nothing is shown.
    """

    def __init__(self) -> None:
        self._held = ""
        self._awaited = [_SUMMARY, _PLAN]
        self._inside = False
        self._has_shown = False
        self._before = ""  # what stands before the next words

    def feed(self, text: str) -> str:
        """Take the next piece of JSON and return the words that it adds."""
        if not self._inside and not self._awaited:
            return ""
        self._held += text
        shown = ""
        while self._inside or self._enter():
            shown += self._words()
            if self._inside:
                break
        return shown

    def _enter(self) -> bool:
        if not self._awaited:
            self._held = ""
        elif found := self._awaited[0].match(self._held):
            self._awaited.pop(0)
            self._held = self._held[found.end() :]
            self._inside = True
            self._before = "\n\n" if self._has_shown else ""
        elif len(self._held) > _HELD_CHARS:
            self._awaited.clear()
            self._held = ""
        return self._inside

    def _words(self) -> str:
        found = _INSIDE.match(self._held)
        said = _unescaped(found[0]) if found else ""
        self._held = self._held[found.end() :] if found else self._held
        # What cannot be read on is the end of the string, half an escape, or nothing of ours.
        if self._held.startswith('"') or len(self._held) >= _ESCAPE_CHARS:
            self._inside = False
        if not said:
            return ""
        said, self._before = self._before + said, ""
        self._has_shown = True
        return said


async def _read(body: bytes, limit: int) -> Mapping[str, Any]:
    try:
        if len(body) > _LONG:
            return table(await asyncio.to_thread(_loads, body, limit))
        return table(_loads(body, limit))
    except RemoteProtocolError:
        raise ModelError("model.answer", why="protocol") from None


def _loads(body: bytes, limit: int) -> object:
    # What is no text becomes U+FFFD, which is seen, and the rest of the answer goes on.
    text = body.decode("utf-8", "replace")
    if "\\u" in text:
        text = _HALF.sub(lambda found: found[1] or r"\ufffd", text)
    read: object = strict_json.loads(text, max_bytes=3 * limit, floats="read")
    return read


def _unescaped(text: str) -> str:
    # Line feeds may stand bare in what a model calls JSON.
    read: str = json.loads(f'"{text}"', strict=False)
    return read.encode("utf-8", "replace").decode()
