"""The one place that changes state: one write, then the same events to every reader."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from common.errors import StateError
from common.model.state import Reason, TaskState
from common.protocol.bodies import EventBody, ResultBody
from common.sentences import same
from local_agent.flow.task import TaskLog, Waiting
from local_agent.store.endings import CHAT_SUMMARY_BYTES, for_chat
from local_agent.store.tasks import Task
from tests.desk import Desk
from tests.sealed import Wish


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with Desk(tmp_path) as opened:
        yield opened


async def received(desk: Desk, **changes: Any) -> tuple[TaskLog, Task]:
    task = await desk.db.run(desk.db.journal.tasks.create, Wish(**changes), 1)
    return desk.engine._tasks, task


async def test_a_step_is_told_to_the_journal_the_bus_and_the_gateway_alike(desk: Desk) -> None:
    log, task = await received(desk)
    with desk.bus.read() as told:
        task = await log.entered(task, TaskState.ROUTED, same("words"))
        heard = await anext(told)
    assert (task.state, heard.event.to_dict()) == (
        TaskState.ROUTED,
        (await desk.events("task-1"))[-1],
    )
    (report,) = await desk.reports()
    assert (report["state"], report["message"], report["waiting"]) == ("ROUTED", "words", None)


@pytest.mark.requirement("NL-6")
async def test_an_illegal_step_raises_and_tells_nobody(desk: Desk) -> None:
    log, task = await received(desk)
    with desk.bus.read() as told:
        with pytest.raises(StateError) as caught:
            await log.entered(task, TaskState.EXECUTING)
        desk.bus.close()
        assert [event async for event in told] == []
    assert caught.value.code == "task.illegal-transition"
    assert await desk.task("task-1") == task
    assert await desk.reports() == []


async def test_what_was_not_seen_last_cannot_be_changed(desk: Desk) -> None:
    log, task = await received(desk)
    await log.entered(task, TaskState.ROUTED)
    with pytest.raises(StateError):
        await log.ended(task, Reason.FAILED, same("late"))


@pytest.mark.parametrize("reason", list(Reason))
async def test_every_reason_makes_a_result_that_the_gateway_takes(
    desk: Desk, reason: Reason
) -> None:
    log, task = await received(desk)
    if reason is Reason.COMPLETED:
        for state in ("ROUTED", "CONTEXT_COLLECTED", "PROPOSING", "PROPOSAL_READY"):
            task = await log.entered(task, TaskState(state))
    task = await log.ended(task, reason, same("how it went"))
    body = ResultBody.from_dict((await desk.reports())[-1])
    told = "✓ how it went" if reason is Reason.COMPLETED else "how it went"
    assert (body.reason, body.summary, body.state) == (reason, told, task.state)


@pytest.mark.requirement("P7")
async def test_words_that_bring_their_own_mark_reach_the_gateway_as_they_are(desk: Desk) -> None:
    log, task = await received(desk)
    for state in ("ROUTED", "CONTEXT_COLLECTED", "PROPOSING", "PROPOSAL_READY"):
        task = await log.entered(task, TaskState(state))
    await log.ended(task, Reason.COMPLETED, same("⚠ exit code 0, but"))
    body = ResultBody.from_dict((await desk.reports())[-1])
    assert body.summary == "⚠ exit code 0, but"


async def test_a_waiting_event_is_one_that_the_gateway_takes(desk: Desk) -> None:
    log, task = await received(desk)
    for state in ("ROUTED", "CONTEXT_COLLECTED", "PROPOSING", "PROPOSAL_READY"):
        task = await log.entered(task, TaskState(state))
    await log.waiting(
        task, same("decide"), Waiting("7K3F-9Q2M", 1_760_000_000_000, "dev-machine-1")
    )
    assert EventBody.from_dict((await desk.reports())[-1]).waiting == {
        "seal_code": "7K3F-9Q2M",
        "expires_at": 1_760_000_000_000,
        "machine": "dev-machine-1",
    }


@pytest.mark.requirement("R26")
def test_what_leaves_is_revealed_redacted_and_bounded() -> None:
    told = for_chat("a\u202eb password=hunter2secret " + "字" * 2000, CHAT_SUMMARY_BYTES)
    assert "⟨U+202E⟩" in told
    assert "hunter2secret" not in told
    assert len(told.encode()) <= CHAT_SUMMARY_BYTES


def test_of_a_text_without_end_only_what_could_be_told_is_looked_at() -> None:
    began = time.process_time()
    told = for_chat("token : " * 500_000, CHAT_SUMMARY_BYTES)
    assert time.process_time() - began < 2
    assert len(told.encode()) <= CHAT_SUMMARY_BYTES


async def test_a_huge_summary_is_bounded_in_the_journal_too(desk: Desk) -> None:
    log, task = await received(desk)
    task = await log.ended(task, Reason.FAILED, same("x" * 100_000))
    assert task.summary is not None
    assert len(task.summary.encode()) <= CHAT_SUMMARY_BYTES
