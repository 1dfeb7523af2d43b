"""Approvals as rows: every step forward is one guarded UPDATE, none goes back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.errors import StateError
from common.signing import APPROVAL
from local_agent.store.approvals import StoredApproval
from local_agent.store.journal import Journal
from tests.sealed import AGENT, Wish, a_journal, a_seal, as_stored, decided

pytestmark = pytest.mark.heavy

STATES = ("pending", "approved", "rejected", "expired", "superseded", "consumed")
STEPS = {
    ("pending", "approved"),
    ("pending", "rejected"),
    ("pending", "expired"),
    ("pending", "superseded"),
    ("approved", "consumed"),
    ("approved", "expired"),
    ("approved", "superseded"),
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def journal(tmp_path: Path, clock: ManualClock) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, clock)) as opened:
        for number in (1, 2, 3):
            wish = Wish(task_id=f"task-{number}", short_id=f"T-000{number}")
            opened.tasks.create(wish, clock.now().wall_ms)
        yield opened


def add(journal: Journal, clock: ManualClock, task: int = 1) -> StoredApproval:
    stored = as_stored(a_seal(clock, task_id=f"task-{task}"))
    journal.approvals.add(stored)
    return stored


def state_of(journal: Journal, stored: StoredApproval) -> str:
    return journal.approvals.get(stored.approval_id).state


def test_a_row_reads_back_as_it_was_stored(journal: Journal, clock: ManualClock) -> None:
    stored = add(journal, clock)
    assert journal.approvals.get(stored.approval_id) == stored
    assert journal.approvals.newest_of("task-1") == stored
    assert journal.approvals.newest_of("task-2") is None
    assert journal.approvals.pending() == journal.approvals.live() == [stored]


def test_an_unknown_approval_is_an_error(journal: Journal) -> None:
    with pytest.raises(StateError) as caught:
        journal.approvals.get("nothing")
    assert caught.value.code == "approval.unknown"


@pytest.mark.requirement("R23")
def test_a_new_approval_of_a_task_supersedes_the_old(journal: Journal, clock: ManualClock) -> None:
    first, other = add(journal, clock), add(journal, clock, task=2)
    assert decided(journal, first, clock.now().wall_ms)
    second = as_stored(a_seal(clock))
    assert journal.approvals.add(second) == [first.approval_id]
    assert journal.approvals.newest_of("task-1") == second
    assert state_of(journal, first) == "superseded"
    assert state_of(journal, other) == "pending"


@pytest.mark.requirement("R22")
def test_one_decision_counts(journal: Journal, clock: ManualClock) -> None:
    stored = add(journal, clock)
    now = clock.now().wall_ms
    assert decided(journal, stored, now, "rejected")
    assert not decided(journal, stored, now, "approved")
    row = journal.approvals.get(stored.approval_id)
    assert (row.state, row.decided_at, row.approver) == ("rejected", now, "terminal")
    assert row.statement is not None
    assert row.signature == AGENT.sign(APPROVAL, row.statement)


@pytest.mark.parametrize("change", ["expired", "digest"])
def test_no_decision_is_taken_late_or_about_other_bytes(
    journal: Journal, clock: ManualClock, change: str
) -> None:
    stored = add(journal, clock)
    if change == "expired":
        assert not decided(journal, stored, stored.expires_at)
    else:
        other = as_stored(a_seal(clock, approval_id=stored.approval_id, nonce="other"))
        assert not decided(journal, other, clock.now().wall_ms)
    assert state_of(journal, stored) == "pending"


def test_what_is_not_approved_is_not_consumed(journal: Journal, clock: ManualClock) -> None:
    stored = add(journal, clock)
    now = clock.now().wall_ms
    assert not journal.approvals.consume(stored.approval_id, stored.digest, now)
    decided(journal, stored, now, "rejected")
    assert not journal.approvals.consume(stored.approval_id, stored.digest, now)


@pytest.mark.requirement("R68")
def test_after_a_restart_only_what_waits_in_time_is_left(
    journal: Journal, clock: ManualClock
) -> None:
    approved, waiting, late = (add(journal, clock, task=n) for n in (1, 2, 3))
    now = clock.now().wall_ms
    decided(journal, approved, now)
    expires = late.expires_at
    assert journal.approvals.expire_at_start(now) == [approved.approval_id]
    assert [row.approval_id for row in journal.approvals.pending()] == [
        waiting.approval_id,
        late.approval_id,
    ]
    assert set(journal.approvals.expire_at_start(expires)) == {
        waiting.approval_id,
        late.approval_id,
    }


@pytest.mark.requirement("R4")
def test_an_approval_made_in_the_future_does_not_outlive_a_restart(
    journal: Journal, clock: ManualClock
) -> None:
    stored = add(journal, clock)
    assert journal.approvals.expire_at_start(clock.now().wall_ms - 1) == [stored.approval_id]


def test_withdrawing_takes_the_live_ones_of_one_task(journal: Journal, clock: ManualClock) -> None:
    stored, other = add(journal, clock), add(journal, clock, task=2)
    assert journal.approvals.withdraw("task-1") == [stored.approval_id]
    assert journal.approvals.withdraw("task-1") == []
    assert journal.approvals.live() == [other]


def test_what_has_ended_does_not_expire(journal: Journal, clock: ManualClock) -> None:
    stored = add(journal, clock)
    decided(journal, stored, clock.now().wall_ms, "rejected")
    journal.approvals.expire([stored.approval_id])
    assert state_of(journal, stored) == "rejected"


def test_what_a_gateway_asked_is_counted(journal: Journal, clock: ManualClock) -> None:
    approvals = journal.approvals
    rejected = add(journal, clock)
    now = clock.now().wall_ms
    gateway = rejected.gateway
    decided(journal, rejected, now, "rejected")
    approvals.add(as_stored(a_seal(clock, task_id="task-2"), requester="li"))
    approvals.add(as_stored(a_seal(clock, task_id="task-3"), gateway="other"))
    assert approvals.count_pending(gateway) == 1
    assert approvals.count_asked(gateway, now, besides="") == 2
    assert approvals.count_asked(gateway, now, besides="task-2") == 1
    assert approvals.count_asked(gateway, now, besides="", requester="li") == 1
    assert approvals.count_asked(gateway, now + 1, besides="") == 0
    subject = rejected.subject_sha256
    assert approvals.count_rejected(gateway, now, subject_sha256=subject) == 1
    assert approvals.count_rejected(gateway, now, subject_sha256="another") == 0
    assert approvals.count_rejected(gateway, now + 1, subject_sha256=subject) == 0


def raw_connection(tmp_path: Path) -> sqlite3.Connection:
    return sqlite3.connect(tmp_path / "state" / "journal.db", isolation_level=None)


@pytest.mark.requirement("R22")
@pytest.mark.parametrize("after", STATES)
@pytest.mark.parametrize("before", STATES)
def test_the_table_itself_lets_a_state_go_forward_only(
    journal: Journal, clock: ManualClock, tmp_path: Path, before: str, after: str
) -> None:
    stored = add(journal, clock)
    with closing(raw_connection(tmp_path)) as raw:
        for state in ("approved", before) if before == "consumed" else (before,):
            if state != "pending":
                raw.execute("UPDATE approvals SET state = ?", (state,))
        try:
            raw.execute("UPDATE approvals SET state = ?", (after,))
        except sqlite3.IntegrityError:
            assert (before, after) not in STEPS
        else:
            assert (before, after) in STEPS
    assert state_of(journal, stored) == (after if (before, after) in STEPS else before)


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    "change",
    ["seal = x'00'", "digest = ''", "task_id = 'task-2'", "risk = 'high'", "expires_at = 0"],
)
def test_the_table_itself_keeps_a_seal_as_it_was(
    journal: Journal, clock: ManualClock, tmp_path: Path, change: str
) -> None:
    add(journal, clock)
    with closing(raw_connection(tmp_path)) as raw, pytest.raises(sqlite3.IntegrityError):
        raw.execute(f"UPDATE approvals SET {change}")  # noqa: S608  # the literals above
