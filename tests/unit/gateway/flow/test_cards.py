"""The card of a task that waits, on a real store, through the real sender; and what it offers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from common.model.state import TaskState
from gateway.base.messages import Card, Click, Handle, InboundMessage, SendOutcome
from gateway.store import members
from tests.gateway_desk import MACHINE, NOON_MS, TO_APPROVAL, USER, WAITING, Desk, chat, open_desk
from tests.people import someone
from tests.scripted_channel import ScriptedChannel, sending

pytestmark = pytest.mark.heavy

SENT = SendOutcome("sent", 0, "ok", 0.0, "wecom.sent", handle=Handle("code-1", 3600))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        await desk.connect()
        yield desk


async def _cards(desk: Desk) -> list[tuple[str, Card]]:
    rows = await desk.store.read(lambda conn: conn.all("SELECT * FROM outbox ORDER BY id"))
    due = [row for row in rows if row["due_at"] <= desk.clock.now().wall_ms]
    return [(row["state"], Card.from_json(row["card"])) for row in due if row["card"]]


async def _sent(desk: Desk) -> list[tuple[Card, str | None]]:
    """Have what waits sent, and return the cards that were: each is given the same handle."""
    channel = ScriptedChannel([SENT] * 9)
    async with sending(desk, channel), asyncio.timeout(30):
        while any(state in ("queued", "sending") for state, _ in await _cards(desk)):  # noqa: ASYNC110
            await asyncio.sleep(0)
    return channel.cards


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P7")
async def test_who_must_act_is_shown_on_a_card_that_can_only_be_looked_at_or_stopped(
    desk: Desk,
) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", "login.py +3 −1", waiting=WAITING)
    ((_, card),) = await _cards(desk)
    assert card.title == f"{task.short_id} · {MACHINE}"
    assert card.said == f"Proposal ready; waiting for local approval on {MACHINE}"
    assert card.line == "login.py +3 −1"
    assert dict(card.facts)["Code"] == WAITING["seal_code"]
    assert [key for key, _ in card.buttons] == ["status", "cancel"]
    assert re.fullmatch(r"[0-9A-Za-z_@-]{1,128}", card.card_id)


async def test_a_card_is_changed_once_at_the_end_and_the_end_is_said_in_words(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    await _sent(desk)
    await desk.events(task, "EXECUTING")
    await desk.result(task, "COMPLETED", "completed", "✓ 2 passed")
    ((changed, handle),) = await _sent(desk)
    assert (changed.said, changed.over, handle) == ("completed", True, "code-1")
    assert [key for key, _ in changed.buttons] == ["status"]
    assert (await desk.said())[-1].startswith(f"{task.short_id} ✓ 2 passed")
    await desk.result(task, "COMPLETED", "completed", "✓ 2 passed")
    assert len(await _cards(desk)) == 2


async def test_a_card_that_waits_to_be_sent_is_taken_back_at_the_end(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    await desk.result(task, "REJECTED", "rejected", "no")
    assert await _sent(desk) == []
    assert [state for state, _ in await _cards(desk)] == ["dropped"]


async def test_a_card_whose_handle_was_lost_or_is_too_old_is_left_as_it_is(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    await _sent(desk)
    desk.clock.advance(72 * 3600)
    await desk.result(task, "REJECTED", "rejected", "no")
    assert await _sent(desk) == []
    assert (await desk.said())[-1].startswith(f"{task.short_id} – rejected")


@pytest.mark.requirement("P7")
async def test_an_approval_asked_anew_has_its_own_card_with_its_subject(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    await _sent(desk)
    again = WAITING | {"seal_code": "AAAA-BBBB"}
    await desk.event(task, "WAITING_APPROVAL", "Files changed.\nRun `make`", waiting=again)
    assert (await desk.task()).seal_code == "AAAA-BBBB", "whoever asks hears it at once"
    desk.clock.advance(60)
    (old, handle), (new, none) = await _sent(desk)
    assert (old.over, handle, new.over, none) == (True, "code-1", False, None)
    assert old.said == "asked again, see below"
    assert old.card_id != new.card_id
    assert new.line == "Files changed.\nRun `make`"


@pytest.mark.requirement("P7")
@pytest.mark.requirement("P3")
async def test_a_file_that_is_saved_again_and_again_has_its_tasks_told_of_once(desk: Desk) -> None:
    tasks = [await desk.ask(), await desk.ask("@dev test tests/other")]
    for task in tasks:
        await desk.events(task, *TO_APPROVAL)
        await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    await _sent(desk)
    for number in range(7):
        desk.clock.advance(5)
        for task in tasks:
            waiting = WAITING | {"seal_code": f"AAAA-000{number}"}
            await desk.event(task, "WAITING_APPROVAL", waiting=waiting)
        assert await _sent(desk) == []
    desk.clock.advance(30)  # a minute after the first of them
    told = [card for card, _ in await _sent(desk)]
    assert sorted(card.over for card in told) == [False, False, True, True]
    codes = [dict(card.facts)["Code"] for card in told if not card.over]
    assert codes == ["AAAA-0006"] * 2, "the last one, which alone can be approved"
    # What was approved meanwhile is told of as such, and no longer as waiting.
    for task in tasks:
        waiting = WAITING | {"seal_code": "BBBB-0000"}
        await desk.event(task, "WAITING_APPROVAL", waiting=waiting)
        await desk.event(task, "EXECUTING")
        await desk.result(task, "COMPLETED", "completed", "done")
    desk.clock.advance(3600)
    last = [card for card, _ in await _sent(desk)]
    assert {card.said for card in last if card.over} == {"completed"}
    assert all(card.over for card in last)


def _press(card: Card, key: str, *, user: str = USER, number: int = 50) -> InboundMessage:
    pressed = chat(None, user=user, number=number, kind="event")
    click, reply = Click(card.card_id, key), Handle("code-2", 60)
    return replace(pressed, event="template_card_event", click=click, reply=reply)


@pytest.mark.requirement("P1")
async def test_buttons_look_at_their_task_and_stop_it_and_do_nothing_else(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    await _sent(desk)
    ((_, card),) = await _cards(desk)
    for number, key in enumerate(("status", "approve", "cancel"), start=50):
        await desk.intake(_press(card, key, number=number), bytes([number]) * 32)
    looked, other, stopped = (await desk.said())[-3:]
    assert looked == other
    assert "waiting for approval at the machine" in looked
    assert stopped == f"{MACHINE} is being told to stop {task.short_id}."
    assert (await desk.task()).state is TaskState.WAITING_APPROVAL, "the machine decides"
    await desk.result(task, "REJECTED", "cancelled", "Stopped.")
    ((_, handle),) = await _sent(desk)
    assert handle == "code-2", "the newest handle"


@pytest.mark.requirement("P7")
async def test_what_a_button_does_is_told_once_something_can_be_sent_again(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    ((_, card),) = await _cards(desk)
    desk.held = {"main": "wecom.untrusted-address"}
    said = await desk.intake(_press(card, "status"), b"1" * 32)
    assert said is None, "to a button WeCom takes the change of its card alone"
    assert (await desk.said())[-1].startswith(task.short_id)
    assert desk.rung > 0, "it waits in the outbox"


async def test_a_card_of_somebody_else_is_nothing_to_press(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    ((_, card),) = await _cards(desk)
    await desk.write(members.add, someone("li"), lang="en", at_ms=NOON_MS)
    await desk.intake(_press(card, "cancel", user="li"), b"1" * 32)
    assert (await desk.said("li"))[-1].startswith("That card belongs to no task of yours")
    assert (await desk.task()).cancel_asked_at is None
    forged = replace(card, card_id="0199-forged@AAAA")
    await desk.intake(_press(forged, "cancel", number=51), b"2" * 32)
    assert (await desk.said())[-1].startswith("That card belongs to no task of yours")


@pytest.mark.requirement("R26")
async def test_what_hides_in_the_words_of_a_machine_is_shown_on_a_card(desk: Desk) -> None:
    task = await desk.ask()
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", "\u202eoops", waiting=WAITING)
    ((_, card),) = await _cards(desk)
    assert "\u202e" not in card.line
