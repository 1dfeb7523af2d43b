"""`link.condition`: how long to wait, and what is said of it."""

from __future__ import annotations

import random

import pytest

from common.protocol.link import Closed
from common.protocol.link_events import ENDINGS
from local_agent.cli import status
from local_agent.link.condition import (
    HELD,
    OWN,
    TRANSPORT,
    Backoff,
    Condition,
    Ended,
    after_end,
    after_link_closed,
)
from tests.each import each

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


@each(
    "condition",
    [Condition("refused"), Condition("clock", skew_s=99), after_end("taken-over")],
)
def test_what_only_a_person_can_mend_is_not_tried_every_second(condition: Condition) -> None:
    assert Backoff(random.Random(1)).next_delay(Ended(condition, 0.0, "x")) >= 7.5


@pytest.mark.parametrize(
    ("closed", "state", "why"),
    [
        (Closed("auth", by_peer=True), "refused", "auth"),
        (Closed("auth"), "refused", "wrong-gateway"),
        (Closed("revoked", by_peer=True), "refused", "revoked"),
        (Closed("taken-over", by_peer=True), "refused", "taken-over"),
        (Closed("sequence-gap"), "refused", "sequence-gap"),
        (Closed("dead"), "waiting", "dead"),
        (Closed("timeout"), "waiting", "timeout"),
        (Closed("too-fast", by_peer=True), "waiting", "too-fast"),
        (Closed("shutdown", by_peer=True), "waiting", "shutdown"),
        (Closed("version", facts={"ours": 2, "theirs": 1}), "refused", "version-gateway"),
        (Closed("version", facts={"ours": 2, "theirs": 3}), "refused", "version-machine"),
        (Closed("version", by_peer=True), "refused", "version"),
        (Closed("a-word-of-the-future", by_peer=True), "waiting", "protocol"),
    ],
)
def test_every_end_of_a_link_has_its_meaning(closed: Closed, state: str, why: str) -> None:
    condition = after_link_closed(closed)
    assert (condition.state, condition.why, condition.skew_s) == (state, why, 0)


@pytest.mark.parametrize("seconds", [3600, -3600])
def test_a_clock_that_is_off_is_told_with_its_seconds(seconds: int) -> None:
    condition = after_link_closed(Closed("clock-skew", facts={"seconds": seconds}))
    assert (condition.state, condition.why) == ("clock", "clock-skew")
    assert condition.skew_s == seconds
    assert after_link_closed(Closed("clock-skew", by_peer=True)).skew_s == 0


def test_a_connection_that_broke_is_only_lost() -> None:
    assert after_end("lost") == Condition("waiting", why="lost")


@pytest.mark.requirement("P7")
def test_every_end_that_either_side_can_give_has_a_sentence_that_says_what_to_do() -> None:
    reached = {after_end(code).why for code in ENDINGS} | TRANSPORT | OWN | {*HELD.values()}
    assert status.LINK_WHY.keys() == reached


def test_after_a_rotation_nobody_waits_but_only_once() -> None:
    backoff, rekeyed = Backoff(random.Random(1)), Ended(after_end("rekeyed"), 0.0, "x")
    assert backoff.next_delay(rekeyed) == 0
    assert backoff.next_delay(rekeyed) >= 0.5
    assert backoff.next_delay(rekeyed) == 0
    assert backoff.next_delay(LOST) >= 1
