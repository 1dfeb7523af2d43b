"""One question to a provider: a request out, bounded bytes in, made again where no answer came.

Alone imports aiohttp, which is slow to import: it is itself imported with the first question.  No
redirect is followed, no cookie kept, nothing unpacked, no proxy or login taken from the
environment.  No error holds one of the library's own, which know the headers, and so the key.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import aiohttp

from local_agent.errors import ModelError
from local_agent.models import faults
from local_agent.models.backend import MAX_ANSWER_BYTES, Usage
from local_agent.models.http.answers import Show, StreamedAnswer, WholeAnswer
from local_agent.models.http.config import HttpModel
from local_agent.models.http.dialects import Dialect, Question

CONNECT_S: Final = 10.0
REFUSAL_S: Final = 5.0  # for the body of an answer that is none
# A stream wraps each few letters in some 250 bytes, and thoughts come in it as well.
MAX_RECEIVED_BYTES: Final = 8 * MAX_ANSWER_BYTES
_PIECE_BYTES: Final = 16_384  # at once: a few milliseconds, were it all line ends
MAX_TRIES: Final = 3
MAX_PAUSE_S: Final = 20.0  # who asks for more is told to the person instead
_FIRST_PAUSE_S: Final = 0.5
_SECONDS: Final = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", re.ASCII)

_HEADERS: Final = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream, application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "codexbridge",
}
_ANSWERS: Final[Mapping[str, type[StreamedAnswer | WholeAnswer]]] = {
    "text/event-stream": StreamedAnswer,
    "application/json": WholeAnswer,
}


@dataclass(frozen=True, slots=True)
class Said:
    """An answer.

    Attributes:
        usage: All requests that were made for it.
    """

    text: str
    usage: Usage


class NotBegunError(Exception):
    """A request ended before any byte of an answer; the same may be asked again.

    Args:
        fault: What it means if it is not.
        after_s: Seconds that the provider asks us to wait, where it does.
    """

    def __init__(self, fault: ModelError, after_s: float | None = None) -> None:
        super().__init__(fault.code)
        self.fault = fault
        self.after_s = after_s


class Client:
    """Asks one model.

    Args:
        model: What is configured.
        dialect: The interface it speaks.
        random: Gives a number from 0 to 1.
        wait: Waits some seconds.
    """

    def __init__(
        self,
        model: HttpModel,
        dialect: Dialect,
        *,
        random: Callable[[], float],
        wait: Callable[[float], Awaitable[object]],
    ) -> None:
        self._model = model
        self._dialect = dialect
        self._random = random
        self._wait = wait
        self._idle_s = model.idle_s if model.stream else None
        self._session = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_S),
            auto_decompress=False,
            trust_env=False,
        )

    async def ask(self, question: Question, show: Show, *, key: str | None, until: float) -> Said:
        """Put a question.

        Args:
            question: What is asked.
            show: Told of the words of the answer as they come, empty for none; does not block.
            key: Sent as a bearer token; None for none.
            until: The moment, on the loop's clock, at which nobody waits any more.

        Raises:
            ModelError: ``model.*``.
        """
        body = json.dumps(self._dialect.body(self._model, question)).encode()
        tries = 0
        while True:
            tries += 1
            try:
                said = await self._post(body, key, show)
                return replace(said, usage=replace(said.usage, calls=tries))
            except NotBegunError as none:
                fault = none.fault
                pause = pause_s(tries, none.after_s, self._random)
            if question.once or pause is None or asyncio.get_running_loop().time() + pause >= until:
                raise fault
            await self._wait(pause)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def _post(self, body: bytes, key: str | None, show: Show) -> Said:
        error: Exception
        try:
            async with asyncio.timeout(self._idle_s) as watch:
                return await self._exchange(body, key, show, watch)
        except aiohttp.ClientConnectorCertificateError:
            error = ModelError("model.unreachable", why="certificate")
        except (aiohttp.ClientPayloadError, aiohttp.ClientResponseError):
            error = ModelError("model.answer", why="protocol")
        except (aiohttp.ClientError, OSError) as failed:
            # TimeoutError is an OSError: the library's own means that nobody was reached.
            is_silence = isinstance(failed, TimeoutError) and watch.expired()
            silent = ModelError("model.stalled")
            error = silent if is_silence else NotBegunError(ModelError("model.unreachable"))
        raise error

    async def _exchange(
        self, body: bytes, key: str | None, show: Show, watch: asyncio.Timeout
    ) -> Said:
        address = self._model.address(self._dialect.path)
        headers = _HEADERS if key is None else {**_HEADERS, "Authorization": f"Bearer {key}"}
        async with self._session.post(
            address, data=body, headers=headers, allow_redirects=False
        ) as response:
            try:
                if response.status != 200:
                    raise await _refused(response, key)
                reader = self._dialect.reader()
                answer = _ANSWERS.get(response.content_type)
                encoding = response.headers.get("Content-Encoding", "identity").lower()
                if answer is None or encoding != "identity":
                    raise ModelError("model.answer", why="protocol")
                text = await self._receive(response, answer(reader, show), watch)
                return Said(text, reader.usage)
            finally:
                response.close()  # what was not read to its end is cut off at once

    async def _receive(
        self,
        response: aiohttp.ClientResponse,
        answer: StreamedAnswer | WholeAnswer,
        watch: asyncio.Timeout,
    ) -> str:
        received = 0
        loop = asyncio.get_running_loop()
        try:
            async for piece in response.content.iter_chunked(_PIECE_BYTES):
                if self._idle_s is not None:
                    watch.reschedule(loop.time() + self._idle_s)
                received += len(piece)
                if received > MAX_RECEIVED_BYTES:
                    raise ModelError("model.too-large")
                if await answer.feed(piece):
                    break
                await asyncio.sleep(0)  # a flood is read as fast as it comes: others have a turn
        except aiohttp.ClientError:
            pass  # a body that breaks off: whether all that matters had come is seen below
        await answer.end()
        return answer.text


def asked_pause_s(header: str | None) -> float | None:
    """Return the seconds of a ``Retry-After``; None where it is missing or a date."""
    return float(header) if header is not None and _SECONDS.fullmatch(header) else None


def pause_s(tries: int, asked_s: float | None, random: Callable[[], float]) -> float | None:
    """Return how long to wait before the next try, or None when there shall be none.

    Args:
        tries: Made so far.
        asked_s: What the provider asked for.
        random: Gives a number from 0 to 1, so that many who were refused do not come back at once.
    """
    if tries >= MAX_TRIES or (asked_s or 0) > MAX_PAUSE_S:
        return None
    grown = _FIRST_PAUSE_S * (1 << (tries - 1)) * (0.5 + random())
    return max(grown, asked_s or 0)


async def _refused(response: aiohttp.ClientResponse, key: str | None) -> Exception:
    body = bytearray()
    try:
        async with asyncio.timeout(REFUSAL_S):
            async for piece in response.content.iter_any():
                body += piece
                if len(body) > faults.MAX_REFUSAL_BYTES:
                    break
    except (aiohttp.ClientError, OSError):
        pass  # the status says enough
    fault = faults.of_status(response.status, bytes(body), key=key)
    if fault.code not in {"model.busy", "model.server"}:
        return fault
    return NotBegunError(fault, asked_pause_s(response.headers.get("Retry-After")))
