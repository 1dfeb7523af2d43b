"""Places for work: the chat never keeps this machine waiting, nor one member all others."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from local_agent.flow.understanding import AT_ONCE, OF_ONE, Slots
from local_agent.store.tasks import Task
from tests.desk import Desk


@pytest.fixture
async def task(tmp_path: Path) -> AsyncIterator[Task]:
    async with Desk(tmp_path) as desk:
        yield await desk.done("@dev help")


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_who_sits_here_does_not_wait_for_the_chat(task: Task) -> None:
    slots = Slots()
    async with AsyncExitStack() as busy, asyncio.timeout(30):
        for number in range(AT_ONCE):
            of_one = replace(task, claimed_user=f"member-{number}")
            await busy.enter_async_context(slots.taken(of_one))
        entered = False
        async with slots.taken(replace(task, source="local_ui")):
            entered = True
        assert entered


async def test_one_member_leaves_room_for_another(task: Task) -> None:
    slots = Slots()
    hog, other = replace(task, claimed_user="hog"), replace(task, claimed_user="other")
    entered: list[str] = []
    may_end = asyncio.Event()

    async def work(one: Task) -> None:
        async with slots.taken(one):
            entered.append(one.claimed_user)
            await may_end.wait()

    async with asyncio.TaskGroup() as group, asyncio.timeout(30):
        for _ in range(10):
            group.create_task(work(hog))
        await settled()
        group.create_task(work(other))
        await settled()
        assert entered == ["hog"] * OF_ONE + ["other"]
        may_end.set()
    assert len(entered) == 11


@pytest.mark.heavy
async def test_names_that_nobody_waits_under_are_forgotten(task: Task) -> None:
    slots = Slots()
    for number in range(50):
        async with slots.taken(replace(task, claimed_user=f"member-{number}")):
            pass
    gc.collect()
    assert len(slots._own) == 0
