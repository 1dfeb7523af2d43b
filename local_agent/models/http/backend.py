"""THE main flow of one turn of a model behind HTTP (`local_agent.models.backend.Backend`)."""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from secrets import SystemRandom, token_hex
from typing import TYPE_CHECKING, Final

from common.errors import InputError
from local_agent.errors import ModelError
from local_agent.models.backend import (
    Emit,
    Health,
    ModelEvent,
    ReadKey,
    Reply,
    Scratch,
    Turn,
    Usage,
    bare_json,
    read_key,
)
from local_agent.models.http.answers import GrowingWords, Show
from local_agent.models.http.config import HttpModel
from local_agent.models.http.dialects import Chat, Message, Question, Responses
from local_agent.models.http.edits import (
    EDIT_RULES,
    EDITS_SCHEMA,
    apply_edits,
    correction,
    read_answer,
    reply_text,
)

if TYPE_CHECKING:
    from local_agent.models.http.client import Client, Said

_CLIENT: Final = "local_agent.models.http.client"
_KEY: Final = re.compile(r"[!-~]{1,4096}", re.ASCII)  # what a header can hold
CHECK_S: Final = 60.0
_ALIVE: Final = ModelEvent("alive")
_RANDOM: Final = SystemRandom().random
_SMALLEST: Final = Question("Answer with one word.", (Message("user", "Say: ready"),))


class HttpBackend:
    """A model behind Responses or Chat Completions.

    Args:
        model: What is configured.
        key: Gives its key, or None where it needs none; blocks; asked anew for each turn.
        random: Gives a number from 0 to 1.
        wait: Waits some seconds.
    """

    def __init__(
        self,
        model: HttpModel,
        *,
        key: ReadKey,
        random: Callable[[], float] = _RANDOM,
        wait: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._model = model
        self._key = key
        self._random = random
        self._wait = wait
        self._client: Client | None = None
        self._opening = asyncio.Lock()

    @property
    def name(self) -> str:
        """What the person calls it."""
        return self._model.name

    async def ask(self, turn: Turn, emit: Emit) -> Reply:
        """Put one question; see `Backend.ask`."""
        prompt = (Message("user", turn.prompt),)
        question = Question(turn.instructions, prompt, once=turn.once)
        async with _deadline(self._model.deadline_s) as until:
            if turn.want == "edits":
                return await self._edited(turn, question, emit, until)
            if turn.want == "json":
                question = replace(question, schema=turn.schema)
                said = await self._ask(question, _alive(emit), until)
                text = bare_json(said.text)
            else:
                said = await self._ask(question, _words(emit), until)
                text = said.text
            if not text.strip():
                raise ModelError("model.answer", why="empty")
            return Reply(text, usage=said.usage)

    async def check(self) -> Health:
        """Ask the smallest question; see `Backend.check`."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with _deadline(min(CHECK_S, self._model.deadline_s)) as until:
            await self._ask(_SMALLEST, lambda _text: None, until)
        spent_ms = round((loop.time() - began) * 1000)
        return Health(self._model.model, version=self._model.api, latency_ms=spent_ms)

    async def aclose(self) -> None:
        """Close its connections."""
        async with self._opening:
            client, self._client = self._client, None
            if client is not None:
                await client.aclose()

    async def _ask(self, question: Question, show: Show, until: float) -> Said:
        client, key = await self._opened(), await read_key(self._key)
        if key is not None and not _KEY.fullmatch(key):
            raise ModelError("model.key", why="form")
        return await client.ask(question, show, key=key, until=until)

    async def _opened(self) -> Client:
        async with self._opening:
            if self._client is None:
                # The library takes 0.2 s to import; an agent that asks nobody never does.
                await asyncio.to_thread(importlib.import_module, _CLIENT)
                from local_agent.models.http.client import Client

                dialect = Responses() if self._model.api == "responses" else Chat()
                self._client = Client(self._model, dialect, random=self._random, wait=self._wait)
            return self._client

    async def _edited(self, turn: Turn, question: Question, emit: Emit, until: float) -> Reply:
        if turn.scratch is None:
            raise ValueError("edits need a scratch copy")
        rules = f"{turn.instructions}\n\n{EDIT_RULES}"
        question = replace(question, instructions=rules, schema=EDITS_SCHEMA)
        first = await self._ask(question, _growing_words(emit), until)
        try:
            return await _make(first.text, turn.scratch, first.usage)
        except InputError as error:
            fault = error
        more = await asyncio.to_thread(correction, first.text, fault, nonce=token_hex(8))
        question = replace(question, messages=(*question.messages, *more))
        second = await self._ask(question, _alive(emit), until)
        try:
            return await _make(second.text, turn.scratch, first.usage + second.usage)
        except InputError as error:
            facts = {name: error.facts[name] for name in ("path", "index") if name in error.facts}
            raise ModelError("model.answer", why=error.code, **facts) from None


@asynccontextmanager
async def _deadline(seconds: float) -> AsyncIterator[float]:
    """Give the moment at which the time is up; then it is over."""
    until = asyncio.get_running_loop().time() + seconds
    try:
        async with asyncio.timeout_at(until):
            yield until
    except TimeoutError:
        raise ModelError("model.deadline", seconds=round(seconds)) from None


async def _make(text: str, scratch: Scratch, usage: Usage) -> Reply:
    """Make the edits of an answer in the scratch copy: all that it takes, or none.

    Raises:
        InputError: ``edit.*``: nothing was made.
        ModelError: ``model.answer``: the copy may be half edited.
    """
    making = asyncio.ensure_future(asyncio.to_thread(_make_blocking, text, scratch))
    try:
        reply = await asyncio.shield(making)
    except asyncio.CancelledError:
        # No thread can be stopped, and whoever lent the copy gets it back after this.
        await asyncio.gather(making, return_exceptions=True)
        raise
    return replace(reply, usage=usage)


def _make_blocking(text: str, scratch: Scratch) -> Reply:
    edits = read_answer(text)
    try:
        refused = apply_edits(scratch, edits.edits)
    except InputError as error:
        if error.code.startswith("edit."):
            raise
        raise ModelError("model.answer", why=error.code) from None
    return Reply(reply_text(edits), commands=edits.commands, refused=refused)


def _words(emit: Emit) -> Show:
    """Show the answer itself."""
    return lambda text: emit(ModelEvent("text", text) if text else _ALIVE)


def _alive(emit: Emit) -> Show:
    """Show that there is one: JSON is not for people."""
    return lambda _text: emit(_ALIVE)


def _growing_words(emit: Emit) -> Show:
    """Show what stands in structured edits for people."""
    growing = GrowingWords()

    def show(text: str) -> None:
        said = growing.feed(text)
        emit(ModelEvent("text", said) if said else _ALIVE)

    return show
