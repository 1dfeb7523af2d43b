"""What is forgotten, when, and what never is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import StateError, StoreError
from common.model.state import Reason, TaskState
from local_agent.playbooks.runs import forget_files
from local_agent.store import retention
from local_agent.store.blobs import Blobs
from local_agent.store.disclosures import Reader, Reading
from local_agent.store.journal import JournalThread
from local_agent.store.retention import KEPT_COPIES, KEPT_MS, Forgotten, Retention
from local_agent.store.runs import StoredRun, StoredStep
from local_agent.store.turns import StoredTurn
from tests.sealed import (
    AGENT,
    Step,
    Wish,
    a_peer,
    a_seal,
    as_stored,
    ending,
    fresh_journal,
    from_gateway,
    to_waiting,
)

DAY_S = 86_400
KEPT_S = KEPT_MS // 1000
A_READER = Reader(
    workspace="/home/zhang/shop",
    channel="wecom_app",
    claimed_user="zhang",
    day="2026-05-04",
    reads=50,
    bytes=100_000,
)


def a_turn(task_id: str) -> StoredTurn:
    return StoredTurn(
        task_id=task_id,
        model="work",
        at=1_760_000_000_000,
        duration_ms=1500,
        input_tokens=100,
        output_tokens=20,
        calls=1,
        outcome="ok",
    )


class Lines:
    """A log that remembers."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.told = asyncio.Event()

    def info(self, event: str, *_: Any, **__: Any) -> None:
        self.seen.append(event)
        self.told.set()

    error = info


class Copies:
    """Copies for dry runs that remembers which were to be kept."""

    def __init__(self) -> None:
        self.kept: set[str] = set()

    def prune(self, keep: Collection[str], *, now_s: float) -> int:
        del now_s
        self.kept = set(keep)
        return 0


class Shelf:
    """A journal, blobs, and the retention of both."""

    def __init__(self, db: JournalThread, blobs: Blobs, clock: ManualClock, state: Path) -> None:
        self.db = db
        self.blobs = blobs
        self.clock = clock
        self.log = Lines()
        self.copies = Copies()
        self.state = state

        def forget(runs: Sequence[tuple[str, str]], before_s: float) -> int:
            return forget_files(state, runs, before_s=before_s)

        self.retention = Retention(db, blobs, self.copies, forget, clock=clock, log=self.log)

    async def end(self, number: int) -> str:
        """Let a task come and go, and return its id."""
        at_ms = self.clock.now().wall_ms
        wish = Wish(task_id=f"task-{number}", short_id=f"T-7K3{number}")
        told = ({"type": "task_end", "taskId": wish.task_id},)
        over = ending(Reason.REFUSED, TaskState.RECEIVED, TaskState.REJECTED, events=told)

        def write() -> None:
            self.db.journal.tasks.create(wish, at_ms)
            self.db.journal.tasks.change(replace(over, task_id=wish.task_id, at_ms=at_ms))

        await self.db.run(write)
        return wish.task_id

    async def known(self) -> list[str]:
        """Return the tasks that are there."""
        return sorted(task.task_id for task in await self.db.run(self.db.journal.tasks.recent))

    async def texts(self, task_id: str) -> tuple[str, str | None, int]:
        """Return a task's text and summary, and how many events it has."""
        task = await self.db.run(self.db.journal.tasks.get, task_id)
        events = await self.db.run(self.db.journal.tasks.events, task_id)
        return task.text, task.summary, len(events)


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    clock = ManualClock()
    path = fresh_journal(tmp_path / "state" / "journal.db")
    db = await JournalThread.open(path, clock=clock, peer=a_peer(clock), key=lambda: AGENT)
    yield Shelf(db, Blobs(tmp_path / "blobs"), clock, tmp_path / "state")
    await db.close()


async def test_a_task_is_forgotten_ninety_days_after_its_end_and_not_before(shelf: Shelf) -> None:
    await shelf.end(1)
    shelf.clock.advance(DAY_S)
    await shelf.end(2)
    shelf.clock.advance(KEPT_S - DAY_S)
    assert (await shelf.retention.round()).tasks == 0
    shelf.clock.advance(1)
    assert (await shelf.retention.round()).tasks == 1
    assert await shelf.known() == ["task-2"]


async def test_a_round_forgets_the_ids_of_old_messages(shelf: Shelf) -> None:
    inbox = shelf.db.journal.inbox
    await shelf.db.run(inbox.accept, from_gateway(shelf.clock, 1, typ="tombstone"))
    shelf.clock.advance(31 * DAY_S)
    await shelf.retention.round()
    assert await shelf.db.run(inbox.prune) == 0


@pytest.mark.requirement("P3")
async def test_an_open_task_is_never_forgotten(shelf: Shelf) -> None:
    task_id = await shelf.db.run(to_waiting, shelf.db.journal)
    shelf.clock.advance(10 * KEPT_S)
    assert (await shelf.retention.round()).tasks == 0
    assert await shelf.known() == [task_id]


@pytest.mark.requirement("P6a")
async def test_of_what_was_asked_or_done_the_words_go_and_the_proof_stays(shelf: Shelf) -> None:
    journal = shelf.db.journal
    stored = as_stored(a_seal(shelf.clock))
    at_ms = shelf.clock.now().wall_ms

    def ask() -> None:
        to_waiting(journal)
        journal.approvals.add(stored)
        journal.tasks.change(Step(expected=TaskState.WAITING_APPROVAL, state=TaskState.EXECUTING))
        told = ({"type": "task_end", "taskId": "task-1"},)
        over = ending(Reason.COMPLETED, TaskState.EXECUTING, TaskState.COMPLETED, events=told)
        journal.tasks.change(replace(over, at_ms=at_ms, summary="3 passed"))

    await shelf.db.run(ask)
    head = await shelf.db.run(journal.audit.head)
    shelf.clock.advance(KEPT_S + 1)
    assert (await shelf.retention.round()).tasks == 1
    assert await shelf.texts("task-1") == ("", None, 0)
    kept = await shelf.db.run(journal.approvals.newest_of, "task-1")
    assert kept is not None
    assert kept.seal == stored.seal
    assert await shelf.db.run(journal.audit.verify) == head
    assert (await shelf.retention.round()).tasks == 0, "nothing is left to forget"


async def test_what_a_model_was_shown_and_used_and_who_was_told_go_with_the_words(
    shelf: Shelf,
) -> None:
    journal, context = shelf.db.journal, '{"used":[{"path":"login.py"}]}'
    stored = as_stored(a_seal(shelf.clock))

    def ask() -> None:
        to_waiting(journal, Wish(around_json='{"file":"login.py"}'))
        journal.approvals.add(stored)
        waiting = TaskState.WAITING_APPROVAL
        shown = Step(expected=waiting, state=waiting, context_json=context, reading_json="{}")
        journal.tasks.change(shown)
        told = ({"type": "task_end", "taskId": "task-1"},)
        over = ending(Reason.CANCELLED, waiting, TaskState.REJECTED, events=told)
        journal.tasks.change(replace(over, at_ms=shelf.clock.now().wall_ms))
        for task_id in ("task-1", "task-9"):
            journal.turns.begin(a_turn(task_id))
            journal.disclosures.begin(A_READER, Reading(task_id=task_id, level="full", files=()))

    def kept() -> tuple[list[str], list[str]]:
        tables = ("turns", "disclosures")
        left = [journal.turns._db.all(f"SELECT task_id FROM {table}") for table in tables]  # noqa: S608  # the literals above
        return [str(row[0]) for row in left[0]], [str(row[0]) for row in left[1]]

    await shelf.db.run(ask)
    shelf.clock.advance(KEPT_S)
    assert (await shelf.retention.round()).tasks == 0
    assert (await shelf.db.run(journal.tasks.get, "task-1")).context_json == context
    shelf.clock.advance(1)
    assert (await shelf.retention.round()).tasks == 1
    task = await shelf.db.run(journal.tasks.get, "task-1")
    assert (task.context_json, task.around_json, task.reading_json) == (None, None, None)
    assert await shelf.db.run(kept) == (["task-9"], ["task-9"]), "those of others stay"


async def test_many_are_forgotten_a_few_at_a_time(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    for number in range(5):
        await shelf.end(number)
    shelf.clock.advance(KEPT_S + 1)
    assert (await shelf.retention.round()).tasks == 5
    with pytest.raises(StateError):
        await shelf.texts("task-0")


async def test_a_log_outlives_its_task_by_a_day_and_counts_from_its_last_use(
    shelf: Shelf, tmp_path: Path
) -> None:
    old = await asyncio.to_thread(shelf.blobs.put, b"old")
    used = await asyncio.to_thread(shelf.blobs.put, b"used again")
    now_s = shelf.clock.now().wall_s
    for name in (old, used):
        os.utime(tmp_path / "blobs" / name[:2] / name, (now_s, now_s))
    shelf.clock.advance(KEPT_S + DAY_S)
    assert await shelf.retention.round() == Forgotten(0, 0, 0, 0)
    await asyncio.to_thread(shelf.blobs.put, b"used again")
    shelf.clock.advance(1)
    assert await shelf.retention.round() == Forgotten(0, 1, 0, 0)
    with pytest.raises(StoreError):
        await asyncio.to_thread(shelf.blobs.get, old)
    assert await asyncio.to_thread(shelf.blobs.get, used) == b"used again"


async def test_it_goes_on_by_itself_and_tells_what_it_did(shelf: Shelf) -> None:
    await shelf.end(1)
    shelf.clock.advance(KEPT_S + 1)
    running = asyncio.create_task(shelf.retention.run())
    async with asyncio.timeout(30):
        await shelf.log.told.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert shelf.log.seen == ["retention.forgot"]


async def test_a_round_that_fails_is_told_and_stops_nothing(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse() -> Forgotten:
        raise StoreError("store.failed")

    monkeypatch.setattr(shelf.retention, "round", refuse)
    running = asyncio.create_task(shelf.retention.run())
    async with asyncio.timeout(30):
        await shelf.log.told.wait()
    assert not running.done()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert shelf.log.seen == ["retention.failed"]


# --- copies for dry runs ----------------------------------------------------------------------


def a_run(number: int, at_ms: int, **changes: Any) -> StoredRun:
    run = StoredRun(
        run_id=f"run-{number}",
        task_id=f"task-{number}",
        name="release-notes",
        definition="0" * 64,
        client="default",
        workspace="/home/zhang/shop",
        folder=f"/home/zhang/state/dry-runs/run-{number}/shop",
        message="",
        gate_ms=300_000,
        answers=None,
        started_at=at_ms,
        status="completed",
    )
    return replace(run, **changes)


async def add_runs(shelf: Shelf, *runs: StoredRun) -> None:
    for run in runs:
        await shelf.db.run(shelf.db.journal.runs.add, run)


async def test_copies_of_the_newest_dry_runs_are_kept(shelf: Shelf) -> None:
    now_ms = shelf.clock.now().wall_ms
    real = a_run(99, now_ms, folder="/home/zhang/shop")
    runs = [a_run(number, now_ms + number) for number in range(KEPT_COPIES + 2)]
    await add_runs(shelf, *runs, real)
    await shelf.retention.round()
    assert shelf.copies.kept == {f"run-{number}" for number in range(2, KEPT_COPIES + 2)}


async def test_a_copy_is_kept_for_thirty_days_and_as_long_as_its_run_goes_on(
    shelf: Shelf,
) -> None:
    now_ms = shelf.clock.now().wall_ms
    going_on = [a_run(1, now_ms, status="running"), a_run(2, now_ms, status="pending")]
    await add_runs(shelf, *going_on, a_run(3, now_ms, status="failed"))
    shelf.clock.advance(30 * DAY_S)
    await shelf.retention.round()
    assert shelf.copies.kept == {"run-1", "run-2", "run-3"}
    shelf.clock.advance(1)
    await shelf.retention.round()
    assert shelf.copies.kept == {"run-1", "run-2"}


@pytest.mark.requirement("R54")
async def test_what_a_run_read_is_forgotten_and_that_its_steps_ended_is_not(shelf: Shelf) -> None:
    run = StoredRun(
        run_id="run-1", task_id="task-1", name="demo", definition="0" * 64, client="default",
        workspace="/w", folder="/w", message="words", gate_ms=1, answers=None,
        started_at=shelf.clock.now().wall_ms, status="failed",
    )  # fmt: skip
    step = StoredStep(
        place="main:0", step_name="look", type="tool", status="completed", result='{"content":"x"}',
        stored=None, error=None, started_at=run.started_at, completed_at=run.started_at,
    )  # fmt: skip
    runs, folder = shelf.db.journal.runs, shelf.state / "clients" / "default" / "task-runs"
    files = [folder / name for name in ("run-1.json", "run-1.events.jsonl", "run-1/main-0.json")]
    backup = shelf.state / "clients" / "default" / "backups" / ("a" * 64)
    theirs = shelf.state.parent / "theirs" / "backups" / ("b" * 64)  # behind a link
    other = backup.with_name("no name of ours")

    def write() -> None:
        for file in (*files, folder / "run-2.json", backup, theirs, other):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x", encoding="utf-8")
            os.utime(file, (run.started_at / 1000, run.started_at / 1000))
        (shelf.state / "clients" / "linked").symlink_to(theirs.parent.parent)
        (folder / "run-1" / "a folder" / "in its place").mkdir(parents=True)
        (backup.parent / ("c" * 64)).mkdir()

    await asyncio.to_thread(write)
    await shelf.db.run(runs.add, run)
    await shelf.db.run(lambda: runs.end_step("run-1", step, current_step=1))
    shelf.clock.advance(KEPT_S - 1)
    assert (await shelf.retention.round()).files == 0
    shelf.clock.advance(DAY_S + 2)
    assert (await shelf.retention.round()).files == 4
    assert not any(file.exists() for file in (*files, backup))
    assert all(file.exists() for file in (folder / "run-2.json", theirs, other))
    assert [one.name for one in (folder / "run-1").iterdir()] == ["a folder"]
    (left,) = await shelf.db.run(runs.steps, "run-1")
    assert (left.status, left.result) == ("completed", None)
    assert (await shelf.db.run(runs.get, "run-1")).message == ""
    assert (await shelf.retention.round()).files == 0
