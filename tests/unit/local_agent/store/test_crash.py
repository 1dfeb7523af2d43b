"""kill -9 before every single statement of the main line: what is left is always the truth (P3).

A forked child accepts a task, asks, approves, consumes, does its effect, and ends the task.  It
kills itself just before the n-th SQL statement, for each n; the parent then opens the journal as
a restarted agent does.
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
from local_agent.store.journal import Journal
from tests.sealed import (
    AGENT,
    a_journal,
    a_seal,
    as_stored,
    decided,
    ending,
    from_gateway,
    walk,
)

pytestmark = pytest.mark.heavy

FINISHED = 0


def main_line(folder: Path, kill_before: int) -> None:
    """Run the whole line; never return once the n-th statement is reached."""
    clock = ManualClock()
    journal = a_journal(folder, clock)
    _arm(journal, kill_before)
    journal.inbox.accept(from_gateway(clock, 1))
    (folder / "acknowledged").touch()
    walk(journal, "task-1", TaskState.WAITING_APPROVAL)
    stored = as_stored(a_seal(clock, approval_id="approval-1", short_id="T-7K31"))
    journal.approvals.add(stored)
    now = clock.now().wall_ms
    assert decided(journal, stored, now)
    before_operation(
        journal, "approval-1", shown=stored.digest, at_ms=now, by=AGENT.public, known=ACTIONS
    )
    walk(journal, "task-1", TaskState.EXECUTING)
    with (folder / "effects").open("a", encoding="utf-8") as effects:
        effects.write("it happened\n")
    journal.tasks.change(ending(Reason.COMPLETED, TaskState.EXECUTING, TaskState.COMPLETED))
    (folder / "finished").touch()
    journal.close()


def _arm(journal: Journal, kill_before: int) -> None:
    seen = 0

    def count(_statement: str) -> None:
        nonlocal seen
        seen += 1
        if seen == kill_before:
            os.kill(os.getpid(), signal.SIGKILL)

    journal._db._connection.set_trace_callback(count)


def run_killed(folder: Path, kill_before: int) -> bool:
    """Run the line in a child; return whether it was killed."""
    folder.mkdir()
    child = os.fork()
    if child == 0:
        try:
            main_line(folder, kill_before)
        except BaseException:  # noqa: BLE001  # a forked child must never go on as a test run
            os._exit(1)
        os._exit(FINISHED)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == FINISHED
    return False


def check_restart(folder: Path) -> None:
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
        assert happened <= len(begun) <= 1, "an effect without a durable intent"
        if unfinished:
            assert task.state not in FINAL
            over = ending(Reason.UNKNOWN, task.state, TaskState.FAILED)
            journal.tasks.change(over)
            assert [effect.outcome for effect in journal.effects.of_task("task-1")] == ["unknown"]
        if begun or journal.approvals.newest_of("task-1"):
            with pytest.raises(StateError):
                _use_again(journal, clock)


def _use_again(journal: Journal, clock: ManualClock) -> None:
    stored = journal.approvals.get("approval-1")
    now = clock.now().wall_ms
    before_operation(
        journal, "approval-1", shown=stored.digest, at_ms=now, by=AGENT.public, known=ACTIONS
    )


@pytest.mark.timeout(60)  # about a hundred processes
@pytest.mark.requirement("P3")
@pytest.mark.requirement("R59")
@pytest.mark.thorough
def test_killed_before_any_statement_nothing_is_lost_and_nothing_happens_twice(
    tmp_path: Path,
) -> None:
    kill_before = 0
    while True:
        kill_before += 1
        folder = tmp_path / str(kill_before)
        killed = run_killed(folder, kill_before)
        check_restart(folder)
        if not killed:
            break
    assert kill_before > 50, "the line was cut short"
    assert (folder / "finished").exists()


def test_sqlite_is_new_enough_for_strict_tables_and_returning() -> None:
    assert sqlite3.sqlite_version_info >= (3, 37)
