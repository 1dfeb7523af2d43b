"""Several machines of one member: which is asked, which is chosen, and what is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from common.model.state import Reason
from gateway.store import agents, members, tasks
from tests.gateway_desk import AGENT, MACHINE, Desk, open_desk
from tests.people import someone

OTHER = "agent-2"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        await desk.add_machine(OTHER, "dev-2")
        yield desk


async def asked(desk: Desk) -> list[str]:
    return [task.agent_id for task in reversed(await desk.tasks())]


@pytest.mark.requirement("P7")
async def test_nothing_is_sent_while_it_is_not_clear_which_machine_is_meant(desk: Desk) -> None:
    said = str(await desk.hear("@dev test"))
    assert all(part in said for part in ("dev-1, dev-2", "@dev use", "@dev on"))
    said = str(await desk.hear("@dev 跑测试"))
    assert all(part in said for part in ("dev-1、dev-2", "@dev 使用", "@dev 在"))
    assert await asked(desk) == []


async def test_a_chosen_machine_is_asked_from_then_on(desk: Desk) -> None:
    said = str(await desk.hear("@dev use dev-2"))
    assert "dev-2" in said.splitlines()[0]
    assert "not online yet" in said
    await desk.hear("@dev test")
    await desk.hear("@dev run the tests")
    assert await asked(desk) == [OTHER, OTHER]
    await desk.hear("@dev 使用 dev-1")
    await desk.hear("@dev test")
    assert await asked(desk) == [OTHER, OTHER, AGENT]


async def test_one_message_can_go_to_another_machine_without_its_name(desk: Desk) -> None:
    await desk.hear("@dev use dev-2")
    await desk.hear('@dev on DEV-1 test --cmd="a  B"')
    await desk.hear("@dev test")
    assert await asked(desk) == [AGENT, OTHER]
    assert [mail.body["text"] for mail in await desk.mail()] == ['@dev test --cmd="a  B"']


async def test_the_machines_and_the_chosen_one_are_listed(desk: Desk) -> None:
    await desk.connect()
    plain = str(await desk.hear("@dev machines")).splitlines()
    assert plain[:2] == ["dev-1: online", "dev-2: not online yet"]
    assert "@dev use" in plain[2]
    await desk.hear("@dev use dev-2")
    chosen = str(await desk.hear("@dev use")).splitlines()
    assert chosen[1].startswith("dev-2")
    assert "chosen" in chosen[1]
    assert "chosen" not in chosen[0]


async def test_a_member_without_machines_is_told_how_to_get_one(desk: Desk) -> None:
    await desk.add_member("li")
    for text in ("@dev machines", "@dev use dev-1", "@dev on dev-1 test", "@dev on"):
        assert "--member li" in str(await desk.hear(text, user="li"))


@pytest.mark.parametrize("text", ["@dev use dev-3", "@dev on dev-3 test", "@dev on the test"])
async def test_a_machine_of_that_name_that_is_not_there_is_refused(desk: Desk, text: str) -> None:
    assert "dev-1, dev-2" in str(await desk.hear(text))
    assert await asked(desk) == []


async def test_anothers_machine_does_not_exist(desk: Desk) -> None:
    await desk.add_member("li")
    await desk.add_machine("agent-3", "li-1", user="li")
    assert "“li-1”" in str(await desk.hear("@dev on li-1 test"))
    assert await asked(desk) == []


async def test_a_beginning_is_enough_where_only_one_machine_has_it(desk: Desk) -> None:
    await desk.add_machine("agent-3", "dev-22")
    await desk.add_machine("agent-4", "laptop")
    await desk.hear("@dev on lap test")
    assert await asked(desk) == ["agent-4"]
    assert "dev-2, dev-22" not in str(await desk.hear("@dev on dev-2 test"))
    assert await asked(desk) == ["agent-4", OTHER], "a whole name is no beginning"
    assert "dev-1, dev-2, dev-22" in str(await desk.hear("@dev on dev test"))
    assert await asked(desk) == ["agent-4", OTHER]


@pytest.mark.requirement("P7")
async def test_a_chosen_machine_that_is_gone_is_never_silently_another_one(desk: Desk) -> None:
    await desk.hear("@dev use dev-2")
    await desk.write(agents.revoke, "dev-2", at_ms=desk.clock.now().wall_ms)
    said = str(await desk.hear("@dev test"))
    assert "dev-2" in said
    assert await asked(desk) == []
    await desk.hear("@dev test")
    assert await asked(desk) == [AGENT], "it was said; the next message goes on with what is left"


async def test_a_choice_outlives_a_new_key_of_that_machine(desk: Desk) -> None:
    await desk.hear("@dev use dev-2")
    at_ms = desk.clock.now().wall_ms
    await desk.write(agents.revoke, "dev-2", at_ms=at_ms)
    await desk.add_machine("agent-9", "dev-2")
    assert "chosen" in str(await desk.hear("@dev machines"))
    await desk.hear("@dev test")
    assert await asked(desk) == ["agent-9"]


async def test_a_machine_may_work_for_several_members(desk: Desk) -> None:
    await desk.add_member("li")
    at_ms = desk.clock.now().wall_ms
    assert await desk.write(members.bind, someone("li"), AGENT, at_ms=at_ms)
    assert not await desk.write(members.bind, someone("li"), AGENT, at_ms=at_ms)
    await desk.hear("@dev test", user="li")
    assert await asked(desk) == [AGENT]
    assert (await desk.task()).user_id == "li"


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(
    ("text", "example"),
    [
        ("@dev on", "“@dev on dev-1 test”"),
        ("@dev on dev-2", "“@dev on dev-2 test”"),
        ("@dev on dev-2 on", "“@dev on dev-2 test”"),
        ("@dev 在 dev-2", "“@dev 在 dev-2 测试”"),
    ],
)
async def test_without_a_request_the_machines_are_listed_and_how_to_ask_one(
    desk: Desk, text: str, example: str
) -> None:
    head, *machines, how = str(await desk.hear(text)).splitlines()
    assert example in head
    assert [line.partition("：" if "在" in text else ":")[0] for line in machines] == [
        "dev-1",
        "dev-2",
    ]
    assert "@dev" in how
    assert await asked(desk) == []


# -- one short ID on two machines ------------------------------------------------------------


async def twins(desk: Desk) -> str:
    """Give both machines an open task of the same short ID, and return it."""
    await desk.hear("@dev on dev-1 test")
    task = await desk.task()
    twin = replace(task, task_id="task-2", agent_id=OTHER, text="@dev search x")
    await desk.write(tasks.create, twin)
    return task.short_id


async def test_an_id_on_two_machines_is_refused_and_both_are_listed(desk: Desk) -> None:
    short_id = await twins(desk)
    lines = str(await desk.hear(f"@dev cancel {short_id}")).splitlines()
    assert len(lines) == 3
    assert any("dev-1" in line for line in lines[1:])
    assert any("dev-2" in line for line in lines[1:])
    assert [task.reason for task in await desk.tasks()] == [None, None]


async def test_the_name_of_the_machine_says_which_one_is_meant(desk: Desk) -> None:
    short_id = await twins(desk)
    await desk.hear(f"@dev on dev-1 cancel {short_id}")
    reasons = {task.agent_id: task.reason for task in await desk.tasks()}
    assert reasons == {AGENT: Reason.CANCELLED, OTHER: None}
    assert "dev-2" in str(await desk.hear(f"@dev cancel {short_id}")), "only one is open by now"


async def test_a_command_about_an_id_on_two_machines_is_refused(desk: Desk) -> None:
    short_id = await twins(desk)
    said = str(await desk.hear(f"@dev apply {short_id}"))
    assert "dev-1, dev-2" in said
    assert len(await desk.tasks()) == 2


async def test_status_of_an_id_on_two_machines_shows_both(desk: Desk) -> None:
    short_id = await twins(desk)
    said = str(await desk.hear(f"@dev status {short_id}"))
    assert {line.split(" · ")[1] for line in said.splitlines()} == {"dev-1", "dev-2"}


async def test_status_and_cancel_on_one_machine_are_of_that_machine(desk: Desk) -> None:
    await desk.hear("@dev on dev-1 test")
    (first,) = await desk.tasks()
    await desk.hear("@dev on dev-2 test")
    said = str(await desk.hear("@dev on dev-1 status"))
    assert said.splitlines()[0] == "dev-1: not online yet"
    assert first.short_id in said
    assert len(said.splitlines()) == 2
    await desk.hear("@dev on dev-1 cancel")
    reasons = {task.agent_id: task.reason for task in await desk.tasks()}
    assert reasons == {AGENT: Reason.CANCELLED, OTHER: None}


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(
    ("said", "left"),
    [("@dev 取消全部", 0), ("@dev cancel everything", 0), ("@dev on dev-1 stop all", 1)],
)
async def test_all_of_ones_own_tasks_are_cancelled_at_once(
    desk: Desk, said: str, left: int
) -> None:
    for machine in ("dev-1", "dev-1", "dev-2"):
        await desk.hear(f"@dev on {machine} test")
    told = str(await desk.hear(said)).splitlines()
    found = await desk.tasks()
    assert len(told) == 3 - left
    assert [task.reason for task in found].count(Reason.CANCELLED) == 3 - left
    assert [task.agent_id for task in found if task.reason is None] == [OTHER] * left


async def test_cancel_all_without_an_open_task_says_so(desk: Desk) -> None:
    assert await desk.hear("@dev 全部取消") == await desk.hear("@dev 取消")


async def test_an_id_that_is_on_another_machine_is_not_there(desk: Desk) -> None:
    await desk.hear("@dev on dev-1 test")
    task = await desk.task()
    said = str(await desk.hear(f"@dev on dev-2 cancel {task.short_id}"))
    assert "dev-2" in said
    assert (await desk.task()).reason is None


# -- offline ---------------------------------------------------------------------------------


@pytest.mark.requirement("P7")
async def test_offline_tells_since_when_until_when_and_how_to_take_it_back(desk: Desk) -> None:
    await desk.connect()
    desk.clock.advance(2 * 3_600)
    await desk.disconnect()
    said = str(await desk.hear("@dev on dev-1 test"))
    task = await desk.task()
    for part in (MACHINE, "14:00", task.short_id, "22:00", f"@dev cancel {task.short_id}"):
        assert part in said
    said = str(await desk.hear("@dev 在 dev-1 上跑测试"))
    newest = (await desk.tasks())[0]
    assert f"@dev 取消 {newest.short_id}" in said
