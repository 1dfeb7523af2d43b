"""Heads on the machine: offered when there is news, kept when they agree, an alarm when not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.audit import GENESIS
from common.clock import ManualClock
from common.heads import FORKED, KEPT, MAX_FRAME_BYTES, verify_kept
from common.model.state import Reason, TaskState
from common.protocol.bodies import HeadBody
from local_agent.store.heads import EVERY
from local_agent.store.journal import Journal
from tests.sealed import (
    a_head,
    a_journal,
    a_seal,
    answered,
    as_stored,
    ending,
    to_waiting,
    walk,
)

pytestmark = pytest.mark.heavy


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def journal(tmp_path: Path, clock: ManualClock) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, clock)) as opened:
        yield opened


def offers(journal: Journal) -> list[dict[str, Any]]:
    """Return the heads that wait to be sent."""
    rows = journal._db.all("SELECT body FROM outbox WHERE typ = 'head' ORDER BY seq")
    return [json.loads(row[0]) for row in rows]


def events(journal: Journal) -> list[str]:
    """Return the names of all audit events."""
    return [json.loads(body)["event"] for _, _, body, _ in journal.audit.entries()]


def acknowledge(journal: Journal) -> bool:
    """Let the gateway acknowledge everything, and tell whether that left something to send."""
    journal.outbox.take_news()
    journal.acked(journal._db.all("SELECT max(sent_seq) FROM peers")[0][0])
    return journal.outbox.take_news() is not None


def executed(journal: Journal, clock: ManualClock) -> None:
    """Let a task be executed and end."""
    task_id = to_waiting(journal)
    stored = as_stored(a_seal(clock, task_id=task_id))
    journal.approvals.add(stored)
    journal.effects.open_effect(stored.approval_id, task_id, stored.digest)
    walk(journal, task_id, TaskState.EXECUTING)
    journal.tasks.change(ending(Reason.COMPLETED, TaskState.EXECUTING, TaskState.COMPLETED))


@pytest.mark.requirement("P6")
def test_the_end_of_what_was_executed_is_offered(journal: Journal, clock: ManualClock) -> None:
    executed(journal, clock)
    (offer,) = offers(journal)
    assert offer["seq"] == journal.audit.head().seq
    assert offer["hash"] == journal.audit.head().hash.hex()
    assert (offer["peer_seq"], offer["peer_hash"]) == (0, GENESIS.hex())


@pytest.mark.requirement("R58")
def test_a_hundred_entries_are_offered_and_only_one_offer_is_on_its_way(journal: Journal) -> None:
    for _ in range(3 * EVERY):
        journal.audit.append("test.entry")
    (offer,) = offers(journal)
    assert offer["seq"] == EVERY
    assert acknowledge(journal)
    (newer,) = offers(journal)
    assert newer["seq"] == 3 * EVERY
    assert not acknowledge(journal)
    assert offers(journal) == []


def test_a_machine_without_a_gateway_offers_nothing(tmp_path: Path, clock: ManualClock) -> None:
    with closing(a_journal(tmp_path, clock, paired=False)) as journal:
        for _ in range(EVERY):
            journal.audit.append("test.entry")
        journal.heads.catch_up()
        assert offers(journal) == []
        assert journal.heads.standing().gateway_keeps == 0


@pytest.mark.requirement("P6")
def test_what_the_gateway_signed_is_kept_with_its_proof_and_not_answered(
    journal: Journal, clock: ManualClock
) -> None:
    to_waiting(journal)
    own = journal.audit.head()
    said = answered(journal, clock, 1)
    kept = journal.heads.kept()
    assert kept is not None
    assert (kept.seq, kept.own_seq, kept.own_hash) == (said.seq, own.seq, own.hash)
    assert events(journal)[-1] == KEPT
    assert journal.heads.standing().gateway_keeps == own.seq
    assert offers(journal) == []


def test_a_head_that_says_nothing_new_leaves_nothing_behind(
    journal: Journal, clock: ManualClock
) -> None:
    to_waiting(journal)
    said = answered(journal, clock, 1)
    before = journal.audit.head()
    for number in range(2, 50):
        again = replace(said, seq=said.seq + number, hash=f"{number:064x}")
        assert journal.inbox.accept(a_head(clock, number, again)) == "noted"
    assert journal.audit.head() == before


@pytest.mark.requirement("P6")
@pytest.mark.parametrize(
    "changes",
    [
        {"seq": 4},
        {"hash": "ee" * 32},
        {"peer_seq": 1, "peer_hash": GENESIS.hex()},
        {"peer_hash": "ee" * 32},
        {"peer_seq": 999},
        {"peer_seq": 0, "peer_hash": GENESIS.hex()},
    ],
)
def test_a_head_that_contradicts_is_one_lasting_alarm_and_changes_nothing(
    journal: Journal, clock: ManualClock, changes: dict[str, Any]
) -> None:
    to_waiting(journal)
    said = answered(journal, clock, 1)
    kept = journal.heads.kept()
    for number in range(2, 12):
        clock.advance(1)
        wrong = a_head(clock, number, replace(said, **changes))
        assert journal.inbox.accept(wrong) == "forked"
    assert journal.heads.kept() == kept
    assert events(journal).count(FORKED) == 1
    assert journal.heads.standing().forked_at == clock.now().wall_ms - 9_000


def test_the_alarm_outlives_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    with closing(a_journal(tmp_path, clock)) as journal:
        journal.inbox.accept(a_head(clock, 1, HeadBody(5, "00" * 32, 9, "00" * 32, 1)))
    with closing(a_journal(tmp_path, clock)) as again:
        assert again.heads.standing().forked_at == clock.now().wall_ms


def test_a_head_that_was_padded_on_its_way_is_kept(journal: Journal, clock: ManualClock) -> None:
    to_waiting(journal)
    own = journal.audit.head()
    said = HeadBody(5, "00" * 32, own.seq, own.hash.hex(), clock.now().wall_ms)
    envelope = a_head(clock, 1, said)
    envelope = replace(envelope, frame=envelope.frame + b" " * MAX_FRAME_BYTES)
    assert journal.inbox.accept(envelope) == "noted"
    kept = journal.heads.kept()
    assert kept is not None
    assert verify_kept(kept).content == said


def test_a_start_offers_what_the_gateway_has_not_signed_and_a_quiet_one_nothing(
    journal: Journal, clock: ManualClock
) -> None:
    to_waiting(journal)
    journal.heads.catch_up()
    (offer,) = offers(journal)
    acknowledge(journal)
    said = HeadBody(5, "00" * 32, offer["seq"], offer["hash"], clock.now().wall_ms)
    journal.inbox.accept(a_head(clock, 1, said))
    journal.heads.catch_up()
    assert offers(journal) == []
    journal.audit.append("test.news")
    journal.heads.catch_up()
    assert len(offers(journal)) == 1
