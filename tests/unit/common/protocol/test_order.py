from __future__ import annotations

import pytest

from common.errors import LocalProtocolError, RemoteProtocolError
from common.protocol.order import Order, Pulse


def test_numbers_are_taken_once_and_in_order() -> None:
    order = Order(kept=4, peer_kept=0)
    assert [order.take(5), order.take(6), order.take(5), order.take(4)] == [
        True,
        True,
        False,
        False,
    ]
    assert order.taken == 6


@pytest.mark.requirement("R17")
def test_a_gap_is_an_alarm_and_changes_nothing() -> None:
    order = Order(kept=4, peer_kept=0)
    with pytest.raises(RemoteProtocolError) as caught:
        order.take(6)
    assert caught.value.facts == {"expected": 5, "seq": 6}
    assert order.take(5)


def test_only_what_was_taken_can_be_kept_and_is_news_once() -> None:
    order = Order(kept=0, peer_kept=0)
    order.take(1)
    order.take(2)
    assert [order.keep(2), order.keep(1), order.keep(2)] == [True, False, False]
    assert order.kept == 2
    with pytest.raises(LocalProtocolError):
        order.keep(3)


def test_what_the_peer_keeps_only_grows() -> None:
    order = Order(kept=0, peer_kept=3)
    assert [order.peer_keeps(5), order.peer_keeps(4), order.peer_keeps(5)] == [True, False, False]
    assert order.peer_kept == 5


def test_silence_is_first_asked_about_then_final() -> None:
    pulse = Pulse(100.0)
    assert pulse.next_deadline() == 120.0
    pulse.asked = True
    assert pulse.next_deadline() == 140.0
    assert not pulse.is_dead(139.9)
    assert pulse.is_dead(140.0)
    pulse.hear(130.0)
    assert pulse.next_deadline() == 150.0
