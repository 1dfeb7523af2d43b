"""Taking tasks back: what was never sent, what may be on its way, what a machine has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common.model.state import Reason, TaskState
from gateway.flow import withdrawal
from gateway.flow.withdrawal import Withdrawn
from gateway.store import agents, members
from gateway.store.agents import Agent
from tests.gateway_desk import AGENT, MACHINE, TO_APPROVAL, USER, WAITING, Desk, open_desk
from tests.people import someone


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        yield desk


async def remove(desk: Desk, user: str = USER) -> Withdrawn | None:
    done: Withdrawn | None = await desk.write(
        withdrawal.remove_member, desk.seal, someone(user), at=desk.clock.now()
    )
    return done


async def unbind(desk: Desk) -> Withdrawn | None:
    agent: Agent | None = await desk.store.read(agents.find, AGENT)
    done: Withdrawn | None = await desk.write(
        withdrawal.unbind, desk.seal, someone(USER), agent, at=desk.clock.now()
    )
    return done


async def revoke(desk: Desk) -> Withdrawn | None:
    done: Withdrawn | None = await desk.write(
        withdrawal.revoke, desk.seal, MACHINE, at=desk.clock.now()
    )
    return done


async def kinds(desk: Desk) -> list[str]:
    return [mail.header.typ for mail in await desk.mail()]


# -- by its member ---------------------------------------------------------------------------


async def test_a_cancel_before_the_machine_could_have_it_takes_effect_at_once(desk: Desk) -> None:
    task = await desk.ask()
    said = str(await desk.hear(f"@dev cancel {task.short_id}"))
    assert "never reached" in said
    ended = await desk.task()
    assert (ended.reason, ended.presumed) == (Reason.CANCELLED, 0)
    (tombstone,) = await desk.mail()
    assert (tombstone.header.typ, tombstone.header.seq) == ("tombstone", 1)
    assert any("task.withdrawn" in body for body in await desk.audited())


async def test_a_task_that_may_be_on_its_way_is_stopped_by_its_machine(desk: Desk) -> None:
    await desk.connect()
    await desk.ask()
    await desk.disconnect()
    said = str(await desk.hear("@dev cancel"))
    assert "is told to stop" in said
    assert (await desk.task()).reason is None
    await desk.connect()
    assert await kinds(desk) == ["task", "cancel"]


@pytest.mark.requirement("P3")
async def test_a_member_who_cancels_again_and_again_fills_no_mailbox_of_a_machine_that_is_away(
    desk: Desk,
) -> None:
    await desk.connect()
    await desk.ask()
    await desk.disconnect()
    for _ in range(20):
        await desk.hear("@dev cancel")
        desk.clock.advance(301)
        await desk.upkeep.round()
    await desk.connect()
    assert await kinds(desk) == ["task", "cancel"]


async def test_a_connection_in_between_makes_it_uncertain(desk: Desk) -> None:
    await desk.ask()
    await desk.connect()
    await desk.disconnect()
    await desk.hear("@dev cancel")
    assert (await desk.task()).reason is None, "the machine may have it, without having said so"


async def test_a_crash_of_the_gateway_makes_nothing_certain(desk: Desk) -> None:
    await desk.connect()
    await desk.ask()
    await desk.upkeep.begin()
    await desk.hear("@dev cancel")
    assert (await desk.task()).reason is None


# -- by the admin ----------------------------------------------------------------------------


async def test_what_a_removed_member_queued_is_never_delivered_as_a_task(desk: Desk) -> None:
    await desk.ask("@dev test")
    said = await desk.said()
    assert await remove(desk) == Withdrawn(ended=1, left=0)
    task = await desk.task()
    assert (task.reason, task.presumed) == (Reason.REFUSED, 0)
    assert await kinds(desk) == ["tombstone"]
    assert await desk.said() == said, "whoever is no member is told nothing more"


async def test_a_removed_members_tasks_at_machines_are_stopped(desk: Desk) -> None:
    await desk.connect()
    task = await desk.ask()
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
    await desk.events(task, *TO_APPROVAL)
    await desk.event(task, "WAITING_APPROVAL", waiting=WAITING)
    assert await remove(desk) == Withdrawn(ended=0, left=1)
    (stop,) = await desk.mail(after=1)
    assert (stop.header.typ, stop.body["task_id"]) == ("cancel", task.task_id)
    assert (await desk.task()).state is TaskState.WAITING_APPROVAL
    await desk.result(task, "REJECTED", Reason.CANCELLED)
    assert (await desk.task()).reason is Reason.CANCELLED


async def test_a_stop_that_was_not_heard_in_time_is_said_again(desk: Desk) -> None:
    await desk.connect()
    await desk.ask()
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
    await desk.disconnect()
    await remove(desk)
    desk.clock.advance(3_600)
    await desk.upkeep.round()
    await desk.connect(last_seq=1)
    assert [mail.header.typ for mail in await desk.mail(after=1)] == ["tombstone", "cancel"]


async def test_what_may_be_on_its_way_is_replaced_and_stopped_and_a_result_still_stands(
    desk: Desk,
) -> None:
    await desk.connect()
    task = await desk.ask()
    assert await unbind(desk) == Withdrawn(ended=1, left=0)
    assert await kinds(desk) == ["tombstone", "cancel"]
    ended = await desk.task()
    assert (ended.reason, ended.presumed) == (Reason.REFUSED, 1)
    assert "it is stopped" in (await desk.said())[-1]
    await desk.event(task, "ROUTED")
    await desk.result(task, "REJECTED", Reason.CANCELLED)
    assert ((await desk.task()).reason, (await desk.task()).presumed) == (Reason.CANCELLED, 0)
    last = (await desk.said())[-1]
    assert "cancelled" in last
    assert "no longer works for you" in last, "the end says why"


async def test_a_member_hears_what_became_of_it_when_a_machine_is_taken_away(desk: Desk) -> None:
    task = await desk.ask()
    assert await unbind(desk) == Withdrawn(ended=1, left=0)
    last = (await desk.said())[-1]
    assert task.short_id in last
    assert MACHINE in last
    assert "never reached" in last
    assert await unbind(desk) is None


async def test_only_the_tasks_on_that_machine_are_taken_back(desk: Desk) -> None:
    await desk.add_machine("agent-2", "dev-2")
    await desk.hear("@dev on dev-2 test")
    await desk.hear("@dev on dev-1 test")
    assert await unbind(desk) == Withdrawn(ended=1, left=0)
    reasons = {task.agent_id: task.reason for task in await desk.tasks()}
    assert reasons == {AGENT: Reason.REFUSED, "agent-2": None}


@pytest.mark.requirement("R14")
async def test_of_a_revoked_machine_only_what_it_has_counts_as_unknown(desk: Desk) -> None:
    await desk.connect()
    has = await desk.ask()
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
    await desk.disconnect()
    unsent = await desk.ask()
    assert await revoke(desk) == Withdrawn(ended=1, left=1)
    await desk.upkeep.round()
    reasons = {task.task_id: task.reason for task in await desk.tasks()}
    assert reasons == {has.task_id: Reason.UNKNOWN, unsent.task_id: Reason.REFUSED}
    said = await desk.said()
    assert any(unsent.short_id in text and "never reached" in text for text in said)
    assert any(has.short_id in text and "outcome unknown" in text for text in said)


async def test_revoking_what_is_not_there_changes_nothing(desk: Desk) -> None:
    assert await desk.write(withdrawal.revoke, desk.seal, "dev-9", at=desk.clock.now()) is None
    assert await remove(desk, "nobody") is None


# -- on return of the machine ----------------------------------------------------------------


@pytest.mark.requirement("P3")
async def test_the_access_rules_are_checked_again_when_the_machine_is_back(desk: Desk) -> None:
    await desk.ask()
    # Past every function above: as if only the list had been changed.
    await desk.write(members.unbind, someone(USER), AGENT, at_ms=desk.clock.now().wall_ms)
    await desk.connect()
    assert await kinds(desk) == ["tombstone"]
    task = await desk.task()
    assert (task.reason, task.presumed) == (Reason.REFUSED, 0)
    assert "never reached" in (await desk.said())[-1]


async def test_whoever_still_may_ask_is_delivered_on_return(desk: Desk) -> None:
    await desk.ask()
    await desk.connect()
    assert await kinds(desk) == ["task"]


async def test_a_task_that_has_ended_meanwhile_is_not_delivered_either(desk: Desk) -> None:
    await desk.connect()
    task = await desk.ask()
    await unbind(desk)
    (frame, *_) = await desk.mail()
    assert frame.header.typ == "tombstone"
    before = await desk.said()
    await desk.disconnect()
    await desk.connect()
    assert (await desk.task()).reason is Reason.REFUSED
    assert await desk.said() == before, f"{task.short_id} was told already"
