"""Runs of playbooks as tasks: what they ask, change and record, with real files and commands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from common.errors import InputError, StateError
from common.model.state import FINAL, Reason, TaskState
from local_agent.flow.run_log import RunRecord
from local_agent.flow.run_questions import BETWEEN_S
from local_agent.models.backend import Chosen, Reply
from tests.playing import PlayingDesk, agent, command, gate, kinds, playing, results, step, write
from tests.scripted_model import ScriptedModel
from tests.scripted_run import check_grammar

pytestmark = pytest.mark.heavy


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[PlayingDesk]:
    async with playing(tmp_path) as opened:
        yield opened


async def ended(desk: PlayingDesk, carried: Any) -> tuple[Any, list[dict[str, Any]]]:
    """Return the task of a run when it has ended, and what the run told, of good form."""
    task = await desk.over(carried)
    told = await desk.told(carried)
    check_grammar(told)
    return task, told


# --- what a run does -------------------------------------------------------------------------


async def test_a_run_that_only_reads_asks_nobody(desk: PlayingDesk) -> None:
    """AC 7, 9, 18, 22-24, 27, 28."""
    await asyncio.to_thread(desk.write, "a.txt", "one\n")
    carried = await desk.run_of(step("read", "read_file", path="a.txt"))
    task, told = await ended(desk, carried)
    assert (task.reason, await desk.steps_of(carried)) == (Reason.COMPLETED, [])
    assert results(told) == {"read": {"path": "a.txt", "content": "one\n", "size": 4}}
    assert told[0]["workdir"] == str(desk.place.resolve())
    assert (told[0]["task_id"], told[0]["short_id"]) == (carried.run.run_id, task.short_id)
    state = await desk.state(carried)
    assert (state["status"], state["current_step"], state["change_log"]) == ("completed", 1, [])
    assert [one["step_name"] for one in state["steps_completed"]] == ["read"]
    assert (await desk.stored(carried)).status == "completed"


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P2")
async def test_a_gate_covers_two_changes_with_a_reading_step_between(desk: PlayingDesk) -> None:
    """AC 11, 26, 29-31: one question, and each change in its turn."""
    carried = await desk.run_of(
        gate(message="Write both?"),
        write("a", "one\n"),
        step("read", "read_file", path="a.txt"),
        write("b", "two\n"),
    )
    asked = await desk.asked(carried)
    assert await desk.files() == {}, "nothing is written before it is approved"
    assert [part["index"] for part in asked.seal.payload["steps"]] == [1, 3]
    await desk.decide(asked)
    task, told = await ended(desk, carried)
    assert task.reason is Reason.COMPLETED, task.summary
    assert await desk.files() == {"a.txt": "one\n", "b.txt": "two\n"}
    assert results(told)["read"]["content"] == "one\n"
    question = next(one for one in told if one["type"] == "confirmation_required")
    assert (question["message"], question["dynamic"]) == ("Write both?", False)
    assert [(one["step"], one["tool"]) for one in question["covers"]] == [
        ("a", "write_file"),
        ("b", "write_file"),
    ]
    assert [one.reason for one in await desk.steps_of(carried)] == [Reason.COMPLETED]
    entries = (await desk.state(carried))["change_log"]
    assert [(one["action"], one["resource_type"], one["resource_id"]) for one in entries] == [
        ("write_file", "file", "a.txt"),
        ("write_file", "file", "b.txt"),
    ]


@pytest.mark.requirement("P7")
async def test_a_step_that_ends_with_0_and_reports_failures_is_no_success(
    desk: PlayingDesk,
) -> None:
    short = "=== short test summary info ===\nFAILED a.py::b - x\n"
    text = f"..F [100%]\n{short}1 failed, 2 passed in 1s\n"
    await asyncio.to_thread(desk.write, "log.txt", text)
    carried = await desk.run_of(command("run", "cat", "log.txt"))
    await desk.answer(carried)
    task, told = await ended(desk, carried)
    assert task.reason is Reason.COMPLETED
    assert (task.summary or "").startswith("⚠ ")
    assert "✓" not in (task.summary or "")
    said = results(told)["run"]["reported"]
    assert said["en"] == "exit code 0, but pytest reports: 1 of 3 tests failed"
    (step_task,) = await desk.steps_of(carried)
    assert (step_task.summary or "").startswith(f"⚠ {said['en']}")


@pytest.mark.requirement("P1")
async def test_a_change_without_a_gate_is_a_question_of_its_own(desk: PlayingDesk) -> None:
    """AC 31."""
    carried = await desk.run_of(command("run", "echo", "hello"), write("a", "one\n"))
    first = await desk.answer(carried)
    second = await desk.answer(carried, nth=1)
    task, told = await ended(desk, carried)
    assert (task.reason, first.seal.action, second.seal.action) == (
        Reason.COMPLETED,
        "run_command",
        "apply_diff",
    )
    assert [one["dynamic"] for one in told if one["type"] == "confirmation_required"] == [True] * 2
    assert results(told)["run"] == {"exit_code": 0, "stdout": "hello\n", "stderr": ""}
    assert [one["resource_type"] for one in (await desk.state(carried))["change_log"]] == [
        "command",
        "file",
    ]


@pytest.mark.requirement("P2")
async def test_a_file_that_changed_after_the_gate_asks_again(desk: PlayingDesk) -> None:
    await asyncio.to_thread(desk.write, "b.txt", "old\n")
    carried = await desk.run_of(gate(), write("a", "one\n"), write("b", "two\n"))
    asked = await desk.asked(carried)
    await asyncio.to_thread(desk.write, "b.txt", "by hand\n")
    await desk.decide(asked)
    again = await desk.answer(carried, nth=1)
    task, told = await ended(desk, carried)
    assert (task.reason, again.seal.action) == (Reason.COMPLETED, "apply_diff")
    assert [one["dynamic"] for one in told if one["type"] == "confirmation_required"] == [
        False,
        True,
    ]
    assert await desk.files() == {"a.txt": "one\n", "b.txt": "two\n"}
    first, _ = await desk.steps_of(carried)
    assert (first.reason, first.state in FINAL) == (Reason.CANCELLED, True)


@pytest.mark.requirement("P2")
async def test_what_cannot_be_done_any_more_when_it_is_looked_at_fails_and_says_why(
    desk: PlayingDesk,
) -> None:
    await asyncio.to_thread(desk.write, "d/a.txt", "old\n")
    carried = await desk.run_of(write("a", "new\n", path="d/a.txt"))
    asked = await desk.asked(carried)
    await asyncio.to_thread(lambda: (desk.place / "d").rename(desk.place / "e"))
    await asyncio.to_thread(desk.write, "d", "a file by now\n")
    await desk.engine.refresh(asked.task_id)
    task, told = await ended(desk, carried)
    assert task.reason is Reason.FAILED
    (result,) = (one for one in told if one["type"] == "gate_result")
    assert result["confirmed"] is False
    assert told[-1]["status"] == "failed"
    assert "timeout" not in told[-1]["summary"]


async def test_a_covered_change_that_changes_nothing_leaves_the_others_covered(
    desk: PlayingDesk,
) -> None:
    await asyncio.to_thread(desk.write, "a.txt", "same\n")
    carried = await desk.run_of(gate(), write("a", "same\n"), write("b", "two\n"))
    asked = await desk.answer(carried)
    task, told = await ended(desk, carried)
    assert [part["index"] for part in asked.seal.payload["steps"]] == [2]
    assert (task.reason, len(await desk.steps_of(carried))) == (Reason.COMPLETED, 1)
    assert results(told)["a"]["size"] == 5


@pytest.mark.requirement("R22")
async def test_an_approval_that_lay_too_long_between_two_steps_asks_again(
    desk: PlayingDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(*_: Any) -> Any:
        desk.clock.advance(BETWEEN_S + 1)
        return {}

    monkeypatch.setattr("local_agent.playbooks.toolbox.Toolbox.read", slow)
    carried = await desk.run_of(
        gate(), write("a", "1\n"), step("slow", "git_status"), write("b", "2\n")
    )
    await desk.answer(carried)
    await desk.answer(carried, nth=1)
    task, told = await ended(desk, carried)
    assert (task.reason, await desk.files()) == (
        Reason.COMPLETED,
        {"a.txt": "1\n", "b.txt": "2\n"},
    )
    assert kinds(told).count("confirmation_required") == 2


async def test_the_model_speaks_and_its_words_reach_a_file(desk: PlayingDesk) -> None:
    """AC 10, 13, 25."""
    desk.chosen = Chosen(ScriptedModel([Reply("a note ")]))
    carried = await desk.run_of(
        agent("say"),
        step("note", "write_file", path="n.txt", args_from={"content": "say.result.text"}),
    )
    await desk.answer(carried)
    task, told = await ended(desk, carried)
    assert (task.reason, await desk.files()) == (Reason.COMPLETED, {"n.txt": "a note "})
    assert "".join(one["chunk"] for one in told if one["type"] == "stream") == "a note "
    assert "a note" in (task.summary or "")


async def test_without_a_model_what_needs_one_is_not_begun(desk: PlayingDesk) -> None:
    with pytest.raises(InputError) as refused:
        await desk.run_of(step("look", "git_status"), agent("say"))
    assert (refused.value.code, refused.value.facts["step"]) == ("playbook.needs-model", 2)


async def test_without_a_model_a_step_of_it_fails_at_once(desk: PlayingDesk) -> None:
    carried = await desk.run_of(write("a.txt", "one"), agent("say"))
    await desk.answer(carried)
    task, told = await ended(desk, carried)
    assert (task.reason, kinds(told).count("step_retry")) == (Reason.FAILED, 0)


async def test_hooks_are_asked_recorded_and_undone_like_steps(desk: PlayingDesk) -> None:
    """AC 14-17."""
    await asyncio.to_thread(desk.hook, "before", write("p", "pre\n"))
    await asyncio.to_thread(desk.hook, "after", write("q", "post\n"))
    carried = await desk.run_of(
        step("read", "list_files", glob="*.txt"), hooks={"pre": ["before"], "post": "after"}
    )
    await desk.answer(carried)
    await desk.answer(carried, nth=1)
    task, told = await ended(desk, carried)
    assert (task.reason, results(told)["read"]) == (Reason.COMPLETED, {"files": ["p.txt"]})
    assert await desk.files() == {"p.txt": "pre\n", "q.txt": "post\n"}
    state = await desk.state(carried)
    assert [one["resource_id"] for one in state["change_log"]] == ["p.txt", "q.txt"]


# --- what ends it ----------------------------------------------------------------------------


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("steps", [(gate(), write("a", "x")), (write("a", "x"),)])
async def test_a_denial_ends_it_and_a_resume_asks_again(
    desk: PlayingDesk, steps: tuple[Any, ...]
) -> None:
    carried = await desk.run_of(*steps)
    await desk.answer(carried, "reject")
    task, told = await ended(desk, carried)
    assert (task.state, await desk.files()) == (TaskState.FAILED, {})
    assert [one["reason"] for one in told if one["type"] == "gate_result"] == ["denied"]
    assert (told[-1]["status"], told[-1]["summary"]) == (
        "aborted",
        f"step {steps[0]['name']}: denied",
    )
    state = await desk.state(carried)
    assert (state["status"], state["current_step"]) == ("failed", 0)
    assert [one.reason for one in await desk.steps_of(carried)] == [Reason.REJECTED]
    again = await desk.resume(carried)
    await desk.answer(again, nth=1)
    task = await desk.over(again)
    assert (task.reason, await desk.files()) == (Reason.COMPLETED, {"a.txt": "x"})
    assert (await desk.told(again))[len(told)]["resumed"] is True


@pytest.mark.requirement("P1")
async def test_a_question_that_nobody_answers_ends_it_and_cannot_be_approved_later(
    desk: PlayingDesk,
) -> None:
    """AC 36."""
    carried = await desk.run_of(gate(), write("a", "x"), timeout_s=0.2)
    asked = await desk.asked(carried)
    task, told = await ended(desk, carried)
    assert (task.state, told[-1]["summary"]) == (TaskState.FAILED, "step gate: timeout")
    with pytest.raises(StateError, match="approval"):
        await desk.decide(asked)
    (question,) = await desk.steps_of(carried)
    assert (question.state in FINAL, await desk.files()) == (True, {})


async def test_a_command_that_fails_ends_it_and_takes_back_what_was_left_of_the_gate(
    desk: PlayingDesk,
) -> None:
    """AC 34."""
    carried = await desk.run_of(gate(), write("a", "x"), command("no", "false"), write("b", "y"))
    await desk.answer(carried)
    task, told = await ended(desk, carried)
    assert (task.reason, await desk.files()) == (Reason.FAILED, {"a.txt": "x"})
    assert [one["success"] for one in told if one["type"] == "function_result"] == [True, False]
    state = await desk.state(carried)
    assert (state["status"], state["current_step"]) == ("failed", 2)
    assert [one["status"] for one in state["steps_completed"]] == [
        "completed",
        "completed",
        "failed",
    ]


@pytest.mark.requirement("P1")
async def test_cancelling_a_run_takes_its_question_back(desk: PlayingDesk) -> None:
    carried = await desk.run_of(gate(), write("a", "x"))
    asked = await desk.asked(carried)
    assert await desk.engine.cancel(carried.task_id)
    task, told = await ended_anyhow(desk, carried)
    assert (task.reason, told[-1]["status"]) == (Reason.CANCELLED, "aborted")
    with pytest.raises(StateError, match="approval"):
        await desk.decide(asked)
    assert all(one.state in FINAL for one in await desk.steps_of(carried))
    assert (await desk.stored(carried)).status == "failed"


async def ended_anyhow(desk: PlayingDesk, carried: Any) -> tuple[Any, list[dict[str, Any]]]:
    task = await desk.over(carried)
    told = await desk.told(carried)
    assert kinds(told).count("task_complete") == 1
    return task, told


async def test_cancelling_a_run_ends_the_command_that_it_runs(desk: PlayingDesk) -> None:
    carried = await desk.run_of(command("wait", "sleep", "60"))
    await desk.answer(carried)
    (question,) = await desk.steps_of(carried)
    await desk.until(question.task_id, TaskState.EXECUTING)
    assert await desk.engine.cancel(carried.task_id)
    task, _ = await ended_anyhow(desk, carried)
    (question,) = await desk.steps_of(carried)
    assert (task.reason, question.reason) == (Reason.CANCELLED, Reason.CANCELLED)


async def test_the_agent_ends_while_a_run_waits(desk: PlayingDesk) -> None:
    carried = await desk.run_of(gate(), write("a", "x"))
    await desk.asked(carried)
    async with asyncio.timeout(5):
        await desk.engine.close()
    assert kinds(await desk.told(carried))[-1] in ("task_complete", "confirmation_required")


async def test_steps_tell_the_gateway_nothing_and_the_run_says_where_it_waits(
    desk: PlayingDesk,
) -> None:
    """Contract, section 5: a run that was asked for in the chat says there that it waits here."""
    await asyncio.to_thread(desk.playbook, gate(), write("a", "x"))
    task_id = await desk.ask("@dev playbook demo with words")
    run = await until_run(desk, task_id)
    await desk.asked(run)
    told = ""
    async with asyncio.timeout(5):  # the report comes after the question
        while "waits for a decision on dev-machine-1" not in told:
            await asyncio.sleep(0)
            told = json.dumps(await desk.reports())
    await desk.answer(run)
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, run.run.message) == (Reason.COMPLETED, "with words")
    reports = await desk.reports()
    assert {one.get("task_id", task_id) for one in reports} == {task_id}
    assert all(one.task_id not in told for one in await desk.steps_of(run))


async def until_run(desk: PlayingDesk, task_id: str) -> Any:
    from tests.playing import Carried

    async with asyncio.timeout(30):
        with desk.bus.read(task_id=task_id) as events:
            while (run := await desk.db.run(desk.db.journal.runs.of_task, task_id)) is None:
                await anext(events)
    return Carried(run, task_id)


async def nothing(*_: Any) -> None:
    """Stand for what a process that is killed does not do any more."""


# --- restarts and resumes --------------------------------------------------------------------


@pytest.mark.requirement("R68")
async def test_after_a_restart_a_run_stands_still_and_its_question_is_stale(
    desk: PlayingDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    carried = await desk.run_of(write("a", "one\n"), gate(), write("b", "two\n"))
    await desk.answer(carried)
    asked = await desk.asked(carried, nth=1)
    with monkeypatch.context() as killed:
        killed.setattr(RunRecord, "cut_off", nothing)
        await desk.kill()
    assert (await desk.state(carried))["status"] == "running"
    await desk.restart_killed()
    task = await desk.over(carried)
    assert "playbook resume" in (task.summary or "")
    for question in await desk.steps_of(carried):
        await desk.until(question.task_id, *FINAL)
    with pytest.raises(StateError, match="approval"):
        await desk.decide(asked)
    assert await desk.files() == {"a.txt": "one\n"}
    assert (await desk.stored(carried)).status == "failed"
    await desk.until_state(carried, "failed")
    again = await desk.resume(carried)
    await desk.answer(again, nth=2)
    assert (await desk.over(again)).reason is Reason.COMPLETED
    assert await desk.files() == {"a.txt": "one\n", "b.txt": "two\n"}
    told = await desk.told(again)
    starts = [one["step"] for one in told if one["type"] == "step_start"]
    assert starts == ["a", "gate", "gate", "b"]
    assert len((await desk.state(again))["change_log"]) == 2


async def test_a_resume_has_large_results_whole_and_renders_them_short(desk: PlayingDesk) -> None:
    await asyncio.to_thread(desk.write, "big.txt", "x" * 100_000)
    carried = await desk.run_of(
        step("read", "read_file", path="big.txt"),
        step("copy", "write_file", path="copy.txt", args_from={"content": "read.result.content"}),
    )
    await desk.answer(carried, "reject")
    _, told = await ended(desk, carried)
    short = results(told)["read"]
    assert short["truncated"] is True
    whole = json.loads(await asyncio.to_thread(Path(short["result_path"]).read_text, "utf-8"))
    assert whole["content"] == "x" * 100_000
    before = (await desk.state(carried))["steps_completed"][0]
    again = await desk.resume(carried)
    await desk.answer(again, nth=1)
    assert (await desk.over(again)).reason is Reason.COMPLETED
    assert (await desk.files())["copy.txt"] == "x" * 100_000
    assert (await desk.state(again))["steps_completed"][0] == before


async def test_a_run_is_resumed_as_it_was_begun(desk: PlayingDesk) -> None:
    """Contract, section 6: the definition is the one stored at the start."""
    carried = await desk.run_of(write("a", "as begun"))
    await desk.answer(carried, "reject")
    await ended(desk, carried)
    await asyncio.to_thread(desk.playbook, write("a", "as changed"))
    again = await desk.resume(carried)
    await desk.answer(again, nth=1)
    await desk.over(again)
    assert await desk.files() == {"a.txt": "as begun"}


async def test_a_resume_after_the_files_were_changed_asks_about_them_as_they_are(
    desk: PlayingDesk,
) -> None:
    await asyncio.to_thread(desk.write, "a.txt", "old\n")
    carried = await desk.run_of(gate(), write("a", "new\n"))
    await desk.answer(carried, "reject")
    await ended(desk, carried)
    await asyncio.to_thread(desk.write, "a.txt", "by hand\n")
    again = await desk.resume(carried)
    await desk.answer(again, nth=1)
    assert (await desk.over(again)).reason is Reason.COMPLETED
    assert await desk.files() == {"a.txt": "new\n"}


async def test_what_has_ended_well_or_is_not_known_is_not_resumed(desk: PlayingDesk) -> None:
    carried = await desk.run_of(step("read", "list_files", glob="*"))
    await ended(desk, carried)
    with pytest.raises(StateError, match=r"run\.not-resumable"):
        await desk.resume(carried)
    with pytest.raises(StateError, match=r"run\.unknown"):
        await desk.engine.resume("none", desk._new("playbook resume"), gate_timeout_s=None)


async def test_a_run_that_is_being_carried_is_not_resumed(desk: PlayingDesk) -> None:
    carried = await desk.run_of(gate())
    await desk.asked(carried)
    with pytest.raises(StateError, match=r"run\.not-resumable"):
        await desk.resume(carried)
    await desk.answer(carried)
    await ended(desk, carried)


# --- backups (AC 30) -------------------------------------------------------------------------


@pytest.mark.requirement("P5")
async def test_a_backup_is_the_file_that_undo_reads_and_is_there_before_the_write(
    desk: PlayingDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AC 5, 30."""
    await asyncio.to_thread(desk.write, "a.txt", "old\n")
    seen: list[list[tuple[str, bool]]] = []
    backups = desk.places.state / "clients" / "default" / "backups"
    run = desk.applier.run

    def look() -> list[tuple[str, bool]]:
        return [(one.read_text("utf-8"), one.stat().st_nlink == 2) for one in backups.iterdir()]

    async def looked(grant: Any, *, workspace: Any) -> Any:
        seen.append(await asyncio.to_thread(look))
        return await run(grant, workspace=workspace)

    monkeypatch.setattr(desk.applier, "run", looked)
    carried = await desk.run_of(write("a", "new\n"), write("b", "added\n"))
    await desk.answer(carried)
    await desk.answer(carried, nth=1)
    await ended(desk, carried)
    assert seen == [[("old\n", True)]] * 2
    entries = (await desk.state(carried))["change_log"]
    assert entries[1]["backup_path"] is None
    backup = Path(entries[0]["backup_path"])
    blob = desk.places.state / "blobs" / backup.name[:2] / backup.name
    assert await asyncio.to_thread(backup.samefile, blob)


async def test_without_a_backup_nothing_is_written(
    desk: PlayingDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AC 30: the step fails and says so."""
    await asyncio.to_thread(desk.write, "a.txt", "old\n")
    carried = await desk.run_of(gate(), write("a", "new\n"))

    def refuse(*_: Any) -> str:
        raise OSError(28, "No space left on device")

    asked = await desk.asked(carried)
    monkeypatch.setattr(desk.blobs, "link", refuse)
    await desk.decide(asked)
    task, told = await ended(desk, carried)
    assert (task.reason, await desk.files()) == (Reason.FAILED, {"a.txt": "old\n"})
    error = next(one["error"] for one in told if one["type"] == "step_error")
    assert "backup" in error
    assert all(one.state in FINAL for one in await desk.steps_of(carried))
    assert (await desk.state(carried))["change_log"] == []


async def test_a_record_that_cannot_be_written_ends_a_run_with_a_reason(
    desk: PlayingDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from local_agent.flow import run_log

    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    carried = await desk.run_of(gate(), step("read", "list_files", glob="*"))
    asked = await desk.asked(carried)
    monkeypatch.setattr(run_log, "write_private", refuse)
    monkeypatch.setattr(run_log, "write_state", refuse)
    await desk.decide(asked)
    task = await desk.over(carried)
    assert task.state is TaskState.FAILED
    monkeypatch.undo()
    again = await desk.resume(carried)
    assert (await desk.over(again)).reason is Reason.COMPLETED
