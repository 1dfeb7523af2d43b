"""The matrix: every moment that a scenario was seen to have, and what a death there leaves behind.

`Ground.record` runs the scenarios once and lists their moments; `Ground.strike` runs one of them
again with a kill at one moment, lets everything be revived, and returns what is not true then.
Several plots work side by side: most of a scenario is waiting.
"""

from __future__ import annotations

import contextlib
import queue
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self, TypeVar

from tests.forks import Zygote
from tests.matrix.house import House
from tests.matrix.ledger import FLUSH
from tests.matrix.minds import ANSWERS
from tests.matrix.plots import Plot
from tests.matrix.running import STORY, Kill, read_notes
from tests.matrix.scenarios import SCENARIOS, Scenario
from tests.matrix.storm import Storm
from tests.model_server import started

T = TypeVar("T")
R = TypeVar("R")

PLOTS: Final = 4
# Events whose interruption is settled in another way for each kind of operation.
SETTLED: Final = re.compile(r"tree |git |effects|approvals~|tasks~EXECUTING")
TRIES: Final = 2  # of a moment that did not come again: what happens at once comes in any order


@dataclass(frozen=True, slots=True)
class Point:
    """One moment of one scenario."""

    scenario: Scenario
    moment: Kill

    @property
    def kind(self) -> tuple[str, str, str]:
        """Part, event and phase, whichever time they come."""
        part, event, phase, _ = self.moment
        return part, event, phase

    def __str__(self) -> str:
        part, event, phase, nth = self.moment
        return f"{self.scenario.name}: {part} · {event} · {phase} · {nth}"


@dataclass(frozen=True, slots=True)
class Strike:
    """What came of a death.

    Attributes:
        hit: The moment came, and the process died of it.
        untrue: What is not true afterwards.
    """

    point: Point
    hit: bool
    untrue: Sequence[str]

    def __str__(self) -> str:
        return "\n  ".join([str(self.point), *self.untrue])


@dataclass(frozen=True, slots=True)
class Raged:
    """What a storm left behind."""

    deaths: int
    tasks: int
    untrue: Sequence[str]


@dataclass
class Ground:
    """Plots side by side; use it as a context."""

    root: Path
    plots: int = PLOTS
    _free: queue.SimpleQueue[Plot] = field(default_factory=queue.SimpleQueue)
    _closing: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Self:
        zygote = self._closing.enter_context(Zygote())
        self.root.mkdir(exist_ok=True)
        model = self._closing.enter_context(started(self.root, *ANSWERS)).base_url
        self._workers = self._closing.enter_context(ThreadPoolExecutor(self.plots))
        places = [self.root / str(number) for number in range(self.plots)]
        for plot in self._workers.map(lambda place: Plot.at(place, zygote, model), places):
            self._free.put(plot)
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    @contextlib.contextmanager
    def house(
        self, notes: Path | None = None, kills: Sequence[Kill] = (), *, bare: bool = False
    ) -> Iterator[House]:
        """Give a house on a free plot, and everything that runs in it an end."""
        plot = self._free.get()
        try:
            house = plot.house(notes, kills, bare=bare)
            try:
                yield house
            finally:
                house.close()
        finally:
            self._free.put(plot)

    def side_by_side(self, work: Callable[[T], R], over: Sequence[T]) -> list[R]:
        """Do the work for each, as many at a time as there are plots."""
        return list(self._workers.map(work, over))

    def record(self, scenarios: Sequence[Scenario] = SCENARIOS) -> dict[Scenario, list[Kill]]:
        """Return the moments of each scenario, which nothing disturbs.

        Raises:
            AssertionError: something is untrue even so.
        """
        return dict(zip(scenarios, self._workers.map(self._record, scenarios), strict=True))

    def comes_again(self, point: Point) -> bool:
        """Whether its scenario has a moment when nothing disturbs it; some come by chance."""
        return point.moment in self._record(point.scenario)

    def _record(self, scenario: Scenario) -> list[Kill]:
        notes = self.root / f"{scenario.name}.notes"
        notes.unlink(missing_ok=True)
        with self.house(notes, scenario.deaths, bare=scenario.bare) as house:
            scenario.tell(house)
            untrue = house.untruths()
            assert not untrue, "\n".join([scenario.name, *untrue])
            assert house.struck == len(scenario.deaths), f"{scenario.name}: nothing has died"
        told = read_notes(notes)
        last = max((at for at, note in enumerate(told) if note["killed"]), default=-1)
        seen = (
            (note["half"], note["event"], note["phase"], note["nth"])
            for at, note in enumerate(told)
            if note["phase"] != FLUSH and (at > last or note["half"] == STORY)
        )
        return list(dict.fromkeys(seen))

    def storm(self, seed_and_kills: tuple[int, int]) -> Raged:
        """Let a storm rage over a house, and return what came of it."""
        seed, kills = seed_and_kills
        with self.house() as house:
            storm = Storm(house, seed, kills)
            try:
                storm.rage()
                untrue = house.untruths()
            except AssertionError as error:
                untrue = [f"it did not go on: {error}"]
            said = [f"seed {seed}: {wrong}" for wrong in untrue]
            tasks = [*house.gateway_tasks(), *house.tasks()]
            return Raged(house.deaths, len({task["task_id"] for task in tasks}), said)

    def strike(self, point: Point) -> Strike:
        """Kill at a point, and return what came of it."""
        for _ in range(TRIES):
            done = self._strike(point)
            if done.hit or done.untrue:
                break
        return done

    def _strike(self, point: Point) -> Strike:
        notes = self.root / f"{abs(hash(point)):x}.notes"
        notes.unlink(missing_ok=True)
        kills = (*point.scenario.deaths, point.moment)
        with self.house(notes, kills, bare=point.scenario.bare) as house:
            try:
                point.scenario.tell(house)
                untrue = house.untruths()
            except AssertionError as error:
                untrue = [f"it did not go on: {error}"]
            return Strike(point, house.struck == len(kills), untrue)


def points(recorded: dict[Scenario, list[Kill]]) -> list[Point]:
    """Return where to strike.

    That is every moment of the first scenario, and what is new in each of the others: the same
    event, in the same phase, is struck again only where it comes again in the main job, or in
    another chapter whose operation is settled in its own way, or in a scenario that goes this way
    in its own chapters; there once what it wrote is on the disk, since before that the disk is as
    the moment before has left it.
    """
    found: list[Point] = []
    known: set[tuple[str, str, str, str]] = set()
    for scenario, moments in recorded.items():
        chapter, is_first = "", not known
        for moment in moments:
            part, event, phase, _ = moment
            if part == STORY:
                chapter = event
                continue
            goes_on = chapter and scenario.goes_on and re.search(scenario.goes_on, event)
            is_own = part == "agent" and (goes_on or SETTLED.search(event))
            what = (chapter if is_own and phase != "before-write" else "", part, event, phase)
            if is_first or what not in known:
                found.append(Point(scenario, moment))
            known.add(what)
    return found
