"""What is told of a run is so: what it began and left, and what it asks once files moved on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from common.model.state import FINAL, Reason
from local_agent.cli.playbook_run import ENDINGS
from local_agent.cli.show import STEP_STATUS
from local_agent.faces.control.playing import _listed, _row
from local_agent.faces.control.tasks import run_view
from local_agent.flow.standing import Standings
from tests.playing import (
    Carried,
    PlayingDesk,
    command,
    from_chat,
    gate,
    kinds,
    playing,
    step,
    write,
)

pytestmark = [pytest.mark.heavy, pytest.mark.requirement("P7")]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[PlayingDesk]:
    async with playing(tmp_path) as opened:
        yield opened


async def statuses(desk: PlayingDesk, carried: Carried) -> list[str]:
    """Return how each step stands, as terminal and page show it."""
    standing = await Standings(desk.db, desk.blobs).of(carried.run.run_id)
    view = run_view(await desk.task(carried.task_id), standing)
    assert view is not None
    assert {one.status for one in view.steps} <= STEP_STATUS.keys()
    return [one.status for one in view.steps]


async def begun(desk: PlayingDesk, carried: Carried) -> list[tuple[str, str, str | None]]:
    return [
        (one["action"], one["resource_id"], one["backup_path"])
        for one in (await desk.state(carried))["change_log"]
    ]


async def taken_back(desk: PlayingDesk, carried: Carried) -> list[str]:
    """Return what a rollback names as what cannot be taken back."""
    before = await desk.steps_of(carried)
    back = await desk.roll_back(carried)
    if any(one[2] or one[0] == "write_file" for one in await begun(desk, carried)):
        await desk.answer(back, nth=len(before))
    await desk.over(back)
    told = (await desk.told(back))[-1]["rollback_results"]
    return [one["resource_id"] for one in told if not one["success"]]


async def test_a_command_that_failed_is_in_the_log_and_named_by_a_rollback(
    desk: PlayingDesk,
) -> None:
    run = await desk.run_of(gate(), write("a", "1"), command("fails", "sh", "-c", "exit 3"))
    await desk.answer(run)
    await desk.over(run)
    failed = ("run_command", "sh -c exit 3", None)
    assert await begun(desk, run) == [("write_file", "a.txt", None), failed]
    assert await statuses(desk, run) == ["completed", "completed", "failed"]
    assert await taken_back(desk, run) == ["sh -c exit 3"]
    assert await desk.files() == {}


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("how", ["cancelled", "killed"])
@pytest.mark.parametrize("under_gate", [True, False])
async def test_a_command_that_was_cut_off_was_begun(
    desk: PlayingDesk, how: str, *, under_gate: bool
) -> None:
    lasts = command("lasts", "sh", "-c", "touch begun; exec sleep 60")
    run = await desk.run_of(*([gate()] if under_gate else []), lasts, write("later", "2"))
    await desk.answer(run)
    async with asyncio.timeout(5):
        while not await asyncio.to_thread((desk.place / "begun").exists):  # noqa: ASYNC110  # a file
            await asyncio.sleep(0.01)
    if how == "cancelled":
        await desk.engine.cancel(run.task_id)
    else:
        await desk.restart()
    await desk.until(run.task_id, *FINAL)
    await desk.until_state(run, "failed")
    assert await begun(desk, run) == [("run_command", "sh -c touch begun; exec sleep 60", None)]
    assert (await statuses(desk, run))[-2:] == ["interrupted", "pending"]
    for task in await desk.steps_of(run):
        assert "the others were not begun" not in (task.summary or ""), task.summary
    assert await taken_back(desk, run) == ["sh -c touch begun; exec sleep 60"]


async def test_what_was_begun_is_not_called_not_begun(desk: PlayingDesk) -> None:
    run = await desk.run_of(gate(), write("a", "1"), command("b", "false"), command("c", "true"))
    await desk.answer(run)
    await desk.over(run)
    (asked,) = await desk.steps_of(run)
    said = "1 of 3 steps were carried out; one was begun and did not complete; 1 was not begun."
    assert said in (asked.summary or "")


async def test_a_covered_command_whose_files_changed_asks_again(desk: PlayingDesk) -> None:
    run = await desk.run_of(
        gate(),
        command("make", "sh", "-c", "echo made > made.txt"),
        command("read", "cat", "made.txt"),
    )
    await desk.answer(run)
    asked = await desk.answer(run, nth=1)
    assert asked.seal.action == "run_command"
    task = await desk.over(run)
    assert task.reason is Reason.COMPLETED, task.summary
    events = await desk.told(run)
    assert [one["dynamic"] for one in events if one["type"] == "confirmation_required"] == [
        False, True,
    ]  # fmt: skip
    assert kinds(events)[-1] == "task_complete"


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_no_question_shows_what_is_code(desk: PlayingDesk, lang: str) -> None:
    run = await from_chat(desk, write("a", "1"), command("b", "true"), lang=lang)
    for nth in (0, 1):
        await desk.answer(run, nth=nth)
    await desk.until(run.task_id, *FINAL)
    said = [one["message"] for one in await desk.told(run) if "message" in one]
    words = ("writes a file", "runs a command") if lang == "en" else ("写入文件", "运行命令")
    assert len(said) == 2
    assert all(word in one and "Sentence" not in one for word, one in zip(words, said, strict=True))


@pytest.mark.requirement("R28")
async def test_a_run_counts_as_one_question_among_ten_an_hour(desk: PlayingDesk) -> None:
    run = await from_chat(desk, *(gate(f"gate-{nth}") for nth in range(12)))
    for nth in range(12):
        await desk.answer(run, nth=nth)
    task = await desk.until(run.task_id, *FINAL)
    assert task.reason is Reason.COMPLETED, task.summary
    journal = desk.db.journal
    (last,) = (await desk.steps_of(run))[-1:]
    assert await desk.db.run(journal.approvals.count_of_run, last.task_id) == 11
    asked = await desk.db.run(lambda: journal.approvals.newest_of(last.task_id))
    assert asked is not None
    count = journal.approvals.count_asked
    assert await desk.db.run(lambda: count(asked.gateway, 0, besides="")) == 1
    assert await desk.db.run(lambda: count(asked.gateway, 0, besides=last.task_id)) == 0


async def test_runs_and_tasks_say_the_same_of_one_that_was_cancelled(desk: PlayingDesk) -> None:
    run = await desk.run_of(gate())
    await desk.asked(run)
    await desk.engine.cancel(run.task_id)
    task = await desk.until(run.task_id, *FINAL)
    (row,) = await desk.db.run(_listed, desk.db.journal)
    told = _row(*row)
    assert (task.reason, told["status"], told["ended"]) == ("cancelled", "failed", "cancelled")
    assert ENDINGS[told["ended"]].en == "cancelled"


async def test_the_workspaces_own_test_command_is_run_as_any_command(desk: PlayingDesk) -> None:
    refused = await desk.run_of(step("test", "workspace_test"))
    assert "has no test command" in ((await desk.over(refused)).summary or "")
    entry = desk.shelf.entries[0]
    desk.shelf.entries[0] = replace(entry, test_command="echo tested && false || exit 4")
    run = await desk.run_of(gate(), step("test", "workspace_test"))
    asked = await desk.answer(run)
    (part,) = asked.seal.payload["steps"]
    assert part["payload"]["script"] == "echo tested && false || exit 4"
    assert "exit code 4" in ((await desk.over(run)).summary or "")
    assert await begun(desk, run) == [("workspace_test", part["payload"]["script"], None)]
    (gate_event,) = [one for one in await desk.told(run) if one["type"] == "confirmation_required"]
    assert gate_event["covers"][0]["what"] == "workspace_test"
