"""Deadlines by the monotonic clock."""

from __future__ import annotations

import asyncio

from common.clock import ManualClock
from local_agent.flow.deadlines import Deadlines


def test_what_nobody_counts_is_late() -> None:
    clock = ManualClock()
    deadlines = Deadlines(clock)
    assert deadlines.is_late("a", clock.now())
    assert deadlines.next() is None
    assert deadlines.known() == set()


def test_a_deadline_is_the_span_by_the_other_clock() -> None:
    clock = ManualClock()
    deadlines = Deadlines(clock)
    deadlines.begin("a", clock.now().wall_ms + 2000, clock.now())
    deadlines.begin("b", clock.now().wall_ms + 1000, clock.now())
    assert deadlines.next() == clock.now().mono + 1
    clock.jump_wall(-100)
    assert not deadlines.is_late("b", clock.now())
    clock.advance(1)
    assert deadlines.is_late("b", clock.now())
    assert not deadlines.is_late("a", clock.now())
    deadlines.forget("b")
    deadlines.forget("b")
    assert deadlines.known() == {"a"}


async def test_waiting_ends_when_something_is_late() -> None:
    clock = ManualClock()
    deadlines = Deadlines(clock)
    deadlines.begin("a", clock.now().wall_ms + 5, clock.now())
    await deadlines.reached()  # it was set a moment ago
    await asyncio.wait_for(deadlines.reached(), 30)  # its time has come
    clock.advance(1)
    assert deadlines.is_late("a", clock.now())


async def test_waiting_ends_when_a_nearer_moment_is_set() -> None:
    clock = ManualClock()
    deadlines = Deadlines(clock)
    waiting = asyncio.ensure_future(deadlines.reached())
    await asyncio.sleep(0)
    assert not waiting.done()
    deadlines.begin("a", clock.now().wall_ms + 3_600_000, clock.now())
    await asyncio.wait_for(waiting, 30)
    assert deadlines.known() == {"a"}
