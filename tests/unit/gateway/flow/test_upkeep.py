"""What happens by the clock alone, on a real store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common.errors import StoreError
from common.model.state import Reason, TaskState
from gateway.flow.offline import SETTLE_S
from gateway.flow.upkeep import LISTEN_S
from gateway.store import Connection, agents, members, outbox, tasks
from gateway.store.tasks import Task
from tests.gateway_desk import (
    AGENT,
    MACHINE,
    NOON_MS,
    TO_APPROVAL,
    USER,
    WAITING,
    Desk,
    open_desk,
)
from tests.people import someone
from tests.scripted_channel import ScriptedChannel, sending

HOURS = 3600


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        yield desk


@pytest.mark.requirement("P7")
async def test_a_task_that_was_not_taken_in_by_its_deadline_ends_and_is_told(desk: Desk) -> None:
    task = await desk.ask()
    desk.clock.advance(8 * HOURS + 59)
    assert (await desk.upkeep.round()).ended == 0
    desk.clock.advance(1)
    done = await desk.upkeep.round()
    assert (done.ended, done.agents) == (1, frozenset({AGENT}))
    ended = await desk.task()
    assert (ended.state, ended.reason, ended.presumed) == (TaskState.REJECTED, Reason.EXPIRED, 1)
    said = (await desk.said())[-1]
    for fact in (task.short_id, MACHINE, "20:00", "expired"):
        assert fact in said
    assert (await desk.upkeep.round()).ended == 0


@pytest.mark.requirement("R17")
async def test_an_expired_task_is_delivered_as_a_signed_tombstone_of_its_number(
    desk: Desk,
) -> None:
    task = await desk.ask()
    desk.clock.advance(9 * HOURS)
    await desk.upkeep.round()
    (tombstone,) = await desk.mail()
    assert (tombstone.header.typ, tombstone.header.seq) == ("tombstone", 1)
    assert tombstone.body == {"task_id": task.task_id}


async def test_a_delivered_task_is_its_machines_own_matter(desk: Desk) -> None:
    await desk.connect()
    await desk.ask()
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
    desk.clock.advance(30 * HOURS)
    assert (await desk.upkeep.round()).ended == 0
    assert (await desk.task()).reason is None


async def _silent(desk: Desk, *states: str) -> Task:
    """Return a task that its machine took in, spoke of, and then never again."""
    await desk.connect()
    task = await desk.ask()
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
    await desk.events(task, *states)
    desk.clock.advance(5 * 24 * HOURS)
    assert (await desk.upkeep.round()).ended == 0
    desk.clock.advance(1)
    assert (await desk.upkeep.round()).ended == 1
    assert (await desk.upkeep.round()).ended == 0
    return task


@pytest.mark.requirement("P7")
async def test_a_task_that_its_machine_never_speaks_of_again_ends_as_unknown(desk: Desk) -> None:
    task = await _silent(desk)
    ended = await desk.task()
    assert (ended.state, ended.reason, ended.presumed) == (TaskState.FAILED, Reason.UNKNOWN, 1)
    for fact in (task.short_id, MACHINE, "01-01 12:00"):
        assert fact in (await desk.said())[-1]
    assert await desk.store.read(tasks.open_of, someone(USER), limit=5) == []


async def test_every_word_of_a_task_gives_it_its_full_time_again(desk: Desk) -> None:
    await desk.connect()
    task = await desk.ask()
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
    await desk.events(task, *TO_APPROVAL, "WAITING_APPROVAL", "EXECUTING")
    for _ in range(3):
        desk.clock.advance(4 * 24 * HOURS)
        await desk.event(task, "EXECUTING", "still running")
        assert (await desk.upkeep.round()).ended == 0


@pytest.mark.requirement("R18")
async def test_a_result_after_a_long_silence_stands(desk: Desk) -> None:
    task = await _silent(desk, *TO_APPROVAL, "WAITING_APPROVAL", "EXECUTING")
    await desk.result(task, "COMPLETED", "completed", "✓ exit code 0")
    ended = await desk.task()
    assert (ended.state, ended.reason, ended.presumed) == (
        TaskState.COMPLETED,
        Reason.COMPLETED,
        0,
    )
    assert f"{task.short_id} ✓" in (await desk.said())[-1]


@pytest.mark.requirement("R18")
async def test_a_silence_lets_no_machine_skip_the_approval(desk: Desk) -> None:
    task = await _silent(desk, *TO_APPROVAL)
    await desk.event(task, "EXECUTING")
    assert (await desk.task()).presumed
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    assert (await desk.task()).reason is None


async def test_a_task_may_fall_silent_twice_and_both_are_told(desk: Desk) -> None:
    task = await _silent(desk, "ROUTED")
    await desk.event(task, "CONTEXT_COLLECTED")
    before = len(await desk.said())
    desk.clock.advance(5 * 24 * HOURS + 1)
    assert (await desk.upkeep.round()).ended == 1
    assert len(await desk.said()) == before + 1


async def test_after_a_start_machines_have_time_to_say_what_they_kept(desk: Desk) -> None:
    await desk.connect()
    await desk.ask()
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
    desk.clock.jump_wall(6 * 24 * HOURS)  # as after a week without a gateway
    assert (await desk.upkeep.round()).ended == 0
    desk.clock.advance(LISTEN_S)
    assert (await desk.upkeep.round()).ended == 1


async def test_a_task_that_still_queues_is_not_silent_but_expired(desk: Desk) -> None:
    await desk.ask()
    desk.clock.advance(6 * 24 * HOURS)
    assert (await desk.upkeep.round()).ended == 1
    assert (await desk.task()).reason is Reason.EXPIRED


async def test_a_task_that_was_cancelled_before_it_arrived_ends_as_cancelled(desk: Desk) -> None:
    task = await desk.ask()
    await desk.hear("@dev cancel")
    desk.clock.advance(9 * HOURS)
    await desk.upkeep.round()
    assert (await desk.task()).reason is Reason.CANCELLED
    assert f"{task.short_id} – cancelled" in (await desk.said())[-1]


async def test_a_revoked_machines_tasks_end_as_unknown(desk: Desk) -> None:
    await desk.connect()
    task = await desk.ask()
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
    await desk.write(agents.revoke, MACHINE, at_ms=NOON_MS)
    assert (await desk.upkeep.round()).ended == 1
    ended = await desk.task()
    assert (ended.state, ended.reason) == (TaskState.FAILED, Reason.UNKNOWN)
    assert "revoked" in (await desk.said())[-1]
    assert task.short_id in (await desk.said())[-1]


async def test_whoever_was_removed_is_told_nothing(desk: Desk) -> None:
    await desk.ask()
    await desk.write(members.remove, someone(USER), at_ms=NOON_MS)
    desk.clock.advance(9 * HOURS)
    assert (await desk.upkeep.round()).ended == 1
    assert len(await desk.said()) == 1


@pytest.mark.requirement("P3")
async def test_a_start_after_a_crash_counts_nobody_as_online_and_sends_again(desk: Desk) -> None:
    await desk.connect()
    await desk.hear("@dev status")
    await desk.write(outbox.claim, now_ms=NOON_MS, limit=5)
    desk.clock.advance(60)
    await desk.upkeep.begin()
    agent = await desk.store.read(agents.find, AGENT)
    assert agent is not None
    assert (agent.online, agent.last_seen_at) == (False, NOON_MS + 60_000)
    claim = await desk.write(outbox.claim, now_ms=NOON_MS + 60_000, limit=5)
    assert [message.repeated for message in claim.messages] == [1]


async def test_old_records_are_forgotten(desk: Desk) -> None:
    await desk.hear("@dev status")
    desk.clock.advance(8 * 24 * HOURS)
    await desk.upkeep.round()
    assert await desk.store.read(_messages) == 0


def _messages(conn: Connection) -> int:
    requester = members.requester(conn, someone(USER), since_ms=0, messages=9, queued=0)
    assert requester is not None
    return requester.messages


async def test_the_loop_outlives_a_failing_store(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: asyncio.Queue[int] = asyncio.Queue()

    async def failing() -> None:
        rounds.put_nowait(1)
        raise StoreError("store.failed")

    monkeypatch.setattr(desk.upkeep, "round", failing)
    monkeypatch.setattr("gateway.flow.upkeep.ROUND_SECONDS", 0)
    running = asyncio.create_task(desk.upkeep.run())
    async with asyncio.timeout(30):
        for _ in range(3):
            await rounds.get()
    assert not running.done()
    running.cancel()


async def _later(desk: Desk, seconds: float) -> list[str]:
    """Let time pass, and return what is then said, and sent, of a machine that is gone."""
    desk.clock.advance(seconds)
    before = await desk.said()
    await desk.upkeep.round()
    return (await desk.said())[len(before) :]


async def _gone(desk: Desk, *asked: str, taken: int = 0) -> None:
    """Let a machine that was there go, with what was asked, of which it took some in."""
    desk.clock.advance(SETTLE_S)
    await desk.connect()
    for text in asked:
        await desk.ask(text)
    if taken:
        await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=taken)
    desk.clock.advance(40)
    await desk.disconnect()


@pytest.mark.requirement("P7")
async def test_a_machine_that_goes_before_it_took_tasks_in_is_told_of_once(desk: Desk) -> None:
    await _gone(desk, "@dev test", "@dev explain a", "@dev explain b")
    assert await _later(desk, 29) == [], "it may be back at once"
    (said,) = await _later(desk, 1)
    ids = [task.short_id for task in reversed(await desk.tasks())]
    assert said == (
        f"{MACHINE} has been offline since 12:01.\nIt has not received {', '.join(ids)} yet: kept "
        "until 20:01 and sent when it is back.\nTo take back: @dev cancel ID"
    )
    assert await _later(desk, 900) == []
    assert "waits" in str(await desk.hear("@dev explain c")), "which says it itself"
    assert await _later(desk, 900) == []
    await desk.upkeep.begin()
    assert await _later(desk, 2 * HOURS) == [], "nor after a restart"
    await desk.connect()
    assert await _later(desk, 60) == []


@pytest.mark.requirement("P7")
async def test_one_task_is_named_with_how_to_take_it_back_in_its_members_language(
    desk: Desk,
) -> None:
    await _gone(desk, "@dev 跑一下测试")
    (said,) = await _later(desk, 30)
    short_id = (await desk.task()).short_id
    assert said == (
        f"{MACHINE} 自 12:01 起离线。\n它还没有收到 {short_id}：保留到 20:01，上线后即发送。\n"
        f"撤回：@dev 取消 {short_id}"
    )


@pytest.mark.requirement("P7")
async def test_nothing_is_said_of_what_is_over_or_taken_back_or_of_a_machine_that_is_back(
    desk: Desk,
) -> None:
    await _gone(desk, "@dev test", taken=1)
    await desk.hear("@dev cancel")
    assert await _later(desk, 2 * HOURS) == []
    await desk.connect()
    await desk.result(await desk.task(), "REJECTED", "cancelled")
    await desk.ask()
    await desk.disconnect()
    desk.clock.advance(29)
    await desk.connect()
    assert await _later(desk, 2 * HOURS) == []


@pytest.mark.requirement("P7")
async def test_a_machine_that_comes_and_goes_is_told_of_once_an_hour(desk: Desk) -> None:
    await _gone(desk, "@dev test", "@dev explain a", taken=1)
    (said,) = await _later(desk, 30)
    second, first = (task.short_id for task in await desk.tasks())
    assert f"received {second} yet: kept" in said
    assert f"Already there: {first}. You will get the outcome" in said
    await desk.connect()
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=2)
    await desk.disconnect()
    assert await _later(desk, HOURS - 1) == [], "told already, of the same tasks"
    (said,) = await _later(desk, 1)
    assert f"Already there: {first}, {second}." in said
    await desk.connect()
    await desk.disconnect()
    assert await _later(desk, 599) == []


@pytest.mark.requirement("P7")
async def test_a_status_says_that_the_machine_of_a_running_task_is_gone(desk: Desk) -> None:
    await _gone(desk, "@dev test", taken=1)
    await desk.connect()
    task = await desk.task()
    await desk.events(task, *TO_APPROVAL, "WAITING_APPROVAL", "EXECUTING")
    await desk.event(task, "EXECUTING", "still running · 5 s")
    await desk.disconnect()
    desk.clock.advance(3 * HOURS)
    said = str(await desk.hear(f"@dev status {task.short_id}"))
    assert f"running ({MACHINE} offline since 12:01) · @dev test" in said
    assert "\nstill running · 5 s (12:01)" in said, "it is no news of now"


@pytest.mark.requirement("P3")
async def test_that_a_machine_is_gone_is_not_sent_once_it_is_back(desk: Desk) -> None:
    await _gone(desk, "@dev test")
    assert len(await _later(desk, 30)) == 1
    await desk.connect()
    channel = ScriptedChannel()
    async with sending(desk, channel):
        while await desk.store.read(_queued, "offline:%"):
            pass
    assert not [text for _, text, _ in channel.tries if "offline" in text]
    await desk.ask("@dev explain a")
    await desk.disconnect()
    assert len(await _later(desk, 30)) == 1, "another outage"


def _queued(conn: Connection, keys: str) -> bool:
    sql = "SELECT 1 FROM outbox WHERE key LIKE :keys AND state IN ('queued', 'sending')"
    return conn.one(sql, keys=keys) is not None
