"""Receipts as the machine makes them, from real tasks in a real journal."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from common.diff.parse import parse_diff
from common.errors import AuthError, StateError
from common.model.state import Reason, TaskState
from common.receipt import Receipt, sign_receipt, verify_receipt
from common.signing import SigningKey
from local_agent.actions.changes.settle import ChangeOutcome
from local_agent.flow.receipts import receipt_facts
from tests.desk import Desk, a_change
from tests.sealed import AGENT, AGENT_ID, GATEWAY, answered

FIX = b"--- a/src/login.py\n+++ b/src/login.py\n@@ -1 +1 @@\n-retries = 1\n+retries = 3\n"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with Desk(tmp_path) as opened:
        yield opened


async def made(desk: Desk, short_id: str, *, key: SigningKey = AGENT) -> bytes:
    """Let the machine make the receipt of a task."""

    def make() -> bytes:
        now = desk.clock.now().wall_ms
        facts = receipt_facts(
            desk.db.journal, short_id, machine="dev-1", agent_id=AGENT_ID, at_ms=now
        )
        return sign_receipt(key, facts)

    return await desk.db.run(make)


async def receipt_of(desk: Desk, task_id: str) -> Receipt:
    """Return the receipt of a task, verified."""
    short_id = (await desk.task(task_id)).short_id
    return verify_receipt(await made(desk, short_id), key=AGENT.public)


@pytest.mark.requirement("P6")
async def test_what_was_approved_and_done_is_proven(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    asked = await desk.waiting(task_id)
    await desk.decide(asked)
    await desk.until(task_id, TaskState.COMPLETED)
    await desk.db.run(answered, desk.db.journal, desk.clock, 1)
    receipt = await receipt_of(desk, task_id)
    facts = receipt.facts
    assert (facts["task"]["claimed_user"], facts["task"]["task_id"]) == ("zhang", task_id)
    assert (facts["approval"]["digest"], facts["approval"]["code"]) == (asked.digest, asked.code)
    assert (receipt.decision, facts["approval"]["approver"]) == ("approve", "terminal")
    assert (facts["outcome"]["reason"], facts["outcome"]["exit_code"]) == ("completed", 0)
    assert facts["outcome"]["closed_at"] is not None
    told = [entry["event"] for entry in facts["audit"]["entries"]]
    for event in ("task.accepted", "approval.approved", "exec.intent", "exec.result", "task.ended"):
        assert event in told
    assert receipt.covered
    assert receipt.kept is not None
    assert receipt.kept.public_key == GATEWAY.public.raw


@pytest.mark.requirement("P6")
async def test_the_receipt_of_a_change_counts_the_files_that_it_wrote(desk: Desk) -> None:
    files = tuple(map(a_change, parse_diff(FIX).files))
    desk.applier.outcome = ChangeOutcome(reason=Reason.COMPLETED, files=files)
    task_id = await desk.apply(FIX)
    await desk.decide(await desk.waiting(task_id))
    await desk.until(task_id, TaskState.COMPLETED)
    receipt = await receipt_of(desk, task_id)
    assert receipt.facts["approval"]["action"] == "apply_diff"
    assert receipt.facts["outcome"]["changed_files"] == len(files) > 0


async def test_a_rejection_is_proven_with_its_reason(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id), "reject", reason="not today")
    await desk.until(task_id, TaskState.REJECTED)
    receipt = await receipt_of(desk, task_id)
    assert (receipt.decision, receipt.reason) == ("reject", "not today")
    assert receipt.facts["outcome"]["began_at"] is None


@pytest.mark.requirement("P6")
@pytest.mark.parametrize("named", ["task_id", "claimed_user"])
async def test_no_gateway_can_talk_what_was_done_out_of_a_receipt(
    desk: Desk, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 12
    monkeypatch.setattr("local_agent.flow.receipts.MAX_ENTRIES", most)
    task_id = await desk.ask("@dev test")
    asked = await desk.waiting(task_id)

    def cancel_in_vain() -> None:
        for _ in range(most):
            facts = {"task_id": "task-other", "claimed_user": "zhang", named: task_id}
            desk.db.journal.audit.append("inbox.cancel", **facts)

    await desk.db.run(cancel_in_vain)
    await desk.decide(asked)
    await desk.until(task_id, TaskState.COMPLETED)
    entries = (await receipt_of(desk, task_id)).facts["audit"]["entries"]
    told = {entry["event"] for entry in entries}
    assert {"approval.approved", "exec.intent", "exec.result", "task.ended"} <= told
    assert len(entries) <= most


async def test_what_needed_no_approval_says_so(desk: Desk) -> None:
    task = await desk.done("@dev help")
    receipt = await receipt_of(desk, task.task_id)
    assert (receipt.facts["approval"], receipt.decision) == (None, None)
    assert receipt.facts["outcome"]["reason"] == Reason.COMPLETED


async def test_a_task_that_has_not_ended_has_no_receipt(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    await desk.waiting(task_id)
    with pytest.raises(StateError) as caught:
        await made(desk, (await desk.task(task_id)).short_id)
    assert caught.value.code == "receipt.open"


async def test_a_decision_stays_proven_after_the_key_was_rotated(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    await desk.until(task_id, TaskState.COMPLETED)
    new = SigningKey.generate()
    short_id = (await desk.task(task_id)).short_id
    receipt = verify_receipt(await made(desk, short_id, key=new), key=new.public)
    assert receipt.decision == "approve"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("statement", b"{}"),
        ("signature", bytes(64)),
        ("approver", "desktop"),
        ("decided_at", 1),
        ("public_key", bytes(32)),
    ],
)
async def test_what_was_tampered_with_gets_no_receipt(desk: Desk, column: str, value: Any) -> None:
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    await desk.until(task_id, TaskState.COMPLETED)

    def tamper() -> None:
        desk.db.journal._db.run(f"UPDATE approvals SET {column} = ?", value)  # noqa: S608  the columns above

    await desk.db.run(tamper)
    with pytest.raises(AuthError) as caught:
        await made(desk, (await desk.task(task_id)).short_id)
    assert caught.value.code == "receipt.broken"


@pytest.mark.requirement("P6")
async def test_neither_entries_nor_receipts_hold_what_was_asked_answered_or_printed(
    desk: Desk,
) -> None:
    canary = "sk-canary-7f3a9b-do-not-keep"
    task_id = await desk.ask(f"@dev run echo {canary}", thread_id="thread-1")
    asked = await desk.waiting(task_id)
    await desk.decide(asked)
    await desk.until(task_id, TaskState.COMPLETED)
    await desk.done(f"@dev find {canary}")
    await desk.done(f"@dev {canary}")
    receipt = await made(desk, (await desk.task(task_id)).short_id)
    assert canary.encode() not in receipt
    entries = await desk.db.run(lambda: [*desk.db.journal.audit.entries()])
    assert len(entries) > 5
    for _, _, body, _ in entries:
        assert canary.encode() not in body
        assert json.loads(body)["event"]
