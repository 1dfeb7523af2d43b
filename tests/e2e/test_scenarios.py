"""The scenarios that come along, played against a real gateway."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from common.clock import SystemClock
from gateway.simulator.client import SimulatorClient
from gateway.simulator.scenario import Run, load_scenario, shipped
from tests.e2e.place import Place

# This one waits for what the gateway tries again after a minute; the other, for ten minutes, is
# played up to there.
SLOW = {"hour-block"}
LONG = (pytest.mark.thorough, pytest.mark.timeout(200))
VERY_SLOW = {"untrusted-address"}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place.at(tmp_path / "home")
    place.admin("member", "add", "zhangwei")
    place.start_simulator()
    place.start_gateway()
    yield place
    place.stop()


@pytest.mark.parametrize(
    "name",
    [pytest.param(one.name, marks=LONG if one.name in SLOW else ()) for one in shipped()],
)
def test_the_gateway_holds_in_every_scenario(place: Place, name: str) -> None:
    client = SimulatorClient(place.made.config.page_port)
    scenario = load_scenario(name)
    if name in VERY_SLOW:
        scenario = replace(scenario, steps=scenario.steps[:-1])
    run = Run(scenario, client, clock=SystemClock(), lang="en", user="zhangwei")
    outcomes = list(run.outcomes())
    assert all(one.good for one in outcomes), outcomes
    assert len(outcomes) == len(scenario.steps)


def test_a_scenario_that_is_not_met_ends_with_1_and_mends_what_it_broke(
    place: Place, tmp_path: Path
) -> None:
    story = tmp_path / "mine.toml"
    story.write_text(
        '[title]\nen = "a"\nzh = "b"\n[why]\nen = "c"\nzh = "d"\n'
        '[[step]]\nfault = "closed"\n[[step]]\nsay = "@dev help"\nstatus = 403\n'
        '[[step]]\nclear = "all"\n',
        encoding="utf-8",
    )
    done = place.run("sim", "run", str(story), check=False)
    assert done.returncode == 1
    assert "  2 ✗ zhangwei writes: @dev help — HTTP 200" in done.stdout
    assert "  3 " not in done.stdout
    assert "No error is on." in place.run("sim", "fault").stdout
