"""Several operations under one question: done in order, told truthfully, cut off anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from common.diff.patching import Hunks
from common.errors import StateError, StoreError
from common.model.proposal import TaskResult
from common.model.state import FINAL, Reason, TaskState
from common.receipt import sign_receipt, verify_receipt
from common.seal import Place, Seal
from common.sentences import same
from local_agent.actions.operation import Ended, Performing, Sealable
from local_agent.actions.registry import ACTIONS
from local_agent.flow.receipts import receipt_facts
from local_agent.safety.grant import Grant
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace
from tests.desk import WITHIN_S, Desk
from tests.sealed import AGENT, AGENT_ID, walk
from tests.three import COUNT, WORD, commands, register

pytestmark = pytest.mark.heavy

NAMES = ["first", "second", "third"]


@dataclass
class Scripted:
    """Asks for three commands, and "runs" each as told."""

    ends: dict[int, Reason] = field(default_factory=dict)
    stays_in: int | None = None
    settles: Reason = Reason.UNKNOWN
    ran: list[str] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def prepare(self, task: Task, workspace: Workspace) -> Sealable:
        """Describe three commands."""
        del task
        return Sealable(
            action=WORD,
            payload=commands(),
            workspace=Place(str(workspace.path), 2049, 7),
            git_head=None,
            base={},
            undo="no",
            discloses=("output-tail",),
        )

    async def perform(
        self, task: Task, grant: Grant, workspace: Workspace, around: Performing
    ) -> Ended:
        """Note what is run."""
        del task, workspace
        self.ran += grant.spend().payload["argv"]
        if grant.part == self.stays_in:
            self.reached.set()
            await around.stop.wait()
        reason = self.ends.get(grant.part, Reason.COMPLETED)
        return Ended(reason, same(f"{self.ran[-1]}: {reason}."))

    async def settle(self, seal: Seal, workspace: Workspace) -> Ended:
        """Note what is looked at."""
        del workspace
        self.settled += seal.payload["argv"]
        return Ended(self.settles, same("looked at."))

    async def narrowed(
        self, result: TaskResult, seal: Seal, keep: tuple[str, ...], hunks: Hunks
    ) -> TaskResult:
        """Not asked for."""
        raise NotImplementedError


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    operation = Scripted()
    register(monkeypatch, make=lambda _parts: operation)
    row = replace(ACTIONS["run_command"], make=lambda _parts: operation)
    monkeypatch.setitem(ACTIONS, "run_command", row)
    return operation


@pytest.fixture
async def desk(tmp_path: Path, scripted: Scripted) -> AsyncIterator[Desk]:
    del scripted
    async with Desk(tmp_path) as opened:
        yield opened


async def approved(desk: Desk) -> str:
    task_id = await desk.ask("@dev test")
    task = await desk.until(task_id, TaskState.WAITING_APPROVAL, *FINAL)
    assert task.state is TaskState.WAITING_APPROVAL, (task.summary, desk.failures.events)
    asked = await desk.waiting(task_id)
    assert asked.seal.action == WORD
    await desk.decide(asked)
    return task_id


async def within(event: asyncio.Event) -> None:
    async with asyncio.timeout(WITHIN_S):
        await event.wait()


async def outcomes(desk: Desk, task_id: str) -> list[tuple[int, str | None]]:
    effects = await desk.db.run(desk.db.journal.effects.of_task, task_id)
    return [(effect.part, effect.outcome) for effect in effects]


async def parts_told(desk: Desk, task: Task) -> list[str | None]:
    """Return how a receipt says that the parts ended."""

    def make() -> bytes:
        now = desk.clock.now().wall_ms
        named = {"machine": "dev-1", "agent_id": AGENT_ID}
        facts = receipt_facts(desk.db.journal, task.short_id, at_ms=now, **named)
        return sign_receipt(AGENT, facts)

    receipt = verify_receipt(await desk.db.run(make), key=AGENT.public)
    return [part["reason"] for part in receipt.facts["outcome"]["parts"]]


@pytest.mark.requirement("P2")
async def test_what_was_approved_is_done_in_order_each_once(desk: Desk, scripted: Scripted) -> None:
    task = await desk.until(await approved(desk), *FINAL)
    assert (task.reason, scripted.ran) == (Reason.COMPLETED, NAMES)
    done = [(part, "completed") for part in range(COUNT)]
    assert await outcomes(desk, task.task_id) == done
    assert await parts_told(desk, task) == ["completed"] * COUNT


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("reason", [Reason.FAILED, Reason.DRIFTED, Reason.UNKNOWN])
async def test_after_one_that_did_not_end_well_none_is_begun(
    desk: Desk, scripted: Scripted, reason: Reason
) -> None:
    scripted.ends = {1: reason}
    task = await desk.until(await approved(desk), *FINAL)
    assert (task.reason, scripted.ran) == (reason, NAMES[:2])
    assert await outcomes(desk, task.task_id) == [(0, "completed"), (1, reason)]
    assert "1 of 3 steps were carried out" in (task.summary or "")
    assert await parts_told(desk, task) == ["completed", reason, None]


@pytest.mark.requirement("P7")
async def test_a_cancel_in_between_begins_no_further_one(desk: Desk, scripted: Scripted) -> None:
    scripted.stays_in = 0
    task_id = await approved(desk)
    await within(scripted.reached)
    await desk.engine.cancel(task_id)
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, scripted.ran) == (Reason.CANCELLED, NAMES[:1])
    assert await outcomes(desk, task_id) == [(0, "completed")]
    assert "1 of 3" in (task.summary or "")


async def test_one_that_may_not_begin_any_more_ends_the_task(
    desk: Desk, scripted: Scripted
) -> None:
    take = desk.gate.take_grant

    async def late(approval_id: str, digest: str, *, part: int = 0) -> Grant:
        if part == 1:
            desk.clock.advance(61)
        return await take(approval_id, digest, part=part)

    desk.gate.take_grant = late  # type: ignore[method-assign]  # a machine that was suspended
    task = await desk.until(await approved(desk), *FINAL)
    assert (task.reason, scripted.ran) == (Reason.FAILED, NAMES[:1])


async def test_an_end_that_a_full_disk_refuses_is_recorded_later(
    desk: Desk, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_agent.flow.parts.AGAIN_SECONDS", 0)
    end, refused = desk.gate.end_part, [StoreError("store.full")]

    async def full(grant: Grant) -> None:
        if refused:
            raise refused.pop()
        await end(grant)

    desk.gate.end_part = full  # type: ignore[method-assign]  # a full disk
    task = await desk.until(await approved(desk), *FINAL)
    assert (task.reason, scripted.ran, refused) == (Reason.COMPLETED, NAMES, [])


# --- after a restart -------------------------------------------------------------------------


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("part", range(COUNT))
@pytest.mark.parametrize("settles", [Reason.COMPLETED, Reason.FAILED, Reason.UNKNOWN])
async def test_one_that_was_cut_off_is_settled_and_none_is_begun_after_it(
    desk: Desk, scripted: Scripted, part: int, settles: Reason
) -> None:
    scripted.stays_in, scripted.settles = part, settles
    task_id = await approved(desk)
    await within(scripted.reached)
    await desk.restart()
    task = await desk.until(task_id, *FINAL)
    assert (scripted.ran, scripted.settled) == (NAMES[: part + 1], [NAMES[part]])
    done = part + (settles is Reason.COMPLETED)
    whole = done == COUNT
    ended = Reason.FAILED if settles is Reason.COMPLETED and not whole else settles
    assert task.reason is ended
    before = [(one, "completed") for one in range(part)]
    assert await outcomes(desk, task_id) == [*before, (part, settles)]
    assert (f"{done} of 3" in (task.summary or "")) != whole
    assert len(await parts_told(desk, task)) == COUNT
    await desk.restart()
    assert scripted.ran == NAMES[: part + 1]


@pytest.mark.requirement("P3")
async def test_a_kill_between_two_of_them_begins_no_further_one(
    desk: Desk, scripted: Scripted
) -> None:
    end, ended = desk.gate.end_part, asyncio.Event()

    async def cut(grant: Grant) -> None:
        await end(grant)
        ended.set()
        await asyncio.Event().wait()

    desk.gate.end_part = cut  # type: ignore[method-assign]  # it never returns
    task_id = await approved(desk)
    await within(ended)
    await desk.restart()
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, scripted.ran, scripted.settled) == (Reason.FAILED, NAMES[:1], [])
    assert await outcomes(desk, task_id) == [(0, "completed")]
    assert "1 of 3" in (task.summary or "")


@pytest.mark.requirement("P3")
async def test_a_kill_after_the_grant_of_a_later_one_leaves_it_unknown(
    desk: Desk, scripted: Scripted
) -> None:
    take, taken = desk.gate.take_grant, asyncio.Event()

    async def cut(approval_id: str, digest: str, *, part: int = 0) -> Grant:
        grant = await take(approval_id, digest, part=part)
        if part == 1:
            taken.set()
            await asyncio.Event().wait()
        return grant

    desk.gate.take_grant = cut  # type: ignore[method-assign]  # it never returns
    task_id = await approved(desk)
    await within(taken)
    await desk.restart()
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, scripted.ran, scripted.settled) == (Reason.UNKNOWN, ["first"], ["second"])
    assert await outcomes(desk, task_id) == [(0, "completed"), (1, "unknown")]


async def test_a_kill_while_a_settled_one_is_recorded_settles_nothing_twice(
    desk: Desk, scripted: Scripted
) -> None:
    scripted.stays_in, scripted.settles = 1, Reason.COMPLETED
    task_id = await approved(desk)
    await within(scripted.reached)
    effects: Any = desk.db.journal.effects
    await desk.db.run(lambda: effects.close_effect(effects.of_task(task_id)[-1].approval_id,
                                                   "completed", part=1))  # fmt: skip
    await desk.restart()
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, scripted.settled) == (Reason.FAILED, [])
    assert "2 of 3" in (task.summary or "")


async def test_a_task_that_executes_and_has_begun_nothing_is_unknown(
    desk: Desk, scripted: Scripted
) -> None:
    task_id = await desk.ask("@dev test")
    await desk.waiting(task_id)
    await desk.kill()
    await desk.open_journal()
    await desk.db.run(walk, desk.db.journal, task_id, TaskState.EXECUTING)
    await desk.db.close()
    await desk.open()
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, scripted.settled) == (Reason.UNKNOWN, [])


async def test_a_stranger_gets_no_grant_for_a_part(desk: Desk, scripted: Scripted) -> None:
    scripted.stays_in = 0
    task_id = await approved(desk)
    await within(scripted.reached)
    effect = (await desk.db.run(desk.db.journal.effects.of_task, task_id))[0]
    with pytest.raises(StateError):
        await desk.gate.take_grant(effect.approval_id, effect.digest, part=1)
    await desk.engine.cancel(task_id)
    await desk.until(task_id, *FINAL)
