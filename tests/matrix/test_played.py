"""What is checked of runs of playbooks: each lie that must be found, told of a true story."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests import played, truth
from tests.matrix.house import House
from tests.matrix.matrix import Ground
from tests.matrix.plays import roll_back
from tests.written import Carried


@dataclass
class Told:
    """What a run has left, to lie in."""

    state: Path
    runs: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    tasks: list[dict[str, Any]]
    carried: list[Carried]
    left: dict[str, int]

    @classmethod
    def by(cls, house: House) -> Told:
        """Return what is left of a story."""
        runs = truth.rows(house.journal, "SELECT * FROM runs")
        steps = truth.rows(house.journal, "SELECT * FROM run_steps")
        carried = truth.carried_out(house.journal)
        left = dict(truth.marks(house.workspace / "ran.txt"))
        return cls(house.journal.parent, runs, steps, house.tasks(), carried, left)

    def wrong(self) -> list[str]:
        """Return what is found wrong of it."""
        return [
            *played.wrong_commands(self.left, self.carried),
            *played.wrong_runs(self.runs, self.steps, self.tasks, self.carried),
        ]

    def again(self, action: str, **changes: Any) -> None:
        """Have what was done done once more."""
        (one, *_) = (one for one in self.carried if one.seal["action"] == action)
        self.carried.append(replace(one, **changes))


@pytest.fixture(scope="module")
def kept(ground: Ground) -> Told:
    """What an honest story has left."""
    with ground.house() as house:
        roll_back(house)
        assert house.untruths() == []
        return Told.by(house)


def _left_to_nobody(told: Told) -> None:
    told.runs[0]["task_id"] = "gone"


def _still_running(told: Told) -> None:
    told.runs[0]["status"] = "running"


def _denied_and_completed(told: Told) -> None:
    told.runs[0]["status"] = "completed"
    told.steps[0]["status"] = "denied"


def _forgotten(told: Told) -> None:
    told.runs[0]["status"] = "completed"
    told.steps = [step for step in told.steps if step["place"] != "main:3"]


def _ran_twice(told: Told) -> None:
    told.left[played.MARK] += 1


LIES: dict[str, tuple[Callable[[Told], None], str]] = {
    "nobody carries it": (_left_to_nobody, "nothing carries it"),
    "it runs without its task": (_still_running, "has ended completed"),
    "a denied step completed": (_denied_and_completed, "completed, with"),
    "a step is forgotten": (_forgotten, "knows nothing of it"),
    "a file was written twice": (lambda told: told.again("apply_diff"), "was carried out 2 times"),
    "a command ran twice": (_ran_twice, "ran 2 times"),
    "a command was done twice": (lambda told: told.again("run_command"), "ran 1 times"),
    "a file was taken back twice": (lambda told: told.again("undo"), "was taken back 2 times"),
}


@pytest.mark.requirement("P3")
def test_an_honest_story_is_believed(kept: Told) -> None:
    assert kept.wrong() == []
    assert [*played.wrong_files(kept.state, [], [])] == []
    places = {one.place for one in kept.carried}
    assert places == {"pre:0", "main:2", "main:3", "main:6", "main:7", "post:0", played.ROLLBACK}


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(("lie", "wrong"), LIES.values(), ids=LIES.keys())
def test_a_lie_is_found(kept: Told, lie: Callable[[Told], None], wrong: str) -> None:
    told = deepcopy(kept)
    lie(told)
    assert [one for one in told.wrong() if wrong in one], told.wrong()


def test_a_lie_in_a_rendering_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "clients" / "default" / "task-runs"
    run = {"run_id": "r", "name": "tidy", "client": "default", "status": "failed"}
    run |= {"current_step": 1}  # type: ignore[dict-item]  # as a row has it
    assert [*played.wrong_files(tmp_path, [run], [])] == [
        "run of tidy: failed, and has no state file"
    ]
    folder.mkdir(parents=True)
    change = {"resource_id": "a.txt", "backup_path": str(tmp_path / "gone")}
    told = {"status": "running", "current_step": 0, "steps_completed": [], "change_log": [change]}
    (folder / "r.json").write_text(json.dumps(told), encoding="utf-8")
    (folder / "r.events.jsonl").write_text('{"type": "task_st\n', encoding="utf-8")
    found = [
        *played.wrong_files(tmp_path, [run], [{"run_id": "r", "place": "main:0", "step_name": "a"}])
    ]
    assert len(found) == 5
