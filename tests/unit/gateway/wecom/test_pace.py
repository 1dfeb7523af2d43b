"""The pace that WeCom allows, kept on our side."""

from __future__ import annotations

from gateway.wecom import pace
from gateway.wecom.pace import Pace


def test_thirty_go_out_in_a_minute_and_the_next_waits_for_the_first() -> None:
    kept = Pace()
    assert [kept.take("bob", 100.0 + second) for second in range(30)] == [0.0] * 30
    assert kept.take("bob", 130.0) == 30.0
    assert kept.take("bob", 160.0) == 0.0


def test_a_wait_is_not_counted() -> None:
    kept = Pace()
    for _ in range(30):
        kept.take("bob", 0.0)
    for _ in range(100):
        assert kept.take("bob", 10.0) == 50.0
    assert kept.take("bob", 60.0) == 0.0


def test_a_thousand_go_out_in_an_hour() -> None:
    kept = Pace()
    sent = sum(kept.take("bob", second * 2.0) == 0.0 for second in range(1790))
    assert sent == 1000
    assert 0 < kept.take("bob", 3590.0) <= 3600
    assert kept.take("bob", 3601.0) == 0.0


def test_members_do_not_slow_each_other_and_case_does_not_make_two_of_one() -> None:
    kept = Pace()
    for _ in range(30):
        kept.take("bob", 0.0)
    assert kept.take("alice", 0.0) == 0.0
    assert kept.take("BOB", 0.0) == 60.0


def test_memory_is_bounded() -> None:
    kept = Pace()
    for number in range(pace.MAX_MEMBERS + 10):
        kept.take(f"member-{number}", 0.0)
    assert len(kept._tries) == pace.MAX_MEMBERS
