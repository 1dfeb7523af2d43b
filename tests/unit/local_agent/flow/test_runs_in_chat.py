"""A run asked for from the chat: what members are told of it, and that its questions are not."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common.model.state import FINAL, Reason, TaskState
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace
from tests.desk import WITHIN_S, Desk
from tests.stepping import SteppingDesk

pytestmark = pytest.mark.heavy

NOTE = """---
name: note
trigger_keywords: [leave a note]
steps:
  - {name: look, type: tool, tool: list_files, args: {glob: "*"}}
  - {name: ask, type: gate, message_template: "Write it?"}
  - {name: write, type: tool, tool: write_file, args: {path: a.txt, content: "one"}}
---
Leaves a note.
"""
HOOKED = """---
name: hooked
hooks: {pre: ready}
steps:
  - {name: look, type: tool, tool: list_files, args: {glob: "*"}}
---
"""
HOOK = """---
name: ready
steps:
  - {name: begin, type: tool, tool: write_file, args: {path: b.txt, content: "two"}}
  - {name: verify, type: tool, tool: read_file, args: {path: nowhere.txt}}
---
"""


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[SteppingDesk]:
    folder = tmp_path / "config" / "playbooks"
    folder.mkdir(mode=0o700, parents=True)
    (folder / "hooks").mkdir(mode=0o700)
    for name, text in {"note": NOTE, "hooked": HOOKED, "hooks/ready": HOOK}.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
        (folder / f"{name}.md").chmod(0o600)
    (tmp_path / "project").mkdir()
    async with SteppingDesk(tmp_path) as opened:
        yield opened


async def question_of(desk: Desk, run: str) -> Task:
    """Wait until a run asks, and return the task that does."""
    async with asyncio.timeout(WITHIN_S):
        while True:
            tasks = await desk.db.run(desk.db.journal.tasks.open_tasks)
            found = [one for one in tasks if one.step is not None]
            if found and found[0].state is TaskState.WAITING_APPROVAL:
                (question,) = found
                assert question.run == (await desk.task(run)).run
                return question
            await asyncio.sleep(0.01)


@pytest.mark.requirement("P7")
async def test_the_status_names_the_run_with_its_step_and_not_its_question(
    desk: SteppingDesk,
) -> None:
    run_id = await desk.ask("@dev please leave a note")
    question = await question_of(desk, run_id)
    run = await desk.task(run_id)
    waits = (
        "playbook note, step 2 of 3 (ask), waits at the machine: "
        f"codexbridge approve {question.short_id}"
    )
    for text in ("@dev status", f"@dev status {question.short_id}", "@dev lgtm, approved"):
        said = (await desk.done(text)).summary or ""
        assert f"{run.short_id} · {waits}" in said
        assert f"\n{question.short_id} ·" not in said
    zh = (await desk.done("@dev 状态", lang="zh")).summary or ""
    assert "剧本 note，第 2 步，共 3 步（ask）" in zh
    revised = await desk.done("@dev revise use longer names")
    assert question.short_id not in (revised.summary or "")
    await desk.decide(await desk.waiting(question.task_id))
    task = await desk.until(run_id, *FINAL)
    assert (task.reason, task.summary) == (Reason.COMPLETED, "Playbook note completed: 3 steps.")


@pytest.mark.requirement("P7")
async def test_a_run_that_is_stopped_says_what_stays_and_can_be_carried_on(
    desk: SteppingDesk,
) -> None:
    run_id = await desk.ask("@dev playbook note")
    question = await question_of(desk, run_id)
    await desk.engine.cancel(run_id)
    task = await desk.until(run_id, *FINAL)
    assert task.reason is Reason.CANCELLED
    assert "What its steps have done stays" in (task.summary or "")
    assert (await desk.until(question.task_id, *FINAL)).reason is Reason.CANCELLED
    (run,) = await desk.db.run(desk.db.journal.runs.recent)
    assert run.status == "failed"


@pytest.mark.requirement("P3")
async def test_after_a_restart_it_stands_still_and_asks_nothing(desk: SteppingDesk) -> None:
    run_id = await desk.ask("@dev playbook note")
    question = await question_of(desk, run_id)
    await desk.restart()
    task = await desk.until(run_id, *FINAL)
    assert task.reason is Reason.FAILED
    assert f"codexbridge playbook resume {task.short_id}" in (task.summary or "")
    assert (await desk.until(question.task_id, *FINAL)).reason is Reason.CANCELLED
    assert await desk.files() == {}


async def test_a_list_is_answered_without_a_workspace(desk: SteppingDesk) -> None:
    desk.shelf.entries.clear()
    task = await desk.done("@dev playbook")
    assert "- note “leave a note”  Leaves a note." in (task.summary or "")
    assert "- weekly-report “weekly report”  Weekly report" in (task.summary or "")
    zh = (await desk.done("@dev 剧本", lang="zh")).summary or ""
    assert "- weekly-report “周报” “本周总结”  根据提交写周报" in zh
    refused = await desk.done("@dev playbook note")
    assert refused.reason is Reason.REFUSED


@pytest.mark.requirement("P7")
async def test_a_hook_is_told_as_one_and_not_as_the_first_step(desk: SteppingDesk) -> None:
    run_id = await desk.ask("@dev playbook hooked")
    question = await question_of(desk, run_id)
    status = (await desk.done("@dev status")).summary or ""
    assert (
        f"a step of a hook, waits at the machine: codexbridge approve {question.short_id}" in status
    )
    await desk.decide(await desk.waiting(question.task_id))
    said = (await desk.until(run_id, *FINAL)).summary or ""
    assert "hook ready, step verify: There is no nowhere.txt" in said
    assert "look" not in said


@pytest.mark.requirement("P7")
async def test_the_chat_is_told_no_folder_of_the_machine(desk: SteppingDesk) -> None:
    run_id = await desk.ask("@dev playbook note")
    question = await question_of(desk, run_id)

    def link() -> None:
        (events,) = desk.folder.rglob("*.events.jsonl")
        os.link(events, desk.folder / "other")

    await asyncio.to_thread(link)
    await desk.decide(await desk.waiting(question.task_id))
    task = await desk.until(run_id, *FINAL)
    assert task.reason is Reason.FAILED
    assert str(desk.folder) not in (task.summary or "")
    assert ".events.jsonl" in (task.summary or "")


@pytest.mark.requirement("P3", "P7")
async def test_a_run_that_was_cut_off_says_so_whatever_workspace_is_the_first_by_then(
    desk: SteppingDesk,
) -> None:
    run_id = await desk.ask("@dev playbook note")
    await question_of(desk, run_id)
    await desk.kill()
    other = desk.folder / "other"
    await asyncio.to_thread(other.mkdir)
    desk.shelf.entries.insert(0, Workspace(name="other", path=other.resolve()))
    await desk.restart_killed()
    said = (await desk.until(run_id, *FINAL)).summary or ""
    assert "codexbridge playbook resume" in said
    assert str(desk.folder) not in said
