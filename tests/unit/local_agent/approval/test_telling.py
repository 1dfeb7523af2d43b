"""What the agent tells of an approval, to terminal and window alike."""

from __future__ import annotations

import pytest

from common.clock import ManualClock
from common.diff.parse import parse_diff
from common.errors import StateError
from local_agent.approval.dialogs.question import read_question
from local_agent.approval.gate import Gate
from local_agent.approval.records import PendingApproval
from local_agent.approval.telling import Teller
from local_agent.safety.risk import Circumstances
from local_agent.store.runner import JournalThread
from tests import windows
from tests.sealed import PYTEST, a_seal


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
    assert (question.machine, question.workspace) == ("dev-machine-1", "shop")
    assert question.text == "@dev test"
    assert question.pending


async def test_an_approval_that_ended_is_told_as_ended(
    gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    waiting = await asked(gate, clock)
    await gate.withdraw(waiting.task_id)
    assert not read_question(await teller.tell(waiting.approval_id)).pending


async def test_a_command_can_neither_be_narrowed_nor_checked_first(
    gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    told = await teller.tell((await asked(gate, clock)).approval_id)
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
    told = await teller.tell(waiting.approval_id)
    assert (told["can_narrow"], told["can_check"]) == (True, True)


async def test_why_nothing_can_be_approved_now_is_told(
    gate: Gate, clock: ManualClock, teller: Teller
) -> None:
    waiting = await asked(gate, clock)
    with gate.block("T-1234 runs without a sandbox"):
        assert (await teller.tell(waiting.approval_id))["blocked"]
    assert (await teller.tell(waiting.approval_id))["blocked"] == ""


async def test_of_an_unknown_approval_nothing_is_told(teller: Teller) -> None:
    with pytest.raises(StateError):
        await teller.tell("T-0000")
