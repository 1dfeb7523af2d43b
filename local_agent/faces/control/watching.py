"""Waiting for what becomes of a task, as a reader of the shared event stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any

from common.model.state import FINAL, TaskState
from local_agent.faces.control.tasks import whole_task
from local_agent.faces.control.wire import Content
from local_agent.flow.bus import Bus, Told
from local_agent.flow.run import rests
from local_agent.store.approvals import StoredApproval
from local_agent.store.journal import JournalThread
from local_agent.store.tasks import Task
from local_agent.views.task import Watched

Answer = tuple[bool, Content]


class Watching:
    """Follows tasks and approvals in the journal, woken by the bus."""

    def __init__(self, db: JournalThread, bus: Bus) -> None:
        self._db = db
        self._bus = bus

    async def task(
        self,
        task_id: str,
        *,
        until: frozenset[TaskState],
        begin: Coroutine[Any, Any, Any] | None = None,
        past_rest: bool = False,
    ) -> AsyncIterator[Answer]:
        """Give the events of a task, and at last the task itself.

        Args:
            task_id: Which one.
            until: The states in which the watching ends.
            begin: Awaited first; nothing that it brings about is missed.
            past_rest: Watch on where it rests until it is to be applied.
        """
        # Reads from before the task is looked at, so that nothing falls in between.
        with self._bus.read(task_id=task_id) as events:
            if begin is not None:
                await begin
            task = await self._task(task_id)
            while task.state not in until and (past_rest or not rests(task)):
                told = await anext(events, None)
                if told is None:
                    return
                yield False, _event(told, task)
                task = await self._task(task_id)
            # One step tells several events, and is told before anybody can read it in the journal.
            for told in events.queued():
                yield False, _event(told, task)
        turns = await self._db.run(self._db.journal.turns.of_task, task_id)
        yield True, Watched(task=whole_task(task, turns))

    async def standing(
        self, task_id: str, *, begin: Coroutine[Any, Any, None]
    ) -> StoredApproval | None:
        """Return the approval that a task asks for once it has settled, or how its last one ended.

        Args:
            task_id: Which one.
            begin: Awaited first; it may take the question back, which is then asked anew.
        """
        with self._bus.read(task_id=task_id) as events:
            await begin
            while True:
                task = await self._task(task_id)
                newest = await self._db.run(self._db.journal.approvals.newest_of, task_id)
                if task.state in FINAL or newest is None or newest.state != "superseded":
                    return newest
                if await anext(events, None) is None:
                    return newest

    async def asked(self, task_id: str) -> StoredApproval | None:
        """Return the approval that a task asks for once it waits; None when it ended before."""
        until = FINAL | {TaskState.WAITING_APPROVAL}
        async for _ in self.task(task_id, until=until):
            pass
        return await self._db.run(self._db.journal.approvals.newest_of, task_id)

    async def _task(self, task_id: str) -> Task:
        return await self._db.run(self._db.journal.tasks.get, task_id)


def _event(told: Told, task: Task) -> Mapping[str, Any]:
    return told.event.to_dict() | {"said": dict(told.said), "short_id": task.short_id}
