"""A hand counts after a while of quiet, and no unrest puts that off for ever."""

from __future__ import annotations

import pytest

from local_agent.faces.window.arming import QUIET_S, UNREST_S, Arming


@pytest.mark.requirement("R28")
def test_nothing_counts_when_the_window_has_just_come_up() -> None:
    hand = Arming(100.0)
    assert not hand.armed(100.0)
    assert not hand.armed(100.0 + QUIET_S - 0.01)
    assert hand.armed(100.0 + QUIET_S)


@pytest.mark.requirement("R28")
def test_a_disturbance_starts_the_wait_again() -> None:
    hand = Arming(100.0)
    hand.disturb(101.0)
    assert not hand.armed(102.0)
    assert hand.left(102.0) == pytest.approx(0.5)
    assert hand.armed(102.5)


@pytest.mark.requirement("R28")
def test_what_was_armed_is_disarmed_by_a_disturbance() -> None:
    hand = Arming(100.0)
    assert hand.armed(200.0)
    hand.disturb(200.0)
    assert not hand.armed(200.0 + QUIET_S - 0.01)
    assert hand.armed(200.0 + QUIET_S)


@pytest.mark.requirement("R28")
def test_a_desktop_without_rest_puts_it_off_for_fifteen_seconds_and_no_longer() -> None:
    hand = Arming(100.0)
    for tenth in range(1, 200):
        hand.disturb(100.0 + tenth / 10)
        assert hand.armed(100.0 + tenth / 10) == (tenth >= UNREST_S * 10)


@pytest.mark.requirement("R28")
def test_after_a_quiet_while_the_next_unrest_has_its_full_time_again() -> None:
    hand = Arming(100.0)
    for tenth in range(1, 200):
        hand.disturb(100.0 + tenth / 10)
    hand.disturb(130.0)
    assert not hand.armed(131.0)
