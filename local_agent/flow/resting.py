"""Changes that were asked for at this machine: they rest until somebody here says *Apply*.

A change that came from the chat goes on to be asked; whoever asked here looks at the diff first.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from common.clock import Clock
from common.model.proposal import TaskResult
from common.model.state import Reason, TaskState
from common.sentences import say
from local_agent import proposal_replies as words
from local_agent.flow.run import Run, unless_stopped
from local_agent.flow.task import TaskLog
from local_agent.store.tasks import Task

_HOUR_MS: Final = 3_600_000


def rests(task: Task) -> bool:
    """Tell whether a task waits for *Apply* and for nothing else."""
    if task.state is not TaskState.PROPOSAL_READY or task.proposal_json is None:
        return False
    return TaskResult.model_validate_json(task.proposal_json).rests is True


class Resting:
    """Waits with a task until it is to be applied.

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
