"""The journal's thread."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.errors import ConfigError, StateError, StoreError
from local_agent.store.journal import JournalThread
from tests.sealed import AGENT


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.db"


async def test_everything_runs_on_one_thread_in_order(path: Path) -> None:
    db = await JournalThread.open(path, clock=ManualClock(), key=lambda: AGENT)
    seen: list[tuple[int, str]] = []

    def note(number: int) -> None:
        seen.append((number, threading.current_thread().name))

    await asyncio.gather(*(db.run(note, number) for number in range(20)))
    assert [number for number, _ in seen] == list(range(20))
    assert {name for _, name in seen} == {"journal_0"}
    await db.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "journal_0"]


async def test_arguments_go_in_and_results_and_errors_come_out(path: Path) -> None:
    db = await JournalThread.open(path, clock=ManualClock(), key=lambda: AGENT)
    assert await db.run(db.journal.tasks.recent, limit=3) == []
    with pytest.raises(StateError):
        await db.run(db.journal.tasks.get, "nothing")
    await db.close()


@pytest.mark.requirement("R4")
async def test_what_sqlite_refuses_is_a_store_error(path: Path) -> None:
    db = await JournalThread.open(path, clock=ManualClock(), key=lambda: AGENT)

    def refused() -> None:
        raise sqlite3.OperationalError("disk full")

    with pytest.raises(StoreError) as caught:
        await db.run(refused)
    assert caught.value.code == "store.failed"
    assert "disk" not in str(caught.value)
    await db.close()


async def test_closing_waits_for_what_was_given_before(path: Path) -> None:
    db = await JournalThread.open(path, clock=ManualClock(), key=lambda: AGENT)
    appending = asyncio.ensure_future(db.run(db.journal.audit.append, "test.event"))
    await asyncio.sleep(0)
    await db.close()
    assert (await appending).seq == 1


async def test_an_agent_that_cannot_open_leaves_no_thread(path: Path) -> None:
    db = await JournalThread.open(path, clock=ManualClock(), key=lambda: AGENT)
    with pytest.raises(ConfigError):
        await JournalThread.open(path, clock=ManualClock(), key=lambda: AGENT)
    await db.close()
    again = await JournalThread.open(path, clock=ManualClock(), key=lambda: AGENT)
    await again.close()
