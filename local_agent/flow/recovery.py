"""What a restart must settle before any task goes on: effects that nobody saw the end of (P3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_agent.flow.ports import TaskStore

if TYPE_CHECKING:
    from local_agent.flow.approving import Approving


async def settle_interrupted(store: TaskStore, approving: Approving) -> int:
    """End every task with an intent but no outcome, as far as can be proved; return how many.

    The intent is written before the task enters EXECUTING, so a task may still be waiting here.
    Whether a command began is then not provable, and it is treated as if it had; files can be
    looked at (`local_agent.actions.changes.perform`).

    Raises:
        StoreError: nothing may be begun.
    """
    interrupted = set(await store.interrupted())
    found = [task for task in await store.open_tasks() if task.task_id in interrupted]
    for task in found:
        await approving.interrupted(task)
    return len(found)
