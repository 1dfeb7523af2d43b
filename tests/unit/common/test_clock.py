from __future__ import annotations

import time

from common.clock import Instant, ManualClock, SystemClock


def test_the_systems_clocks_are_told_in_their_units() -> None:
    before_wall, before_mono = time.time(), time.monotonic()
    now = SystemClock().now()
    assert before_wall - 0.001 <= now.wall_ms / 1000 <= time.time()
    assert before_mono <= now.mono <= time.monotonic()


def test_whole_seconds_are_cut_not_rounded() -> None:
    assert Instant(wall_ms=1999, mono=0.0).wall_s == 1


def test_a_manual_clock_stands_until_it_is_moved() -> None:
    clock = ManualClock()
    start = clock.now()
    assert clock.now() is start
    moved = clock.advance(1.5)
    assert moved == clock.now()
    assert (moved.wall_ms - start.wall_ms, moved.mono - start.mono) == (1500, 1.5)


def test_the_wall_clock_can_jump_alone() -> None:
    clock = ManualClock()
    start = clock.now()
    back = clock.jump_wall(-3600)
    assert back.wall_ms == start.wall_ms - 3_600_000
    assert back.mono == start.mono
