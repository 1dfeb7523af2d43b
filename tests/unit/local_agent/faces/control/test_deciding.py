"""`control.deciding`: what is out of date is asked anew before it is shown; diffs in pieces."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from common.diff.parse import parse_diff
from common.diff.patching import select
from common.diff.render import render
from common.errors import InputError, RemoteProtocolError, StateError
from common.ids import new_uuid
from common.model.state import Reason, TaskState
from common.seal import Seal
from local_agent.actions.changes.payload import undo_payload
from local_agent.actions.run_command.payload import SealedCopy
from local_agent.faces.control.deciding import PIECE
from local_agent.safety.risk import Circumstances
from local_agent.store.tasks import NewTask
from tests.asked import PATCH, a_change, a_sync, an_undo, sealed_changes
from tests.sealed import PYTEST, Step, Wish, a_payload, a_seal, ending
from tests.unit.local_agent.faces.control.conftest import PATIENCE, Desk


async def asked(desk: Desk, seal: Seal) -> str:
    """Ask a person, and return the digest."""
    around = Circumstances(diff=parse_diff(PATCH))
    return (await desk.gate.request(seal, around=around)).digest


async def waiting(desk: Desk, seal: Seal | None = None) -> str:
    """Bring one task to its approval and return the digest."""
    await desk.db.run(desk.db.journal.tasks.create, Wish(), desk.clock.now().wall_ms)
    await desk.walk(TaskState.WAITING_APPROVAL)
    return await asked(desk, seal or a_change(clock=desk.clock))


async def diff_of(desk: Desk) -> tuple[bytes, Mapping[str, Any]]:
    *pieces, (_, value) = await desk.steps("diff", task="T-7K3F")
    return b"".join(base64.b64decode(piece["diff"]) for _, piece in pieces), value


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("make", [a_change, an_undo])
async def test_the_diff_that_was_sealed_comes_byte_for_byte(desk: Desk, make: Any) -> None:
    name = desk.shelf.put(PATCH)
    await waiting(desk, make(clock=desk.clock))
    diff, value = await diff_of(desk)
    assert diff == PATCH
    assert value == {"bytes": len(PATCH), "sha256": name, "ended": False}


async def test_a_large_diff_comes_in_bounded_pieces(desk: Desk) -> None:
    large = PATCH + b"x" * (2 * PIECE)
    seal = a_change(clock=desk.clock)
    name = desk.shelf.put(large)
    await waiting(desk, replace(seal, payload={**seal.payload, "diff_sha256": name}))
    assert len(await desk.steps("diff", task="T-7K3F")) == 4
    assert (await diff_of(desk))[0] == large


async def test_a_diff_that_was_only_proposed_is_shown_too(desk: Desk) -> None:
    name = desk.shelf.put(PATCH)
    proposal = '{"proposal": {"type": "diff", "diffId": "' + name + '"}, "summary": "x"}'
    await desk.db.run(desk.db.journal.tasks.create, Wish(), 1)
    await desk.walk(TaskState.PROPOSING)
    proposing = TaskState.PROPOSING
    await desk.change(
        Step(expected=proposing, state=TaskState.PROPOSAL_READY, proposal_json=proposal)
    )
    assert (await diff_of(desk))[0] == PATCH


async def test_a_task_that_changes_no_file_has_no_diff(desk: Desk) -> None:
    await desk.waiting()
    with pytest.raises(StateError) as refused:
        await desk.steps("diff", task="T-7K3F")
    assert refused.value.code == "diff.none"


async def test_a_push_alone_has_no_diff(desk: Desk) -> None:
    await waiting(desk, replace(a_sync(None), created_at=desk.clock.now().wall_ms))
    with pytest.raises(StateError) as refused:
        await desk.steps("diff", task="T-7K3F")
    assert refused.value.code == "diff.none"


async def test_what_is_still_as_it_was_is_shown_at_once(desk: Desk) -> None:
    digest = await waiting(desk)
    shown = await desk.ask("refresh", task="T-7K3F")
    assert (shown["approval"]["digest"], shown["approval"]["state"]) == (digest, "pending")
    assert shown["approval"]["can_narrow"]


@pytest.mark.requirement("R23")
async def test_what_is_out_of_date_is_shown_once_it_is_asked_anew(desk: Desk) -> None:
    older = await waiting(desk)
    anew = asyncio.Event()

    async def withdraw(task_id: str) -> None:
        await desk.gate.withdraw(task_id)
        anew.set()

    desk.engine.anew = withdraw
    looking = asyncio.create_task(desk.ask("refresh", task="T-7K3F"))
    async with asyncio.timeout(PATIENCE):
        await anew.wait()
    newer = await asked(desk, a_change(clock=desk.clock, version=2))
    waits = TaskState.WAITING_APPROVAL
    await desk.change(Step(expected=waits, state=waits))
    shown = await looking
    assert newer != older
    assert (shown["approval"]["digest"], shown["approval"]["state"]) == (newer, "pending")


async def test_what_cannot_be_asked_anew_is_shown_as_it_ended(desk: Desk) -> None:
    await waiting(desk)

    async def end(task_id: str) -> None:
        await desk.gate.withdraw(task_id)
        await desk.change(
            ending(Reason.DRIFTED, TaskState.WAITING_APPROVAL, TaskState.FAILED, summary="drifted")
        )

    desk.engine.anew = end
    shown = await desk.ask("refresh", task="T-7K3F")
    assert (shown["task"]["reason"], shown["approval"]["state"]) == ("drifted", "superseded")


async def test_a_task_that_asks_nothing_is_shown_as_it_stands(desk: Desk) -> None:
    await desk.db.run(desk.db.journal.tasks.create, Wish(), 1)
    assert (await desk.ask("refresh", task="T-7K3F"))["approval"] is None


async def carried_out(desk: Desk, seal: Seal, patch: bytes = PATCH) -> None:
    """Bring a task from nothing to the end of what it asked for."""
    task_id, journal = seal.task_id, desk.db.journal
    wish = Wish(task_id=task_id, short_id=seal.short_id)
    await desk.db.run(journal.tasks.create, wish, desk.clock.now().wall_ms)
    await desk.walk(TaskState.WAITING_APPROVAL, task_id)
    around = Circumstances(diff=parse_diff(patch))
    question = await desk.gate.request(seal, around=around)
    name, digest = question.approval_id, question.digest
    await desk.gate.entrance("terminal").decide(
        name, digest, decision="approve", typed=question.code
    )
    await desk.gate.take_grant(name, digest)
    await desk.db.run(journal.effects.close_effect, name, Reason.COMPLETED.value)
    waits, runs = TaskState.WAITING_APPROVAL, TaskState.EXECUTING
    await desk.change(Step(task_id=task_id, expected=waits, state=runs))
    done = ending(Reason.COMPLETED, runs, TaskState.COMPLETED, summary="done")
    await desk.change(replace(done, task_id=task_id))


@pytest.mark.requirement("P5")
async def test_an_applied_change_is_shown_with_what_is_left_to_undo(desk: Desk) -> None:
    change = a_change(clock=desk.clock, approval_id="approval-1")
    await carried_out(desk, change)
    every = [one.path for one in sealed_changes(PATCH)]
    assert (await desk.ask("show", task="T-7K3F"))["task"]["left_to_undo"] == every

    first = render(select(parse_diff(PATCH), every[:1]))
    undo = an_undo(
        first, clock=desk.clock, task_id="task-2", short_id="T-9999", approval_id="approval-2"
    )
    payload = undo_payload(
        undo.payload["diff_sha256"],
        sealed_changes(first),
        approval_id="approval-1",
        short_id="T-7K3F",
    )
    await carried_out(desk, replace(undo, payload=payload), first)
    assert (await desk.ask("show", task="T-7K3F"))["task"]["left_to_undo"] == every[1:]


async def test_what_was_not_applied_has_nothing_left_to_undo(desk: Desk) -> None:
    await waiting(desk)
    assert (await desk.ask("show", task="T-7K3F"))["task"]["left_to_undo"] is None


async def test_some_files_alone_are_a_new_question(desk: Desk) -> None:
    older = await waiting(desk)
    shown = await desk.ask("show", task="T-7K3F")

    async def narrowed(task_id: str) -> None:
        await desk.gate.withdraw(task_id)
        await asked(desk, a_change(clock=desk.clock, version=2))

    desk.engine.anew = narrowed
    approval_id = shown["approval"]["approval_id"]
    value = await desk.ask("narrow", approval_id=approval_id, digest=older, keep=["login.py"])
    assert desk.engine.narrowed == [(approval_id, older, ("login.py",), {})]
    assert value["approval"]["digest"] != older
    assert value["approval"]["state"] == "pending"


async def test_some_hunks_of_a_file_are_a_new_question(desk: Desk) -> None:
    older = await waiting(desk)
    shown = await desk.ask("show", task="T-7K3F")

    async def narrowed(task_id: str) -> None:
        await desk.gate.withdraw(task_id)
        await asked(desk, a_change(clock=desk.clock, version=2))

    desk.engine.anew = narrowed
    named = {"approval_id": shown["approval"]["approval_id"], "digest": older}
    await desk.ask("narrow", **named, keep=["a.py", "b.py"], hunks={"a.py": [0, 4_999]})
    assert [(keep, hunks) for _, _, keep, hunks in desk.engine.narrowed] == [
        (("a.py", "b.py"), {"a.py": (0, 4_999)})
    ]


@pytest.mark.parametrize(
    "hunks",
    [
        None,
        [],
        "a.py",
        {"a.py": 0},
        {"a.py": {"0": 0}},
        {"a.py": ["0"]},
        {"a.py": [True]},
        {"a.py": [1.0]},
        {"a.py": [-1]},
        {"a.py": [5_000]},
        {"a.py": [0] * 5_001},
        {"a.py": [0] * 2_501, "b.py": [0] * 2_500},
        {str(number): [0] for number in range(501)},
    ],
)
async def test_hunks_that_no_diff_has_are_refused(desk: Desk, hunks: Any) -> None:
    digest = await waiting(desk)
    shown = await desk.ask("show", task="T-7K3F")
    named = {"approval_id": shown["approval"]["approval_id"], "digest": digest}
    with pytest.raises(RemoteProtocolError) as refused:
        await desk.ask("narrow", **named, keep=["a.py"], hunks=hunks)
    assert (refused.value.code, refused.value.facts["field"]) == ("control.malformed", "hunks")
    assert desk.engine.narrowed == []


async def test_an_engine_that_refuses_to_narrow_is_heard(desk: Desk) -> None:
    await waiting(desk)
    shown = await desk.ask("show", task="T-7K3F")

    async def refuse(task_id: str) -> None:
        raise InputError("approval.narrow", path="x")

    desk.engine.anew = refuse
    with pytest.raises(InputError) as refused:
        await desk.ask(
            "narrow", approval_id=shown["approval"]["approval_id"], digest="", keep=["x"]
        )
    assert refused.value.code == "approval.narrow"


async def test_an_unknown_approval_is_not_narrowed(desk: Desk) -> None:
    with pytest.raises(StateError) as refused:
        await desk.ask("narrow", approval_id=new_uuid(), digest="", keep=[])
    assert refused.value.code == "approval.unknown"


async def test_the_question_of_a_check_is_given_once_it_waits(desk: Desk) -> None:
    digest = await waiting(desk)
    shown = await desk.ask("show", task="T-7K3F")
    approval_id = shown["approval"]["approval_id"]
    desk.engine.checks = NewTask(
        task_id="check",
        short_id="T-9999",
        source="local_ui",
        channel="check",
        claimed_user="zhang",
        thread_id="check",
        text="@dev test",
        lang="en",
        checks=approval_id,
    )
    desk.engine.written.clear()
    asking = asyncio.create_task(desk.ask("check", approval_id=approval_id, digest=digest))
    async with asyncio.timeout(PATIENCE):
        await desk.engine.written.wait()
    copied = a_payload(copy=SealedCopy(approval_id, "T-7K3F", "0" * 64))
    await desk.walk(TaskState.PROPOSAL_READY, "check")
    seal = a_seal(desk.clock, task_id="check", short_id="T-9999", payload=copied)
    asked = await desk.gate.request(seal, around=Circumstances(allowed=[PYTEST]))
    await desk.change(
        Step(
            task_id="check",
            expected=TaskState.PROPOSAL_READY,
            state=TaskState.WAITING_APPROVAL,
        )
    )
    value = await asking
    assert (value["task"]["short_id"], value["approval"]["digest"]) == ("T-9999", asked.digest)
    told = (await desk.ask("show", task="T-7K3F"))["approval"]
    assert (told["check"]["task"], told["check"]["state"]) == ("T-9999", "waiting")
