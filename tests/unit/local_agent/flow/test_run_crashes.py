"""Runs of playbooks after kill -9: they stand still, nothing is done twice, and nobody is left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from common.errors import StateError, StoreError
from common.model.state import FINAL, Reason, TaskState
from local_agent.faces.control.playing import _read_on
from local_agent.flow.run_log import RunRecord
from local_agent.models.backend import Chosen
from local_agent.playbooks.runs import Place, result_path
from local_agent.store.runs import StoredRun
from tests.desk import WITHIN_S
from tests.run_desk import GATE, RunDesk, command, running, write

pytestmark = pytest.mark.heavy

_T = TypeVar("_T")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[RunDesk]:
    async with running(tmp_path) as opened:
        yield opened


class Moment:
    """A moment in which the process is killed: what is awaited there never comes back."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self._reached = asyncio.Event()
        self._again: Callable[[], None] = lambda: None

    def after(self, owner: Any, name: str, *, before: bool = False) -> None:
        real = getattr(owner, name)

        async def cut(*args: Any, **kwargs: Any) -> Any:
            if not before:
                await real(*args, **kwargs)
            self._reached.set()
            await asyncio.Event().wait()

        self._patch.setattr(owner, name, cut)
        self._again = lambda: self._patch.setattr(owner, name, real)

    async def kill(self, desk: RunDesk) -> None:
        """Wait for it, kill the agent there, and start it again."""
        async with asyncio.timeout(WITHIN_S):
            await self._reached.wait()
        await desk.kill()
        self._again()
        await asyncio.to_thread(desk._revive)
        await desk.open()


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> Moment:
    return Moment(monkeypatch)


async def bounded(work: Awaitable[_T]) -> _T:
    async with asyncio.timeout(WITHIN_S):
        return await work


async def failure(work: Awaitable[object]) -> StateError:
    with pytest.raises(StateError) as caught:
        await work
    return caught.value


async def completed(desk: RunDesk, *steps: str) -> StoredRun:
    """Return a run that has completed; each of its questions was approved."""
    run = await desk.play(desk.playbook("\n".join(steps)))
    await desk.approve_all(1 if GATE in steps else len(steps))
    await desk.over(run)
    assert (await desk.run_of(run)).status == "completed"
    return run


# --- a run and its task ---


@pytest.mark.requirement("P3")
async def test_a_run_is_never_written_without_the_task_that_carries_it(
    desk: RunDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await desk.play(desk.playbook(GATE))
    await desk.answer("reject")
    await desk.over(run)

    def refuse(*_: object, **__: object) -> None:
        raise StoreError("store.full")

    monkeypatch.setattr(desk.db.journal.tasks, "create", refuse)
    for begin in (desk.play(desk.playbook(GATE)), desk.resume(run), desk.roll_back(run)):
        with pytest.raises(StoreError):
            await begin
    monkeypatch.undo()
    known = await desk.db.run(desk.db.journal.runs.recent)
    assert [(one.run_id, one.status, one.task_id) for one in known] == [
        (run.run_id, "failed", run.task_id)
    ]


@pytest.mark.requirement("P3")
async def test_one_task_at_a_time_carries_a_run(desk: RunDesk) -> None:
    run = await desk.play(desk.playbook(f"{write('a.txt', 'one')}\n{write('b.txt', 'two')}"))
    await desk.answer("approve")
    await desk.asked()
    for again in (desk.resume(run), desk.roll_back(run)):
        assert (await failure(again)).facts["why"] == "running"
    await desk.answer("reject")
    await desk.over(run)
    await desk.roll_back(run)
    await desk.asked()
    for again in (desk.resume(run), desk.roll_back(run)):
        assert (await failure(again)).facts["why"] == "running"
    await desk.answer("reject")
    task = await desk.over(run)
    assert (task.reason, (await desk.run_of(run)).status) == (Reason.FAILED, "failed")
    await desk.resume(run)
    assert (await failure(desk.resume(run))).code == "run.not-resumable"
    await desk.answer("approve")
    await desk.over(run)
    assert await desk.files() == {"a.txt": "one", "b.txt": "two"}


async def test_a_run_whose_task_is_cancelled_before_it_begins_can_be_carried_on(
    desk: RunDesk, moment: Moment
) -> None:
    understanding = (await desk.engine.load()).understanding
    moment.after(understanding, "collect")
    run = await desk.play(desk.playbook(GATE))
    await desk.db.run(desk.db.journal.tasks.request_cancel, run.task_id)
    await moment.kill(desk)
    task = await desk.over(run)
    assert (task.reason, (await desk.run_of(run)).status) == (Reason.CANCELLED, "failed")
    await desk.resume(run)
    await desk.answer("approve")
    assert (await desk.over(run)).reason is Reason.COMPLETED


async def test_a_run_whose_results_are_gone_says_so_each_time(desk: RunDesk) -> None:
    run = await completed(desk, GATE)
    run = await desk.play(
        desk.playbook(f"name: read, type: tool, tool: read_file, args: {{path: big}}\n{GATE}")
    )
    await desk.over(run)
    desk.write("big", "x" * 40_000)
    await desk.resume(run)
    await desk.answer("reject")
    await desk.over(run)
    result_path(desk.places.state, "default", run.run_id, Place("main", 0)).unlink()
    for _ in range(2):
        await desk.resume(run)
        task = await desk.over(run)
        assert (task.reason, (await desk.run_of(run)).status) == (Reason.FAILED, "failed")
        assert "read" in (task.summary or "")


# --- kill -9 ---


@pytest.mark.requirement("P3")
async def test_a_run_that_was_cut_off_stands_still_and_is_said_to(
    desk: RunDesk, moment: Moment
) -> None:
    moment.after(RunRecord, "begun")
    run = await desk.play(desk.playbook(write("a.txt", "one")))
    await moment.kill(desk)
    task = await desk.over(run)
    assert (task.reason, (await desk.run_of(run)).status) == (Reason.FAILED, "failed")
    assert "playbook resume" in (task.summary or "")
    assert desk.told(run)["status"] == "failed"
    resumed = await desk.resume(run)
    assert resumed.resumes == 1
    await desk.answer("approve")
    await desk.over(run)
    assert await desk.files() == {"a.txt": "one"}


@pytest.mark.requirement("P3")
async def test_what_a_run_asked_is_taken_back_by_a_restart(desk: RunDesk) -> None:
    run = await desk.play(desk.playbook(write("a.txt", "one")))
    asked = await desk.asked()
    await desk.restart()
    assert (await desk.until(asked.task_id, *FINAL)).reason is Reason.CANCELLED
    await desk.over(run)
    error = await failure(desk.decide(asked))
    assert error.code == "approval.not-pending"
    assert await desk.approval_states(asked.task_id) == ["superseded"]
    assert await desk.files() == {}


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("which", ["alone", "last of a gate"])
async def test_a_step_that_was_carried_out_and_not_recorded_is_not_asked_again(
    desk: RunDesk, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    real = command("sh", "-c", "echo ran >> ran.txt; echo said")
    steps = [*([] if which == "alone" else [GATE]), write("a.txt", "one"), real]
    step_ended = RunRecord.step_ended
    reached = asyncio.Event()

    async def cut(self: RunRecord, place: Place, result: Any) -> Any:
        if result.step_name == "command":
            reached.set()
            await asyncio.Event().wait()
        return await step_ended(self, place, result)

    monkeypatch.setattr(RunRecord, "step_ended", cut)
    run = await desk.play(desk.playbook("\n".join(steps)))
    await desk.approve_all(2 if which == "alone" else 1)
    await bounded(reached.wait())
    await desk.restart()
    monkeypatch.undo()
    await desk.over(run)
    await desk.resume(run)
    assert (await desk.over(run)).reason is Reason.COMPLETED
    place = "main:1" if which == "alone" else "main:2"
    assert "said" in ((await desk.steps_of(run))[place].result or "")
    assert await desk.files() == {"a.txt": "one", "ran.txt": "ran\n"}


@pytest.mark.requirement("P3")
async def test_a_command_whose_output_is_lost_asks_once_more(desk: RunDesk, moment: Moment) -> None:
    steps = [GATE, command("sh", "-c", "echo ran >> ran.txt"), write("a.txt", "one")]
    moment.after(desk.engine.questions, "ended_part")
    run = await desk.play(desk.playbook("\n".join(steps)))
    (await desk.engine.load()).approving.ended_part = desk.engine.questions.ended_part
    await desk.answer("approve")
    await moment.kill(desk)
    await desk.over(run)
    await desk.resume(run)
    asked = await desk.asked()
    assert asked.seal.action == "run_command"
    await desk.answer("approve", "approve")
    assert (await desk.over(run)).reason is Reason.COMPLETED
    assert await desk.files() == {"a.txt": "one", "ran.txt": "ran\nran\n"}


async def test_a_gate_that_covers_nothing_changes_nothing_and_proves_nothing(
    desk: RunDesk, moment: Moment
) -> None:
    run = await completed(desk, GATE)
    assert desk.told(run)["change_log"] == []
    moment.after(RunRecord, "step_ended", before=True)
    run = await desk.play(desk.playbook(GATE))
    await desk.answer("approve")
    await moment.kill(desk)
    await desk.over(run)
    assert await desk.steps_of(run) == {}
    await desk.resume(run)
    await desk.answer("approve")
    assert (await desk.over(run)).reason is Reason.COMPLETED


async def test_a_run_that_had_ended_is_told_so_after_a_restart(
    desk: RunDesk, moment: Moment
) -> None:
    moment.after(RunRecord, "ended")
    run = await desk.play(desk.playbook(write("a.txt", "one")))
    await desk.answer("approve")
    await moment.kill(desk)
    task = await desk.over(run)
    assert (task.reason, task.summary) == (Reason.COMPLETED, "Playbook demo completed: 1 step.")


# --- taking back ---


@pytest.mark.requirement("P5")
async def test_all_parts_of_a_gate_and_all_hooks_are_taken_back(desk: RunDesk) -> None:
    desk.write("a.txt", "before")
    path = desk.playbook(
        "\n".join([GATE, write("a.txt", "one"), write("docs/b.txt", "two"), write("c.txt", "six")]),
        more="hooks: {pre: first, post: last}\n",
        first=write("first.txt", "f"),
        last=write("last.txt", "l"),
    )
    run = await desk.play(path)
    await desk.answer("approve", "approve", "approve")
    await desk.over(run)
    assert len(await desk.files()) == 5
    await desk.roll_back(run)
    await desk.approve_all(3)  # hooks are numbered for themselves
    task = await desk.over(run)
    assert (task.reason, task.summary) == (
        Reason.COMPLETED,
        "What playbook demo had changed is taken back: 5 files.",
    )
    assert await desk.files() == {"a.txt": "before"}
    assert (await desk.run_of(run)).status == "rolled_back"


@pytest.mark.requirement("P5")
async def test_a_rollback_that_was_cut_off_is_begun_again(desk: RunDesk, moment: Moment) -> None:
    run = await completed(desk, GATE, write("a.txt", "one"), write("b.txt", "two"))
    approving = (await desk.engine.load()).approving
    moment.after(approving, "ended_part")
    await desk.roll_back(run)
    await desk.answer("approve")
    await moment.kill(desk)
    task = await desk.over(run)
    assert "playbook rollback" in (task.summary or "")
    assert (await desk.run_of(run)).status == "completed"
    assert await desk.files() == {"a.txt": "one"}
    await desk.roll_back(run)
    await desk.answer("approve")
    assert (await desk.over(run)).reason is Reason.COMPLETED
    assert await desk.files() == {}


@pytest.mark.requirement("P5")
async def test_a_rollback_that_had_ended_is_told_so_after_a_restart(
    desk: RunDesk, moment: Moment
) -> None:
    run = await completed(desk, write("a.txt", "one"))
    moment.after(RunRecord, "rolled_back")
    await desk.roll_back(run)
    await desk.answer("approve")
    await moment.kill(desk)
    task = await desk.over(run)
    assert (task.reason, task.summary) == (
        Reason.COMPLETED,
        "What playbook demo had changed is taken back: 1 file.",
    )


async def test_a_rollback_that_is_denied_leaves_a_run_as_it_was(
    desk: RunDesk, moment: Moment
) -> None:
    moment.after(RunRecord, "step_ended", before=True)
    run = await desk.play(desk.playbook(write("a.txt", "one")))
    await desk.answer("approve")
    await moment.kill(desk)
    await desk.over(run)
    await desk.roll_back(run)  # it finds the step, which nobody had recorded
    await desk.answer("reject")
    await desk.over(run)
    found = await desk.run_of(run)
    assert (found.status, found.current_step) == ("failed", 1)


# --- what is rendered ---


@pytest.mark.parametrize("left", [b"", b'{"status": "compl', b"[]", None])
async def test_a_state_file_that_is_damaged_or_gone_is_written_again(
    desk: RunDesk, left: bytes | None
) -> None:
    run = await completed(desk, write("a.txt", "one"))
    before = desk.told(run)
    file = desk.events_file(run).with_name(f"{run.run_id}.json")
    file.unlink()
    if left is not None:
        file.write_bytes(left)
    await desk.restart()
    await desk.engine.mend_runs()
    assert desk.told(run) == before
    assert file.stat().st_mode & 0o777 == 0o600


async def test_a_damaged_file_of_events_ends_nothing(desk: RunDesk) -> None:
    run = await desk.play(desk.playbook(f"{write('a.txt', 'one')}\n{write('b.txt', 'two')}"))
    await desk.answer("approve", "reject")
    await desk.over(run)
    file = desk.events_file(run)
    file.write_bytes(b'not json\n["a list"]\n{"type": "step_st')
    await desk.resume(run)
    await desk.answer("approve")
    assert (await desk.over(run)).reason is Reason.COMPLETED
    events, at = await asyncio.to_thread(_read_on, file, 0)
    assert [one["type"] for one in events][:1] == ["task_start"]
    assert events[-1]["type"] == "task_complete"
    assert at == file.stat().st_size
    file.write_bytes(b'{"type": "anew"}\n')
    assert await asyncio.to_thread(_read_on, file, at) == ([{"type": "anew"}], 17)
    file.unlink()
    assert await asyncio.to_thread(_read_on, file, at) == ([], 0)


# --- the agent stops ---


class SilentModel:
    """Never answers."""

    name = "silent"

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def ask(self, _turn: Any, _emit: Any) -> Any:
        self.asked.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize("at", ["gate", "command", "agent"])
async def test_a_run_ends_with_the_agent_and_is_carried_on(desk: RunDesk, at: str) -> None:
    step = {
        "gate": GATE,
        "command": command("sh", "-c", "echo ran >> ran.txt; [ -e go ] || sleep 60"),
        "agent": "name: agent, type: agent, message_template: Say it",
    }[at]
    model = SilentModel()
    desk.chosen = Chosen(model)  # type: ignore[arg-type]  # it has what a run asks for
    run = await desk.play(desk.playbook(step))
    if at == "agent":
        await bounded(model.asked.wait())
    elif at == "gate":
        await desk.asked()
    else:
        await desk.answer("approve")
        while not (desk.place / "ran.txt").exists():  # noqa: ASYNC110  # written by a process
            await asyncio.sleep(0.01)
    await bounded(desk.engine.close())
    assert (await desk.run_of(run)).status == "failed"
    assert [task.state for task in await desk.engine._store.open_tasks() if task.step] in (
        [],
        [TaskState.WAITING_APPROVAL],
    )
    await desk.restart()
    await desk.over(run)
    assert await desk.gate.pending() == []
    assert (await desk.run_of(run)).status == "failed"
    desk.write("go", "")
    await desk.resume(run)
    if at != "agent":
        await desk.answer("approve")
        assert (await desk.over(run)).reason is Reason.COMPLETED
