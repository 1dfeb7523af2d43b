"""THE main flow of one turn of a model behind HTTP (`local_agent.models.backend.Backend`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from secrets import SystemRandom, token_hex
from typing import Final

from common.errors import InputError
from local_agent.errors import ModelError
from local_agent.models.backend import (
    Emit,
    Health,
    ModelEvent,
    Reply,
    Scratch,
    Turn,
    Usage,
)
from local_agent.models.http.answers import Show
from local_agent.models.http.asking import Asking
from local_agent.models.http.chat import Chat
from local_agent.models.http.config import HttpModel
from local_agent.models.http.dialect import Message, Question
from local_agent.models.http.edit_form import (
    EDIT_RULES,
    bare_json,
    correction,
    read_answer,
    reply_text,
)
from local_agent.models.http.edits import EDITS_SCHEMA, apply_edits
from local_agent.models.http.responses import Responses
from local_agent.models.http.shown import GrowingWords

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
        key: Callable[[], str | None],
        random: Callable[[], float] = _RANDOM,
        wait: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._model = model
        dialect = Responses() if model.api == "responses" else Chat()
        self._asking = Asking(model, dialect, key=key, random=random, wait=wait)

    @property
    def name(self) -> str:
        """What the person calls it."""
        return self._model.name

    async def ask(self, turn: Turn, emit: Emit) -> Reply:
        """Put one question; see `Backend.ask`."""
        question = Question(turn.instructions, (Message("user", turn.prompt),))
        async with _deadline(self._model.deadline_s) as until:
            if turn.want == "edits":
                return await self._edited(turn, question, emit, until)
            if turn.want == "json":
                question = replace(question, schema=turn.schema)
                said = await self._asking.ask(question, _alive(emit), until=until)
                text = bare_json(said.text)
            else:
                said = await self._asking.ask(question, _words(emit), until=until)
                text = said.text
            if not text.strip():
                raise ModelError("model.answer", why="empty")
            return Reply(text, usage=said.usage)

    async def check(self) -> Health:
        """Ask the smallest question; see `Backend.check`."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with _deadline(min(CHECK_S, self._model.deadline_s)) as until:
            await self._asking.ask(_SMALLEST, lambda _text: None, until=until)
        spent_ms = round((loop.time() - began) * 1000)
        return Health(self._model.model, version=self._model.api, latency_ms=spent_ms)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._asking.aclose()

    async def _edited(self, turn: Turn, question: Question, emit: Emit, until: float) -> Reply:
        if turn.scratch is None:
            raise ValueError("edits need a scratch copy")
        rules = f"{turn.instructions}\n\n{EDIT_RULES}"
        question = replace(question, instructions=rules, schema=EDITS_SCHEMA)
        first = await self._asking.ask(question, _growing_words(emit), until=until)
        try:
            return await _make(first.text, turn.scratch, first.usage)
        except InputError as error:
            fault = error
        more = await asyncio.to_thread(correction, first.text, fault, nonce=token_hex(8))
        question = replace(question, messages=(*question.messages, *more))
        second = await self._asking.ask(question, _alive(emit), until=until)
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
