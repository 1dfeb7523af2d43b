"""The tasks of the engine, in the journal: over the journal's thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from common.model.state import Reason
from local_agent.store.approvals import StoredApproval
from local_agent.store.effects import Effect
from local_agent.store.journal import JournalThread
from local_agent.store.runs import Runs, StoredRun
from local_agent.store.tasks import Change, NewTask, Task
from local_agent.store.turns import StoredTurn


class JournalStore:
    """Each method is one call on the journal's thread, in the order they were made."""

    def __init__(self, db: JournalThread) -> None:
        self._db = db
        self._tasks = db.journal.tasks
        self._approvals = db.journal.approvals

    async def create(self, new: NewTask, at_ms: int) -> Task:
        """Write a local task in RECEIVED.

        Raises:
            StoreError: ``store.task-known`` or ``store.short-id-taken``.
        """
        return await self._db.run(self._tasks.create, new, at_ms)

    async def create_carrier(
        self, new: NewTask, at_ms: int, write: Callable[[Runs], StoredRun]
    ) -> StoredRun:
        """Write what a task is to do of a run, and the task; neither without the other.

        Raises:
            StateError: as ``write``.
            StoreError: as `create`.
        """

        def both() -> StoredRun:
            with self._db.journal.transaction():
                run = write(self._db.journal.runs)
                self._tasks.create(replace(new, run=run.run_id), at_ms)
                return run

        return await self._db.run(both)

    async def get(self, task_id: str) -> Task:
        """Return the task.

        Raises:
            StateError: ``task.unknown``.
        """
        return await self._db.run(self._tasks.get, task_id)

    async def open_tasks(self) -> Sequence[Task]:
        """Return all tasks that are not final, oldest first."""
        return await self._db.run(self._tasks.open_tasks)

    async def named(self, short_id: str) -> Task:
        """Return the task that people mean by a short ID.

        Raises:
            StateError: ``task.unknown``.
        """
        return await self._db.run(self._tasks.named, short_id)

    async def change(self, change: Change) -> Task:
        """Apply one step and return the task.

        Raises:
            StateError: ``task.illegal-transition``; nothing was changed.
        """
        return await self._db.run(self._tasks.change, change)

    async def request_cancel(self, task_id: str) -> bool:
        """Note that the task is to be cancelled; False when it has ended."""
        return await self._db.run(self._tasks.request_cancel, task_id)

    async def newest_approval(self, task_id: str) -> StoredApproval | None:
        """Return the newest approval of a task, whatever became of it."""
        return await self._db.run(self._approvals.newest_of, task_id)

    async def approval(self, approval_id: str) -> StoredApproval:
        """Return an approval by its own id.

        Raises:
            StateError: ``approval.unknown``.
        """
        return await self._db.run(self._approvals.get, approval_id)

    async def newest_check(self, approval_id: str) -> Task | None:
        """Return the newest task that tries out the change of an approval, or None."""
        return await self._db.run(self._tasks.newest_check, approval_id)

    async def earlier(self, task: Task, *, since_ms: int, limit: int) -> Sequence[Task]:
        """Return what the same person asked before in the same thread, newest first."""
        return await self._db.run(self._tasks.earlier, task, since_ms=since_ms, limit=limit)

    async def proposals(self, task: Task, *, since_ms: int, limit: int) -> Sequence[Task]:
        """Return what was proposed to the same person in the same conversation, newest first."""
        return await self._db.run(self._tasks.proposals, task, since_ms=since_ms, limit=limit)

    async def last_log(self, workspace: str) -> str | None:
        """Return the name of the log of the last command in a workspace, by its path."""
        return await self._db.run(self._db.journal.effects.last_log, workspace)

    async def begin_turn(self, turn: StoredTurn) -> int:
        """Write a turn of a model that begins, and return its number."""
        return await self._db.run(self._db.journal.turns.begin, turn)

    async def end_turn(self, number: int, turn: StoredTurn) -> None:
        """Write how a turn ended."""
        await self._db.run(self._db.journal.turns.end, number, turn)

    async def interrupted(self) -> Sequence[str]:
        """Return the tasks that have an effect without an outcome."""
        effects = await self._db.run(self._db.journal.effects.unfinished_effects)
        return [effect.task_id for effect in effects]

    async def begun(self, approval_id: str) -> Sequence[Effect]:
        """Return the parts of an approval that were begun, in their order."""
        return await self._db.run(self._db.journal.effects.of_approval, approval_id)

    async def end_part(self, effect: Effect, reason: Reason) -> None:
        """Record how a part ended that was cut off, where others follow that are not begun."""
        close = self._db.journal.effects.close_effect
        await self._db.run(close, effect.approval_id, reason.value, part=effect.part)
