"""What must hold at the moment of a decision, without a journal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from common.clock import ManualClock
from common.errors import AuthError, InputError, StateError
from common.seal import short_code
from local_agent.flow.deadlines import Deadlines
from local_agent.flow.gate_checks import Checks, PausedError
from local_agent.flow.limits import Limits
from local_agent.store.approvals import StoredApproval
from tests.sealed import a_seal, as_stored


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
def test_a_click_in_the_window_is_enough_for_normal_risk_alone(clock: ManualClock) -> None:
    checks, stored = prepared(clock)
    checks.typed(stored, "", clock.now(), by="desktop")
    high = replace(stored, risk="high")
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
