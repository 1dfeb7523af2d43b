"""One question and its answer: the key read anew, the request made again where none came."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from common.errors import CodexBridgeError
from local_agent.errors import ModelError
from local_agent.models.backend import Usage
from local_agent.models.http.answers import Answer, Show, StreamedAnswer, WholeAnswer
from local_agent.models.http.config import HttpModel
from local_agent.models.http.dialect import Dialect, Question
from local_agent.models.http.faults import NotBegunError
from local_agent.models.http.retry import pause_s

if TYPE_CHECKING:
    from local_agent.models.http.client import Client

_KEY: Final = re.compile(r"[!-~]{1,4096}", re.ASCII)  # what a header can hold


@dataclass(frozen=True, slots=True)
class Said:
    """An answer.

    Attributes:
        usage: All requests that were made for it.
    """

    text: str
    usage: Usage


class Asking:
    """Asks one model.

    Args:
        model: What is configured.
        dialect: The interface it speaks.
        key: Gives its key, or None where it needs none; blocks.
        random: Gives a number from 0 to 1.
        wait: Waits some seconds.
    """

    def __init__(
        self,
        model: HttpModel,
        dialect: Dialect,
        *,
        key: Callable[[], str | None],
        random: Callable[[], float],
        wait: Callable[[float], Awaitable[object]],
    ) -> None:
        self._model = model
        self._dialect = dialect
        self._key = key
        self._random = random
        self._wait = wait
        self._client: Client | None = None
        self._opening = asyncio.Lock()

    async def ask(self, question: Question, show: Show, *, until: float) -> Said:
        """Put a question.

        Args:
            question: What is asked.
            show: Told of the words of the answer as they come, empty for none; does not block.
            until: The moment, on the loop's clock, at which nobody waits any more.

        Raises:
            ModelError: ``model.*``.
        """
        body = json.dumps(self._dialect.body(self._model, question)).encode()
        client, key = await self._opened(), await self._read_key()
        tries = 0
        while True:
            tries += 1
            begun = _Begun(self._dialect, show)
            try:
                await client.post(body, key=key, begin=begun.begin)
                return begun.said(tries)
            except NotBegunError as none:
                fault = none.fault
                pause = pause_s(tries, none.after_s, self._random)
            if pause is None or asyncio.get_running_loop().time() + pause >= until:
                raise fault
            await self._wait(pause)

    async def aclose(self) -> None:
        """Close what is open."""
        async with self._opening:
            client, self._client = self._client, None
            if client is not None:
                await client.aclose()

    async def _opened(self) -> Client:
        async with self._opening:
            if self._client is None:
                # The library takes 0.2 s to import; an agent that asks nobody never does.
                name = "local_agent.models.http.client"
                await asyncio.to_thread(importlib.import_module, name)
                from local_agent.models.http.client import Client

                idle_s = self._model.idle_s if self._model.stream else None
                address = self._model.address(self._dialect.path)
                self._client = Client(address, idle_s=idle_s)
            return self._client

    async def _read_key(self) -> str | None:
        why = "form"
        try:
            key = await asyncio.to_thread(self._key)
            if key is None or _KEY.fullmatch(key):
                return key
        except CodexBridgeError as error:
            why = error.code
        raise ModelError("model.key", why=why)


class _Begun:
    """What takes in the answer to one request."""

    def __init__(self, dialect: Dialect, show: Show) -> None:
        self._reader = dialect.reader()
        self._show = show
        self._answer: StreamedAnswer | WholeAnswer | None = None

    def begin(self, media_type: str) -> Answer | None:
        if media_type == "text/event-stream":
            self._answer = StreamedAnswer(self._reader, self._show)
        elif media_type == "application/json":
            self._answer = WholeAnswer(self._reader, self._show)
        return self._answer

    def said(self, calls: int) -> Said:
        text = self._answer.text if self._answer else ""
        return Said(text, replace(self._reader.usage, calls=calls))
