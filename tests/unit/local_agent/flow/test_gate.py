"""The gate: who may decide what, when, and what comes of it."""

from __future__ import annotations

import asyncio
import inspect
import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import (
    AuthError,
    CodexBridgeError,
    InputError,
    LocalProtocolError,
    StateError,
    StoreError,
)
from common.ids import new_uuid
from common.model.state import Reason, TaskState
from common.seal import Place as SealedPlace
from common.signing import APPROVAL, SigningKey
from local_agent.actions.registry import seal_bytes
from local_agent.errors import FloodedError, RefusedError
from local_agent.flow import gate_steps as steps
from local_agent.flow.approvals import APPROVERS, Notice, PendingApproval
from local_agent.flow.gate import Gate
from local_agent.flow.gate_checks import Limits
from local_agent.safety.decision import Statement
from local_agent.safety.grant import Grant
from local_agent.safety.risk import Circumstances
from local_agent.store.journal import JournalThread
from tests.sealed import AGENT, PYTEST, Wish, a_payload, a_seal, ending, to_waiting, walk
from tests.three import COUNT, a_seal_of_three, register

pytestmark = pytest.mark.heavy
Look = Callable[[Gate, PendingApproval], Awaitable[None]]


class TellingKey(SigningKey):
    """Says when a decision is being signed."""

    def __init__(self) -> None:
        super().__init__(AGENT.private_bytes())
        self.signs = asyncio.Event()

    def sign(self, label: bytes, message: bytes) -> bytes:
        self.signs.set()
        return super().sign(label, message)


async def asked(gate: Gate, clock: ManualClock, **changes: Any) -> PendingApproval:
    return await gate.request(a_seal(clock, **changes), around=Circumstances(allowed=[PYTEST]))


async def approve(
    gate: Gate, question: PendingApproval, *, approver: Any = "terminal", **changes: Any
) -> None:
    answer: dict[str, Any] = {
        "decision": "approve",
        "typed": question.code if question.both_groups else question.code[:4],
    }
    entrance = gate.entrance(approver)
    await entrance.decide(question.approval_id, question.digest, **answer | changes)


async def reject(gate: Gate, question: PendingApproval, reason: str | None = None) -> None:
    await gate.entrance("terminal").decide(
        question.approval_id, question.digest, decision="reject", reason=reason
    )


async def refused(gate: Gate, question: PendingApproval, **changes: Any) -> CodexBridgeError:
    with pytest.raises(CodexBridgeError) as caught:
        await approve(gate, question, **changes)
    return caught.value


async def state_of(gate: Gate, question: PendingApproval) -> str:
    return (await gate.show(question.approval_id)).state


async def restarted(db: JournalThread, clock: ManualClock) -> Gate:
    gate = Gate(db, clock=clock, key=lambda: AGENT)
    await gate.start()
    return gate


# --- the line -------------------------------------------------------------------------------


@pytest.mark.requirement("P1")
@pytest.mark.requirement("R1")
async def test_from_question_to_grant(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    assert await gate.pending() == [question]
    waiting = asyncio.ensure_future(gate.wait(question.approval_id))
    await approve(gate, question)
    assert (await waiting).outcome == "approved"
    grant = await gate.take_grant(question.approval_id, question.digest)
    assert isinstance(grant, Grant)
    assert grant.digest == question.digest
    assert grant.spend() == question.seal
    assert await gate.pending() == []


@pytest.mark.requirement("R59")
async def test_with_the_grant_the_intent_is_on_disk(
    gate: Gate, clock: ManualClock, db: JournalThread
) -> None:
    question = await asked(gate, clock)
    await approve(gate, question)
    assert await db.run(db.journal.effects.unfinished_effects) == []
    await gate.take_grant(question.approval_id, question.digest)
    [effect] = await db.run(db.journal.effects.unfinished_effects)
    assert (effect.approval_id, effect.digest) == (question.approval_id, question.digest)


@pytest.mark.requirement("P3")
async def test_one_approval_gives_one_grant(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    await approve(gate, question)
    taken = await asyncio.gather(
        *(gate.take_grant(question.approval_id, question.digest) for _ in range(5)),
        return_exceptions=True,
    )
    assert [type(one) for one in taken].count(Grant) == 1
    assert {one.code for one in taken if isinstance(one, StateError)} == {"approval.not-approved"}


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("state", ["pending", "rejected", "superseded"])
async def test_without_an_approval_there_is_no_grant(
    gate: Gate, clock: ManualClock, state: str
) -> None:
    question = await asked(gate, clock)
    if state == "rejected":
        await reject(gate, question)
    if state == "superseded":
        await gate.withdraw("task-1")
    assert await state_of(gate, question) == state
    with pytest.raises(StateError) as caught:
        await gate.take_grant(question.approval_id, question.digest)
    assert caught.value.code == "approval.not-approved"


@pytest.mark.requirement("R23")
async def test_a_grant_names_the_digest_that_was_decided_on(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    await approve(gate, question)
    with pytest.raises(StateError):
        await gate.take_grant(question.approval_id, "0" * 64)
    assert await gate.take_grant(question.approval_id, question.digest)


# --- deciding -------------------------------------------------------------------------------


@pytest.mark.requirement("P1")
async def test_the_decision_is_signed_by_the_agents_key(
    gate: Gate, clock: ManualClock, db: JournalThread
) -> None:
    question = await asked(gate, clock)
    await approve(gate, question, approver="desktop")
    row = await db.run(db.journal.approvals.get, question.approval_id)
    assert row.statement is not None
    assert row.signature is not None
    AGENT.public.verify(APPROVAL, row.statement, row.signature)
    words = json.loads(row.statement)
    assert (words["decision"], words["digest"]) == ("approve", question.digest)
    assert (words["approver"], words["approval_id"]) == ("desktop", question.approval_id)


async def test_a_task_is_decided_by_its_short_id_too(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    await gate.entrance("terminal").decide(
        "t—7k3f", question.digest, decision="approve", typed=question.code
    )
    assert await state_of(gate, question) == "approved"


@pytest.mark.parametrize(
    ("name", "code"),
    [("T-0000", "task.unknown"), ("T-8888", "approval.unknown"), ("???", "input.task-id")],
)
async def test_a_name_that_leads_to_no_approval_is_an_error(
    gate: Gate, db: JournalThread, clock: ManualClock, name: str, code: str
) -> None:
    wish = Wish(task_id="task-8", short_id="T-8888")
    await db.run(db.journal.tasks.create, wish, clock.now().wall_ms)
    with pytest.raises(CodexBridgeError) as caught:
        await gate.show(name)
    assert caught.value.code == code


@pytest.mark.requirement("R29")
@pytest.mark.parametrize("typed", ["", "T-7K3F", "7K3F", "yes", "y", "approve", "\ud800"])
async def test_a_wrong_code_approves_nothing_and_the_question_stays(
    gate: Gate, clock: ManualClock, typed: str
) -> None:
    question = await asked(gate, clock)
    assert not question.code.startswith("7K3F")
    error = await refused(gate, question, typed=typed)
    assert (type(error), error.code) == (InputError, "approval.code-mismatch")
    assert await state_of(gate, question) == "pending"
    await approve(gate, question)


@pytest.mark.requirement("R29")
async def test_high_risk_needs_both_groups(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock, payload=a_payload(sandbox_level="none"))
    assert (question.risk, question.reasons) == ("high", ("not-sandboxed",))
    assert (await refused(gate, question, typed=question.code[:4])).code == "approval.code-mismatch"
    await approve(gate, question, typed=question.code)


async def test_normal_risk_needs_the_first_group(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    assert (question.risk, question.reasons, question.both_groups) == ("normal", (), False)
    await approve(gate, question, typed=question.code[:4])


@pytest.mark.requirement("R5")
async def test_what_the_caller_forgets_to_allow_is_high_risk(
    gate: Gate, clock: ManualClock
) -> None:
    assert (await gate.request(a_seal(clock), around=Circumstances())).risk == "high"


async def test_ten_wrong_codes_make_a_pause_in_which_not_even_the_right_one_counts(
    gate: Gate, clock: ManualClock, db: JournalThread
) -> None:
    question = await asked(gate, clock)
    for _ in range(10):
        assert (await refused(gate, question, typed="0000")).code == "approval.code-mismatch"
    error = await refused(gate, question)
    assert (error.code, error.facts) == ("approval.paused", {"seconds": 61})
    entries = await db.run(lambda: list(db.journal.audit.entries()))
    assert sum(b"approval.wrong-codes" in entry[2] for entry in entries) == 1
    clock.advance(60.5)
    await approve(gate, question)


async def test_while_paused_a_rejection_still_counts(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    for _ in range(10):
        await refused(gate, question, typed="0000")
    await reject(gate, question)
    assert await state_of(gate, question) == "rejected"


@pytest.mark.requirement("R23")
@pytest.mark.parametrize("digest", ["0" * 64, "", "张", "\ud800"])
@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_decision_about_other_bytes_is_none(
    gate: Gate, clock: ManualClock, digest: str, decision: str
) -> None:
    question = await asked(gate, clock)
    error = await refused(gate, replace(question, digest=digest), decision=decision)
    assert error.code == "approval.digest-mismatch"
    assert await state_of(gate, question) == "pending"


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(
    "who",
    [
        {"approver": "chat"},
        {"approver": "gateway"},
        {"approver": ""},
        {"approver": "test"},
        {"decision": "approved"},
        {"decision": "always"},
        {"decision": ""},
    ],
)
async def test_only_known_approvers_take_known_decisions(
    gate: Gate, clock: ManualClock, who: dict[str, str]
) -> None:
    question = await asked(gate, clock)
    assert (await refused(gate, question, **who)).code == "approval.decision"
    assert await state_of(gate, question) == "pending"


@pytest.mark.requirement("P1")
def test_the_approvers_are_three_at_the_machine_and_the_answers_of_dry_runs() -> None:
    assert set(APPROVERS) == {"terminal", "desktop", "passkey", "dry-run"}


# --- a file of answers ------------------------------------------------------------------------


@pytest.fixture
def dry_runs(tmp_path: Path) -> Path:
    return tmp_path.resolve() / "dry-runs"


async def dry_gate(db: JournalThread, clock: ManualClock, folder: Path | None) -> Gate:
    dry_runs = None if folder is None else lambda: folder
    gate = Gate(db, clock=clock, key=lambda: AGENT, dry_runs=dry_runs)
    await gate.start()
    return gate


def a_copy(folder: Path) -> SealedPlace:
    place = folder / new_uuid() / "shop"
    place.mkdir(parents=True)
    status = place.stat()
    return SealedPlace(str(place), status.st_dev, status.st_ino)


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_file_of_answers_decides_on_nothing_but_copies(
    db: JournalThread, clock: ManualClock, dry_runs: Path, decision: str
) -> None:
    gate = await dry_gate(db, clock, dry_runs)
    question = await asked(gate, clock)
    error = await refused(gate, question, approver="dry-run", decision=decision)
    assert error.code == "approval.not-dry-run"
    assert await state_of(gate, question) == "pending"
    await approve(gate, question)


@pytest.mark.requirement("P1")
async def test_where_no_copies_are_known_no_file_of_answers_decides(
    db: JournalThread, clock: ManualClock, dry_runs: Path
) -> None:
    gate = await dry_gate(db, clock, None)
    question = await asked(gate, clock, workspace=a_copy(dry_runs))
    error = await refused(gate, question, approver="dry-run")
    assert error.code == "approval.not-dry-run"


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_file_of_answers_is_recorded_as_what_decided(
    db: JournalThread, clock: ManualClock, dry_runs: Path, decision: str
) -> None:
    gate = await dry_gate(db, clock, dry_runs)
    # Of high risk, and no code is typed.
    question = await asked(
        gate, clock, workspace=a_copy(dry_runs), payload=a_payload(script="rm -r build")
    )
    assert question.both_groups
    await approve(gate, question, approver="dry-run", decision=decision, typed="")
    stored = await db.run(db.journal.approvals.get, question.approval_id)
    assert stored.approver == "dry-run"
    assert json.loads(stored.statement or b"")["approver"] == "dry-run"
    audited = await db.run(lambda: list(db.journal.audit.entries()))
    assert '"approver":"dry-run"' in str(audited[-1])
    if decision == "approve":
        grant = await gate.take_grant(question.approval_id, question.digest)
        assert grant.spend() == question.seal


@pytest.mark.requirement("P1")
async def test_while_approvals_are_blocked_a_file_of_answers_approves_nothing(
    db: JournalThread, clock: ManualClock, dry_runs: Path
) -> None:
    gate = await dry_gate(db, clock, dry_runs)
    question = await asked(gate, clock, workspace=a_copy(dry_runs))
    with gate.block("unsandboxed-run"):
        error = await refused(gate, question, approver="dry-run")
    assert error.code == "approval.blocked"


def swap_for_link(copy: SealedPlace) -> None:
    project = Path(copy.path).with_name("project")
    project.mkdir()
    Path(copy.path).rmdir()
    Path(copy.path).symlink_to(project)


@pytest.mark.requirement("P1")
async def test_a_copy_that_is_swapped_while_it_is_asked_is_for_a_person(
    db: JournalThread, clock: ManualClock, dry_runs: Path
) -> None:
    gate = await dry_gate(db, clock, dry_runs)
    copy = a_copy(dry_runs)
    question = await asked(gate, clock, workspace=copy)
    swap_for_link(copy)
    error = await refused(gate, question, approver="dry-run")
    assert error.code == "approval.not-dry-run"


@pytest.mark.requirement("P1")
def test_the_gate_reads_neither_environment_nor_settings() -> None:
    import local_agent.flow as package

    folder = Path(str(package.__file__)).parent
    for name in ("gate", "gate_checks", "gate_steps", "approvals"):
        source = (folder / f"{name}.py").read_text(encoding="utf-8")
        assert "environ" not in source
        assert "settings" not in source


async def test_a_rejection_needs_no_code_and_its_reason_is_heard(
    gate: Gate, clock: ManualClock
) -> None:
    question = await asked(gate, clock)
    waiting = asyncio.ensure_future(gate.wait(question.approval_id))
    await reject(gate, question, "不是现在" + "x" * 1000)
    decision = await waiting
    assert decision.outcome == "rejected"
    assert decision.reason is not None
    assert decision.reason.startswith("不是现在")
    assert len(decision.reason.encode()) <= 500


@pytest.mark.requirement("R22")
async def test_of_two_decisions_at_once_one_counts(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    answers = await asyncio.gather(
        approve(gate, question), reject(gate, question), return_exceptions=True
    )
    assert answers.count(None) == 1
    [error] = [answer for answer in answers if answer is not None]
    assert isinstance(error, StateError)
    assert error.code == "approval.not-pending"


async def test_what_was_decided_is_not_decided_again(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    await reject(gate, question)
    error = await refused(gate, question)
    assert (error.code, error.facts) == ("approval.not-pending", {"state": "rejected"})


async def test_a_decision_counts_although_its_approver_goes_away_at_that_moment(
    db: JournalThread, clock: ManualClock
) -> None:
    key = TellingKey()
    gate = Gate(db, clock=clock, key=lambda: key)
    question = await asked(gate, clock)
    waiting = asyncio.ensure_future(gate.wait(question.approval_id))
    deciding = asyncio.ensure_future(approve(gate, question))
    await asyncio.wait_for(key.signs.wait(), 30)
    deciding.cancel()
    assert (await asyncio.wait_for(waiting, 30)).outcome == "approved"
    assert deciding.cancelled()
    assert await gate.take_grant(question.approval_id, question.digest)


async def test_an_approval_outlives_the_rotation_of_the_key_that_signed_it(
    db: JournalThread, clock: ManualClock
) -> None:
    keys = [AGENT]
    gate = Gate(db, clock=clock, key=lambda: keys[-1])
    question = await asked(gate, clock)
    await approve(gate, question)
    keys.append(SigningKey(bytes([9]) * 32))
    assert await gate.take_grant(question.approval_id, question.digest)


@pytest.mark.requirement("P2")
async def test_a_decision_signed_by_a_key_that_is_not_ours_is_never_used(
    gate: Gate, clock: ManualClock, tmp_path: Path
) -> None:
    question = await asked(gate, clock)
    await approve(gate, question)
    other = SigningKey(bytes([9]) * 32)
    with closing(sqlite3.connect(tmp_path / "state" / "journal.db")) as raw, raw:
        [(words,)] = raw.execute("SELECT statement FROM approvals").fetchall()
        raw.execute(
            "UPDATE approvals SET signature = ?, public_key = ?",
            (other.sign(APPROVAL, words), other.public.raw),
        )
    with pytest.raises(AuthError) as caught:
        await gate.take_grant(question.approval_id, question.digest)
    assert caught.value.code == "approval.unsigned"
    assert await state_of(gate, question) == "approved"


async def test_while_something_unsandboxed_lives_nothing_is_approved(
    gate: Gate, clock: ManualClock
) -> None:
    question = await asked(gate, clock)
    with gate.block("one"):
        with gate.block("two"):
            assert (await gate.show(question.approval_id)).blocked == "two"
        error = await refused(gate, question)
        assert (error.code, error.facts) == ("approval.blocked", {"why": "one"})
    assert (await gate.show(question.approval_id)).blocked is None
    await approve(gate, question)


async def test_a_rejection_is_taken_while_nothing_can_be_approved(
    gate: Gate, clock: ManualClock
) -> None:
    question = await asked(gate, clock)
    with gate.block("running"):
        await reject(gate, question)
    assert await state_of(gate, question) == "rejected"


# --- asking ---------------------------------------------------------------------------------


@pytest.mark.requirement("R4")
async def test_what_policy_refuses_is_never_asked(gate: Gate, clock: ManualClock) -> None:
    with pytest.raises(RefusedError) as caught:
        await asked(gate, clock, payload=a_payload(argv=["x\x1b[2J"]))
    assert caught.value.reasons == ("control-character",)
    assert await gate.pending() == []


@pytest.mark.requirement("R23")
async def test_a_new_question_supersedes_the_old_one_of_its_task(
    gate: Gate, clock: ManualClock
) -> None:
    first = await asked(gate, clock)
    waiting = asyncio.ensure_future(gate.wait(first.approval_id))
    await asyncio.sleep(0)
    second = await asked(gate, clock, version=2)
    assert (await waiting).outcome == "superseded"
    assert (await refused(gate, first)).facts == {"state": "superseded"}
    assert await gate.pending() == [second]
    assert (await gate.show("T-7K3F")).approval == second


async def test_what_was_approved_is_superseded_by_a_new_question(
    gate: Gate, clock: ManualClock
) -> None:
    first = await asked(gate, clock)
    await approve(gate, first)
    await asked(gate, clock, version=2)
    with pytest.raises(StateError):
        await gate.take_grant(first.approval_id, first.digest)


@pytest.mark.parametrize(
    ("created", "expires"), [(1, 1000), (0, 0), (-2, -1), (0, 72 * 3_600_000 + 1)]
)
async def test_a_question_lies_in_the_present_and_waits_72_hours_at_most(
    gate: Gate, clock: ManualClock, created: int, expires: int
) -> None:
    now = clock.now().wall_ms
    with pytest.raises(LocalProtocolError) as caught:
        await asked(gate, clock, created_at=now + created, expires_at=now + expires)
    assert caught.value.code == "approval.times"


async def test_a_question_without_a_task_is_not_stored(gate: Gate, clock: ManualClock) -> None:
    with pytest.raises(StoreError):
        await asked(gate, clock, task_id="nothing")
    assert await gate.pending() == []


@pytest.mark.requirement("R6")
async def test_the_person_is_not_flooded(db: JournalThread, clock: ManualClock) -> None:
    gate = Gate(db, clock=clock, key=lambda: AGENT, limits=Limits(hourly_member=2))
    for number in (2, 3, 4):
        wish = Wish(task_id=f"task-{number}", short_id=f"T-7K3{number}")
        await db.run(db.journal.tasks.create, wish, clock.now().wall_ms)
    await asked(gate, clock, task_id="task-2")
    await asked(gate, clock, task_id="task-3")
    with pytest.raises(FloodedError) as caught:
        await asked(gate, clock, task_id="task-4")
    assert caught.value.code == "approval.too-many"
    # What was asked for is asked anew by this machine alone, and so as often as it must be.
    await asked(gate, clock, task_id="task-3", version=2)
    assert len(await db.run(db.journal.approvals.pending)) == 2


# --- time -----------------------------------------------------------------------------------


@pytest.mark.requirement("R22")
async def test_a_question_expires_and_who_waits_hears_it(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    waiting = asyncio.ensure_future(gate.wait(question.approval_id))
    clock.advance(86_399)
    await gate.tick()
    assert await state_of(gate, question) == "pending"
    clock.advance(1)
    await gate.tick()
    assert (await waiting).outcome == "expired"


async def test_late_is_late_before_anyone_has_noticed(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    clock.advance(86_400)
    assert (await refused(gate, question)).code == "approval.expired"
    shown = await gate.show(question.approval_id)
    assert (shown.state, shown.left_ms) == ("expired", 0)
    assert await gate.pending() == []


@pytest.mark.requirement("R4")
async def test_setting_the_wall_clock_back_buys_no_time(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    clock.jump_wall(-3600)
    clock.advance(86_400)
    assert (await refused(gate, question)).code == "approval.expired"
    await gate.tick()
    assert await state_of(gate, question) == "expired"


@pytest.mark.requirement("R4")
async def test_a_machine_that_slept_past_the_end_finds_it_expired(
    gate: Gate, clock: ManualClock
) -> None:
    question = await asked(gate, clock)
    clock.jump_wall(86_400)
    assert (await refused(gate, question)).code == "approval.expired"
    await gate.tick()
    assert await state_of(gate, question) == "expired"


async def _shows(gate: Gate, question: PendingApproval) -> None:
    assert await state_of(gate, question) == "expired"


async def _lists(gate: Gate, _question: PendingApproval) -> None:
    assert await gate.pending() == []


async def _decides(gate: Gate, question: PendingApproval) -> None:
    assert (await refused(gate, question)).code == "approval.expired"


async def _ticks(gate: Gate, _question: PendingApproval) -> None:
    await gate.tick()


@pytest.mark.requirement("R4")
@pytest.mark.parametrize("looks", [_shows, _lists, _decides, _ticks])
@pytest.mark.parametrize("restart", [False, True])
async def test_what_anybody_has_seen_expired_stays_so_when_the_clock_goes_back(
    gate: Gate, clock: ManualClock, db: JournalThread, looks: Look, restart: bool
) -> None:
    question = await asked(gate, clock)
    clock.jump_wall(90_000)
    await looks(gate, question)
    clock.jump_wall(-90_000)
    gate = await restarted(db, clock) if restart else gate
    assert await state_of(gate, question) == "expired"
    assert (await refused(gate, question)).code == "approval.not-pending"
    assert (await gate.wait(question.approval_id)).outcome == "expired"


@pytest.mark.requirement("R4")
async def test_what_could_not_begin_in_time_never_does_when_the_clock_goes_back(
    gate: Gate, clock: ManualClock
) -> None:
    question = await asked(gate, clock)
    await approve(gate, question)
    clock.jump_wall(61)
    for _ in range(2):
        with pytest.raises(StateError) as caught:
            await gate.take_grant(question.approval_id, question.digest)
        assert caught.value.code == "approval.not-approved"
        clock.jump_wall(-50)


@pytest.mark.requirement("R4")
async def test_a_decision_that_comes_late_to_the_journal_leaves_nothing_to_decide(
    gate: Gate, clock: ManualClock, db: JournalThread
) -> None:
    question = await asked(gate, clock)
    stored = await db.run(db.journal.approvals.get, question.approval_id)
    words = Statement(
        stored.approval_id,
        stored.digest,
        "approve",
        "terminal",
        None,
        at_ms=stored.expires_at,
        risk=stored.risk,
    )
    with pytest.raises(StateError):
        await db.run(steps.decide, db.journal, stored, words, b"", by=AGENT.public)
    assert await state_of(gate, question) == "expired"


@pytest.mark.requirement("R4")
async def test_a_clock_set_back_while_no_agent_runs_wins_no_time(
    gate: Gate, clock: ManualClock, db: JournalThread
) -> None:
    question = await asked(gate, clock)
    clock.advance(80_000)
    await gate.tick()  # it tells the journal that this moment was reached
    clock.jump_wall(-80_000)
    again = await restarted(db, clock)
    assert await again.pending() == [question]
    clock.advance(6_399)
    await again.tick()
    assert await state_of(again, question) == "pending"
    clock.advance(1)
    await again.tick()
    assert await state_of(again, question) == "expired"


@pytest.mark.requirement("R4")
async def test_what_ended_by_the_journals_newest_moment_is_not_asked_again(
    gate: Gate, clock: ManualClock, db: JournalThread
) -> None:
    question = await asked(gate, clock)
    clock.advance(90_000)
    await db.run(db.journal.audit.append, "pairing.rotated")
    clock.jump_wall(-90_000)
    again = await restarted(db, clock)
    assert (await again.wait(question.approval_id)).outcome == "expired"


@pytest.mark.requirement("R22")
@pytest.mark.parametrize("tick", [False, True])
async def test_what_was_approved_begins_within_a_minute_or_never(
    gate: Gate, clock: ManualClock, tick: bool
) -> None:
    question = await asked(gate, clock)
    await approve(gate, question)
    clock.advance(60.1)
    if tick:
        await gate.tick()
        assert await state_of(gate, question) == "expired"
    with pytest.raises(StateError) as caught:
        await gate.take_grant(question.approval_id, question.digest)
    assert caught.value.code == "approval.not-approved"


async def test_a_minute_is_a_minute_also_when_the_wall_clock_was_set_back(
    gate: Gate, clock: ManualClock
) -> None:
    question = await asked(gate, clock)
    await approve(gate, question)
    clock.advance(61)
    clock.jump_wall(-30)
    with pytest.raises(StateError):
        await gate.take_grant(question.approval_id, question.digest)


async def test_by_the_wall_clock_alone_an_approved_one_expires_too(
    gate: Gate, clock: ManualClock
) -> None:
    question = await asked(gate, clock)
    await approve(gate, question)
    clock.jump_wall(59)
    await gate.tick()
    assert await state_of(gate, question) == "approved"
    clock.jump_wall(2)
    await gate.tick()
    assert await state_of(gate, question) == "expired"


async def test_the_gate_expires_by_itself(gate: Gate, clock: ManualClock) -> None:
    expired = asyncio.Event()
    gate.listen(lambda notice: expired.set() if notice.kind == "expired" else None)
    running = asyncio.ensure_future(gate.run())
    await asked(gate, clock, expires_at=clock.now().wall_ms + 20)
    clock.advance(1)
    await asyncio.wait_for(expired.wait(), 30)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


# --- restart --------------------------------------------------------------------------------


@pytest.mark.requirement("P3")
@pytest.mark.requirement("MJ-4")
async def test_after_a_restart_the_same_question_waits_with_the_time_it_had_left(
    gate: Gate, clock: ManualClock, db: JournalThread
) -> None:
    question = await asked(gate, clock)
    clock.advance(3600)
    again = await restarted(db, clock)
    assert await again.pending() == [question]
    assert (await again.show(question.approval_id)).left_ms == 82_800_000
    waiting = asyncio.ensure_future(again.wait(question.approval_id))
    await approve(again, question)
    assert (await waiting).outcome == "approved"
    assert (await again.take_grant(question.approval_id, question.digest)).seal == question.seal


@pytest.mark.requirement("R68")
@pytest.mark.requirement("R22")
async def test_after_a_restart_nothing_approved_before_it_can_begin(
    gate: Gate, clock: ManualClock, db: JournalThread
) -> None:
    question = await asked(gate, clock)
    await approve(gate, question)
    again = await restarted(db, clock)
    assert (await again.wait(question.approval_id)).outcome == "expired"
    with pytest.raises(StateError):
        await again.take_grant(question.approval_id, question.digest)


@pytest.mark.requirement("R68")
async def test_a_row_forged_as_approved_while_the_agent_runs_gives_no_grant(
    gate: Gate, clock: ManualClock, db: JournalThread, tmp_path: Path
) -> None:
    """A gate gives grants for what it decided itself, within this process."""
    question = await asked(gate, clock)
    clock.advance(86_390)
    await gate.withdraw("task-1")
    with closing(sqlite3.connect(tmp_path / "state" / "journal.db")) as raw, raw:
        raw.execute("DROP TRIGGER approvals_go_forward")
        raw.execute("UPDATE approvals SET state = 'approved', decided_at = ?",
                    (clock.now().wall_ms,))  # fmt: skip
    with pytest.raises(StateError) as caught:
        await gate.take_grant(question.approval_id, question.digest)
    assert caught.value.code == "approval.not-approved"


async def test_what_expired_while_the_agent_was_away_is_not_asked_again(
    gate: Gate, clock: ManualClock, db: JournalThread
) -> None:
    question = await asked(gate, clock)
    clock.advance(90_000)
    again = await restarted(db, clock)
    assert await again.pending() == []
    assert (await again.wait(question.approval_id)).outcome == "expired"


@pytest.mark.requirement("P3")
async def test_an_approval_that_was_used_before_the_crash_gives_leave_to_nobody(
    gate: Gate, clock: ManualClock, db: JournalThread
) -> None:
    question = await asked(gate, clock)
    await approve(gate, question)
    await gate.take_grant(question.approval_id, question.digest)
    again = await restarted(db, clock)
    assert (await again.wait(question.approval_id)).outcome == "superseded"
    with pytest.raises(StateError):
        await again.take_grant(question.approval_id, question.digest)
    assert len(await db.run(db.journal.effects.unfinished_effects)) == 1


async def test_an_unknown_approval_cannot_be_waited_for(gate: Gate) -> None:
    with pytest.raises(StateError) as caught:
        await gate.wait("nothing")
    assert caught.value.code == "approval.unknown"
    assert gate._ended == {}


# --- the end of a task ----------------------------------------------------------------------


@pytest.mark.parametrize("decided", [False, True])
async def test_a_withdrawn_question_cannot_be_approved_or_used(
    gate: Gate, clock: ManualClock, decided: bool
) -> None:
    question = await asked(gate, clock)
    if decided:
        await approve(gate, question)
    await gate.withdraw("task-1")
    assert (await gate.wait(question.approval_id)).outcome == "superseded"
    with pytest.raises(StateError):
        await gate.take_grant(question.approval_id, question.digest)


async def test_who_waits_hears_that_the_task_has_ended(
    gate: Gate, clock: ManualClock, db: JournalThread
) -> None:
    question = await asked(gate, clock)
    waiting = asyncio.ensure_future(gate.wait(question.approval_id))
    over = ending(Reason.CANCELLED, TaskState.WAITING_APPROVAL, TaskState.REJECTED)
    await db.run(db.journal.tasks.change, over)
    await gate.withdraw("task-1")
    assert (await asyncio.wait_for(waiting, 30)).outcome == "superseded"
    assert (await refused(gate, question)).code == "approval.not-pending"


# --- what is told ---------------------------------------------------------------------------


async def test_listeners_hear_what_happens(db: JournalThread, clock: ManualClock) -> None:
    heard: list[Notice] = []
    gate = Gate(db, clock=clock, key=lambda: AGENT, listeners=[heard.append])
    one = await asked(gate, clock)
    two = await asked(gate, clock, version=2)
    await approve(gate, two)
    await gate.take_grant(two.approval_id, two.digest)
    await db.run(to_waiting, db.journal, Wish(task_id="task-2", short_id="T-0002"))
    three = await asked(gate, clock, task_id="task-2")
    await gate.withdraw("task-2")
    four = await asked(gate, clock, task_id="task-2")
    await reject(gate, four)
    five = await asked(gate, clock, task_id="task-2")
    clock.advance(86_400)
    await gate.tick()
    names = ("one", "two", "three", "four", "five")
    questions = (one, two, three, four, five)
    by_id = {each.approval_id: name for each, name in zip(questions, names, strict=True)}
    assert [(notice.kind, by_id[notice.approval_id]) for notice in heard] == [
        ("requested", "one"),
        ("superseded", "one"),
        ("requested", "two"),
        ("approved", "two"),
        ("consumed", "two"),
        ("requested", "three"),
        ("superseded", "three"),
        ("requested", "four"),
        ("rejected", "four"),
        ("requested", "five"),
        ("expired", "five"),
    ]


async def test_an_approval_is_shown_with_all_that_will_run(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock, discloses=("output-tail",))
    clock.advance(10)
    shown = await gate.show("7K3F")
    assert shown.approval == question
    assert shown.approval.seal.payload["argv"] == list(PYTEST)
    assert shown.approval.seal.discloses == ("output-tail",)
    assert (shown.state, shown.left_ms, shown.approver) == ("pending", 86_390_000, None)


async def test_a_decided_approval_is_shown_with_who_decided(gate: Gate, clock: ManualClock) -> None:
    question = await asked(gate, clock)
    await reject(gate, question, "later")
    shown = await gate.show(question.approval_id)
    assert (shown.state, shown.approver, shown.decision_reason) == ("rejected", "terminal", "later")
    assert shown.left_ms == 0


@pytest.mark.requirement("P5a")
async def test_a_command_says_that_it_cannot_be_undone(gate: Gate, clock: ManualClock) -> None:
    assert (await asked(gate, clock)).seal.undo == "no"


@pytest.mark.requirement("R24")
async def test_bytes_swapped_in_the_file_are_neither_shown_nor_approved(
    gate: Gate, clock: ManualClock, tmp_path: Path
) -> None:
    question = await asked(gate, clock)
    evil = seal_bytes(replace(question.seal, payload=a_payload(argv=["evil"])))
    with closing(sqlite3.connect(tmp_path / "state" / "journal.db")) as raw, raw:
        raw.execute("DROP TRIGGER seals_stay")
        raw.execute("UPDATE approvals SET seal = ?", (evil,))
    for looking in (gate.show(question.approval_id), approve(gate, question)):
        with pytest.raises(AuthError) as caught:
            await looking
        assert caught.value.code == "approval.changed"
    assert await gate.pending() == []  # and it keeps nothing else from being listed


@pytest.mark.requirement("R24")
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE approvals SET created_at = created_at + 1",
        "UPDATE approvals SET expires_at = expires_at + 1",
    ],
)
async def test_a_row_that_stands_longer_than_its_seal_is_not_approved(
    gate: Gate, clock: ManualClock, tmp_path: Path, change: str
) -> None:
    question = await asked(gate, clock)
    with closing(sqlite3.connect(tmp_path / "state" / "journal.db")) as raw, raw:
        raw.execute("DROP TRIGGER seals_stay")
        raw.execute(change)
    for looking in (gate.show(question.approval_id), approve(gate, question)):
        with pytest.raises(AuthError) as caught:
            await looking
        assert caught.value.code == "approval.changed"


@pytest.mark.requirement("R2")
def test_nothing_of_the_gate_takes_a_frame() -> None:
    """The link cannot reach it: no method takes an envelope or a body."""
    hints = [
        str(parameter.annotation)
        for _, method in inspect.getmembers(Gate, inspect.isfunction)
        for parameter in inspect.signature(method).parameters.values()
    ]
    assert not [hint for hint in hints if "Envelope" in hint or "Body" in hint]


# --- several operations under one question --------------------------------------------------


@pytest.fixture
async def three(gate: Gate, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> PendingApproval:
    """The question for three commands, approved."""
    register(monkeypatch)
    question = await gate.request(a_seal_of_three(clock), around=Circumstances())
    await approve(gate, question)
    return question


async def begin(gate: Gate, db: JournalThread, question: PendingApproval, part: int) -> Grant:
    grant = await gate.take_grant(question.approval_id, question.digest, part=part)
    if part == 0:
        await db.run(walk, db.journal, "task-1", TaskState.EXECUTING)
    return grant


async def no_grant(gate: Gate, question: PendingApproval, part: int) -> str:
    with pytest.raises(StateError) as caught:
        await gate.take_grant(question.approval_id, question.digest, part=part)
    return caught.value.code


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P3")
async def test_of_several_operations_each_has_a_grant_of_its_own_in_order(
    gate: Gate, db: JournalThread, three: PendingApproval
) -> None:
    heard: list[Notice] = []
    gate.listen(heard.append)
    assert await no_grant(gate, three, 1) == "approval.not-approved", "the first one is first"
    for part, argv in enumerate(("first", "second", "third")):
        grant = await begin(gate, db, three, part)
        assert grant.spend().payload["argv"] == [argv]
        for other in range(COUNT + 1):
            assert await no_grant(gate, three, other) == "approval.not-approved"
        if not grant.is_last:
            await gate.end_part(grant)
    assert [notice.kind for notice in heard] == ["consumed"]
    assert gate._signed_by == {}


@pytest.mark.requirement("R22")
@pytest.mark.parametrize("jump", ["advance", "jump_wall"])
async def test_a_part_has_a_minute_from_the_end_of_the_one_before_by_either_clock(
    gate: Gate, db: JournalThread, clock: ManualClock, three: PendingApproval, jump: str
) -> None:
    first = await begin(gate, db, three, 0)
    clock.advance(3600)
    await gate.end_part(first)
    clock.advance(59)
    await gate.tick()
    second = await begin(gate, db, three, 1)
    await gate.end_part(second)
    getattr(clock, jump)(61)
    assert await no_grant(gate, three, 2) == "approval.not-approved"


@pytest.mark.requirement("R68")
@pytest.mark.requirement("P3")
async def test_after_a_restart_no_further_part_is_begun(
    gate: Gate, db: JournalThread, clock: ManualClock, three: PendingApproval
) -> None:
    await gate.end_part(await begin(gate, db, three, 0))
    again = await restarted(db, clock)
    assert await no_grant(again, three, 1) == "approval.not-approved"


async def test_a_part_ends_once(gate: Gate, db: JournalThread, three: PendingApproval) -> None:
    first = await begin(gate, db, three, 0)
    await gate.end_part(first)
    with pytest.raises(StateError) as caught:
        await gate.end_part(first)
    assert caught.value.code == "effect.not-open"


async def test_a_key_that_was_rotated_between_two_parts_does_not_stop_them(
    db: JournalThread, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch)
    keys = [AGENT]
    gate = Gate(db, clock=clock, key=lambda: keys[-1])
    await gate.start()
    question = await gate.request(a_seal_of_three(clock), around=Circumstances())
    await approve(gate, question)
    for part in range(COUNT):
        grant = await begin(gate, db, question, part)
        keys.append(SigningKey(bytes([7 + part]) * 32))
        if not grant.is_last:
            await gate.end_part(grant)
