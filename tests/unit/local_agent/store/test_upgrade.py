"""A journal of an earlier release: what stands in it goes on under the tables of this one."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from common.audit import verify_chain
from common.clock import ManualClock
from common.model.state import TaskState
from local_agent.store import database
from local_agent.store.journal import Journal
from tests.sealed import Step, Wish, a_journal

OLD = 4  # before proposals of models
OLD_COLUMNS = "task_id, short_id, text, state, reason, proposal_json, created_at, updated_at"
# As that release left it: one task waits for a person, one has ended.
LEFT = Path(__file__).with_name(f"journal_v{OLD}.sql")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "state" / "journal.db"
    file.parent.mkdir(mode=0o700)
    with closing(sqlite3.connect(file)) as old:
        old.executescript(LEFT.read_text(encoding="utf-8"))
        old.execute(f"PRAGMA user_version = {OLD}")
    return file


def old_rows(file: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(f"SELECT {OLD_COLUMNS} FROM tasks ORDER BY rowid").fetchall()  # noqa: S608  # a literal


def schema(file: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(file)) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return {(name, " ".join(sql.split())) for name, sql in found}


def test_the_old_journal_of_this_test_is_that_of_the_release_before(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = database._scripts()[:OLD]
    monkeypatch.setattr(database, "_scripts", lambda: scripts)
    database.Database(tmp_path / "then" / "journal.db").close()
    assert schema(path) == schema(tmp_path / "then" / "journal.db")


@pytest.mark.requirement("P3")
def test_what_waits_and_what_has_ended_is_as_it_was(
    path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    before = old_rows(path)
    with closing(a_journal(tmp_path, clock)) as journal:
        (waiting,) = journal.tasks.open_tasks()
        assert waiting.state is TaskState.WAITING_APPROVAL
        assert (waiting.context_json, waiting.around_json) == (None, None)
        assert waiting.reading_json is None, "it is read anew"
        assert [asked.task_id for asked in journal.approvals.pending()] == [waiting.task_id]
        verify_chain(journal.audit.entries())
    assert old_rows(path) == before
    assert len(before) == 2


def test_the_old_journal_is_kept_beside_and_private(
    path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    before = old_rows(path)
    a_journal(tmp_path, clock).close()
    kept = path.with_suffix(f".v{OLD}.bak")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert old_rows(kept) == before


def test_an_old_task_goes_on_with_what_is_new(
    path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    del path
    waiting = TaskState.WAITING_APPROVAL
    with closing(a_journal(tmp_path, clock)) as journal:
        shown = '{"used":[]}'
        journal.tasks.change(Step(expected=waiting, state=waiting, context_json=shown))
        assert journal.tasks.get("task-1").context_json == shown
        assert journal.turns.of_task("task-1") == []
        assert _new_task(journal).around_json == '{"file":"login.py"}'


def _new_task(journal: Journal) -> Wish:
    wish = Wish(task_id="task-3", short_id="T-7K3H", around_json='{"file":"login.py"}')
    made = journal.tasks.create(wish, 1_760_000_000_000)
    return Wish(task_id=made.task_id, short_id=made.short_id, around_json=made.around_json)


def test_what_was_begun_before_there_were_parts_is_the_first_part(
    path: Path, tmp_path: Path, clock: ManualClock
) -> None:
    with closing(sqlite3.connect(path)) as old, old:
        old.execute(
            "INSERT INTO effects SELECT approval_id, task_id, digest, 7, 'completed', 8"
            " FROM approvals ORDER BY rowid LIMIT 1"
        )
    with closing(a_journal(tmp_path, clock)) as journal:
        ((approval_id,),) = journal._db.all("SELECT approval_id FROM effects")
        [effect] = journal.effects.of_approval(approval_id)
        assert (effect.part, effect.outcome, effect.opened_at) == (0, "completed", 7)
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            journal._db.run("DELETE FROM effects")


@pytest.mark.requirement("P3")
def test_an_upgrade_that_is_cut_off_begins_anew(
    path: Path, tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = database._scripts()
    torn = [*scripts[:-1], scripts[-1] + "\nINSERT INTO nowhere VALUES (1);"]
    with monkeypatch.context() as patch:
        patch.setattr(database, "_scripts", lambda: torn)
        with pytest.raises(sqlite3.Error):
            a_journal(tmp_path, clock)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(scripts) - 1,)
    with closing(a_journal(tmp_path, clock)) as journal:
        assert len(journal.tasks.open_tasks()) == 1
