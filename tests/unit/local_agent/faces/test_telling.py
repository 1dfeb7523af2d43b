"""What the agent tells of an approval, to terminal and window alike."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from itertools import pairwise

import pytest

from common.clock import ManualClock
from common.diff.parse import parse_diff
from common.diff.patching import select
from common.diff.render import render
from common.errors import StateError
from common.model.proposal import CommandProposal
from common.model.state import Reason, TaskState, final_of
from common.seal import read_changes
from local_agent.actions.changes.payload import change_payload
from local_agent.faces.telling import (
    MAX_LEFT_OUT,
    MAX_SAID_BYTES,
    MAX_SAID_LINES,
    Teller,
)
from local_agent.flow.approvals import PendingApproval
from local_agent.flow.gate import Gate
from local_agent.safety.risk import Circumstances
from local_agent.store.journal import JournalThread
from local_agent.views import to_json
from local_agent.views.question import CommandReason, LeftOut, Named
from tests import windows
from tests.asked import read_question
from tests.sealed import PYTEST, Step, Wish, a_seal

pytestmark = pytest.mark.heavy


@pytest.fixture
def teller(db: JournalThread, gate: Gate) -> Teller:
    names = {"/home/zhang/项目": "shop"}
    return Teller(db, gate, machine="dev-machine-1", workspaces=lambda: names)


async def asked(gate: Gate, clock: ManualClock) -> PendingApproval:
    return await gate.request(a_seal(clock), around=Circumstances(allowed=[PYTEST]))


async def test_a_dialog_reads_what_is_told(gate: Gate, clock: ManualClock, teller: Teller) -> None:
    waiting = await asked(gate, clock)
    question = read_question(await teller.tell(waiting.approval_id))
    assert question.digest == waiting.digest
    assert question.seal == waiting.seal
    assert (question.told.machine, question.told.workspace) == ("dev-machine-1", "shop")
    assert question.told.text == "@dev test"
    assert question.told.state == "pending"


async def test_an_approval_that_ended_is_told_as_ended(
    gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    waiting = await asked(gate, clock)
    await gate.withdraw(waiting.task_id)
    assert read_question(await teller.tell(waiting.approval_id)).told.state != "pending"


async def test_a_command_can_neither_be_narrowed_nor_checked_first(
    gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    told = to_json(await teller.tell((await asked(gate, clock)).approval_id))
    assert (told["can_narrow"], told["can_check"]) == (False, False)


async def test_a_change_of_more_than_one_file_can_be_narrowed(
    db: JournalThread, gate: Gate, clock: ManualClock
) -> None:
    changes, raw = windows.a_change()
    seal = a_seal(clock, action="apply_diff", payload=changes.payload, base={}, undo="yes")
    waiting = await gate.request(seal, around=Circumstances(diff=parse_diff(raw)))
    teller = Teller(
        db, gate, machine="m", workspaces=dict, can_check=lambda asked: asked == waiting
    )
    told = to_json(await teller.tell(waiting.approval_id))
    assert (told["can_narrow"], told["can_check"]) == (True, True)


async def test_why_nothing_can_be_approved_now_is_told(
    gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    waiting = await asked(gate, clock)
    with gate.block("T-1234 runs without a sandbox"):
        assert (await teller.tell(waiting.approval_id)).blocked
    assert (await teller.tell(waiting.approval_id)).blocked == ""


async def test_of_an_unknown_approval_nothing_is_told(teller: Teller) -> None:
    with pytest.raises(StateError):
        await teller.tell("T-0000")


@pytest.mark.parametrize(
    ("steps", "reason", "state"),
    [
        (0, None, "waiting"),
        (5, None, "waiting"),
        (6, None, "running"),
        (6, Reason.COMPLETED, "passed"),
        (6, Reason.FAILED, "failed"),
        (6, Reason.DRIFTED, "drifted"),
        (5, Reason.REJECTED, "rejected"),
    ],
)
async def test_how_a_check_stands_is_told_with_its_change(
    db: JournalThread,
    gate: Gate,
    clock: ManualClock,
    steps: int,
    reason: Reason | None,
    state: str,
) -> None:
    changes, raw = windows.a_change()
    seal = a_seal(clock, action="apply_diff", payload=changes.payload, base={}, undo="yes")
    waiting = await gate.request(seal, around=Circumstances(diff=parse_diff(raw)))
    wish = Wish(task_id="check", short_id="T-9999", checks=waiting.approval_id)
    await db.run(db.journal.tasks.create, wish, 1)
    line = [TaskState.RECEIVED, TaskState.ROUTED, TaskState.CONTEXT_COLLECTED]
    line += [TaskState.PROPOSING, TaskState.PROPOSAL_READY, TaskState.WAITING_APPROVAL]
    line += [TaskState.EXECUTING]
    for old, new in pairwise(line[: steps + 1]):
        await db.run(db.journal.tasks.change, Step(task_id="check", expected=old, state=new))
    if reason is not None:
        ended = json.dumps({"said": None, "run": {"exit_code": 3, "duration_ms": 1200}})
        end = Step(task_id="check", expected=line[steps], state=final_of(reason)[0], reason=reason)
        await db.run(db.journal.tasks.change, replace(end, ending_json=ended))
    teller = Teller(db, gate, machine="m", workspaces=dict, can_check=lambda _asked: True)
    told = to_json(await teller.tell(waiting.approval_id))
    assert (told["check"]["task"], told["check"]["state"]) == ("T-9999", state)
    assert told["check"]["duration_ms"] == (1200 if reason else None)
    assert told["can_check"] is (reason is not None), "one check at a time"
    assert read_question(told, diff=raw).told.check is not None


async def test_what_a_change_was_narrowed_from_is_told(
    gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    changes, raw = windows.a_change()
    seal = a_seal(clock, action="apply_diff", payload=changes.payload, base={}, undo="yes")
    whole = await gate.request(seal, around=Circumstances(diff=parse_diff(raw)))
    assert (await teller.tell(whole.approval_id)).left_out is None
    first, *left = [change["path"] for change in seal.payload["changes"]]
    model = select(parse_diff(raw), [first])
    payload = change_payload(
        hashlib.sha256(render(model)).hexdigest(), read_changes(seal.payload)[:1]
    )
    part = replace(seal, approval_id="part", version=2, payload=payload)
    narrowed = await gate.request(part, around=Circumstances(diff=model))
    told = to_json(await teller.tell(narrowed.approval_id))
    paths = tuple(left[:MAX_LEFT_OUT])
    assert told["left_out"] == {"count": len(left), "paths": paths, "partly": 0}
    assert read_question(told, diff=render(model)).told.left_out == LeftOut(**told["left_out"])


@pytest.mark.parametrize(("moved_on", "partly"), [(False, 1), (True, 0)])
async def test_files_of_which_some_hunks_were_left_out_are_counted(
    gate: Gate, clock: ManualClock, teller: Teller, moved_on: bool, partly: int
) -> None:
    changes, raw = windows.a_change()
    seal = a_seal(clock, action="apply_diff", payload=changes.payload, base={}, undo="yes")
    model = parse_diff(raw)
    await gate.request(seal, around=Circumstances(diff=model))
    first, *others = read_changes(seal.payload)
    fewer = replace(first, new_sha256="1" * 64)
    if moved_on:  # then nobody can tell
        fewer = replace(fewer, old_sha256="2" * 64)
    payload = change_payload(hashlib.sha256(raw).hexdigest(), [fewer, *others])
    part = replace(seal, approval_id="part", version=2, payload=payload)
    narrowed = await gate.request(part, around=Circumstances(diff=model))
    left_out = (await teller.tell(narrowed.approval_id)).left_out
    assert left_out == (LeftOut(0, (), partly) if partly else None)


async def proposed(db: JournalThread, result: dict[str, object]) -> None:
    """Write what was proposed for the task."""
    task = await db.run(db.journal.tasks.get, "task-1")
    stored = json.dumps(result, ensure_ascii=False)
    step = Step(expected=task.state, state=TaskState.EXECUTING, proposal_json=stored)
    await db.run(db.journal.tasks.change, step)


async def a_change_waits(gate: Gate, clock: ManualClock) -> PendingApproval:
    changes, raw = windows.a_change()
    seal = a_seal(clock, action="apply_diff", payload=changes.payload, base={}, undo="yes")
    return await gate.request(seal, around=Circumstances(diff=parse_diff(raw)))


def in_words(text: str) -> dict[str, object]:
    return {"details": f"1 file.\n{text}", "speech": {"model": "mock", "text": text}}


async def test_what_a_model_said_of_its_change_is_told_beside_it(
    db: JournalThread, gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    waiting = await a_change_waits(gate, clock)
    assert (await teller.tell(waiting.approval_id)).said is None
    await proposed(db, in_words("\n提高到 5。\nDone.\u202e\n"))
    told = to_json(await teller.tell(waiting.approval_id))
    assert told["said"] == {"model": "mock", "text": "提高到 5。\nDone.⟨U+202E⟩", "cut": False}
    assert told["digest"] == waiting.digest


@pytest.mark.parametrize("text", ["很" * MAX_SAID_BYTES, "\n".join("x" * (MAX_SAID_LINES + 1))])
async def test_of_a_model_that_says_much_the_beginning_is_told(
    db: JournalThread, gate: Gate, clock: ManualClock, teller: Teller, text: str
) -> None:
    waiting = await a_change_waits(gate, clock)
    await proposed(db, in_words(text))
    said = (await teller.tell(waiting.approval_id)).said
    assert said is not None
    assert said.cut
    assert text.startswith(said.text.removesuffix("…"))
    assert len(said.text.encode()) <= MAX_SAID_BYTES
    assert said.text.count("\n") < MAX_SAID_LINES


async def test_where_no_model_spoke_nothing_is_told_of_one(
    db: JournalThread, gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    waiting = await a_change_waits(gate, clock)
    await proposed(db, {"details": "The model mock says:\nmade up", "speech": None})
    assert (await teller.tell(waiting.approval_id)).said is None


async def test_a_command_is_told_with_the_project_file_that_names_it(
    db: JournalThread, gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    waiting = await asked(gate, clock)
    assert (await teller.tell(waiting.approval_id)).named is None
    command = CommandProposal(cmd="make test", named_by="Makefile", named_as="test:")
    await proposed(db, {"proposal": command.to_dict(), **in_words("run it")})
    told = to_json(await teller.tell(waiting.approval_id))
    assert (told["named"], told["said"]) == ({"file": "Makefile", "what": "test:"}, None)
    assert read_question(told).told.named == Named("Makefile", "test:")


@pytest.mark.requirement("P7")
async def test_a_later_version_is_told_with_its_wish_and_the_first_request(
    db: JournalThread, gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    older = Wish(task_id="older", short_id="T-1111", text="retry logins")
    await db.run(db.journal.tasks.create, older, 0)
    waiting = await a_change_waits(gate, clock)
    assert (await teller.tell(waiting.approval_id)).revision is None
    wish = {"params": {"changeRequest": "make it five"}}
    await proposed(db, {"revises": "T-1111", "version": 2, "intent": wish})
    told = to_json(await teller.tell(waiting.approval_id))
    expected = {"version": 2, "task": "T-1111", "wish": "make it five", "first": "retry logins"}
    assert told["revision"] == expected


@pytest.mark.parametrize("made_at", [None, 10**15])
async def test_a_version_before_that_is_forgotten_or_younger_is_not_told(
    db: JournalThread, gate: Gate, clock: ManualClock, teller: Teller, made_at: int | None
) -> None:
    if made_at is not None:
        another = Wish(task_id="another", short_id="T-1111", text="another's")
        await db.run(db.journal.tasks.create, another, made_at)
    waiting = await a_change_waits(gate, clock)
    await proposed(db, {"revises": "T-1111", "version": 2, "intent": {"params": {}}})
    assert (await teller.tell(waiting.approval_id)).revision is None


@pytest.mark.requirement("R25")
async def test_why_a_command_is_proposed_is_told_with_whose_words_they_are(
    db: JournalThread, gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    waiting = await asked(gate, clock)
    command = CommandProposal(cmd="make test", reason="to see\nwhether it holds").to_dict()
    await proposed(db, {"proposal": command})
    told = to_json(await teller.tell(waiting.approval_id))
    assert read_question(told).told.reason == CommandReason("to see whether it holds", None)
    await proposed(db, {"proposal": command, **in_words("run it")})
    told = to_json(await teller.tell(waiting.approval_id))
    assert read_question(told).told.reason == CommandReason("to see whether it holds", "mock")
