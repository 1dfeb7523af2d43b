"""Numbers in order, silence, and a burst before a steady rate, in frames and in bytes."""

from __future__ import annotations

import sys

import pytest

from common.errors import LocalProtocolError, RemoteProtocolError
from common.protocol.flow_control import (
    BYTES,
    BYTES_PER_SECOND,
    FRAMES,
    FRAMES_PER_SECOND,
    Meter,
    Order,
    Pulse,
)


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


NOW = 1000.0


def spent(meter: Meter, frames: int, *, size: int = 0, mono: float = NOW) -> int:
    """Return how many frames, one by one, are let through."""
    return sum(meter.spend(frames=1, size=size, mono=mono) for _ in range(frames))


def test_a_burst_passes_and_the_next_frame_does_not() -> None:
    assert spent(Meter(), FRAMES + 50) == FRAMES


def test_after_a_burst_frames_pass_at_the_steady_rate() -> None:
    meter = Meter()
    spent(meter, FRAMES)
    assert spent(meter, 10 * FRAMES_PER_SECOND, mono=NOW + 3) == 3 * FRAMES_PER_SECOND


def test_bytes_are_bounded_however_few_the_frames() -> None:
    meter = Meter()
    whole = BYTES // 4
    assert spent(meter, 6, size=whole) == 4
    assert not meter.spend(frames=1, size=BYTES_PER_SECOND, mono=NOW + 0.5)
    assert meter.spend(frames=1, size=BYTES_PER_SECOND, mono=NOW + 1)


def test_a_message_beyond_every_burst_never_passes() -> None:
    assert not Meter().spend(frames=1, size=BYTES + 1, mono=NOW)


def test_what_is_refused_is_not_counted() -> None:
    meter = Meter()
    spent(meter, FRAMES)
    for _ in range(100):
        meter.spend(frames=FRAMES, size=0, mono=NOW)
    assert meter.spend(frames=1, size=0, mono=NOW + 1 / FRAMES_PER_SECOND)


@pytest.mark.parametrize(("frames", "size"), [(FRAMES, 0), (1, BYTES)])
def test_the_wait_is_exactly_as_long_as_it_takes(frames: int, size: int) -> None:
    meter = Meter()
    assert meter.wait_s(frames=frames, size=size, mono=NOW) == 0
    meter.spend(frames=frames, size=size, mono=NOW)
    wait_s = meter.wait_s(frames=10, size=1000, mono=NOW)
    assert wait_s > 0
    assert not meter.spend(frames=10, size=1000, mono=NOW + 0.9 * wait_s)
    assert meter.spend(frames=10, size=1000, mono=NOW + wait_s + 1e-6)


def test_a_meter_that_has_run_empty_is_as_good_as_new() -> None:
    meter = Meter()
    assert meter.is_empty(NOW)
    meter.spend(frames=FRAMES, size=0, mono=NOW)
    assert not meter.is_empty(NOW + 1)
    assert meter.is_empty(NOW + FRAMES / FRAMES_PER_SECOND)


def test_ten_thousand_meters_cost_a_megabyte() -> None:
    meter = Meter()
    meter.spend(frames=1, size=1, mono=NOW)
    floats = sys.getsizeof(1.5) * 2
    assert sys.getsizeof(meter) + floats <= 100
