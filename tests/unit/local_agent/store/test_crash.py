"""kill -9 between all statements of the main line: what is left is always the truth (P3).

A forked child accepts a task, asks, approves, consumes, does its effect, or three of them under one
question, and ends the task.  It kills itself just before the n-th SQL statement that stands in no
transaction or ends one, for each n; the parent then opens the journal as a restarted agent does.
Before another statement a kill leaves what it leaves before the COMMIT that follows: nothing of the
transaction.
"""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.errors import StateError
from common.model.state import FINAL, Reason, TaskState
from local_agent.actions.registry import ACTIONS
from local_agent.safety.authority import before_operation
from local_agent.store.approvals import StoredApproval
from local_agent.store.journal import Journal
from tests.sealed import (
    AGENT,
    a_journal,
    a_seal,
    as_stored,
    decided,
    ending,
    fresh_journal,
    from_gateway,
    walk,
)
from tests.three import COUNT, a_seal_of_three, register

pytestmark = pytest.mark.heavy

FINISHED = 0


def main_line(folder: Path, kill_before: int, parts: int) -> None:
    """Run the whole line; never return once the n-th statement is reached."""
    clock = ManualClock()
    journal = a_journal(folder, clock)
    _arm(journal, kill_before)
    journal.inbox.accept(from_gateway(clock, 1))
    (folder / "acknowledged").touch()
    walk(journal, "task-1", TaskState.WAITING_APPROVAL)
    sealed = a_seal if parts == 1 else a_seal_of_three
    stored = as_stored(sealed(clock, approval_id="approval-1", short_id="T-7K31"))
    journal.approvals.add(stored)
    now = clock.now().wall_ms
    assert decided(journal, stored, now)
    for part in range(parts):
        if part:
            journal.effects.close_effect("approval-1", "completed", part=part - 1)
        _use(journal, stored, now, part)
        if not part:
            walk(journal, "task-1", TaskState.EXECUTING)
        with (folder / "effects").open("a", encoding="utf-8") as effects:
            effects.write("it happened\n")
    journal.tasks.change(ending(Reason.COMPLETED, TaskState.EXECUTING, TaskState.COMPLETED))
    (folder / "finished").touch()
    journal.close()


def _arm(journal: Journal, kill_before: int) -> None:
    seen, connection = 0, journal._db._connection

    def count(statement: str) -> None:
        nonlocal seen
        if connection.in_transaction and statement != "COMMIT":
            return
        seen += 1
        if seen == kill_before:
            os.kill(os.getpid(), signal.SIGKILL)

    connection.set_trace_callback(count)


def run_killed(folder: Path, kill_before: int, parts: int) -> bool:
    """Run the line in a child; return whether it was killed."""
    folder.mkdir()
    fresh_journal(folder / "state" / "journal.db")
    child = os.fork()
    if child == 0:
        try:
            main_line(folder, kill_before, parts)
        except BaseException:  # noqa: BLE001  # a forked child must never go on as a test run
            os._exit(1)
        os._exit(FINISHED)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == FINISHED
    return False


def check_restart(folder: Path, parts: int) -> None:
    clock = ManualClock()
    effects = folder / "effects"
    happened = effects.read_text(encoding="utf-8").count("\n") if effects.exists() else 0
    with closing(a_journal(folder, clock)) as journal:
        journal.approvals.expire_at_start(clock.now().wall_ms)
        journal.audit.verify()
        if (folder / "acknowledged").exists():
            assert journal.inbox.last_seq() == 1
        else:
            # Not acknowledged: it comes again, and is one task whether or not it was written.
            assert journal.inbox.accept(from_gateway(clock, 1)) in ("new", "duplicate")
        task = journal.tasks.get("task-1")
        unfinished = journal.effects.unfinished_effects()
        begun = journal.effects.of_task("task-1")
        assert happened <= len(begun) <= parts, "an effect without a durable intent"
        assert [effect.part for effect in begun] == list(range(len(begun)))
        assert len(unfinished) <= 1
        if unfinished:
            assert task.state not in FINAL
            over = ending(Reason.UNKNOWN, task.state, TaskState.FAILED)
            journal.tasks.change(over)
            ends = [effect.outcome for effect in journal.effects.of_task("task-1")]
            assert ends == ["completed"] * (len(begun) - 1) + ["unknown"]
        if begun or journal.approvals.newest_of("task-1"):
            stored = journal.approvals.get("approval-1")
            for part in range(parts if unfinished or task.state in FINAL else 1):
                with pytest.raises(StateError):
                    _use(journal, stored, clock.now().wall_ms, part)


def _use(journal: Journal, stored: StoredApproval, now: int, part: int) -> None:
    before_operation(
        journal,
        "approval-1",
        shown=stored.digest,
        at_ms=now,
        by=AGENT.public,
        known=ACTIONS,
        part=part,
    )


@pytest.mark.parametrize("parts", [1, COUNT])
@pytest.mark.requirement("P3")
@pytest.mark.requirement("R59")
@pytest.mark.thorough
def test_killed_before_any_statement_nothing_is_lost_and_nothing_happens_twice(
    tmp_path: Path, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch)
    kill_before = 0
    while True:
        kill_before += 1
        folder = tmp_path / str(kill_before)
        killed = run_killed(folder, kill_before, parts)
        check_restart(folder, parts)
        if not killed:
            break
    assert kill_before > 30, "the line was cut short"
    assert (folder / "finished").exists()


def test_sqlite_is_new_enough_for_strict_tables_and_returning() -> None:
    assert sqlite3.sqlite_version_info >= (3, 37)
