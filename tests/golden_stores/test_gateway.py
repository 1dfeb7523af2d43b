"""A gateway's store that a release left is migrated and served by this one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

import pytest

from common.clock import ManualClock
from common.model.state import Reason, TaskState
from gateway.store import agents, tasks
from gateway.store.sqlite import HEAD, stored_revision
from tests.gateway_desk import AGENT
from tests.golden_stores.installation import (
    GATEWAY,
    HEARD,
    as_then,
    expected,
    opened_desk,
    restore,
    stores,
    told_of_gateway,
    told_of_traffic,
)

THEN: Final[dict[str, Any]] = expected("gateway")
NEWEST: Final = max(stores("gateway"))
ADMINS: Final = ("tasks", "member", "devices")
TRAFFIC: Final = ("waits", "repeated", "told")


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("revision", sorted(stores("gateway")))
async def test_a_store_of_every_revision_is_migrated_and_tells_what_it_told(
    revision: str, tmp_path: Path
) -> None:
    home = await asyncio.to_thread(restore, "gateway", revision, tmp_path / "home")
    told = await asyncio.to_thread(told_of_gateway, home)
    assert await asyncio.to_thread(stored_revision, home / GATEWAY) == HEAD
    assert {one["state"] for one in told["tasks"]} == set(TaskState)
    assert {one["reason"] for one in told["tasks"]} == {None, *Reason}
    assert told["audit"]["ok"]
    assert {(one["role"], one["by_settings"]) for one in told["member"]} == {("member", False)}
    # Before heads were kept, the log had no entry of one: there it is shorter.
    same = ADMINS if revision < "0002" else (*ADMINS, "audit")
    for key in same:
        assert as_then(told[key], THEN[key]) == THEN[key], key
    async with opened_desk(home, ManualClock(THEN["at"])) as desk:
        assert await told_of_traffic(desk) == {key: THEN[key] for key in TRAFFIC}


async def test_the_machine_reports_the_end_of_what_it_was_doing(tmp_path: Path) -> None:
    home = await asyncio.to_thread(restore, "gateway", NEWEST, tmp_path / "home")
    async with opened_desk(home, ManualClock(THEN["at"])) as desk:
        await desk.connect(last_seq=HEARD)
        machine = await desk.store.read(agents.find, AGENT)
        assert machine is not None
        desk.sent = machine.recv_seq
        (running,) = [one for one in await desk.tasks() if one.state is TaskState.EXECUTING]
        assert await desk.result(running, "COMPLETED", "completed", "3 passed")
        ended = await desk.store.read(tasks.find, running.task_id)
        assert ended is not None
        assert ended.reason is Reason.COMPLETED
        assert "3 passed" in (await desk.said())[-1]
