"""Trying a change out first: a task of its own, asked, sealed and approved like every command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common.errors import InputError, StateError
from common.model.state import FINAL, Reason
from local_agent.flow.approvals import PendingApproval
from local_agent.settings import AgentSettings
from local_agent.store.endings import read_ending
from local_agent.store.tasks import Task
from tests.desk import Desk
from tests.unit.local_agent.flow.test_operations import DIFF, cut_off

pytestmark = pytest.mark.heavy


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with Desk(tmp_path) as opened:
        yield opened


async def change(desk: Desk) -> PendingApproval:
    return await desk.waiting(await desk.apply(DIFF))


async def check(desk: Desk, asked: PendingApproval) -> tuple[Task, PendingApproval]:
    task = await desk.engine.check(asked.approval_id, asked.digest)
    return task, await desk.waiting(task.task_id)


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P2")
async def test_a_check_has_an_approval_of_its_own_and_names_the_change(desk: Desk) -> None:
    asked = await change(desk)
    task, waits = await check(desk, asked)
    assert (task.source, task.channel, task.checks) == ("local_ui", "check", asked.approval_id)
    assert waits.seal.action == "run_command"
    assert waits.seal.payload["argv"] == ["pytest", "-q"]
    assert waits.seal.payload["copy"] == {
        "approval_id": asked.approval_id,
        "short_id": asked.short_id,
        "diff_sha256": asked.seal.payload["diff_sha256"],
    }
    assert desk.executor.ran == []
    assert desk.copies.made == {task.task_id}
    await desk.decide(waits)
    ended = await desk.until(task.task_id, *FINAL)
    assert ended.reason is Reason.COMPLETED
    assert [grant.digest for grant in desk.executor.ran] == [waits.digest]
    assert desk.applier.ran == []
    assert asked in await desk.gate.pending(), "the change still waits"


async def test_when_a_check_has_ended_its_copy_is_gone_and_it_is_told(desk: Desk) -> None:
    told: list[str] = []
    desk.engine.on_checked = told.append
    asked = await change(desk)
    task, waits = await check(desk, asked)
    carried = next(one for one in desk.engine._carried.values() if task.task_id in one.get_name())
    await desk.decide(waits, "reject")
    await carried
    assert (await desk.task(task.task_id)).reason is Reason.REJECTED
    assert (desk.copies.made, told) == (set(), [asked.approval_id])


async def test_one_check_at_a_time(desk: Desk) -> None:
    asked = await change(desk)
    first, waits = await check(desk, asked)
    again = await desk.engine.check(asked.approval_id, asked.digest)
    assert again.task_id == first.task_id
    await desk.decide(waits, "reject")
    await desk.until(first.task_id, *FINAL)
    third, _ = await check(desk, asked)
    assert third.task_id != first.task_id


@pytest.mark.parametrize("how", ["decided", "narrowed", "cancelled"])
async def test_a_check_ends_when_its_change_no_longer_waits(desk: Desk, how: str) -> None:
    asked = await change(desk)
    task, _ = await check(desk, asked)
    if how == "decided":
        await desk.decide(asked, "reject")
    elif how == "narrowed":
        await desk.engine.narrow(asked.approval_id, asked.digest, ("src/notes.md",))
    else:
        await desk.engine.cancel(asked.task_id)
    ended = await desk.until(task.task_id, *FINAL)
    assert ended.reason is Reason.CANCELLED
    assert desk.executor.ran == []


async def test_a_check_that_runs_is_stopped_when_the_change_is_approved(desk: Desk) -> None:
    desk.executor.may_end.clear()
    asked = await change(desk)
    task, waits = await check(desk, asked)
    await desk.decide(waits)
    await desk.executor.started.wait()
    await desk.decide(asked)
    assert (await desk.until(task.task_id, *FINAL)).reason is Reason.CANCELLED
    assert (await desk.until(asked.task_id, *FINAL)).reason is Reason.COMPLETED


@pytest.mark.requirement("P2")
async def test_a_check_of_a_change_that_was_decided_meanwhile_is_not_run(desk: Desk) -> None:
    asked = await change(desk)
    task, waits = await check(desk, asked)
    await desk.kill()
    # Decided while nobody listened.
    await desk.open_journal()
    await desk.db.run(desk.db.journal.approvals.withdraw, asked.task_id)
    await desk.db.close()
    await desk.open()
    await desk.decide(waits)
    ended = await desk.until(task.task_id, *FINAL)
    assert ended.reason is Reason.DRIFTED
    assert desk.executor.ran == []


@pytest.mark.requirement("P3")
async def test_a_check_that_was_cut_off_is_unknown_and_leaves_no_copy(desk: Desk) -> None:
    asked = await change(desk)
    task, _ = await check(desk, asked)
    await cut_off(desk, task.task_id)
    assert (await desk.until(task.task_id, *FINAL)).reason is Reason.UNKNOWN
    assert desk.copies.made == set()
    assert asked.approval_id in {one.approval_id for one in await desk.gate.pending()}


async def test_a_check_that_waits_keeps_its_copy_over_a_restart(desk: Desk) -> None:
    asked = await change(desk)
    task, waits = await check(desk, asked)
    desk.copies.made.add("left-over")
    await desk.restart()
    assert desk.copies.made == {task.task_id}
    await desk.decide(waits)
    assert (await desk.until(task.task_id, *FINAL)).reason is Reason.COMPLETED


async def test_what_a_check_did_is_kept_and_no_file_is_listed(desk: Desk) -> None:
    task, waits = await check(desk, await change(desk))
    await desk.decide(waits)
    run = read_ending((await desk.until(task.task_id, *FINAL)).ending_json)["run"]
    assert (run["exit_code"], run["duration_ms"], run["files"]) == (0, 1500, None)


async def test_a_copy_that_cannot_be_made_ends_the_check_with_the_reason(desk: Desk) -> None:
    desk.copies.refusal = InputError("check.too-large", limit=1)
    asked = await change(desk)
    task = await desk.engine.check(asked.approval_id, asked.digest)
    ended = await desk.until(task.task_id, *FINAL)
    assert ended.reason is Reason.FAILED
    assert "too large" in (ended.summary or "")
    assert asked in await desk.gate.pending()


async def test_another_digest_begins_nothing(desk: Desk) -> None:
    asked = await change(desk)
    with pytest.raises(InputError) as caught:
        await desk.engine.check(asked.approval_id, "0" * 64)
    assert caught.value.code == "approval.digest-mismatch"


async def test_what_no_longer_waits_is_not_tried_out(desk: Desk) -> None:
    asked = await change(desk)
    await desk.decide(asked, "reject")
    with pytest.raises(StateError) as caught:
        await desk.engine.check(asked.approval_id, asked.digest)
    assert caught.value.code == "approval.not-pending"


async def test_a_command_is_no_change(desk: Desk) -> None:
    asked = await desk.waiting(await desk.ask("@dev test"))
    assert not desk.engine.can_check(asked.seal)
    with pytest.raises(StateError) as caught:
        await desk.engine.check(asked.approval_id, asked.digest)
    assert caught.value.code == "check.not-a-change"


@pytest.mark.parametrize(
    ("level", "command", "runs", "code"),
    [
        ("none", "pytest -q", True, "check.not-sandboxed"),
        ("bubblewrap", None, True, "check.no-command"),
        ("bubblewrap", "pytest -q", False, "check.runs-off"),
    ],
)
async def test_where_nothing_can_be_tried_out_it_is_not_offered(
    tmp_path: Path, level: str, command: str | None, runs: bool, code: str
) -> None:
    desk = Desk(tmp_path, test_command=command)
    desk.executor.level = level
    desk.settings = AgentSettings(allow_run_terminal=runs)
    async with desk:
        asked = await change(desk)
        assert not desk.engine.can_check(asked.seal)
        with pytest.raises(StateError) as caught:
            await desk.engine.check(asked.approval_id, asked.digest)
        assert caught.value.code == code


@pytest.mark.requirement("P7")
async def test_what_the_sandbox_lacks_is_no_failure_of_the_change(desk: Desk) -> None:
    asked = await change(desk)
    git = Path(asked.seal.workspace.path, ".git")
    await asyncio.to_thread(git.write_text, "gitdir: /elsewhere/.git/worktrees/shop\n", "utf-8")
    assert not await asyncio.to_thread(desk.engine.can_check, asked.seal)
    with pytest.raises(StateError) as caught:
        await desk.engine.check(asked.approval_id, asked.digest)
    assert caught.value.code == "check.no-git"


async def test_a_change_is_offered_to_be_tried_out_where_it_can(desk: Desk) -> None:
    seal = (await change(desk)).seal
    assert await asyncio.to_thread(desk.engine.can_check, seal)
