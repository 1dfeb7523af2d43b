"""The whole matrix and two hundred random kills: some minutes, by ``make matrix`` and in CI.

Not collected with the other tests, of which `test_sample` is one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import pytest

from tests.matrix.matrix import Ground, Point, Strike, points
from tests.matrix.running import STORY, Kill
from tests.matrix.scenarios import Scenario
from tests.matrix.vocabulary import NO_MOMENT, audit_events, met, states

pytestmark = pytest.mark.timeout(1200)
HOUSES = 8
KILLS = 25  # in each of them
# How often an acknowledgement speaks for several, and what comes first of what happens at once, is
# chance: so many moments need not come again, where another of the same kind was struck.
BY_CHANCE = 10
# A moment that comes and went unstruck, such as two writes that the disk took together, is struck
# again: it has to be met.
TRIES = 6

Recorded = dict[Scenario, list[Kill]]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with Ground(tmp_path_factory.mktemp("matrix")) as ground:
        yield ground


@pytest.fixture(scope="module")
def recorded(ground: Ground) -> Recorded:
    return ground.record()


def test_every_event_that_can_be_written_has_its_moments(recorded: Recorded) -> None:
    """What the source can write was met in a scenario, or is in the table with its reason."""
    wanted = audit_events() | states()
    found = met(
        (part, event)
        for moments in recorded.values()
        for part, event, *_ in moments
        if part != STORY
    )
    assert {item: wanted[item] for item in wanted.keys() - found - NO_MOMENT.keys()} == {}
    assert NO_MOMENT.keys() - wanted.keys() == set(), "no longer written anywhere"
    assert NO_MOMENT.keys() & found == set(), "met after all"


def test_no_death_at_any_moment_makes_anything_untrue(
    ground: Ground, recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    began, where = time.monotonic(), points(recorded)
    strikes = ground.side_by_side(ground.strike, where)
    missed = [strike for strike in strikes if not strike.hit]
    with capsys.disabled():
        print(
            f"\ncrash matrix: {len(where)} points in {len(recorded)} scenarios, "
            f"{len(where) - len(missed)} kills, {time.monotonic() - began:.0f} s"
        )
    _assert_true(strikes)
    struck = {strike.point.kind for strike in strikes if strike.hit}
    owed = [strike.point for strike in missed if strike.point.kind not in struck]
    late = [_strike_again(ground, point) for point in owed if ground.comes_again(point)]
    _assert_true(late)
    unstruck = [str(strike.point) for strike in late if not strike.hit]
    assert unstruck == [], "nothing died at these moments"
    assert len(missed) <= BY_CHANCE, "these moments came by chance: " + "\n".join(map(str, missed))


def test_two_hundred_kills_at_random_make_nothing_untrue(
    ground: Ground, capsys: pytest.CaptureFixture[str]
) -> None:
    began, seed = time.monotonic(), random.SystemRandom().randrange(2**32)
    with capsys.disabled():
        print(f"\nrandom kills: seed {seed}")
    storms = ground.side_by_side(ground.storm, [(seed + at, KILLS) for at in range(HOUSES)])
    with capsys.disabled():
        deaths, tasks = sum(one.deaths for one in storms), sum(one.tasks for one in storms)
        print(f"random kills: {deaths} under {tasks} tasks, {time.monotonic() - began:.0f} s")
    assert [wrong for one in storms for wrong in one.untrue] == []
    assert deaths >= HOUSES * KILLS


def _strike_again(ground: Ground, point: Point) -> Strike:
    """Strike a moment that comes by chance until something has died in it."""
    for _ in range(TRIES - 1):
        if (strike := ground.strike(point)).hit:
            return strike
    return ground.strike(point)


def _assert_true(strikes: list[Strike]) -> None:
    wrong = [str(strike) for strike in strikes if strike.untrue]
    assert not wrong, "\n".join(wrong)
