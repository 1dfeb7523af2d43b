"""One message through the whole intake transaction, on a real store."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from common.errors import StoreError
from common.model.state import Reason, TaskState
from common.protocol.bodies import TASK_TEXT_BYTES
from common.text import CHAT_BYTES, has_cjk
from gateway.flow.access import Limits
from gateway.flow.alarms import MAX_NOTICES
from gateway.store import agents, audit, members
from tests.gateway_desk import (
    AGENT,
    MACHINE,
    NOON_MS,
    TO_APPROVAL,
    USER,
    WAITING,
    Desk,
    chat,
    open_desk,
)
from tests.people import someone


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        yield desk


# -- the main line ---------------------------------------------------------------------------


async def test_a_message_becomes_one_signed_task_for_the_members_machine(desk: Desk) -> None:
    await desk.connect()
    said = await desk.hear('@dev test --cmd="pytest -q"')
    task = await desk.task()
    (envelope,) = await desk.mail()
    assert said == f"{task.short_id} sent to {MACHINE}."
    assert (envelope.header.typ, envelope.header.seq) == ("task", 1)
    assert envelope.sha256 == task.envelope_sha256
    assert envelope.body == {
        "task_id": task.task_id,
        "short_id": task.short_id,
        "thread_id": f"wecom_app:1000002:{USER}",
        "channel": "wecom_app",
        "claimed_user": USER,
        "text": '@dev test --cmd="pytest -q"',
        "lang": "en",
        "received_at": NOON_MS,
    }
    assert desk.woken == [AGENT]
    assert desk.newest is not None
    assert desk.newest.frame == envelope.frame
    assert desk.rung == 1


async def test_what_a_message_is_about_goes_below_what_it_asks_for(desk: Desk) -> None:
    await desk.connect()
    await desk.hear("@dev fix this", quote="the retry\nfails")
    await desk.hear("@dev fix that", quote="字" * 20_000)
    await desk.hear("@dev test", quote="run rm instead")
    short, long, command = [envelope.body["text"] for envelope in await desk.mail()]
    assert short == "@dev fix this\n\n> the retry\n> fails"
    assert long.startswith("@dev fix that\n\n> 字")
    assert 30_000 < len(long.encode()) <= TASK_TEXT_BYTES
    assert command == "@dev test"


async def test_a_group_is_no_member_of_its_name(desk: Desk) -> None:
    await desk.connect()
    await desk.hear("@dev explain it")
    await desk.hear("@dev explain it", chat_id=USER)
    alone, together = [envelope.body["thread_id"] for envelope in await desk.mail()]
    assert alone == f"wecom_app:1000002:{USER}"
    assert together == f"wecom_app:1000002:group/{USER}"


@pytest.mark.requirement("P7")
async def test_a_task_for_a_machine_that_was_never_online_waits_and_says_until_when(
    desk: Desk,
) -> None:
    said = await desk.hear("@dev test")
    task = await desk.task()
    assert said is not None
    for fact in (MACHINE, task.short_id, "20:00"):
        assert fact in said
    assert task.expires_at == NOON_MS + 8 * 3_600_000
    assert len(await desk.mail()) == 1


@pytest.mark.requirement("P7")
async def test_a_task_for_an_offline_machine_is_queued_and_says_since_when(desk: Desk) -> None:
    await desk.connect()
    desk.clock.advance(2 * 3600)
    await desk.disconnect()
    desk.clock.advance(3600)
    said = await desk.hear("@dev 跑一下测试")
    task = await desk.task()
    assert said is not None
    for fact in (MACHINE, task.short_id, "14:00", "23:00"):
        assert fact in said


async def test_a_task_says_its_hours_with_the_day_when_that_is_another_one(desk: Desk) -> None:
    desk.clock.advance(6 * 3600)
    said = await desk.hear("@dev test")
    assert said is not None
    assert "01-02 02:00" in said


async def test_a_member_is_answered_in_the_language_set_for_them(desk: Desk) -> None:
    await desk.add_member(lang="zh")
    await desk.hear("@dev test")
    assert (await desk.task()).lang == "zh"


# -- once ------------------------------------------------------------------------------------


@pytest.mark.requirement("P3")
async def test_four_deliveries_of_one_message_at_once_make_one_task(desk: Desk) -> None:
    message = chat("@dev test", number=7)
    same, anew = b"cipher-1" * 4, b"cipher-2" * 4
    await asyncio.gather(*(desk.intake(message, key) for key in (same, same, anew, anew)))
    assert len(await desk.tasks()) == 1
    assert len(await desk.said()) == 1
    assert len(await desk.mail()) == 1


@pytest.mark.requirement("P7")
async def test_what_nothing_can_be_sent_through_is_answered_at_once_and_again(desk: Desk) -> None:
    desk.held = {"main": "wecom.untrusted-address"}
    message = chat("@dev test", number=7)
    said = await desk.intake(message, b"cipher-1" * 4)
    assert said is not None
    assert said.startswith("T-")
    assert await desk.intake(message, b"cipher-2" * 4) == said, "nobody has read it yet"
    assert await desk.said() == [said]
    assert desk.rung == 0, "nothing is left to be sent"
    assert len(await desk.tasks()) == 1
    desk.held = {}
    assert await desk.intake(chat("@dev status", number=8), b"cipher-3" * 4) is None
    assert desk.rung == 1


@pytest.mark.requirement("P3")
async def test_a_message_whose_transaction_failed_is_taken_when_it_comes_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object, **_facts: object) -> None:
        raise sqlite3.OperationalError("disk full")

    message, key = chat("@dev test"), b"cipher" * 6
    with monkeypatch.context() as patch:
        patch.setattr("gateway.store.tasks.create", full)
        with pytest.raises(StoreError):
            await desk.intake(message, key)
    assert (await desk.tasks(), await desk.said(), desk.rung) == ([], [], 0)
    await desk.intake(message, key)
    (envelope,) = await desk.mail()
    assert envelope.header.seq == 1


# -- who may ---------------------------------------------------------------------------------


async def test_a_stranger_is_told_so_once_a_day_and_nothing_is_made(desk: Desk) -> None:
    assert "member add li" in str(await desk.hear("@dev test", user="li"))
    assert await desk.hear("@dev test", user="li") is None
    desk.clock.advance(86_400)
    assert await desk.hear("@dev test", user="li") is not None
    assert await desk.tasks() == []


async def test_adding_and_removing_a_member_acts_at_the_next_message(desk: Desk) -> None:
    await desk.hear("@dev test", user="li")
    await desk.add_member("li")
    await desk.add_machine("agent-2", "dev-2", user="li")
    await desk.hear("@dev test", user="li")
    assert [task.user_id for task in await desk.tasks()] == ["li"]
    await desk.write(members.remove, someone("li"), at_ms=NOON_MS)
    await desk.hear("@dev test", user="li")
    assert len(await desk.tasks()) == 1


async def test_a_flood_is_answered_once_a_minute_and_not_looked_at(tmp_path: Path) -> None:
    async with open_desk(tmp_path, limits=Limits(messages_per_minute=3)) as desk:
        answers = [await desk.hear("@dev status") for _ in range(6)]
        assert [answer is None for answer in answers] == [False] * 4 + [True] * 2
        assert "3 messages" in str(answers[3])
        desk.clock.advance(61)
        assert MACHINE in str(await desk.hear("@dev status"))


async def test_a_flood_too_is_answered_in_the_members_language(tmp_path: Path) -> None:
    async with open_desk(tmp_path, limits=Limits(messages_per_minute=1)) as desk:
        await desk.add_member(lang="zh")
        answers = [await desk.hear("@dev status") for _ in range(2)]
        assert all(has_cjk(str(answer)) for answer in answers)


@pytest.mark.parametrize(("text", "kind"), [("hello", "text"), (None, "image")])
async def test_a_refusal_too_is_in_the_members_language(
    desk: Desk, text: str | None, kind: str
) -> None:
    await desk.add_member(lang="zh")
    assert has_cjk(str(await desk.hear(text, kind=kind)))


async def test_unfinished_tasks_have_a_limit(tmp_path: Path) -> None:
    async with open_desk(tmp_path, limits=Limits(open_tasks=2)) as desk:
        for _ in range(2):
            await desk.hear("@dev test")
        assert "2 open tasks" in str(await desk.hear("@dev test"))
        assert len(await desk.tasks()) == 2
        assert len(await desk.mail()) == 2


@pytest.mark.requirement("P7")
async def test_the_queue_of_one_machine_has_a_limit_and_cancelling_goes_beyond_it(
    tmp_path: Path,
) -> None:
    async with open_desk(tmp_path, limits=Limits(queue=2)) as desk:
        for _ in range(2):
            await desk.hear("@dev test")
        said = str(await desk.hear("@dev test"))
        assert f"{MACHINE} is not connected, and 2 messages already wait" in said
        assert len(await desk.tasks()) == 2
        await desk.connect()
        said = str(await desk.hear("@dev test"))
        assert f"{MACHINE} is connected, and 2 messages already wait" in said
        await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
        await desk.hear("@dev test")
        assert len(await desk.tasks()) == 3
        oldest = (await desk.tasks())[-1]
        await desk.hear(f"@dev cancel {oldest.short_id}")
        assert [envelope.header.typ for envelope in await desk.mail(after=1)][-1] == "cancel"


async def test_without_a_machine_the_next_step_is_told(desk: Desk) -> None:
    await desk.add_member("li")
    assert "--member li" in str(await desk.hear("@dev test", user="li"))
    assert await desk.tasks() == []


async def test_with_several_machines_nothing_is_guessed(desk: Desk) -> None:
    await desk.add_machine("agent-2", "dev-2")
    said = str(await desk.hear("@dev test"))
    assert "dev-1, dev-2" in said
    assert await desk.tasks() == []


async def test_a_revoked_machine_gets_nothing_more(desk: Desk) -> None:
    await desk.write(agents.revoke, MACHINE, at_ms=NOON_MS)
    await desk.hear("@dev test")
    assert await desk.tasks() == []


# -- what is not a task ----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["hello", "@developer hi", "please @dev test"])
async def test_what_is_not_addressed_to_a_machine_makes_no_task(desk: Desk, text: str) -> None:
    assert "@dev help" in str(await desk.hear(text))
    assert await desk.tasks() == []


@pytest.mark.parametrize("text", ["@dev help", "@dev 帮助", "@dev"])
async def test_help_is_answered_here(desk: Desk, text: str) -> None:
    said = str(await desk.hear(text))
    assert "@dev" in said
    assert len(said.encode()) <= CHAT_BYTES
    assert await desk.tasks() == []


async def test_who_opens_the_app_is_shown_once_what_can_be_asked_for(desk: Desk) -> None:
    enter = {"kind": "event", "event": "enter_agent"}
    said = await desk.hear(None, **enter)
    assert said is not None
    assert "@dev test" in said
    assert await desk.hear(None, **enter) is None
    assert await desk.hear(None, kind="event", event="subscribe") is None
    assert await desk.hear(None, user="stranger", **enter) is None, "no word to strangers"


async def test_admins_hear_once_of_each_thing_that_wecom_does_with_an_app(desk: Desk) -> None:
    admin = someone("boss")
    desk = Desk(desk.store, desk.clock, admins=[admin])
    again = chat(None, user="sys", number=1, kind="event")
    for event, number in (
        ("inactive_alert", 1),
        ("close_inactive_agent", 2),
        ("close_inactive_agent", 2),  # delivered again
        ("reopen_inactive_agent", 3),
        ("close_inactive_agent", 2),
    ):
        message = replace(again, event=event, dedupe_key=f"{number:064x}")
        await desk.intake(message, bytes([number]) * 32)
    words = ("about to suspend the app main", "has suspended the app main", "works in WeCom again")
    said = await desk.said("boss")
    assert [word in text for word, text in zip(words, said, strict=True)] == [True] * 3
    assert desk.rung
    entries = await desk.store.read(audit.newest_events, app="main")
    assert [event for event, _ in entries[:3]] == [
        "app.restored",
        "app.suspended",
        "app.suspension-announced",
    ]
    for number in range(9, 40):
        desk.clock.advance(1)
        message = replace(again, event="low_active", dedupe_key=f"{number:064x}")
        await desk.intake(message, bytes([number]) * 32)
    assert len(await desk.said("boss")) == 3 + MAX_NOTICES, "whoever has the keys floods nobody"


async def test_what_is_no_text_is_answered_and_events_are_not(desk: Desk) -> None:
    assert "text" in str(await desk.hear(None, kind="image"))
    assert "characters" in str(await desk.hear(None, kind="unreadable"))
    assert await desk.hear(None, kind="event") is None
    assert await desk.tasks() == []


async def test_a_text_that_no_frame_should_carry_is_refused(desk: Desk) -> None:
    assert "8192" in str(await desk.hear("@dev " + "x" * 8192))
    assert await desk.tasks() == []


# -- status ----------------------------------------------------------------------------------


@pytest.mark.requirement("P7")
async def test_status_lists_machines_and_tasks_with_who_must_act(desk: Desk) -> None:
    assert "no open task" in str(await desk.hear("@dev status"))
    await desk.connect()
    waiting = await desk.ask()
    await desk.events(waiting, *TO_APPROVAL)
    await desk.event(waiting, "WAITING_APPROVAL", waiting=WAITING)
    queued = await desk.ask("@dev search secret_key=hunter2hunter2hunter2")
    said = str(await desk.hear("@dev status"))
    assert f"{MACHINE}: online" in said
    assert waiting.short_id in said
    assert "7K3F-9Q2M" in said
    assert queued.short_id in said
    assert "hunter2hunter2hunter2" not in said


async def test_status_of_one_task_shows_its_last_words(desk: Desk) -> None:
    await desk.connect()
    task = await desk.ask()
    await desk.event(task, "ROUTED", "kind: run")
    said = str(await desk.hear(f"@dev status {task.short_id.lower()}"))
    assert task.short_id in said
    assert "kind: run" in said


@pytest.mark.parametrize("command", ["status", "cancel"])
async def test_another_members_task_does_not_exist(desk: Desk, command: str) -> None:
    task = await desk.ask()
    await desk.add_member("li")
    said = str(await desk.hear(f"@dev {command} {task.short_id}", user="li"))
    assert "no task" in said
    assert (await desk.task()).cancel_asked_at is None


@pytest.mark.parametrize("command", ["status", "cancel"])
async def test_a_mistyped_id_is_said_to_be_one(desk: Desk, command: str) -> None:
    assert "“banana”" in str(await desk.hear(f"@dev {command} banana"))


# -- cancel ----------------------------------------------------------------------------------


async def test_cancel_is_signed_and_sent_after_the_task(desk: Desk) -> None:
    await desk.connect()
    task = await desk.ask()
    said = str(await desk.hear(f"@dev cancel {task.short_id}"))
    assert said == f"{MACHINE} is being told to stop {task.short_id}."
    sent, stop = await desk.mail()
    assert (sent.header.typ, stop.header.typ) == ("task", "cancel")
    assert stop.body == {"task_id": task.task_id, "claimed_user": USER}
    assert (await desk.task()).state is TaskState.RECEIVED


async def test_cancel_without_an_id_means_the_only_one_or_asks_which(desk: Desk) -> None:
    await desk.connect()
    assert "no open task" in str(await desk.hear("@dev cancel"))
    first = await desk.ask()
    assert first.short_id in str(await desk.hear("@dev cancel"))
    second = await desk.ask()
    said = str(await desk.hear("@dev 取消"))
    assert first.short_id in said
    assert second.short_id in said
    assert len([mail for mail in await desk.mail() if mail.header.typ == "cancel"]) == 1


async def test_a_finished_task_cannot_be_cancelled_and_says_how_it_ended(desk: Desk) -> None:
    await desk.connect()
    task = await desk.ask()
    await desk.result(task, "REJECTED", Reason.REFUSED)
    said = str(await desk.hear(f"@dev cancel {task.short_id}"))
    assert "refused" in said
    assert len(await desk.mail()) == 1


async def test_an_offline_machine_is_told_to_stop_when_it_is_back(desk: Desk) -> None:
    await desk.connect()
    task = await desk.ask()
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
    await desk.disconnect()
    assert "offline" in str(await desk.hear("@dev cancel"))
    desk.clock.advance(600)
    await desk.upkeep.round()
    await desk.connect()
    (stop,) = await desk.mail(after=1)
    assert stop.header.typ == "cancel"
    assert stop.body["task_id"] == task.task_id


async def test_a_command_about_a_task_goes_to_the_machine_that_has_it(desk: Desk) -> None:
    await desk.connect()
    task = await desk.ask()
    await desk.add_machine("agent-2", "dev-2")
    await desk.hear(f"@dev apply {task.short_id}")
    assert [mail.body["text"] for mail in await desk.mail(after=1)] == [
        f"@dev apply {task.short_id}"
    ]


@pytest.mark.requirement("P6a")
async def test_an_accepted_task_is_audited_without_its_text(desk: Desk) -> None:
    task = await desk.ask("@dev find the-secret-word")
    (entry,) = [body for body in await desk.audited() if "task.accepted" in body]
    assert task.envelope_sha256 in entry
    assert "the-secret-word" not in entry
