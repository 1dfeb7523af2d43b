"""The event stream inside the process: one writer, any number of readers, nobody waits for them.

Readers are the control socket and, later, the page.  The journal is the record; a reader that
cannot keep up is dropped with a notice and reads on from the journal.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final, Self

from common.errors import UnavailableError
from common.model.proposal import TaskEvent
from common.sentences import Lang

QUEUE_EVENTS: Final = 256


@dataclass(frozen=True, slots=True)
class Told:
    """An event as this machine's faces get it.

    Attributes:
        event: As the journal and the gateway have it; its message is in the task's language.
        said: The same message in each language; empty where there is none.
    """

    event: TaskEvent
    said: Mapping[Lang, str] = field(default_factory=dict)


class Reader:
    """One reader's queue: an async iterator and a context manager.

    Iteration ends when the bus closes.  It raises UnavailableError ``bus.reader-too-slow`` once,
    after the events that still fitted, when the queue overflowed.
    """

    def __init__(self, bus: Bus, task_id: str | None, size: int) -> None:
        self._bus = bus
        self._task_id = task_id
        self._size = size
        self._queue: deque[Told] = deque()
        self._filled = asyncio.Event()
        self._ended = False
        self._too_slow = False

    def offer(self, told: Told) -> bool:
        """Take an event; False when the reader is to be dropped."""
        if self._task_id not in (None, told.event.task_id):
            return True
        if len(self._queue) >= self._size:
            self._too_slow = True
            self.end()
            return False
        self._queue.append(told)
        self._filled.set()
        return True

    def end(self) -> None:
        """Let the iteration stop after what is queued."""
        self._ended = True
        self._filled.set()

    def __enter__(self) -> Self:
        """Read from now on."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop reading."""
        self._bus.forget(self)

    def __aiter__(self) -> Self:
        """Return itself."""
        return self

    async def wait(self) -> None:
        """Wait for something to be told, or the end, and forget it; for whoever looks elsewhere."""
        while not (self._queue or self._too_slow or self._ended):
            self._filled.clear()
            await self._filled.wait()
        self._queue.clear()

    def queued(self) -> Sequence[Told]:
        """Return what was told and not read yet, without waiting."""
        found = tuple(self._queue)
        self._queue.clear()
        return found

    async def __anext__(self) -> Told:
        """Wait for the next event.

        Raises:
            UnavailableError: ``bus.reader-too-slow``.
        """
        while not self._queue:
            if self._too_slow:
                self._too_slow = False
                raise UnavailableError("bus.reader-too-slow", limit=self._size)
            if self._ended:
                raise StopAsyncIteration
            self._filled.clear()
            await self._filled.wait()
        return self._queue.popleft()


class Bus:
    """Hands every event to every reader, without waiting for any."""

    def __init__(self) -> None:
        self._readers: set[Reader] = set()

    def read(self, *, task_id: str | None = None, size: int = QUEUE_EVENTS) -> Reader:
        """Return a reader of all events from now on, or of one task's."""
        reader = Reader(self, task_id, size)
        self._readers.add(reader)
        return reader

    def publish(self, told: Told) -> None:
        """Hand out one event that is already in the journal."""
        for reader in [r for r in self._readers if not r.offer(told)]:
            self.forget(reader)

    def forget(self, reader: Reader) -> None:
        """Hand nothing more to this reader."""
        self._readers.discard(reader)

    def close(self) -> None:
        """End all readers."""
        for reader in self._readers:
            reader.end()
        self._readers.clear()
