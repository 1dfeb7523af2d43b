"""The places before authentication: few, and nobody can hold them all."""

from __future__ import annotations

import pytest

from gateway.link.preauth import (
    ENOUGH_SECONDS,
    PREAUTH_PER_ADDRESS,
    PREAUTH_SOCKETS,
    PreauthPool,
    Slot,
)

NOW = 1000.0


class Door:
    """A pool, and a list of those who were shown out."""

    def __init__(self, *, total: int = PREAUTH_SOCKETS, per_address: int = PREAUTH_PER_ADDRESS):
        self.pool = PreauthPool(total=total, per_address=per_address)
        self.evicted: list[str] = []

    def enter(self, name: str, *, after: float = 0.0) -> Slot | None:
        """Let ``address`` or ``address/number`` in."""
        address, _, _ = name.partition("/")
        return self.pool.enter(address, mono=NOW + after, evict=lambda: self.evicted.append(name))

    def fill(self, addresses: int, each: int) -> None:
        """Take so many places from so many addresses, round after round."""
        for number in range(each):
            for address in range(addresses):
                assert self.enter(f"192.0.2.{address}/{number}")


@pytest.mark.requirement("R13")
def test_one_address_gets_eight_slots() -> None:
    door = Door()
    door.fill(1, 8)
    assert door.enter("192.0.2.0") is None
    assert door.enter("192.0.2.1") is not None
    assert door.evicted == []


@pytest.mark.requirement("R13")
def test_all_addresses_together_get_sixty_four_slots() -> None:
    door = Door()
    door.fill(64, 1)
    assert door.enter("198.51.100.1") is None
    assert door.evicted == []


@pytest.mark.requirement("R13")
def test_who_holds_the_most_slots_makes_room_for_a_newcomer() -> None:
    door = Door()
    door.fill(8, 8)
    assert door.enter("198.51.100.1")
    assert len(door.evicted) == 1
    assert door.evicted[0].endswith("/0"), "the oldest"


@pytest.mark.requirement("R13")
def test_a_newcomer_never_takes_more_than_its_share() -> None:
    door = Door(total=8, per_address=8)
    door.fill(1, 8)
    came = [door.enter("198.51.100.1") for _ in range(8)]
    assert sum(place is not None for place in came) == 4
    assert set(door.evicted) == {f"192.0.2.0/{number}" for number in range(4)}


@pytest.mark.requirement("R13")
def test_between_equals_the_oldest_goes_once_it_had_time_enough() -> None:
    door = Door()
    door.fill(64, 1)
    assert door.enter("198.51.100.1", after=ENOUGH_SECONDS - 0.1) is None
    assert door.enter("198.51.100.1", after=ENOUGH_SECONDS)
    assert door.evicted == ["192.0.2.0/0"]


@pytest.mark.requirement("R13")
def test_a_full_address_makes_room_of_its_own_and_not_of_others() -> None:
    door = Door()
    door.enter("198.51.100.1/0")
    door.fill(1, 8)
    assert door.enter("192.0.2.0/new", after=ENOUGH_SECONDS)
    assert door.evicted == ["192.0.2.0/0"]


@pytest.mark.requirement("R13")
def test_ten_thousand_at_once_do_not_throw_each_other_out() -> None:
    door = Door()
    let_in = sum(
        door.enter(f"10.0.{number // 250}.{number % 250}") is not None for number in range(10_000)
    )
    assert (let_in, door.evicted) == (PREAUTH_SOCKETS, [])


def test_a_place_is_given_back_once_however_often_it_is_left() -> None:
    door = Door(total=2, per_address=1)
    leave = door.enter("a")
    assert leave is not None
    assert door.enter("b") is not None
    leave()
    leave()
    leave.evict()
    assert door.evicted == []
    assert door.enter("a") is not None
    assert door.enter("c") is None


def test_who_was_shown_out_gives_no_place_back_that_is_another_ones() -> None:
    door = Door(total=1, per_address=1)
    first = door.enter("a")
    assert first is not None
    assert door.enter("b", after=ENOUGH_SECONDS) is not None
    first()
    assert door.enter("c") is None
