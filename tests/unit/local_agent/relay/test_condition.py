"""`relay.condition`: how long to wait, and what is said of it."""

from __future__ import annotations

import random

import pytest

from local_agent.relay.condition import Backoff, Condition, Ended, after_link_closed

LOST = Ended(Condition("waiting", why="lost"), 0.0, "x")


def test_waits_double_up_to_a_minute_and_are_jittered() -> None:
    backoff = Backoff(random.Random(1))
    waits = [backoff.next_delay(LOST) for _ in range(12)]
    ceilings = [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]
    assert all(c / 2 <= wait <= c for wait, c in zip(waits, ceilings, strict=True))
    assert len(set(waits)) == len(waits)


def test_a_connection_that_held_starts_afresh_and_a_short_one_does_not() -> None:
    backoff = Backoff(random.Random(1))
    for _ in range(8):
        backoff.next_delay(LOST)
    assert backoff.next_delay(Ended(LOST.condition, 59.0, "x")) > 20
    assert backoff.next_delay(Ended(LOST.condition, 60.0, "x")) <= 1


@pytest.mark.parametrize(
    "condition",
    [Condition("refused"), Condition("clock", skew_s=99), Condition("waiting", why="taken-over")],
)
def test_what_only_a_person_can_mend_is_not_tried_every_second(condition: Condition) -> None:
    assert Backoff(random.Random(1)).next_delay(Ended(condition, 0.0, "x")) >= 7.5


@pytest.mark.parametrize(
    ("code", "state", "why"),
    [
        ("auth", "refused", ""),
        ("revoked", "refused", ""),
        ("clock-skew", "clock", ""),
        ("replaced", "waiting", "taken-over"),
        ("dead", "waiting", "timeout"),
        ("timeout", "waiting", "timeout"),
        ("shutdown", "waiting", "lost"),
        ("sequence-gap", "waiting", "protocol"),
        ("anything-else", "waiting", "protocol"),
    ],
)
def test_every_end_of_a_link_has_its_meaning(code: str, state: str, why: str) -> None:
    condition = after_link_closed(code, 3600)
    assert (condition.state, condition.why) == (state, why)
    assert condition.skew_s == (3600 if state == "clock" else 0)
