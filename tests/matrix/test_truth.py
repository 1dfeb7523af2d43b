"""The checker itself: each lie that it must find, told in a copy of what two real halves wrote."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests import truth
from tests.matrix.matrix import Ground
from tests.matrix.scenarios import approve_and_complete
from tests.truth import Evidence, asking, untruths

Lie = Callable[[Evidence], Evidence]


@pytest.fixture(scope="module")
def honest(ground: Ground, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """What is left of the main job, in a folder of its own."""
    kept = tmp_path_factory.mktemp("kept")
    with ground.house() as house:
        approve_and_complete(house)
        evidence = house.evidence()
        assert not house.untruths()
    for path in (house.journal, house.store, house.workspace / "ran.txt"):
        for file in path.parent.glob(f"{path.name}*"):
            shutil.copy(file, kept)
    return _moved(evidence, kept)


@pytest.fixture
def evidence(honest: Evidence, tmp_path: Path) -> Evidence:
    """A copy to lie in."""
    shutil.copytree(honest.gateway.parent, tmp_path, dirs_exist_ok=True)
    return _moved(honest, tmp_path)


def _moved(evidence: Evidence, folder: Path) -> Evidence:
    return replace(
        evidence,
        journals=[folder / "journal.db"],
        gateway=folder / "gateway.db",
        ran=folder / "ran.txt",
    )


def _in_journal(*statements: str) -> Lie:
    return lambda evidence: _told(evidence, evidence.journals[0], statements)


def _in_gateway(*statements: str) -> Lie:
    return lambda evidence: _told(evidence, evidence.gateway, statements)


def _told(evidence: Evidence, database: Path, statements: tuple[str, ...]) -> Evidence:
    with closing(sqlite3.connect(database)) as connection, connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert connection.execute(statement).rowcount > 0, statement
    connection.close()
    return evidence


def _ran_twice(evidence: Evidence) -> Evidence:
    assert evidence.ran is not None
    with evidence.ran.open("a", encoding="utf-8") as ran:
        ran.write("main\n")
    return evidence


def _never_ran(evidence: Evidence) -> Evidence:
    assert evidence.ran is not None
    evidence.ran.unlink()
    return evidence


def _silence(evidence: Evidence) -> Evidence:
    return replace(evidence, chat=[])


def _said_twice(evidence: Evidence) -> Evidence:
    assert evidence.chat is not None
    return replace(evidence, chat=[*evidence.chat, evidence.chat[-1]])


def _another_accepted(evidence: Evidence) -> Evidence:
    return replace(evidence, accepted=[*evidence.accepted, asking("lost")])


def _opened_at(evidence: Evidence) -> int:
    (effect,) = truth.rows(evidence.journals[0], "SELECT opened_at FROM effects")
    return int(effect["opened_at"])


_UNKNOWN = "UPDATE tasks SET state = 'FAILED', reason = 'unknown'"
_AUDIT = "UPDATE audit SET body = CAST({} AS BLOB)"
# What is told, and part of how it is found.
LIES: dict[str, tuple[Lie, str]] = {
    "a task that was accepted is lost": (_another_accepted, "made 0 tasks"),
    "a command ran twice": (_ran_twice, "ran 2 times for 1 approvals"),
    "completed, and it never ran": (_never_ran, "ran 0 times, and its tasks ended ['completed']"),
    "the chat was told nothing": (_silence, "told completed 0 times"),
    "the chat was told the end twice": (_said_twice, "told completed 2 times"),
    "the agent forgot a task": (
        _in_journal("UPDATE tasks SET task_id = 'another'"),
        "that no agent has",
    ),
    "the halves disagree": (
        _in_gateway("UPDATE tasks SET state = 'FAILED', reason = 'failed'"),
        "gateway ('FAILED', 'failed'), agent ('COMPLETED', 'completed')",
    ),
    "a reason that its state does not have": (
        _in_journal("UPDATE tasks SET reason = 'expired'"),
        "reason expired does not lead to COMPLETED",
    ),
    "an end that no history leads to": (_in_journal("DELETE FROM events"), "the history ends in"),
    "an outcome that nobody wrote": (
        _in_journal("UPDATE effects SET outcome = NULL"),
        "has no outcome",
    ),
    "unknown without a kill": (
        _in_journal("UPDATE tasks SET state = 'FAILED', reason = 'unknown'"),
        "no kill fell into",
    ),
    "an approval that outlives its task": (
        _in_journal("UPDATE approvals SET state = 'pending'"),
        "outlives its task",
    ),
    "an approval without a signature": (
        _in_journal("UPDATE approvals SET signature = NULL"),
        "without a signature",
    ),
    "an approval that outlives a kill": (
        lambda evidence: replace(
            _in_journal("UPDATE approvals SET decided_at = decided_at - 60000")(evidence),
            agent_kills=[_opened_at(evidence) - 30_000],
        ),
        "was given before a kill and used after it",
    ),
    "a presumption that stands against the agent's word": (
        _in_gateway(f"{_UNKNOWN}, presumed = 1"),
        "presumed unknown, and its agent has told otherwise",
    ),
    "an approval that nobody was told of": (
        _in_gateway("DELETE FROM outbox WHERE key LIKE 'waiting:%'"),
        "nobody was told that it waits",
    ),
    "an effect that nobody approved": (
        _in_journal(_AUDIT.format("replace(CAST(body AS TEXT), 'approval.approved', 'x.y')")),
        "was used and never given",
    ),
    "a changed entry of the agent's log": (
        _in_journal(_AUDIT.format("body || ' '") + " WHERE seq = 2"),
        "journal.db: the audit chain is broken",
    ),
    "a missing entry of the gateway's log": (
        _in_gateway("DELETE FROM audit WHERE seq = 2"),
        "gateway.db: the audit chain is broken",
    ),
}


def test_two_honest_halves_are_believed(evidence: Evidence) -> None:
    assert untruths(evidence) == []
    assert truth.is_idle(evidence.journals[0], evidence.gateway)


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(("lie", "wrong"), LIES.values(), ids=LIES.keys())
def test_a_lie_is_found(evidence: Evidence, lie: Lie, wrong: str) -> None:
    found = untruths(lie(evidence))
    assert [one for one in found if wrong in one], found


def test_an_approval_that_a_restart_changed_or_lost_is_found(evidence: Evidence) -> None:
    journal = evidence.journals[0]
    _in_journal(
        "UPDATE approvals SET state = 'pending'",
        "UPDATE tasks SET state = 'WAITING_APPROVAL', reason = NULL",
    )(evidence)
    before = truth.pending(journal)
    assert len(before) == 1
    assert truth.lost_approvals(journal, before) == []
    _in_journal("UPDATE approvals SET expires_at = expires_at + 1")(evidence)
    assert len(truth.lost_approvals(journal, before)) == 1
    _in_journal("UPDATE approvals SET expires_at = expires_at - 1, state = 'expired'")(evidence)
    assert len(truth.lost_approvals(journal, before)) == 1
