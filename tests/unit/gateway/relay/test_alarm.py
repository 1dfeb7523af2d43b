"""A wrong key for an enrolled machine is recorded, but knocking cannot fill the log."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common import strict_json
from common.clock import ManualClock
from gateway.relay.alarm import QUIET_SECONDS, Alarm
from gateway.store import audit
from gateway.store.runner import SqliteRunner, open_store
from tests.unit.gateway.relay.doubles import silent_log


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteRunner]:
    store = await asyncio.to_thread(open_store, tmp_path / "gateway.db")
    yield store
    await store.close()


async def audited(store: SqliteRunner) -> list[str]:
    entries = await store.read(audit.entries)
    return [strict_json.loads(body, max_bytes=16384)["facts"]["agent"] for _, _, body, _ in entries]


@pytest.mark.requirement("R13")
async def test_repeated_knocks_are_audited_once_in_ten_minutes_for_each_machine(
    store: SqliteRunner,
) -> None:
    clock, lines = ManualClock(), io.StringIO()
    alarm = Alarm(store, clock=clock, log=silent_log(lines))
    for agent_id in ("a", "a", "b", "a"):
        await alarm("agent.wrong-key", agent_id)
    assert await audited(store) == ["a", "b"]
    clock.advance(QUIET_SECONDS)
    await alarm("agent.wrong-key", "a")
    assert await audited(store) == ["a", "b", "a"]
    assert lines.getvalue().count("agent.wrong-key") == 5


async def test_one_alarm_does_not_silence_another_of_the_same_machine(store: SqliteRunner) -> None:
    alarm = Alarm(store, clock=ManualClock(), log=silent_log())
    for event in ("agent.wrong-key", "agent.too-fast", "agent.too-fast"):
        await alarm(event, "a")
    assert await audited(store) == ["a", "a"]
