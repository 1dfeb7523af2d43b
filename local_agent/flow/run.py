"""One task while this process works on it: what is in memory only, and how it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from local_agent.context.collector import Collected
    from local_agent.workspace.registry import Workspace

_T = TypeVar("_T")


class StoppedError(Exception):
    """The task was cancelled while it waited or worked; nothing of it has executed."""


@dataclass(slots=True, eq=False)
class Run:
    """What one task has in memory.  Nothing here survives a restart, and nothing needs to.

    Attributes:
        stop: Set once, when the task is to end: a person cancelled it.
        executing: A grant is being used: from here on only the executor stops it.
        closing: It is stopped because the agent itself is to end.
        context: What was collected, until there is a proposal; collected again after a restart.
        place: The workspace where that was collected; None without one.
        checks: The approval whose change it tries out; None for most.
        wanted: Set once what rests is to be applied (`engine.resting`).
        replaced_by: Short ID of the task that made its proposal anew; None for most.
    """

    task_id: str
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    executing: bool = False
    closing: bool = False
    context: Collected | None = None
    place: Workspace | None = None
    checks: str | None = None
    wanted: asyncio.Event = field(default_factory=asyncio.Event)
    replaced_by: str | None = None


async def unless_stopped(run: Run, work: Coroutine[Any, Any, _T]) -> _T:
    """Return what ``work`` returns, unless the task is stopped while it still works.

    Raises:
        StoppedError: it was stopped; ``work`` has been cancelled and has ended.
    """
    working = asyncio.ensure_future(work)
    stopped = asyncio.ensure_future(run.stop.wait())
    try:
        await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise StoppedError
        return working.result()
    finally:
        stopped.cancel()
        working.cancel()
        await asyncio.gather(stopped, working, return_exceptions=True)
