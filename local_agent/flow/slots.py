"""Who may go to work next, so that nobody takes all places at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from local_agent.store.tasks import Task

AT_ONCE: Final = 4  # tasks of the chat, and as many of this machine
OF_ONE: Final = 2  # of one member; the others are for the other members


class Slots:
    """Places for work of one sort.

    Whoever sits at this machine never waits for the chat, and no member for another one alone.
    """

    def __init__(self) -> None:
        self._here = asyncio.Semaphore(AT_ONCE)
        self._chat = asyncio.Semaphore(AT_ONCE)
        # Forgotten with the last who waits for it: a gateway names whom it likes.
        self._own: WeakValueDictionary[tuple[str, str], asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self, task: Task) -> AsyncIterator[None]:
        """Hold a place for a task within the context, once there is one."""
        if task.source == "local_ui":
            async with self._here:
                yield
            return
        member = task.channel, task.claimed_user
        own = self._own.setdefault(member, asyncio.Semaphore(OF_ONE))
        async with own, self._chat:
            yield
