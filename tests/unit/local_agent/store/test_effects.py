"""Intents and outcomes: once begun, once ended, never forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.errors import StateError
from local_agent.store.journal import Journal
from tests.sealed import Wish, a_journal, a_seal, as_stored


def begun(tmp_path: Path) -> Journal:
    clock = ManualClock()
    journal = a_journal(tmp_path, clock)
    journal.tasks.create(Wish(), clock.now().wall_ms)
    journal.approvals.add(as_stored(a_seal(clock, approval_id="approval-1")))
    journal.effects.open_effect("approval-1", "task-1", "digest")
    return journal


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(begun(tmp_path)) as opened:
        yield opened


@pytest.mark.requirement("P3")
def test_an_intent_survives_a_restart_without_an_outcome(tmp_path: Path) -> None:
    begun(tmp_path).close()
    with closing(a_journal(tmp_path, ManualClock())) as again:
        [effect] = again.effects.unfinished_effects()
    assert (effect.task_id, effect.outcome) == ("task-1", None)


@pytest.mark.requirement("P3")
def test_the_same_approval_never_begins_twice(journal: Journal) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        journal.effects.open_effect("approval-1", "task-1", "digest")


def test_an_effect_needs_its_approval(journal: Journal) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        journal.effects.open_effect("approval-2", "task-1", "digest")


def test_an_outcome_is_written_once(journal: Journal) -> None:
    journal.effects.close_effect("approval-1", "completed")
    with pytest.raises(StateError) as caught:
        journal.effects.close_effect("approval-1", "failed")
    assert caught.value.code == "effect.not-open"
    assert [effect.outcome for effect in journal.effects.of_task("task-1")] == ["completed"]
    assert journal.effects.unfinished_effects() == []


@pytest.mark.requirement("R59")
def test_intent_and_outcome_are_audited(journal: Journal) -> None:
    journal.effects.close_of_task("task-1", "unknown")
    journal.effects.close_of_task("task-1", "failed")  # nothing is open any more
    events = [entry[2] for entry in journal.audit.entries()][-2:]
    assert b'"exec.intent"' in events[0]
    assert b'"exec.result"' in events[1]
    assert b'"unknown"' in events[1]


@pytest.mark.parametrize("statement", ["DELETE FROM effects", "UPDATE effects SET outcome = 'x'"])
def test_a_known_outcome_cannot_be_rewritten(
    journal: Journal, tmp_path: Path, statement: str
) -> None:
    journal.effects.close_effect("approval-1", "completed")
    raw = sqlite3.connect(tmp_path / "state" / "journal.db")
    with closing(raw), pytest.raises(sqlite3.IntegrityError):
        raw.execute(statement)


# --- several operations under one approval


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("outcome", [None, "failed", "unknown", "drifted"])
def test_a_part_is_not_begun_before_the_one_before_it_has_completed(
    journal: Journal, outcome: str | None
) -> None:
    if outcome:
        journal.effects.close_effect("approval-1", outcome)
    with pytest.raises(sqlite3.IntegrityError):
        journal.effects.open_effect("approval-1", "task-1", "digest", part=1)


@pytest.mark.requirement("P3")
def test_parts_are_begun_in_order_each_once(journal: Journal) -> None:
    effects = journal.effects
    effects.close_effect("approval-1", "completed")
    with pytest.raises(sqlite3.IntegrityError):
        effects.open_effect("approval-1", "task-1", "digest", part=2)
    effects.open_effect("approval-1", "task-1", "digest", part=1)
    effects.close_effect("approval-1", "completed", part=1)
    with pytest.raises(sqlite3.IntegrityError):
        effects.open_effect("approval-1", "task-1", "digest", part=1)
    effects.open_effect("approval-1", "task-1", "digest", part=2)
    assert [(one.part, one.outcome) for one in effects.of_approval("approval-1")] == [
        (0, "completed"),
        (1, "completed"),
        (2, None),
    ]


def test_the_end_of_a_task_closes_the_part_that_is_open(journal: Journal) -> None:
    journal.effects.close_effect("approval-1", "completed")
    journal.effects.open_effect("approval-1", "task-1", "digest", part=1)
    assert journal.effects.close_of_task("task-1", "failed")
    assert [one.outcome for one in journal.effects.of_task("task-1")] == ["completed", "failed"]


@pytest.mark.requirement("R59")
def test_entries_name_the_part_and_say_nothing_of_the_first(journal: Journal) -> None:
    journal.effects.close_effect("approval-1", "completed")
    journal.effects.open_effect("approval-1", "task-1", "digest", part=1)
    journal.effects.close_effect("approval-1", "completed", part=1)
    said = [b'"part":1' in entry[2] for entry in journal.audit.entries()][-4:]
    assert said == [False, False, True, True]
