"""Several steps of a playbook under one question, with files that change and commands that run."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pygit2
import pytest

from common.errors import InputError
from common.model.proposal import CommandProposal, LocalApproval, Undo
from common.model.proposal import RunStep as Step
from common.model.state import FINAL, Reason, TaskState
from common.receipt import sign_receipt, verify_receipt
from local_agent.actions.operation import Ended
from local_agent.actions.registry import read_seal, seal_bytes
from local_agent.actions.steps.action import RunSteps
from local_agent.cards.question import read_question
from local_agent.faces.telling import Teller
from local_agent.flow.approvals import PendingApproval, left_to_undo, subject_of
from local_agent.flow.receipts import receipt_facts
from local_agent.safety.grant import Grant
from local_agent.store.tasks import Task
from local_agent.views import from_json, to_json
from local_agent.views.question import ApprovalView, NamedStep, RunStep
from tests.desk import WITHIN_S
from tests.sealed import AGENT, AGENT_ID
from tests.stepping import SteppingDesk, added, outcomes, stepping

pytestmark = pytest.mark.heavy


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[SteppingDesk]:
    async with stepping(tmp_path) as opened:
        yield opened


async def three(desk: SteppingDesk) -> str:
    """Propose a command and two changes."""
    return await desk.propose({1: "true", 3: added("a.txt", "one"), 4: added("b.txt", "two")})


async def ended(desk: SteppingDesk, task_id: str) -> list[tuple[int, str | None]]:
    return outcomes(await desk.db.run(desk.db.journal.effects.of_task, task_id))


@pytest.mark.requirement("P2")
async def test_a_command_and_changes_are_carried_out_in_order(desk: SteppingDesk) -> None:
    told: list[tuple[int, Reason]] = []
    before: list[int] = []

    async def tell(_task: Task, part: int, found: Ended) -> None:
        told.append((part, found.reason))

    async def wait(_task: Task, part: int) -> bool:
        before.append(part)
        assert [one for one, _ in told] == list(range(part))
        return True

    approving = (await desk.engine.load()).approving
    approving.ended_part, approving.before_part = tell, wait
    task_id = await three(desk)
    asked = await desk.waiting(task_id)
    assert (asked.seal.action, asked.seal.undo) == ("steps", "partly")
    assert [step["index"] for step in asked.seal.payload["steps"]] == [1, 3, 4]
    await desk.decide(asked)
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, await desk.files()) == (
        Reason.COMPLETED,
        {"a.txt": "one\n", "b.txt": "two\n"},
    )
    assert "All 3 steps were carried out" in (task.summary or "")
    assert await ended(desk, task_id) == [(part, "completed") for part in range(3)]
    did = json.loads(task.ending_json or "")
    assert [file["path"] for file in did["change"]["files"]] == ["a.txt", "b.txt"]
    assert did["run"]["exit_code"] == 0
    assert (before, told) == ([0, 1, 2], [(part, Reason.COMPLETED) for part in range(3)])


@pytest.mark.requirement("P7")
async def test_the_caller_may_end_it_between_two_steps(desk: SteppingDesk) -> None:
    told: list[int] = []

    async def tell(_task: Task, part: int, _ended: Ended) -> None:
        told.append(part)

    async def refuse(_task: Task, part: int) -> bool:
        return part < 2

    approving = (await desk.engine.load()).approving
    approving.ended_part, approving.before_part = tell, refuse
    task_id = await three(desk)
    await desk.approve(task_id)
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, list(await desk.files()), told) == (Reason.FAILED, ["a.txt"], [0, 1])
    assert "2 of 3 steps were carried out" in (task.summary or "")


@pytest.mark.requirement("P7")
async def test_a_command_that_fails_begins_no_later_step(desk: SteppingDesk) -> None:
    told: list[tuple[int, Reason]] = []

    async def tell(_task: Task, part: int, found: Ended) -> None:
        told.append((part, found.reason))

    (await desk.engine.load()).approving.ended_part = tell
    task_id = await desk.propose({0: "false", 1: added("a.txt", "one")})
    await desk.approve(task_id)
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, await desk.files(), told) == (Reason.FAILED, {}, [(0, Reason.FAILED)])


@pytest.mark.requirement("P2", "R24")
async def test_a_step_that_drifts_is_not_done_and_none_after_it(desk: SteppingDesk) -> None:
    async def meddle(_task: Task, part: int) -> bool:
        if part == 1:
            await asyncio.to_thread(desk.write, "a.txt", "mine\n")
        return True

    (await desk.engine.load()).approving.before_part = meddle
    task_id = await three(desk)
    await desk.approve(task_id)
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, await desk.files()) == (Reason.DRIFTED, {"a.txt": "mine\n"})
    assert await ended(desk, task_id) == [(0, "completed"), (1, "drifted")]


async def cut_at(desk: SteppingDesk, part: int, *, before: bool) -> str:
    """Kill the agent when a part was just begun, or just done and not recorded."""
    reached = asyncio.Event()
    take, run = desk.gate.take_grant, desk.applier.run

    async def taken(approval_id: str, digest: str, *, part: int = 0) -> Grant:
        grant = await take(approval_id, digest, part=part)
        if before and part == wanted:
            reached.set()
            await asyncio.Event().wait()
        return grant

    async def ran(grant: Grant, **facts: object) -> object:
        outcome = await run(grant, **facts)
        if grant.part == wanted:
            reached.set()
            await asyncio.Event().wait()
        return outcome

    wanted = part
    desk.gate.take_grant = taken  # type: ignore[method-assign]  # it never returns
    desk.applier.run = ran
    task_id = await three(desk)
    await desk.approve(task_id)
    async with asyncio.timeout(WITHIN_S):
        await reached.wait()
    await desk.restart()
    return task_id


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("part", "before", "reason", "files"),
    [
        (0, True, Reason.UNKNOWN, []),
        (1, True, Reason.FAILED, []),
        (1, False, Reason.FAILED, ["a.txt"]),
        (2, True, Reason.FAILED, ["a.txt"]),
        (2, False, Reason.COMPLETED, ["a.txt", "b.txt"]),
    ],
)
async def test_what_a_kill_cut_off_is_settled_and_no_later_step_begun(
    desk: SteppingDesk, part: int, before: bool, reason: Reason, files: list[str]
) -> None:
    task_id = await cut_at(desk, part, before=before)
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, list(await desk.files())) == (reason, files)
    effects = await ended(desk, task.task_id)
    assert len(effects) == part + 1
    assert effects[:-1] == [(one, "completed") for one in range(part)]


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    ("code", "first", "second"),
    [
        ("steps.overlap", added("a.txt", "one"), added("a.txt", "two")),
        ("steps.overlap", added("a.txt", "one"), added("A.TXT", "two")),
        ("steps.overlap", added("new/a.txt", "one"), added("new/b.txt", "two")),
        ("steps.overlap", added("new", "one"), added("new/b.txt", "two")),
        ("steps.overlap", added("new/b.txt", "one"), added("new", "two")),
        ("steps.command", added(".gitignore", "*.txt"), "true"),
        ("steps.command", added("sub/.gitignore", "*.txt"), "true"),
    ],
    ids=[
        "path",
        "twin",
        "new folder",
        "file as folder",
        "folder as file",
        "ignores",
        "ignores below",
    ],
)
async def test_steps_that_depend_on_one_another_are_not_asked_together(
    desk: SteppingDesk, code: str, first: bytes, second: bytes | str
) -> None:
    task_id = await desk.propose({0: first, 1: second})
    task = await desk.until(task_id, *FINAL)
    assert (task.state, await desk.approval_states(task_id)) == (TaskState.FAILED, [])
    words = {"steps.overlap": "both touch", "steps.command": "of step “step 1” depends"}
    assert words[code] in (task.summary or "")


@pytest.mark.requirement("P2", "R24b")
async def test_a_command_runs_on_what_earlier_steps_have_changed(desk: SteppingDesk) -> None:
    await asyncio.to_thread(desk.write, "sub/old.txt", "old\n")
    task_id = await desk.propose(
        {
            0: added("z.txt", "one"),
            1: added("sub/deep/a.txt", "two"),
            2: "cat z.txt sub/deep/a.txt",
            3: added("b.txt", "three"),
            4: "cat b.txt",
        }
    )
    await desk.approve(task_id)
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, await ended(desk, task_id)) == (
        Reason.COMPLETED,
        [(part, "completed") for part in range(5)],
    )


@pytest.mark.requirement("P2", "R24b")
async def test_a_command_does_not_run_on_what_nobody_approved(desk: SteppingDesk) -> None:
    async def meddle(_task: Task, _part: int) -> bool:
        await asyncio.to_thread(desk.write, "other.txt", "mine\n")
        return True

    (await desk.engine.load()).approving.before_part = meddle
    task_id = await desk.propose({0: added("a.txt", "one"), 1: "cat a.txt"})
    await desk.approve(task_id)
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, list(await desk.files())) == (Reason.DRIFTED, ["a.txt", "other.txt"])


@pytest.mark.requirement("P2", "R24b")
@pytest.mark.parametrize("last", ["sh build/run.sh", "true"])
@pytest.mark.parametrize(
    ("rewrites", "reason"),
    [
        ("true", Reason.COMPLETED),
        ("cp evil build/run.sh", Reason.DRIFTED),
        ("rm build/run.sh", Reason.DRIFTED),
        ("ln -sf ../evil build/run.sh", Reason.DRIFTED),
    ],
)
async def test_what_an_earlier_step_wrote_is_compared_though_git_ignores_it(
    desk: SteppingDesk, rewrites: str, reason: Reason, last: str
) -> None:
    def arrange() -> None:
        pygit2.init_repository(str(desk.place))
        desk.write(".gitignore", "build/\nran\n")
        desk.write("evil", "touch ran\n")

    await asyncio.to_thread(arrange)
    task_id = await desk.propose({0: added("build/run.sh", "true"), 1: rewrites, 2: last})
    asked = await desk.waiting(task_id)
    wrote = hashlib.sha256(b"true\n").hexdigest()
    assert [part["base"].get("build/run.sh") for part in asked.seal.payload["steps"]] == [
        "absent",
        *[wrote] * 2,
    ]
    await desk.approve(task_id)
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, (desk.place / "ran").exists()) == (reason, False)


async def test_as_many_of_the_first_are_found_as_fit_together(desk: SteppingDesk) -> None:
    await asyncio.to_thread(desk.write, "a.txt", "there\n")
    operation = (await desk.engine.load()).approving._operations["steps"]
    assert isinstance(operation, RunSteps)
    same, other = added("new.txt", "one"), added("b.txt", "two")
    cases: list[tuple[dict[int, str | bytes | Undo], int]] = [
        ({0: "true", 1: same, 2: other}, 3),
        ({0: same, 1: other, 2: same, 3: "true"}, 2),
        ({0: same, 1: "no-such-program", 2: other}, 1),
        ({0: same, 1: added("a.txt", "two")}, 1),
    ]
    for steps, fit in cases:
        task = await desk.until(await desk.propose(steps), *FINAL, TaskState.WAITING_APPROVAL)
        assert await operation.fitting(task, desk.shelf.find()) == fit
    none = await desk.until(await desk.propose({0: added("a.txt", "two")}), *FINAL)
    with pytest.raises(InputError):
        await operation.fitting(none, desk.shelf.find())


async def test_files_in_a_folder_that_is_there_are_asked_together(desk: SteppingDesk) -> None:
    await asyncio.to_thread(desk.write, "old/x.txt", "x\n")
    steps = {0: added("old/a.txt", "one"), 1: added("old/b.txt", "two")}
    task_id = await desk.propose(steps)
    await desk.approve(task_id)
    assert (await desk.until(task_id, *FINAL)).reason is Reason.COMPLETED


async def test_the_same_steps_in_another_run_are_the_same_wish(desk: SteppingDesk) -> None:
    asked = await desk.waiting(await three(desk))
    other = replace(asked.seal, payload={**asked.seal.payload, "run": "run-2"})
    changed = replace(asked.seal, payload={**asked.seal.payload, "definition_sha256": "0" * 64})
    assert subject_of(other) == subject_of(asked.seal) != subject_of(changed)


@pytest.mark.requirement("R42")
async def test_the_risk_is_that_of_the_strictest_step(desk: SteppingDesk) -> None:
    asked = await desk.waiting(await three(desk))
    assert (asked.risk, "not-sandboxed" in asked.reasons) == ("high", True)
    quiet = await desk.waiting(await desk.propose({0: added("a.txt", "one")}))
    assert (quiet.risk, quiet.reasons) == ("normal", ())


async def test_a_seal_of_steps_is_read_as_it_was_written(desk: SteppingDesk) -> None:
    asked: PendingApproval = await desk.waiting(await three(desk))
    assert read_seal(seal_bytes(asked.seal)) == asked.seal


# --- what is told -------------------------------------------------------------------------------


async def told(desk: SteppingDesk, task_id: str) -> ApprovalView:
    asked = await desk.waiting(task_id)
    teller = Teller(desk.db, desk.gate, machine="dev-1", workspaces=dict)
    return await teller.tell(asked.approval_id)


async def test_a_dialog_is_told_which_steps_they_are(desk: SteppingDesk) -> None:
    view = await told(desk, await three(desk))
    assert view.run == RunStep(
        playbook="fix-login",
        total=9,
        steps=tuple(NamedStep(index, f"step {index}") for index in (1, 3, 4)),
        message="Write both?",
    )
    assert (view.can_narrow, view.can_check) == (False, False)
    diff = added("a.txt", "one") + added("b.txt", "two")
    question = read_question(from_json(ApprovalView, to_json(view)), diff=diff)
    assert [part.seal.action for part in question.parts] == ["run_command", *["apply_diff"] * 2]


async def test_a_step_that_is_asked_about_alone_is_an_ordinary_action(desk: SteppingDesk) -> None:
    step = Step(playbook="fix-login", index=2, name="check", total=9, in_workspace=True)
    task_id = await desk.propose_result(
        proposal=CommandProposal(cmd="true"),
        requires=LocalApproval(action="run_command"),
        summary="Run true.",
        run=step,
    )
    view = await told(desk, task_id)
    assert view.run == RunStep("fix-login", 9, (NamedStep(2, "check"),), in_workspace=True)


@pytest.mark.requirement("P6")
async def test_a_receipt_tells_what_came_of_each(desk: SteppingDesk) -> None:
    task_id = await three(desk)
    await desk.approve(task_id)
    task = await desk.until(task_id, *FINAL)

    def make() -> bytes:
        facts = receipt_facts(
            desk.db.journal,
            task.short_id,
            machine="dev-1",
            agent_id=AGENT_ID,
            at_ms=desk.clock.now().wall_ms,
        )
        return sign_receipt(AGENT, facts)

    facts = verify_receipt(await desk.db.run(make), key=AGENT.public).facts
    outcome = facts["outcome"]
    assert facts["approval"]["action"] == "steps"
    assert [part["reason"] for part in outcome["parts"]] == ["completed"] * 3
    assert (outcome["exit_code"], outcome["changed_files"]) == (0, 2)


# --- taking them back --------------------------------------------------------------------------


async def undo(desk: SteppingDesk, short_id: str, *paths: str) -> Task:
    """Ask to take something back, approve that, and return its task when it has ended."""
    task_id = await desk.ask(f"@dev undo {short_id} {' '.join(paths)}")
    await desk.approve(task_id)
    return await desk.until(task_id, *FINAL)


@pytest.mark.requirement("P5")
async def test_all_changes_of_several_steps_are_taken_back_last_first(desk: SteppingDesk) -> None:
    task_id = await three(desk)
    await desk.approve(task_id)
    done = await desk.until(task_id, *FINAL)
    asked = await desk.waiting(await desk.ask(f"@dev undo {done.short_id}"))
    steps = asked.seal.payload["steps"]
    assert [(step["index"], step["action"]) for step in steps] == [(4, "undo"), (3, "undo")]
    names = [step["payload"]["undoes"]["approval_id"].partition("/")[2] for step in steps]
    assert (names, asked.seal.undo) == (["2", "1"], "yes")
    await desk.decide(asked)
    undone = await desk.until(asked.task_id, *FINAL)
    assert (undone.reason, await desk.files()) == (Reason.COMPLETED, {})
    again = await desk.done(f"@dev undo {done.short_id}")
    assert "undone already" in (again.summary or "")
    back = await undo(desk, undone.short_id)
    assert (back.reason, await desk.files()) == (
        Reason.COMPLETED,
        {"a.txt": "one\n", "b.txt": "two\n"},
    )


@pytest.mark.requirement("P5")
async def test_a_file_of_one_step_is_taken_back_alone(desk: SteppingDesk) -> None:
    task_id = await three(desk)
    await desk.approve(task_id)
    done = await desk.until(task_id, *FINAL)
    first = await undo(desk, done.short_id, "a.txt")
    assert (first.reason, list(await desk.files())) == (Reason.COMPLETED, ["b.txt"])
    unknown = await desk.done(f"@dev undo {done.short_id} c.txt")
    assert "does not touch c.txt" in (unknown.summary or "")
    rest = await undo(desk, done.short_id)
    assert (rest.reason, await desk.files()) == (Reason.COMPLETED, {})


@pytest.mark.requirement("P5")
async def test_what_was_done_before_a_step_failed_is_taken_back(desk: SteppingDesk) -> None:
    async def refuse(_task: Task, part: int) -> bool:
        return part < 2

    (await desk.engine.load()).approving.before_part = refuse
    task_id = await three(desk)
    await desk.approve(task_id)
    done = await desk.until(task_id, *FINAL)
    assert (done.reason, list(await desk.files())) == (Reason.FAILED, ["a.txt"])
    asked = await desk.gate.show(done.short_id)
    left = await desk.db.run(left_to_undo, desk.db.journal, asked.approval.seal)
    assert left == ("a.txt",)
    assert json.loads(done.ending_json or "")["change"]["files"][0]["path"] == "a.txt"
    assert (await undo(desk, done.short_id)).reason is Reason.COMPLETED
    assert await desk.files() == {}


@pytest.mark.requirement("P5")
async def test_commands_alone_are_not_taken_back(desk: SteppingDesk) -> None:
    task_id = await desk.propose({0: "true", 1: "true"})
    await desk.approve(task_id)
    done = await desk.until(task_id, *FINAL)
    assert done.reason is Reason.COMPLETED
    task = await desk.done(f"@dev undo {done.short_id}")
    assert "cannot be undone" in (task.summary or "")
