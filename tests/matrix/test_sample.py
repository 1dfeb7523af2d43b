"""A sample of the crash matrix and of the random kills; the whole is ``make matrix``."""

from __future__ import annotations

import re

import pytest

from tests.matrix.matrix import SETTLED, Ground, points
from tests.matrix.scenarios import SCENARIOS
from tests.matrix.vocabulary import audit_events, states

POINTS = 10
OF_CHANGES = 6
AT_WORK = re.compile("model|scratch|turns|tasks~PROPOS")
OF_RUNS = re.compile("runs|run_steps|effects")
KILLS = 10


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
@pytest.mark.needs("git")
@pytest.mark.requirement("P3")
@pytest.mark.requirement("P5")
@pytest.mark.requirement("R36")
def test_a_death_while_files_change_or_a_commit_is_pushed_makes_nothing_untrue(
    ground: Ground,
) -> None:
    told = [one for one in SCENARIOS if one.name in ("change", "sync")]
    every = [one for one in points(ground.record(told)) if SETTLED.search(one.moment[1])]
    strikes = ground.side_by_side(ground.strike, every[:: max(1, len(every) // OF_CHANGES)])
    assert [str(strike) for strike in strikes if strike.untrue] == []
    assert len([strike for strike in strikes if strike.hit]) >= OF_CHANGES - 1


@pytest.mark.thorough
@pytest.mark.requirement("P3")
def test_a_death_while_a_model_is_at_work_makes_nothing_untrue(ground: Ground) -> None:
    told = [one for one in SCENARIOS if one.name == "propose"]
    every = [one for one in points(ground.record(told)) if AT_WORK.search(one.moment[1])]
    strikes = ground.side_by_side(ground.strike, every[:: max(1, len(every) // OF_CHANGES)])
    assert [str(strike) for strike in strikes if strike.untrue] == []
    assert len([strike for strike in strikes if strike.hit]) >= OF_CHANGES - 1


@pytest.mark.thorough
@pytest.mark.requirement("P3")
@pytest.mark.requirement("P5")
def test_a_death_in_a_run_of_a_playbook_makes_nothing_untrue(ground: Ground) -> None:
    told = [one for one in SCENARIOS if one.name in ("play", "roll back")]
    every = [one for one in points(ground.record(told)) if OF_RUNS.search(one.moment[1])]
    strikes = ground.side_by_side(ground.strike, every[:: max(1, len(every) // OF_CHANGES)])
    assert [str(strike) for strike in strikes if strike.untrue] == []
    assert len([strike for strike in strikes if strike.hit]) >= OF_CHANGES - 1


@pytest.mark.requirement("P3")
@pytest.mark.thorough
def test_some_kills_at_random_make_nothing_untrue(ground: Ground) -> None:
    storm = ground.storm((7, KILLS))
    assert storm.untrue == []
    assert storm.deaths >= KILLS
    assert storm.tasks


@pytest.mark.thorough
def test_the_source_tells_what_each_half_can_write() -> None:
    assert ("agent", "audit+exec.intent") in audit_events()
    assert ("gateway", "audit+task.presumed") in audit_events()
    assert ("agent", "approvals~superseded") in states()
