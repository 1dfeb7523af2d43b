"""A gate over a real journal, with a clock that stands until it is moved; a machine in small."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from common.clock import ManualClock
from local_agent.flow.gate import Gate
from local_agent.sandbox.bubblewrap import Level
from local_agent.store.journal import JournalThread
from tests.machine import Machine, build_machine
from tests.sealed import AGENT, a_peer, fresh_journal, to_waiting


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def db(tmp_path: Path, clock: ManualClock) -> AsyncIterator[JournalThread]:
    path = fresh_journal(tmp_path / "state" / "journal.db")
    opened = await JournalThread.open(path, clock=clock, key=lambda: AGENT, peer=a_peer(clock))
    await opened.run(to_waiting, opened.journal)
    yield opened
    await opened.close()


@pytest.fixture
async def gate(db: JournalThread, clock: ManualClock) -> Gate:
    opened = Gate(db, clock=clock, key=lambda: AGENT)
    await opened.start()
    return opened


MakeMachine = Callable[..., Machine]


@pytest.fixture
def make_machine(tmp_path: Path) -> MakeMachine:
    def make(level: Level = "none") -> Machine:
        return build_machine(tmp_path, level)

    return make


@pytest.fixture
def machine(make_machine: MakeMachine) -> Machine:
    """A machine without a sandbox."""
    return make_machine()


@pytest.fixture
def sandboxed(make_machine: MakeMachine) -> Machine:
    """A machine with bubblewrap."""
    return make_machine("bubblewrap")
