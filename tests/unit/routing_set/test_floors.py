"""How often the router is right may only rise; what it takes for a deed is never a question."""

from __future__ import annotations

import pytest

from local_agent.routing.router import Router
from tests.each import each
from tests.routing_set.messages import SPLITS, Split, labelled

pytestmark = pytest.mark.heavy

ROUTER = Router()
# Measured, less what one corrected label may cost: of those that rules are written against, and of
# the judges, which nothing is learnt from.
FLOORS: dict[Split, float] = {
    "dev": 0.98, "unseen": 0.98, "other": 0.97, "fresh": 0.98, "judge": 0.92,
    "verdict": 0.82,
}  # fmt: skip
SURE = 0.8


@each("split", list(FLOORS))
def test_the_router_is_right_as_often_as_it_was(split: Split) -> None:
    messages = labelled(split)
    right = sum(one.accepts(ROUTER.route(one.text).intent.kind) for one in messages)
    assert right / len(messages) >= FLOORS[split]


@each("split", SPLITS)
def test_what_never_acts_is_taken_for_no_deed(split: Split) -> None:
    taken = sum(one.forbids(ROUTER.route(one.text).intent.kind) for one in labelled(split))
    assert taken == 0


def test_a_confidence_of_four_fifths_is_right_nineteen_times_in_twenty() -> None:
    said = [(one, ROUTER.route(one.text).intent) for one in labelled("dev")]
    sure = [one.accepts(intent.kind) for one, intent in said if intent.confidence >= SURE]
    assert len(sure) > len(said) / 2
    assert sum(sure) / len(sure) >= 0.95
