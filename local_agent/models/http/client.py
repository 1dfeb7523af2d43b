"""One connection pool to one provider: a request out, bounded bytes in.  Alone imports aiohttp.

No redirect is followed, no cookie kept, nothing unpacked, no proxy or login taken from the
environment.  No error holds one of the library's own, which know the headers, and so the key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import aiohttp

from local_agent.errors import ModelError
from local_agent.models.backend import MAX_ANSWER_BYTES
from local_agent.models.http import faults
from local_agent.models.http.answers import Answer
from local_agent.models.http.faults import NotBegunError
from local_agent.models.http.retry import asked_pause_s

CONNECT_S: Final = 10.0
REFUSAL_S: Final = 5.0  # for the body of an answer that is none
# A stream wraps each few letters in some 250 bytes, and thoughts come in it as well.
MAX_RECEIVED_BYTES: Final = 8 * MAX_ANSWER_BYTES
_PIECE_BYTES: Final = 16_384  # at once: a few milliseconds, were it all line ends

_HEADERS: Final = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream, application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "codexbridge",
}


class Client:
    """Makes requests to one address.

    Args:
        address: Of the function.
        idle_s: Longest silence; None for no bound of its own.
    """

    def __init__(self, address: str, *, idle_s: float | None) -> None:
        self._address = address
        self._idle_s = idle_s
        self._session = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_S),
            auto_decompress=False,
            trust_env=False,
        )

    async def post(
        self, body: bytes, *, key: str | None, begin: Callable[[str], Answer | None]
    ) -> None:
        """Make one request and let the answer be taken in.

        Args:
            body: JSON.
            key: Sent as a bearer token; None for none.
            begin: Gives what takes in an answer of this media type; None for one that is not read.

        Raises:
            ModelError: ``model.*``; those of the answer as well.
            NotBegunError: no byte of an answer came, and the same may be asked again.
        """
        error: Exception
        try:
            async with asyncio.timeout(self._idle_s) as watch:
                return await self._exchange(body, key, begin, watch)
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

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def _exchange(
        self,
        body: bytes,
        key: str | None,
        begin: Callable[[str], Answer | None],
        watch: asyncio.Timeout,
    ) -> None:
        headers = _HEADERS if key is None else {**_HEADERS, "Authorization": f"Bearer {key}"}
        async with self._session.post(
            self._address, data=body, headers=headers, allow_redirects=False
        ) as response:
            try:
                if response.status != 200:
                    raise await _refused(response, key)
                answer = begin(response.content_type)
                encoding = response.headers.get("Content-Encoding", "identity").lower()
                if answer is None or encoding != "identity":
                    raise ModelError("model.answer", why="protocol")
                await self._receive(response, answer, watch)
            finally:
                response.close()  # what was not read to its end is cut off at once

    async def _receive(
        self, response: aiohttp.ClientResponse, answer: Answer, watch: asyncio.Timeout
    ) -> None:
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
    secrets = () if key is None else (key,)
    fault = faults.of_status(response.status, bytes(body), secrets=secrets)
    if fault.code not in {"model.busy", "model.server"}:
        return fault
    return NotBegunError(fault, asked_pause_s(response.headers.get("Retry-After")))
