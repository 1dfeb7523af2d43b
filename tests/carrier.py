"""A small engine over a real journal: carries tasks along the states and tells every step.

It runs nothing.  A task whose text begins with ``@dev hold`` waits as for an approval until it is
released or cancelled; any other goes through by itself, with a few lines of progress.
"""

from __future__ import annotations

import asyncio
from typing import Final

from common.clock import Clock
from common.model.state import FINAL, Reason, TaskState
from common.sentences import same
from local_agent.flow.bus import Bus
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.task import TaskLog, Waiting
from local_agent.store.journal import JournalThread
from local_agent.store.tasks import Task

PROGRESS: Final = 3  # lines of each task
_NEXT: Final = {
    TaskState.RECEIVED: TaskState.ROUTED,
    TaskState.ROUTED: TaskState.CONTEXT_COLLECTED,
    TaskState.CONTEXT_COLLECTED: TaskState.PROPOSING,
    TaskState.PROPOSING: TaskState.PROPOSAL_READY,
}


class Carrier:
    """`local_agent.link.journal.Engine` for tests of the link.

    Attributes:
        released: Set when what is held may go on.
    """

    def __init__(self, db: JournalThread, clock: Clock) -> None:
        self.released = asyncio.Event()
        self._clock = clock
        self._store = JournalStore(db)
        self._log = TaskLog(self._store, Bus(), clock)
        self._stops: dict[str, asyncio.Event] = {}
        self._carried: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Take up what was left open."""
        for task in await self._store.open_tasks():
            self.begin(task.task_id)

    def begin(self, task_id: str) -> None:
        """Carry a task, unless it is being carried."""
        if task_id not in self._stops:
            self._stops[task_id] = asyncio.Event()
            carried = asyncio.create_task(self._carry(task_id))
            self._carried.add(carried)
            carried.add_done_callback(self._carried.discard)

    def stop(self, task_id: str) -> None:
        """Act on a cancel that is in the journal."""
        self.begin(task_id)
        self._stops[task_id].set()

    async def kill(self) -> None:
        """Drop everything; the journal keeps it."""
        carried = tuple(self._carried)
        for task in carried:
            task.cancel()
        await asyncio.gather(*carried, return_exceptions=True)

    async def _carry(self, task_id: str) -> None:
        task = await self._store.get(task_id)
        if task.cancel_requested:
            self._stops[task_id].set()
        while task.state not in FINAL:
            task = await self._step(task)

    async def _step(self, task: Task) -> Task:
        stop = self._stops[task.task_id]
        if stop.is_set():
            return await self._log.ended(task, Reason.CANCELLED, same("stopped"))
        if task.state is TaskState.PROPOSAL_READY:
            waiting = Waiting("7K3F-9Q2M", self._clock.now().wall_ms + 3_600_000, "dev-1")
            return await self._log.waiting(task, same("please approve"), waiting)
        if task.state is TaskState.WAITING_APPROVAL:
            await self._hold(task, stop)
            if stop.is_set():
                return task
            return await self._log.entered(task, TaskState.EXECUTING)
        if task.state is TaskState.EXECUTING:
            for number in range(PROGRESS):
                task = await self._log.told(task, same(f"{number + 1} of {PROGRESS}"))
            return await self._log.ended(task, Reason.COMPLETED, same("all done"))
        return await self._log.entered(task, _NEXT[task.state])

    async def _hold(self, task: Task, stop: asyncio.Event) -> None:
        if not task.text.startswith("@dev hold"):
            return
        ends = [asyncio.create_task(event.wait()) for event in (stop, self.released)]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
