"""A sample of the crash matrix; the whole, and random kills, are ``make matrix``."""

from __future__ import annotations

import pytest

from tests.matrix.matrix import Ground, points
from tests.matrix.scenarios import SCENARIOS
from tests.matrix.vocabulary import audit_events, states

POINTS = 5


@pytest.mark.requirement("P3")
@pytest.mark.requirement("P6a")
@pytest.mark.requirement("R59")
def test_a_death_at_some_moment_of_the_main_job_makes_nothing_untrue(ground: Ground) -> None:
    every = points(ground.record(SCENARIOS[:1]))
    some = every[:: max(1, len(every) // POINTS)]
    strikes = ground.side_by_side(ground.strike, some)
    assert [str(strike) for strike in strikes if strike.untrue] == []
    assert len([strike for strike in strikes if strike.hit]) >= POINTS - 1


@pytest.mark.thorough
def test_the_source_tells_what_each_half_can_write() -> None:
    assert ("agent", "audit+exec.intent") in audit_events()
    assert ("gateway", "audit+task.presumed") in audit_events()
    assert ("agent", "approvals~superseded") in states()
