"""Bounds against flooding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from local_agent.errors import FloodedError
from local_agent.flow.limits import Limits, check_flood
from local_agent.store.approvals import Approvals, StoredApproval
from tests.each import each
from tests.sealed import a_seal, as_stored

TIGHT = Limits(pending=3, hourly_member=3, hourly_gateway=3, repeats=3)


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

    def count_rejected(self, gateway: str, since_ms: int, *, subject_sha256: str) -> int:
        self.since.add(since_ms)
        return self._counts.get("rejected", 0)


def a_wish(**changes: Any) -> StoredApproval:
    return as_stored(a_seal(ManualClock()), **changes)


@each("why", ["pending", "member", "gateway", "rejected"])
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
    counts = dict.fromkeys(("pending", "member", "gateway", "rejected"), 100)
    counted = Counted(**counts)
    check_flood(counted, a_wish(gateway=""), TIGHT)
    assert counted.since == set(), "nobody is counted"


def test_the_written_bounds_are_the_bounds() -> None:
    text = (Path(__file__).parents[4] / "docs" / "risk.md").read_text(encoding="utf-8")
    limits = Limits()
    assert f"{limits.pending} waiting at once" in text
    assert f"{limits.hourly_member} an hour for each member" in text
    assert f"{limits.hourly_gateway} an hour for all" in text
    assert limits.repeats == 2
    assert "rejected twice" in text
