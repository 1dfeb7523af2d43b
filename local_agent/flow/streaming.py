"""A model at work, as others see it: its words as they come, and now and then a line for the chat.

The words go to this machine's own faces alone, a few times a second, and are not journaled: the
whole text is in the proposal.  That work goes on is told ever more rarely; to the chat, only once
it takes long.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from common.clock import Clock
from common.sentences import Lang, say
from local_agent.actions.run_command.action import is_for_chat
from local_agent.flow import words
from local_agent.flow.task import TaskLog
from local_agent.models.backend import Emit, ModelEvent
from local_agent.store.tasks import Task
from local_agent.words import render_duration

BATCH_S: Final = 0.05
FIRST_S: Final = 10.0  # until it is told; doubled each time, up to …
LONGEST_S: Final = 300.0
MAX_STREAMED_CHARS: Final = 1_000_000  # of one turn; the rest is in the proposal alone
_MESSAGE_ID: Final = "answer"


class Streams:
    """Passes on what models give off, for any number of tasks.

    Args:
        log: Tells it.
        model: Gives the name of the model that is asked; empty while none is configured.
        clock: For how long it has been at work.
    """

    def __init__(self, log: TaskLog, *, model: Callable[[], str], clock: Clock) -> None:
        self._log = log
        self._model = model
        self._clock = clock

    @asynccontextmanager
    async def flowing(self, task: Task, *, is_turn: bool = True) -> AsyncIterator[Emit]:
        """Pass on within the context what is emitted for a task in PROPOSING.

        Args:
            task: The task.
            is_turn: Whether a model is at work all the time; else nobody is told for how long.
        """
        model = self._model() if is_turn else ""
        stream = ModelStream(self._log, task, model=model, clock=self._clock)
        async with stream.flowing():
            yield stream.hear


class ModelStream:
    """Passes on what one turn of a model gives off.

    Args:
        log: Tells it.
        task: Whose turn it is, in PROPOSING.
        model: What the person calls the model.
        clock: For how long it has been at work.
    """

    def __init__(self, log: TaskLog, task: Task, *, model: str, clock: Clock) -> None:
        self._log = log
        self._task = task
        self._model = model
        self._clock = clock
        self._held: list[str] = []
        self._streamed = 0
        self._fresh = asyncio.Event()

    def hear(self, event: ModelEvent) -> None:
        """Take a sign of work; does not wait."""
        if event.kind != "text" or self._streamed >= MAX_STREAMED_CHARS:
            return
        self._streamed += len(event.text)
        self._held.append(event.text)
        self._fresh.set()

    @asynccontextmanager
    async def flowing(self) -> AsyncIterator[None]:
        """Pass on within the context; what is held at its end is passed on as well."""
        both = [asyncio.create_task(self._chunks()), asyncio.create_task(self._progress())]
        try:
            yield
        finally:
            for one in both:
                one.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            self._flush()

    async def _chunks(self) -> None:
        while True:
            await self._fresh.wait()
            self._flush()
            await asyncio.sleep(BATCH_S)

    def _flush(self) -> None:
        self._fresh.clear()
        held, self._held = "".join(self._held), []
        if held:
            self._log.streamed(self._task, _MESSAGE_ID, held)

    async def _progress(self) -> None:
        if not self._model:
            return
        began, pause = self._clock.now().mono, FIRST_S
        while True:
            await asyncio.sleep(pause)
            elapsed_ms = round((self._clock.now().mono - began) * 1000)
            words = partial(_thinking, self._model, elapsed_ms)
            await self._log.told(self._task, words, chat=is_for_chat(elapsed_ms / 1000))
            pause = min(2 * pause, LONGEST_S)


def _thinking(model: str, elapsed_ms: int, lang: Lang) -> str:
    duration = render_duration(elapsed_ms, lang)
    return say(words.THINKING, lang, model=model, duration=duration)
