"""Help, status, and words that only sound like power."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pygit2
import pytest

from common.model.state import FINAL, Reason, TaskState
from tests.desk import WITHIN_S, Desk

pytestmark = pytest.mark.heavy


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with Desk(tmp_path) as opened:
        yield opened


async def said(desk: Desk, text: str, **changes: object) -> str:
    task = await desk.done(text, **changes)
    assert task.reason is Reason.COMPLETED
    return task.summary or ""


async def declined(desk: Desk, text: str) -> str:
    task = await desk.done(text)
    assert (task.state, task.reason) == (TaskState.REJECTED, Reason.REFUSED)
    return task.summary or ""


@pytest.mark.parametrize("text", ["@dev help", "@dev", "what can you do"])
async def test_help_lists_the_commands(desk: Desk, text: str) -> None:
    assert "@dev test" in await said(desk, text)


async def test_the_status_tells_what_waits_how_long_and_where_it_would_run(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    await desk.waiting(task_id)
    desk.clock.advance(3600)
    status = await said(desk, "@dev status")
    task = await desk.task(task_id)
    until = datetime.fromtimestamp(desk.clock.now().wall_s + 23 * 3600).astimezone()
    assert f"{task.short_id} · waiting for approval at the machine until" in status
    assert f"{until:%H:%M} on its clock" in status
    assert "shop (tests: `pytest -q`)" in status
    assert "bubblewrap" in status


async def test_the_status_of_an_idle_machine_without_a_workspace(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.executor.level = "none"
    desk.shelf.entries.clear()
    async with desk:
        status = await said(desk, "@dev 状态", lang="zh")
        assert "你没有未完成的任务" in status
        assert "尚未添加" in status
        assert "未隔离" in status


async def test_a_workspace_without_a_test_command_is_said_to_have_none(tmp_path: Path) -> None:
    async with Desk(tmp_path, test_command=None) as desk:
        assert "no test command" in await said(desk, "@dev status")


@pytest.mark.requirement("P4")
async def test_where_nothing_is_told_unreleased_the_status_tells_nothing_of_the_workspace(
    desk: Desk,
) -> None:
    folder = desk.shelf.entries[0].path
    repository = pygit2.init_repository(str(folder), initial_head="deal/acme")
    who = pygit2.Signature("Zhang", "z@example.com")
    tree = repository.index.write_tree()
    repository.create_commit("HEAD", who, who, "one", tree, [])
    assert "deal/acme" in await said(desk, "@dev status")
    desk.shelf.entries[0] = replace(desk.shelf.entries[0], disclosure="ask")
    told = await said(desk, "@dev status")
    assert "shop" in told
    assert "deal/acme" not in told
    assert "pytest" not in told
    assert "deal/acme" in await said(desk, "status", source="local_ui", claimed_user="root")


async def test_a_running_task_is_running(desk: Desk) -> None:
    desk.executor.may_end.clear()
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    async with asyncio.timeout(WITHIN_S):
        await desk.executor.started.wait()
    assert "· running ·" in await said(desk, "@dev status")
    desk.executor.may_end.set()
    await desk.until(task_id, *FINAL)


async def test_many_open_tasks_are_counted_not_listed(desk: Desk) -> None:
    journal = desk.db.journal.tasks
    from tests.sealed import Wish

    for number in range(13):
        wish = Wish(task_id=f"open-{number}", short_id=f"T-0A{number:02}")
        await desk.db.run(journal.create, wish, desk.clock.now().wall_ms)
    assert "3 more" in await said(desk, "@dev status")


async def test_one_task_can_be_asked_for_by_its_id(desk: Desk) -> None:
    ended = await desk.done("@dev help")
    assert "ended: completed" in await said(desk, f"@dev status {ended.short_id}")


@pytest.mark.requirement("P4")
async def test_a_member_sees_their_own_tasks_alone(desk: Desk) -> None:
    mine, others = await desk.ask("@dev test"), await desk.ask("@dev test", claimed_user="li")
    await desk.waiting(mine)
    await desk.waiting(others)
    my_id = (await desk.task(mine)).short_id
    other_id = (await desk.task(others)).short_id
    status = await said(desk, "@dev status")
    assert my_id in status
    assert other_id not in status
    assert "No task" in await said(desk, f"@dev status {other_id}")
    assert "No task" in await said(desk, "@dev status T-ZZZZ")
    at_the_machine = await said(desk, "status", source="local_ui", claimed_user="root")
    assert my_id in at_the_machine
    assert other_id in at_the_machine


@pytest.mark.requirement("P4")
async def test_no_claim_of_a_gateway_makes_a_task_of_this_machine_its_own(desk: Desk) -> None:
    here = await desk.ask("@dev test", source="local_ui", channel="terminal", claimed_user="me")
    await desk.waiting(here)
    local_id = (await desk.task(here)).short_id
    claimed = {"channel": "terminal", "claimed_user": "me"}
    assert local_id not in await said(desk, "@dev status", **claimed)
    assert "No task" in await said(desk, f"@dev status {local_id}", **claimed)
    undo = await desk.done(f"@dev undo {local_id}", **claimed)
    assert undo.reason is Reason.REFUSED
    assert "No task" in (undo.summary or "")


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("words", ["approve {}", "批准 {}", "@dev apply {}", "yes"])
async def test_the_chat_cannot_approve_and_is_told_where_it_happens(desk: Desk, words: str) -> None:
    task_id = await desk.ask("@dev test")
    await desk.waiting(task_id)
    short_id = (await desk.task(task_id)).short_id
    answer = await declined(desk, words.format(short_id))
    assert "codexbridge approve" in answer
    assert short_id in answer
    assert (await desk.task(task_id)).state is TaskState.WAITING_APPROVAL
    assert desk.executor.ran == []


async def test_where_nothing_waits_there_is_nothing_to_apply(desk: Desk) -> None:
    answer = await declined(desk, "@dev apply")
    assert "no change to apply" in answer
    assert "model" not in answer


@pytest.mark.parametrize("text", ["@dev cancel", "reject", "拒绝"])
async def test_a_no_without_an_id_is_told_how_to_cancel(desk: Desk, text: str) -> None:
    assert "cancel" in await declined(desk, text)


@pytest.mark.parametrize("text", ["@dev machines", "@dev on dev-2 test"])
async def test_which_machine_is_asked_is_told_in_the_chat(desk: Desk, text: str) -> None:
    assert "@dev use NAME" in await declined(desk, text)


async def test_plain_words_that_are_switched_off_get_the_commands(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    off = desk.settings.nl.model_copy(update={"enable": False})
    desk.settings = desk.settings.model_copy(update={"nl": off})
    async with desk:
        answer = await declined(desk, "@dev run the tests")
        assert "switched off" in answer
        assert "@dev test" in answer
        assert "why does" not in answer
        assert "why does" not in await said(desk, "@dev help")


async def test_the_status_tells_the_branch_and_how_much_differs(
    desk: Desk,
) -> None:
    workspace = desk.shelf.entries[0].path
    assert "Branch" not in await said(desk, "@dev status")
    pygit2.init_repository(str(workspace), initial_head="feature/login")
    (workspace / "new.py").write_text("x = 1\n", encoding="utf-8")
    assert "Branch feature/login, " in await said(desk, "what is the current branch?")


async def test_another_prefix_is_used_throughout(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.settings = desk.settings.model_copy(update={"prefix": "@bot"})
    desk.shelf.entries = [replace(desk.shelf.entries[0], test_command=None)]
    async with desk:
        assert "@bot test" in await declined(desk, "@bot test")


@pytest.mark.parametrize("text", ["@dev thanks!", "@dev 谢谢"])
async def test_small_talk_gets_one_line(desk: Desk, text: str) -> None:
    assert len((await said(desk, text)).splitlines()) == 1


async def test_small_talk_while_something_waits_is_told_where_to_approve(desk: Desk) -> None:
    await desk.waiting(await desk.ask("@dev test"))
    assert "codexbridge approve" in await said(desk, "@dev ok thanks")


async def test_a_mistyped_command_is_asked_about(desk: Desk) -> None:
    assert "`@dev apply`" in await declined(desk, "@dev aply")


@pytest.mark.parametrize("text", ["the thing with the stuff", "run it maybe", "push maybe"])
async def test_what_is_not_clear_is_asked_back_with_two_meanings(desk: Desk, text: str) -> None:
    told = (await declined(desk, f"@dev {text}")).splitlines()
    assert len(told) == 3
    assert all("`@dev " in row for row in told[1:])


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(
    ("text", "zh"),
    [
        *[(text, False) for text in ("deploy to production", "restart the server")],
        *[(text, True) for text in ("重启服务", "发邮件给客户说今晚停机")],
    ],
)
async def test_a_deed_that_is_not_offered_is_refused_in_one_line_that_says_what_is(
    desk: Desk, text: str, *, zh: bool
) -> None:
    task = await desk.done(text, lang="zh" if zh else "en")
    told = task.summary or ""
    assert (task.reason, "\n" in told) == (Reason.REFUSED, False)
    assert told.startswith("没有执行任何操作：" if zh else "Nothing was done: ")
    assert "npm test" in told


@pytest.mark.requirement("P7")
async def test_git_that_is_not_offered_is_refused_by_its_reason(desk: Desk) -> None:
    task = await desk.done("切到 dev 分支拉最新代码", lang="zh")
    assert "不拉取、不合并、不变基" in (task.summary or "")
    for text in ("merge PR 12", "rebase onto main", "open a pull request"):
        assert "Nothing is fetched, merged or rebased" in await declined(desk, text)
