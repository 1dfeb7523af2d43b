"""What must hold when something is asked and decided, without a gate."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import AuthError, InputError, StateError
from common.seal import short_code
from local_agent.errors import FloodedError
from local_agent.flow.gate_checks import Checks, Deadlines, Limits, PausedError, check_flood
from local_agent.store.approvals import Approvals, StoredApproval
from tests.each import each
from tests.sealed import a_seal, as_stored

TIGHT = Limits(pending=3, hourly_member=3, hourly_gateway=3, run=3, repeats=3)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def prepared(clock: ManualClock) -> tuple[Checks, StoredApproval]:
    stored = as_stored(a_seal(clock))
    deadlines = Deadlines(clock)
    deadlines.begin(stored.approval_id, stored.expires_at, clock.now())
    return Checks(deadlines, Limits(wrong_codes=2, pause_s=5)), stored


def test_what_waits_and_was_shown_passes_and_is_no_try_that_failed(clock: ManualClock) -> None:
    checks, stored = prepared(clock)
    for _ in range(3):
        checks.waits(stored, stored.digest, clock.now())
        checks.typed(stored, short_code(stored.digest), clock.now(), by="terminal")
    with pytest.raises(InputError) as caught:
        checks.typed(stored, "0000", clock.now(), by="terminal")
    assert caught.value.code == "approval.code-mismatch"
    assert not isinstance(caught.value, PausedError)


@pytest.mark.requirement("R29")
@pytest.mark.requirement("R31")
def test_a_click_in_the_window_is_enough_for_normal_risk_alone(clock: ManualClock) -> None:
    checks, stored = prepared(clock)
    high = replace(stored, risk="high")
    checks.typed(stored, "", clock.now(), by="desktop")
    # A passkey signed the digest; its one-time code is taken where it enters.
    for one in (stored, high):
        checks.typed(one, "", clock.now(), by="passkey")
    for typed in ("", short_code(high.digest)[:4]):
        with pytest.raises(InputError) as caught:
            checks.typed(high, typed, clock.now(), by="desktop")
        assert caught.value.code == "approval.code-mismatch"


@pytest.mark.requirement("P1")
def test_a_click_in_the_window_approves_nothing_while_nothing_can_be(clock: ManualClock) -> None:
    checks, stored = prepared(clock)
    with checks.block("T-1234 runs without a sandbox"), pytest.raises(StateError) as caught:
        checks.typed(stored, "", clock.now(), by="desktop")
    assert caught.value.code == "approval.blocked"


def test_tries_are_counted_for_each_approval_and_forgotten_with_it(clock: ManualClock) -> None:
    checks, stored = prepared(clock)
    other = as_stored(a_seal(clock, nonce="other"))
    for one in (stored, other):
        with pytest.raises(InputError) as caught:
            checks.typed(one, "0000", clock.now(), by="terminal")
        assert not isinstance(caught.value, PausedError)
    checks.forget(stored.approval_id)
    with pytest.raises(InputError) as caught:
        checks.typed(stored, "0000", clock.now(), by="terminal")
    assert not isinstance(caught.value, PausedError)
    with pytest.raises(PausedError):
        checks.typed(other, "0000", clock.now(), by="terminal")


def test_after_a_pause_the_count_begins_anew(clock: ManualClock) -> None:
    checks, stored = prepared(clock)
    for _ in range(2):
        with pytest.raises(InputError) as first:
            checks.typed(stored, "0000", clock.now(), by="terminal")
        assert not isinstance(first.value, PausedError)
        with pytest.raises(PausedError):
            checks.typed(stored, "0000", clock.now(), by="terminal")
        with pytest.raises(InputError) as caught:
            checks.typed(stored, short_code(stored.digest), clock.now(), by="terminal")
        assert caught.value.code == "approval.paused"
        clock.advance(5)
    checks.typed(stored, short_code(stored.digest), clock.now(), by="terminal")


def test_a_block_ends_with_its_cause_also_when_that_fails(clock: ManualClock) -> None:
    checks, stored = prepared(clock)
    with pytest.raises(KeyError), checks.block("running"):
        raise KeyError
    assert checks.blocked is None
    with checks.block("running"), pytest.raises(StateError) as caught:
        checks.typed(stored, short_code(stored.digest), clock.now(), by="terminal")
    assert caught.value.code == "approval.blocked"


def test_a_row_whose_bytes_are_others_is_no_question(clock: ManualClock) -> None:
    checks, stored = prepared(clock)
    swapped = as_stored(a_seal(clock, nonce="other"), digest=stored.digest)
    with pytest.raises(AuthError):
        checks.typed(swapped, short_code(stored.digest), clock.now(), by="terminal")


def test_what_nobody_counts_is_late() -> None:
    clock = ManualClock()
    deadlines = Deadlines(clock)
    assert deadlines.is_late("a", clock.now())
    assert deadlines.next() is None
    assert deadlines.known() == set()


def test_a_deadline_is_the_span_by_the_other_clock() -> None:
    clock = ManualClock()
    deadlines = Deadlines(clock)
    deadlines.begin("a", clock.now().wall_ms + 2000, clock.now())
    deadlines.begin("b", clock.now().wall_ms + 1000, clock.now())
    assert deadlines.next() == clock.now().mono + 1
    clock.jump_wall(-100)
    assert not deadlines.is_late("b", clock.now())
    clock.advance(1)
    assert deadlines.is_late("b", clock.now())
    assert not deadlines.is_late("a", clock.now())
    deadlines.forget("b")
    deadlines.forget("b")
    assert deadlines.known() == {"a"}


async def test_waiting_ends_when_something_is_late() -> None:
    clock = ManualClock()
    deadlines = Deadlines(clock)
    deadlines.begin("a", clock.now().wall_ms + 5, clock.now())
    await deadlines.reached()  # it was set a moment ago
    await asyncio.wait_for(deadlines.reached(), 30)  # its time has come
    clock.advance(1)
    assert deadlines.is_late("a", clock.now())


async def test_waiting_ends_when_a_nearer_moment_is_set() -> None:
    clock = ManualClock()
    deadlines = Deadlines(clock)
    waiting = asyncio.ensure_future(deadlines.reached())
    await asyncio.sleep(0)
    assert not waiting.done()
    deadlines.begin("a", clock.now().wall_ms + 3_600_000, clock.now())
    await asyncio.wait_for(waiting, 30)
    assert deadlines.known() == {"a"}


class Counted(Approvals):
    """Approvals with the given counts."""

    def __init__(self, **counts: int) -> None:
        self._counts = counts
        self.since: set[int] = set()

    def count_pending(self, gateway: str) -> int:
        return self._counts.get("pending", 0)

    def count_asked(
        self, gateway: str, since_ms: int, *, besides: str, requester: str | None = None
    ) -> int:
        self.since.add(since_ms)
        return self._counts.get("member" if requester else "gateway", 0)

    def count_of_run(self, task_id: str) -> int:
        return self._counts.get("run", 0)

    def count_rejected(self, gateway: str, since_ms: int, *, subject_sha256: str) -> int:
        self.since.add(since_ms)
        return self._counts.get("rejected", 0)


def a_wish(**changes: Any) -> StoredApproval:
    return as_stored(a_seal(ManualClock()), **changes)


@each("why", ["pending", "member", "gateway", "run", "rejected"])
def test_the_last_one_within_a_bound_passes_and_the_next_does_not(why: str) -> None:
    check_flood(Counted(**{why: 2}), a_wish(), TIGHT)
    with pytest.raises(FloodedError) as caught:
        check_flood(Counted(**{why: 3}), a_wish(), TIGHT)
    assert caught.value.code == "approval.too-many"
    assert caught.value.facts == {"why": why, "limit": 3}


def test_an_hour_is_an_hour() -> None:
    counted, wish = Counted(), a_wish()
    check_flood(counted, wish, TIGHT)
    assert counted.since == {wish.created_at - 3_600_000}


def test_what_is_asked_at_the_machine_is_not_bounded() -> None:
    counts = dict.fromkeys(("pending", "member", "gateway", "run", "rejected"), 100)
    counted = Counted(**counts)
    check_flood(counted, a_wish(gateway=""), TIGHT)
    assert counted.since == set(), "nobody is counted"


def test_the_written_bounds_are_the_bounds() -> None:
    text = (Path(__file__).parents[4] / "docs" / "risk.md").read_text(encoding="utf-8")
    limits = Limits()
    assert f"{limits.pending} waiting at once" in text
    assert f"{limits.hourly_member} an hour for each member" in text
    assert f"{limits.hourly_gateway} an hour for all" in text
    assert f"once, with at most {limits.run} questions in it" in text
    assert limits.repeats == 2
    assert "rejected twice" in text
