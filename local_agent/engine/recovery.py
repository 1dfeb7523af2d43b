"""What a restart must settle before any task goes on: effects that nobody saw the end of (P3)."""

from __future__ import annotations

from local_agent.engine.commands import Commands
from local_agent.engine.ports import TaskStore


async def settle_interrupted(store: TaskStore, commands: Commands) -> int:
    """End every task with an intent but no outcome as ``unknown``; return how many.

    The intent is written before the task enters EXECUTING, so a task may still be waiting here.
    Whether its command began is then not provable, and it is treated as if it had.

    Raises:
        StoreError: nothing may be begun.
    """
    interrupted = set(await store.interrupted())
    found = [task for task in await store.open_tasks() if task.task_id in interrupted]
    for task in found:
        await commands.interrupted(task)
    return len(found)
