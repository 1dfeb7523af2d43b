"""A gate over a real journal, with a clock that stands until it is moved."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common.clock import ManualClock
from local_agent.approval.gate import Gate
from local_agent.store.runner import JournalThread
from tests.sealed import AGENT, a_peer, to_waiting


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def db(tmp_path: Path, clock: ManualClock) -> AsyncIterator[JournalThread]:
    path = tmp_path / "state" / "journal.db"
    opened = await JournalThread.open(path, clock=clock, key=lambda: AGENT, peer=a_peer(clock))
    await opened.run(to_waiting, opened.journal)
    yield opened
    await opened.close()


@pytest.fixture
async def gate(db: JournalThread, clock: ManualClock) -> Gate:
    opened = Gate(db, clock=clock, key=lambda: AGENT)
    await opened.start()
    return opened
