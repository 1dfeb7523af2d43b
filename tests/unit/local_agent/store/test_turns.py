"""The account of what models have used."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.clock import ManualClock
from local_agent.store.journal import Journal
from local_agent.store.turns import BEGUN, CUT_OFF, Failed, StoredTurn, Used
from tests.sealed import AGENT


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.db", clock=ManualClock(), key=lambda: AGENT)


def turn(**changes: object) -> StoredTurn:
    facts = {
        "task_id": "task-1",
        "model": "deepseek",
        "at": 1000,
        "duration_ms": 250,
        "input_tokens": 10,
        "output_tokens": 5,
        "calls": 1,
        "outcome": "ok",
    }
    return StoredTurn(**(facts | changes))  # type: ignore[arg-type]  # the facts of a turn


def test_the_turns_of_a_task_come_back_as_they_were(journal: Journal) -> None:
    rows = [turn(), turn(outcome="model.busy", at=2000), turn(task_id="task-2")]
    for row in rows:
        journal.turns.begin(row)
    assert list(journal.turns.of_task("task-1")) == rows[:2]
    journal.close()


def test_what_was_used_is_summed_by_model_since_a_moment(journal: Journal) -> None:
    for row in (turn(), turn(outcome="model.cut"), turn(model="codex", at=5000), turn(at=10)):
        journal.turns.begin(row)
    assert list(journal.turns.used_since(1000)) == [
        Used("codex", 1, 0, 10, 5),
        Used("deepseek", 2, 1, 20, 10),
    ]
    assert list(journal.turns.used_since(9000)) == []
    journal.close()


def test_a_turn_is_in_the_account_from_its_beginning(journal: Journal) -> None:
    begun = turn(at=900, duration_ms=0, input_tokens=0, output_tokens=0, calls=0, outcome=BEGUN)
    number = journal.turns.begin(begun)
    assert list(journal.turns.of_task("task-1")) == [begun]
    journal.turns.end(number, turn())
    assert list(journal.turns.of_task("task-1")) == [turn()]
    journal.close()


def test_a_turn_that_a_kill_cut_off_is_called_so(tmp_path: Path) -> None:
    def opened() -> Journal:
        return Journal(tmp_path / "journal.db", clock=ManualClock(), key=lambda: AGENT)

    journal = opened()
    journal.turns.begin(turn())
    journal.turns.begin(turn(outcome=BEGUN))
    journal.close()
    journal = opened()
    assert [row.outcome for row in journal.turns.of_task("task-1")] == ["ok", CUT_OFF]
    journal.close()


@pytest.mark.parametrize("outcome", [BEGUN, CUT_OFF, "cancelled"])
def test_what_the_model_did_not_bring_about_is_no_failure_of_it(
    journal: Journal, outcome: str
) -> None:
    journal.turns.begin(turn(outcome=outcome))
    assert list(journal.turns.used_since(0)) == [Used("deepseek", 1, 0, 10, 5)]
    assert list(journal.turns.failed_since(0)) == []
    journal.close()


def test_the_last_failure_of_each_model_is_told(journal: Journal) -> None:
    for row in (
        turn(outcome="model.cut"),
        turn(outcome="model.busy", at=3000),
        turn(at=4000),
        turn(model="codex", outcome="model.key", at=10),
    ):
        journal.turns.begin(row)
    assert list(journal.turns.failed_since(1000)) == [Failed("deepseek", 3000, "model.busy")]
    assert next(iter(journal.turns.failed_since(0))) == Failed("codex", 10, "model.key")
    journal.close()
