"""One timer for all sessions: rung when their deadline has come, and not before."""

from __future__ import annotations

import asyncio

from common.clock import ManualClock, SystemClock
from gateway.link.deadlines import GRAIN_S, DeadlineTimer


class Peer:
    """A session that only has a deadline."""

    def __init__(self, deadline: float | None) -> None:
        self.round = 0
        self.deadline = deadline
        self.rings = 0
        self.rung = asyncio.Event()

    def next_deadline(self) -> float | None:
        """Return what the test set."""
        return self.deadline

    def ring(self) -> None:
        """Count."""
        self.rings += 1
        self.rung.set()


def start(*after: float) -> tuple[ManualClock, DeadlineTimer[Peer], list[Peer]]:
    """Return a watch over peers whose deadlines are so many seconds away."""
    clock = ManualClock()
    watch: DeadlineTimer[Peer] = DeadlineTimer(clock)
    peers = [Peer(clock.now().mono + seconds) for seconds in after]
    for peer in peers:
        watch.add(peer)
    return clock, watch, peers


async def test_a_session_is_rung_when_its_deadline_has_come_and_not_before() -> None:
    clock, watch, (soon, later) = start(10.0, 20.0)
    clock.advance(9.9)
    watch.look()
    assert (soon.rings, later.rings) == (0, 0)
    clock.advance(0.1 + 2 * GRAIN_S)
    watch.look()
    assert (soon.rings, later.rings) == (1, 0)


async def test_a_deadline_that_moved_on_rings_nobody_until_it_comes() -> None:
    clock, watch, (peer,) = start(20.0)
    peer.deadline = clock.now().mono + 35.0
    clock.advance(20.0 + 2 * GRAIN_S)
    watch.look()
    assert peer.rings == 0
    clock.advance(15.0)
    watch.look()
    assert peer.rings == 1


async def test_who_does_not_move_on_is_rung_again() -> None:
    clock, watch, (peer,) = start(20.0)
    clock.advance(20.0 + 2 * GRAIN_S)
    watch.look()
    clock.advance(2 * GRAIN_S)
    watch.look()
    assert peer.rings == 2


async def test_a_link_that_closed_is_let_go_when_it_is_looked_at() -> None:
    clock, watch, (closed, open_still) = start(10.0, 20.0)
    closed.deadline = None
    assert set(watch) == {closed, open_still}
    clock.advance(10.0 + 2 * GRAIN_S)
    watch.look()
    assert (closed.rings, set(watch)) == (0, {open_still})


async def test_a_session_that_ended_is_forgotten_at_once_and_once_is_enough() -> None:
    clock, watch, (peer, other) = start(10.0, 10.0)
    watch.discard(peer)
    watch.discard(peer)
    assert set(watch) == {other}
    clock.advance(10.0 + 2 * GRAIN_S)
    watch.look()
    assert (peer.rings, other.rings) == (0, 1)


async def test_the_timer_strikes_by_itself_for_the_earliest_whoever_came_first() -> None:
    clock = SystemClock()
    watch: DeadlineTimer[Peer] = DeadlineTimer(clock)
    late, early = Peer(clock.now().mono + 60.0), Peer(clock.now().mono + 0.01)
    watch.add(late)
    watch.add(early)
    async with asyncio.timeout(30):
        await early.rung.wait()
    assert late.rings == 0
    watch.discard(early)
    watch.discard(late)


async def test_the_timer_is_wound_again_after_it_struck() -> None:
    clock = SystemClock()
    watch: DeadlineTimer[Peer] = DeadlineTimer(clock)
    peer = Peer(clock.now().mono)
    watch.add(peer)
    async with asyncio.timeout(30):
        await peer.rung.wait()
        peer.rung.clear()
        assert await peer.rung.wait(), "a second time"
    watch.discard(peer)
