"""Stopping: what works is ended before the stop is told."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from local_agent.actions.run_command.action import ProgressTeller
from local_agent.actions.run_command.perform import Progress
from local_agent.flow.run import Run, StoppedError, unless_stopped


async def test_work_that_ends_gives_its_result() -> None:
    async def work() -> int:
        return 7

    assert await unless_stopped(Run("t"), work()) == 7


async def test_work_that_ended_counts_even_when_the_stop_came_at_once() -> None:
    run = Run("t")

    async def work() -> int:
        run.stop.set()
        return 7

    assert await unless_stopped(run, work()) == 7


async def test_an_error_of_the_work_is_raised() -> None:
    async def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await unless_stopped(Run("t"), work())


@pytest.mark.parametrize("how", ["stopped", "cancelled"])
async def test_work_has_ended_when_the_stop_is_told(how: str) -> None:
    run, began, ended = Run("t"), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting = asyncio.create_task(unless_stopped(run, work()))
    await began.wait()
    if how == "stopped":
        run.stop.set()
        with pytest.raises(StoppedError):
            await waiting
    else:
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert ended.is_set()


async def test_progress_is_passed_on_after_ten_seconds_and_at_most_every_five_minutes() -> None:
    teller, told = ProgressTeller(), []
    heard = asyncio.Event()

    async def tell(progress: Progress) -> None:
        told.append(progress.elapsed_s)
        heard.set()

    telling = asyncio.create_task(teller.pass_on(tell))
    for elapsed in range(5, 2000, 5):
        teller.note(Progress(elapsed_s=elapsed, lines=0))
        for _ in range(3):
            await asyncio.sleep(0)
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)
    assert told[:7] == [10, 20, 40, 80, 160, 320, 620]
    assert max(after - before for before, after in pairwise(told)) == 300
