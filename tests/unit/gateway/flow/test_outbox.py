"""The sender, on a real store, with a channel that answers as it is told."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from common.errors import StoreError
from gateway.base.messages import Conversation, Outgoing, SendOutcome
from gateway.flow.outbox import GIVE_UP_MS, MAY_BE_A_COPY, Outbox
from gateway.store import Connection, outbox, outbox_admin
from tests.gateway_desk import NOON_MS, USER, Desk, logger, open_desk
from tests.people import alone
from tests.scripted_channel import ScriptedChannel, sending

SENT = SendOutcome("sent", 0, "ok", 0.0, "wecom.sent")
BUSY = SendOutcome("retry", -1, "busy", 2.0, "wecom.busy")
LOST = SendOutcome("retry", None, "no answer", 5.0, "wecom.unreachable", maybe_sent=True)
PACE = SendOutcome("retry", None, "wecom.pace", 7.0, "wecom.pace", tried=False)
GONE = SendOutcome("permanent", 81013, "all invalid", 0.0, "wecom.refused")
AWAY = SendOutcome("retry", None, "no answer", 5.0, "wecom.unreachable", for_all=True)
SECRET = SendOutcome("config", 40001, "bad secret", 600.0, "wecom.bad-secret")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        yield desk


def _put(conn: Connection, key: str, user: str = USER, task_id: str | None = None) -> None:
    outbox.put(conn, key, key, to=alone(user), at_ms=NOON_MS, task_id=task_id)


def _copy(*number: int) -> str:
    return MAY_BE_A_COPY.format(number=".".join(map(str, number)))


def _row(conn: Connection, key: str) -> tuple[str, str | None, int, int]:
    row = conn.one("SELECT state, code, attempts, due_at FROM outbox WHERE key = :key", key=key)
    assert row is not None
    return row["state"], row["code"], row["attempts"], row["due_at"] - NOON_MS


async def _until(desk: Desk, key: str, state: str) -> tuple[str, str | None, int, int]:
    async with asyncio.timeout(30):
        while (row := await desk.store.read(_row, key))[0] != state:
            pass
    return row


async def test_messages_are_sent_in_order_and_recorded(desk: Desk) -> None:
    for key in ("one", "two", "three"):
        await desk.write(_put, key)
    channel = ScriptedChannel()
    async with sending(desk, channel):
        assert [await channel.next() for _ in range(3)] == ["one", "two", "three"]
        assert (await _until(desk, "three", "sent"))[1] == "wecom.sent"


async def test_a_hint_sends_at_once_and_each_person_has_their_own_order(desk: Desk) -> None:
    channel = ScriptedChannel(gate=asyncio.Event())
    async with sending(desk, channel) as sender:
        for key, user in (("z1", USER), ("z2", USER), ("l1", "li")):
            await desk.write(_put, key, user)
        sender.wake()
        assert {await channel.next(), await channel.next()} == {"z1", "l1"}
        assert channel.gate is not None
        channel.gate.set()
        assert await channel.next() == "z2"


async def test_the_last_message_is_not_followed_by_a_look_for_more(desk: Desk) -> None:
    claims = 0
    write = desk.store.write_unsynced

    async def counted(fn: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal claims
        claims += fn is outbox.claim
        return await write(fn, *args, **kwargs)

    await desk.write(_put, "one")
    await desk.write(_put, "two")
    channel = ScriptedChannel()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(desk.store, "write_unsynced", counted)
        async with sending(desk, channel):
            assert [await channel.next() for _ in range(2)] == ["one", "two"]
            await _until(desk, "two", "sent")
    assert claims == 2


async def test_a_busy_api_is_tried_again_later_and_later(desk: Desk) -> None:
    await desk.write(_put, "one")
    channel = ScriptedChannel([BUSY, BUSY, BUSY])
    async with sending(desk, channel) as sender:
        for attempts, due in ((1, 2_000), (2, 4_000), (3, 8_000)):
            await channel.next()
            row = await _until(desk, "one", "queued")
            assert row == ("queued", "wecom.busy", attempts, due)
            desk.clock.advance(row[3] / 1000 - (desk.clock.now().wall_ms - NOON_MS) / 1000)
            sender.wake()
        await channel.next()
        await _until(desk, "one", "sent")


@pytest.mark.requirement("P3")
async def test_a_try_that_may_have_arrived_is_repeated_as_a_copy(desk: Desk) -> None:
    await desk.write(_put, "one")
    channel = ScriptedChannel([LOST])
    async with sending(desk, channel) as sender:
        await channel.next()
        await _until(desk, "one", "queued")
        desk.clock.advance(5)
        sender.wake()
        await channel.next()
    # Another answer may read the same: dropped for that one, this one would be lost.
    assert channel.tries == [(USER, "one", False), (USER, f"{_copy(1)}\none", True)]


@pytest.mark.requirement("P7")
async def test_what_wecom_refuses_outright_is_sent_again_as_it_was(desk: Desk) -> None:
    await desk.write(_put, "one", task_id="t-1")
    channel = ScriptedChannel([BUSY])
    async with sending(desk, channel) as sender:
        await channel.next()
        await _until(desk, "one", "queued")
        desk.clock.advance(2)
        sender.wake()
        await channel.next()
    assert channel.tries == [(USER, "one", False)] * 2


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("task_id", [None, "t-1"])
async def test_what_an_admin_has_sent_again_never_meets_the_check(
    desk: Desk, task_id: str | None
) -> None:
    await desk.write(_put, "one", task_id=task_id)
    channel = ScriptedChannel([LOST, GONE, LOST])
    async with sending(desk, channel) as sender:
        await channel.next()
        await _until(desk, "one", "queued")
        desk.clock.advance(5)
        sender.wake()
        await channel.next()
        await _until(desk, "one", "failed")
        assert await desk.write(outbox_admin.retry, 1, at_ms=desk.clock.now().wall_ms)
        sender.wake()
        await channel.next()
        await _until(desk, "one", "queued")
        desk.clock.advance(5)
        sender.wake()
        await channel.next()
    again = f"{_copy(1, 2)}\none"
    assert channel.tries[2:] == [(USER, again, False), (USER, again, True)]


async def test_the_clients_pace_is_waited_for_and_is_no_try(desk: Desk) -> None:
    await desk.write(_put, "one")
    channel = ScriptedChannel([PACE])
    async with sending(desk, channel):
        await channel.next()
        assert await _until(desk, "one", "queued") == ("queued", "wecom.pace", 0, 7_000)


async def test_what_can_never_be_delivered_ends_and_the_next_one_goes(desk: Desk) -> None:
    await desk.write(_put, "one")
    await desk.write(_put, "two")
    channel = ScriptedChannel([GONE])
    async with sending(desk, channel) as sender:
        assert [await channel.next(), await channel.next()] == ["one", "two"]
        assert (await _until(desk, "one", "failed"))[1] == "wecom.refused"
        assert sender.held == {}


async def test_a_wrong_secret_holds_everything_and_says_so_until_it_is_mended(desk: Desk) -> None:
    for key, user in (("one", USER), ("two", "li")):
        await desk.write(_put, key, user)
    channel = ScriptedChannel([SECRET, SECRET])
    async with sending(desk, channel) as sender:
        await channel.next()
        await channel.next()
        await _until(desk, "one", "queued")
        assert await _until(desk, "two", "queued") == ("queued", "wecom.bad-secret", 0, 600_000)
        assert sender.held["main"].code == "wecom.bad-secret"
        sender.wake()
        desk.clock.advance(600)
        sender.wake()
        await channel.next()
        await channel.next()
        await _until(desk, "two", "sent")
        assert sender.held == {}
    assert len(channel.tries) == 4


async def test_while_wecom_is_away_one_message_at_a_time_finds_out(desk: Desk) -> None:
    for user in ("one", "two", "three"):
        await desk.write(_put, user, user)
    channel = ScriptedChannel([AWAY] * 5)
    async with sending(desk, channel) as sender:
        first = {await channel.next() for _ in range(3)}
        assert first == {"one", "two", "three"}
        for user in first:
            assert await _until(desk, user, "queued") == ("queued", "wecom.unreachable", 0, 5000)
        for _ in range(2):
            desk.clock.advance(5)
            sender.wake()
            await channel.next()
            assert channel.tried.empty()
            sender.wake()
        desk.clock.advance(10)  # twice as long after each try
        sender.wake()
        assert {await channel.next() for _ in range(3)} == first
        for user in first:
            await _until(desk, user, "sent")
    assert len(channel.tries) == 8
    assert sender.held == {}, "no admin is needed"


async def test_progress_leaves_room_to_what_matters_more(desk: Desk) -> None:
    await desk.write(_put, "an answer")
    await desk.write(outbox.put_progress, "p", "10 s", to=alone("li"), task_id="t-1", at_ms=NOON_MS)
    channel = ScriptedChannel()
    async with sending(desk, channel):
        assert {await channel.next(), await channel.next()} == {"an answer", "10 s"}
    assert channel.yielding == ["10 s"]


async def test_one_app_that_is_refused_holds_no_other(desk: Desk) -> None:
    for app in ("main", "shop"):
        for user in ("one", "two"):
            to = Conversation("wecom_app", app, user)
            await desk.write(outbox.put, f"{app} {user}", f"{app} {user}", to=to, at_ms=NOON_MS)
    channel = ScriptedChannel()
    answers = {"main": SECRET, "shop": SENT}

    async def answer(to: Conversation, what: Outgoing) -> SendOutcome:
        channel.tries.append((to.user, what.text, False))
        channel.tried.put_nowait(what.text)
        return answers[to.app]

    sender = Outbox(desk.store, answer, clock=desk.clock, log=logger(), record_seconds=0.01)
    running = asyncio.create_task(sender.run())
    for text in ("shop one", "shop two"):
        await _until(desk, text, "sent")
    assert await _until(desk, "main one", "queued")
    assert {*sender.held} == {"main"}
    assert sender.newly_held.is_set()
    answers["main"] = SENT
    desk.clock.advance(601)
    sender.wake()
    for text in ("main one", "main two"):
        await _until(desk, text, "sent")
    assert sender.held == {}
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_copy_that_wecom_would_show_twice_says_what_it_is(desk: Desk) -> None:
    await desk.write(_put, "one", task_id="t-1")
    channel = ScriptedChannel([LOST, LOST])
    async with sending(desk, channel) as sender:
        assert await channel.next() == "one"
        await _until(desk, "one", "queued")
        desk.clock.advance(60)
        sender.wake()
        assert await channel.next() == "one", "WeCom drops it"
        await _until(desk, "one", "queued")
        desk.clock.advance(4 * 3600)
        sender.wake()
        assert await channel.next() == f"{_copy(1)}\none"


@pytest.mark.requirement("P7")
async def test_a_busy_api_that_lasts_holds_the_app_until_a_message_goes(desk: Desk) -> None:
    for user in ("one", "two"):
        await desk.write(_put, user, user)
    channel = ScriptedChannel([BUSY] * 6)
    async with sending(desk, channel) as sender:
        for wait_s in (2, 4, 8):
            assert sender.held == {}
            assert {await channel.next(), await channel.next()} == {"one", "two"}
            for user in ("one", "two"):
                await _until(desk, user, "queued")
            desk.clock.advance(wait_s)
            sender.wake()
        assert [hold.errcode for hold in sender.held.values()] == [-1]
        (hold,) = await desk.store.read(outbox.holds)
        assert (hold.app, hold.code, hold.errcode) == ("main", "wecom.busy", -1)
        await channel.next()
        for user in ("one", "two"):
            await _until(desk, user, "sent")
        assert sender.held == {}
    assert await desk.store.read(outbox.holds) == []


@pytest.mark.requirement("P7")
async def test_a_message_that_waits_alone_shows_within_a_minute_that_the_line_is_back(
    desk: Desk,
) -> None:
    await desk.write(_put, "one", task_id="t-1")
    channel = ScriptedChannel([LOST] * 12)
    async with sending(desk, channel) as sender:
        for _ in range(12):
            await channel.next()
            await _until(desk, "one", "queued")
            desk.clock.advance(60)
            sender.wake()
        await channel.next()
        await _until(desk, "one", "sent")


async def test_after_a_day_a_message_is_given_up(desk: Desk) -> None:
    await desk.write(_put, "one")
    desk.clock.advance(GIVE_UP_MS / 1000)
    channel = ScriptedChannel([BUSY])
    async with sending(desk, channel):
        await channel.next()
        assert (await _until(desk, "one", "failed"))[1] == "wecom.busy"


@pytest.mark.requirement("P3")
async def test_what_was_in_flight_at_a_stop_is_sent_again_at_the_next_start(desk: Desk) -> None:
    await desk.write(_put, "one", task_id="t-1")
    channel = ScriptedChannel(gate=asyncio.Event())
    async with sending(desk, channel):
        await channel.next()
    assert (await desk.store.read(_row, "one"))[0] == "sending"
    await desk.upkeep.begin()
    again = ScriptedChannel()
    async with sending(desk, again):
        await again.next()
        await _until(desk, "one", "sent")
    assert again.tries == [(USER, "one", True)], "the very same, which WeCom drops"


async def test_a_store_that_fails_for_a_while_loses_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = threading.Event()

    def failing(*_args: object, **_facts: object) -> None:
        failed.set()
        raise StoreError("store.failed")

    await desk.write(_put, "one")
    channel = ScriptedChannel()
    with monkeypatch.context() as patch:
        patch.setattr("gateway.store.outbox.claim", failing)
        async with sending(desk, channel):
            await asyncio.sleep(0)
            await desk.store.read(_row, "one")
    assert channel.tries == []
    failed.clear()
    with monkeypatch.context() as patch:
        patch.setattr("gateway.store.outbox.end", failing)
        async with sending(desk, channel):
            await channel.next()
            assert await asyncio.to_thread(failed.wait, 5)
        await desk.write(_put, "two")  # what was still on its way to the store has failed, too
    assert (await desk.store.read(_row, "one"))[0] == "sending"


@pytest.mark.requirement("P7")
async def test_a_store_that_cannot_be_read_at_once_does_not_silence_its_person(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [StoreError("store.busy")]

    def busy_once(*_args: object) -> bool:
        if failures:
            raise failures.pop()
        return False

    monkeypatch.setattr("gateway.flow.outbox._is_overtaken", busy_once)
    await desk.write(_put, "offline:1")
    await desk.write(_put, "two")
    channel = ScriptedChannel()
    async with sending(desk, channel):
        await _until(desk, "two", "sent")
    assert [text for _, text, _ in channel.tries] == ["offline:1", "two"]
    assert not failures


@pytest.mark.requirement("P7")
async def test_an_end_that_cannot_be_noted_at_once_does_not_silence_its_person(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures, end = [StoreError("store.busy")], outbox.end

    def busy_once(*args: Any, **facts: Any) -> bool:
        if failures:
            raise failures.pop()
        return end(*args, **facts)

    monkeypatch.setattr("gateway.store.outbox.end", busy_once)
    await desk.write(_put, "one")
    await desk.write(_put, "two")
    channel = ScriptedChannel()
    async with sending(desk, channel):
        await _until(desk, "two", "sent")
    assert [text for _, text, _ in channel.tries] == ["one", "two"]
    assert not failures
