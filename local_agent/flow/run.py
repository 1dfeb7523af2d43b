"""One task while this process works on it: what is in memory only, how it rests and is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from common.clock import Clock
from common.model.proposal import TaskResult
from common.model.state import Reason, TaskState
from common.sentences import say
from local_agent.flow import words
from local_agent.flow.task import TaskLog
from local_agent.store.tasks import Task

if TYPE_CHECKING:
    from local_agent.propose.context.collected import Collected
    from local_agent.workspace.registry import Workspace

_T = TypeVar("_T")
_HOUR_MS: Final = 3_600_000


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
        wanted: Set once what rests is to be applied (`Resting`).
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


def rests(task: Task) -> bool:
    """Tell whether a task waits for *Apply* and for nothing else."""
    if task.state is not TaskState.PROPOSAL_READY or task.proposal_json is None:
        return False
    return TaskResult.model_validate_json(task.proposal_json).rests is True


class Resting:
    """Waits with a change that was asked for at this machine until somebody here says *Apply*.

    A change that came from the chat goes on to be asked; whoever asked here looks at it first.

    Args:
        hours: How long; as long as an approval waits for a person.
    """

    def __init__(self, log: TaskLog, clock: Clock, *, hours: int) -> None:
        self._log = log
        self._clock = clock
        self._hours = hours

    async def until_wanted(self, task: Task, run: Run) -> Task:
        """Return when it is to be applied, or ended as ``expired``.

        Raises:
            StoppedError: the task was cancelled.
        """
        # A clock that went back has given it no further time.
        rested_ms = max(self._clock.now().wall_ms - task.updated_at, 0)
        left_s = max(self._hours * _HOUR_MS - rested_ms, 0) / 1000
        try:
            async with asyncio.timeout(left_s):
                await unless_stopped(run, run.wanted.wait())
        except TimeoutError:
            summary = partial(say, words.RESTED_TOO_LONG, hours=self._hours)
            return await self._log.ended(task, Reason.EXPIRED, summary)
        return task
