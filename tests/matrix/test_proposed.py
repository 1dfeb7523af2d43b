"""What is checked of proposals: each lie that must be found, told of two true stories."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest

from tests import proposed, truth
from tests.matrix import minds
from tests.matrix.house import House
from tests.matrix.matrix import Ground
from tests.matrix.proposals import answer_and_release, revise_what_waits


@dataclass
class Told:
    """What a journal holds, to lie in."""

    tasks: list[dict[str, Any]]
    charged: list[dict[str, Any]]
    audit: list[bytes]

    @classmethod
    def by(cls, house: House) -> Told:
        """Return what is left of a story."""
        audit = truth.rows(house.journal, "SELECT body FROM audit ORDER BY seq")
        charged = truth.rows(house.journal, "SELECT * FROM disclosures")
        return cls(house.tasks(), charged, [row["body"] for row in audit])

    def wrong(self) -> list[str]:
        """Return what is found wrong of it."""
        return [
            *proposed.wrong_versions(self.tasks),
            *proposed.wrong_disclosures(self.tasks, self.charged, self.audit),
        ]

    def of_type(self, kind: str) -> dict[str, Any]:
        """Return the task that proposes something of a kind."""
        found = (json.loads(task["proposal_json"])["proposal"] for task in self.tasks)
        return next(
            task for task, one in zip(self.tasks, found, strict=True) if one["type"] == kind
        )


@pytest.fixture(scope="module")
def kept(ground: Ground) -> dict[str, Told]:
    """What two honest stories have left."""
    told = {}
    for name, tell in (("revise", revise_what_waits), ("release", answer_and_release)):
        with ground.house() as house:
            tell(house)
            assert house.untruths() == []
            told[name] = Told.by(house)
    return told


def _both_applied(told: Told) -> None:
    for task in told.tasks:
        task.update(state="COMPLETED", reason="completed")


def _both_open(told: Told) -> None:
    for task in told.tasks:
        task.update(state="WAITING_APPROVAL", reason=None)


def _never_charged(told: Told) -> None:
    told.charged.pop()


def _too_little(told: Told) -> None:
    told.charged[0]["bytes"] -= 1


def _unheard(told: Told) -> None:
    told.audit = [body for body in told.audit if b"disclosure.answered" not in body]


def _another_answer(told: Told) -> None:
    answer = told.of_type("answer")
    text = answer["proposal_json"].replace("network", "NETWORK")
    answer["proposal_json"] = text


def _told_without_release(told: Told) -> None:
    told.of_type("release").update(state="REJECTED", reason="rejected")


def _released_and_not_told(told: Told) -> None:
    told.of_type("release").update(summary="")


LIES: dict[str, tuple[str, Callable[[Told], None], str]] = {
    "both versions were applied": ("revise", _both_applied, "are applied"),
    "both versions wait": ("revise", _both_open, "are open"),
    "an answer cost nothing": ("release", _never_charged, "nobody is charged"),
    "an answer cost too little": ("release", _too_little, "bytes are charged"),
    "an answer is in no log": ("release", _unheard, "in no audit log"),
    "another answer was told": ("release", _another_answer, "something else is told"),
    "it was told and not let go": ("release", _told_without_release, "ended rejected, and told"),
    "it was let go and not told": ("release", _released_and_not_told, "ended completed, and told"),
}


@pytest.mark.requirement("R53")
def test_honest_stories_are_believed(kept: dict[str, Told]) -> None:
    assert [told.wrong() for told in kept.values()] == [[], []]
    assert len(kept["release"].charged) == 2
    assert minds.ANSWER in kept["release"].of_type("release")["summary"]


@pytest.mark.requirement("R53")
@pytest.mark.requirement("P3")
@pytest.mark.parametrize(("story", "lie", "wrong"), LIES.values(), ids=LIES.keys())
def test_a_lie_is_found(
    kept: dict[str, Told], story: str, lie: Callable[[Told], None], wrong: str
) -> None:
    told = deepcopy(kept[story])
    lie(told)
    assert [one for one in told.wrong() if wrong in one], told.wrong()
