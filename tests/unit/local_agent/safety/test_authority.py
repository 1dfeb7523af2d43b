"""What is durable before anything runs, and which applied change may be taken back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import AuthError, StateError, StoreError
from common.model.state import Reason, TaskState
from common.seal import Seal, SealedChange, digest
from common.signing import APPROVAL, SigningKey
from common.strict_json import canonical, loads
from local_agent.actions.changes.payload import change_payload, undo_payload
from local_agent.actions.registry import ACTIONS, seal_bytes
from local_agent.safety.authority import (
    before_operation,
    classify_operation,
    execute_undo,
    left_to_undo,
    open_seal,
)
from local_agent.safety.decision import Statement
from local_agent.safety.policy import Policy
from local_agent.safety.risk import Circumstances
from local_agent.store.approvals import START_WITHIN_MS, StoredApproval
from local_agent.store.journal import Journal
from tests.sealed import (
    AGENT,
    ZEROS,
    Wish,
    a_journal,
    a_payload,
    a_seal,
    as_stored,
    decided,
    ending,
    to_waiting,
    walk,
)
from tests.three import COUNT, WORD, a_seal_of_three, change, command, register

pytestmark = pytest.mark.heavy


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def journal(tmp_path: Path, clock: ManualClock) -> Iterator[Journal]:
    with closing(a_journal(tmp_path, clock)) as opened:
        yield opened


def approved(journal: Journal, clock: ManualClock, seal: Seal | None = None) -> StoredApproval:
    """Store an approval of task-1 and decide it, past the gate: for tests of what comes after."""
    seal = seal or a_seal(clock, approval_id="approval-1")
    stored = as_stored(seal, approval_id="approval-1")
    journal.approvals.add(stored)
    assert decided(journal, stored, clock.now().wall_ms)
    return stored


def consume(journal: Journal, clock: ManualClock, shown: str) -> bytes:
    at_ms = clock.now().wall_ms
    return before_operation(
        journal, "approval-1", shown=shown, at_ms=at_ms, by=AGENT.public, known=ACTIONS
    )


@pytest.mark.requirement("R59")
def test_consumption_intent_and_audit_are_there_together(
    journal: Journal, clock: ManualClock
) -> None:
    to_waiting(journal)
    stored = approved(journal, clock)
    assert consume(journal, clock, stored.digest) == stored.seal
    assert journal.approvals.get("approval-1").state == "consumed"
    [effect] = journal.effects.unfinished_effects()
    assert (effect.approval_id, effect.digest, effect.outcome) == (
        "approval-1",
        stored.digest,
        None,
    )
    assert b'"event":"exec.intent"' in list(journal.audit.entries())[-1][2]


@pytest.mark.requirement("P3")
def test_an_approval_is_consumed_once(journal: Journal, clock: ManualClock) -> None:
    to_waiting(journal)
    stored = approved(journal, clock)
    consume(journal, clock, stored.digest)
    with pytest.raises(StateError) as caught:
        consume(journal, clock, stored.digest)
    assert caught.value.code == "approval.not-approved"
    assert len(journal.effects.of_task("task-1")) == 1


def nothing_happened(journal: Journal) -> bool:
    return (
        journal.approvals.get("approval-1").state == "approved"
        and not journal.effects.unfinished_effects()
        and not any(b"exec.intent" in entry[2] for entry in journal.audit.entries())
    )


@pytest.mark.requirement("R22")
@pytest.mark.parametrize("seconds", [60.001, -0.001, 3600.0])
def test_an_approval_is_too_old_after_a_minute_and_when_the_clock_went_back(
    journal: Journal, clock: ManualClock, seconds: float
) -> None:
    to_waiting(journal)
    stored = approved(journal, clock)
    clock.jump_wall(seconds)
    with pytest.raises(StateError) as caught:
        consume(journal, clock, stored.digest)
    assert caught.value.code == "approval.not-approved"
    assert nothing_happened(journal)


def test_the_last_moment_of_the_minute_is_in_time(journal: Journal, clock: ManualClock) -> None:
    to_waiting(journal)
    stored = approved(journal, clock)
    clock.jump_wall(START_WITHIN_MS / 1000)
    assert consume(journal, clock, stored.digest)


@pytest.mark.requirement("R23")
def test_another_digest_consumes_nothing(journal: Journal, clock: ManualClock) -> None:
    to_waiting(journal)
    approved(journal, clock)
    with pytest.raises(StateError):
        consume(journal, clock, "0" * 64)
    assert nothing_happened(journal)


@pytest.mark.parametrize("waits", [False, True])
def test_a_task_that_does_not_wait_is_not_begun(
    journal: Journal, clock: ManualClock, waits: bool
) -> None:
    journal.tasks.create(Wish(), clock.now().wall_ms)
    if waits:
        walk(journal, "task-1", TaskState.WAITING_APPROVAL)
    stored = approved(journal, clock)
    if waits:
        assert journal.tasks.request_cancel("task-1")
    with pytest.raises(StateError) as caught:
        consume(journal, clock, stored.digest)
    assert caught.value.code == "approval.task-over"
    assert nothing_happened(journal)


def test_the_end_of_a_task_takes_its_approval_with_it(journal: Journal, clock: ManualClock) -> None:
    to_waiting(journal)
    stored = approved(journal, clock)
    journal.tasks.change(ending(Reason.CANCELLED, TaskState.WAITING_APPROVAL, TaskState.REJECTED))
    with pytest.raises(StateError) as caught:
        consume(journal, clock, stored.digest)
    assert caught.value.code == "approval.not-approved"


@pytest.mark.requirement("R24")
def test_bytes_swapped_in_the_file_are_never_used(
    journal: Journal, clock: ManualClock, tmp_path: Path
) -> None:
    to_waiting(journal)
    stored = approved(journal, clock)
    evil = seal_bytes(a_seal(clock, approval_id="approval-1", payload=a_payload(argv=["evil"])))
    with closing(sqlite3.connect(tmp_path / "state" / "journal.db")) as raw, raw:
        raw.execute("DROP TRIGGER seals_stay")
        raw.execute("UPDATE approvals SET seal = ?", (evil,))
    with pytest.raises(AuthError) as caught:
        consume(journal, clock, stored.digest)
    assert caught.value.code == "approval.changed"
    assert nothing_happened(journal)


def test_a_seal_of_another_approval_is_never_used(journal: Journal, clock: ManualClock) -> None:
    to_waiting(journal)
    stored = approved(journal, clock, a_seal(clock, approval_id="approval-2"))
    with pytest.raises(AuthError) as caught:
        consume(journal, clock, stored.digest)
    assert caught.value.code == "approval.changed"
    assert nothing_happened(journal)


@pytest.mark.requirement("R4")
def test_without_an_audit_entry_nothing_is_consumed(
    journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    to_waiting(journal)
    stored = approved(journal, clock)

    def full(_event: str, **_facts: object) -> None:
        raise StoreError("audit.too-large")

    monkeypatch.setattr(journal.audit, "append", full)
    with pytest.raises(StoreError):
        consume(journal, clock, stored.digest)
    monkeypatch.undo()
    assert nothing_happened(journal)


def test_a_seal_opens_only_under_its_own_digest(clock: ManualClock) -> None:
    raw = seal_bytes(a_seal(clock))
    assert open_seal(raw, digest(raw), ACTIONS).task_id == "task-1"
    with pytest.raises(AuthError):
        open_seal(raw, digest(raw + b" "), ACTIONS)


OTHER = SigningKey(bytes([9]) * 32)


def signed(stored: StoredApproval, key: SigningKey = AGENT, **said: Any) -> dict[str, bytes]:
    """Return the columns of a decision in other words, or by another key."""
    facts: dict[str, Any] = {
        "approval_id": "approval-1",
        "digest": stored.digest,
        "choice": "approve",
        "approver": "terminal",
        "reason": None,
        "at_ms": ManualClock().now().wall_ms,
        "risk": "normal",
    }
    words = Statement(**facts | said).raw
    return {
        "statement": words,
        "signature": key.sign(APPROVAL, words),
        "public_key": key.public.raw,
    }


def tamper(folder: Path, columns: dict[str, Any]) -> None:
    """Change the row from outside, as somebody with the file could."""
    with closing(sqlite3.connect(folder / "state" / "journal.db")) as raw, raw:
        for name, value in columns.items():
            raw.execute(f"UPDATE approvals SET {name} = ?", (value,))  # noqa: S608  # our own names


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    "said",
    [
        {"choice": "reject"},
        {"digest": ZEROS},
        {"approval_id": "approval-2"},
        {"approver": "desktop"},
        {"reason": "yes"},
        {"at_ms": 1},
        {"risk": "high"},
        {"key": OTHER},
    ],
)
def test_a_decision_that_this_machine_did_not_sign_is_never_used(
    journal: Journal, clock: ManualClock, tmp_path: Path, said: dict[str, Any]
) -> None:
    to_waiting(journal)
    stored = approved(journal, clock)
    tamper(tmp_path, signed(stored, **said))
    assert refused_as_tampered(journal, clock, stored.digest) == "approval.unsigned"


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    "columns",
    [
        {"statement": None},
        {"statement": b"words"},
        {"signature": None},
        {"signature": b""},
        {"signature": bytes(64)},
        {"public_key": None},
        {"public_key": OTHER.public.raw},
        {"approver": "desktop"},
        {"approver": None},
        {"decision_reason": "yes"},
    ],
)
def test_a_row_that_says_other_than_was_signed_is_never_used(
    journal: Journal, clock: ManualClock, tmp_path: Path, columns: dict[str, Any]
) -> None:
    to_waiting(journal)
    stored = approved(journal, clock)
    tamper(tmp_path, columns)
    assert refused_as_tampered(journal, clock, stored.digest) == "approval.unsigned"


@pytest.mark.requirement("P2")
def test_an_approval_of_another_risk_than_the_row_says_is_never_used(
    journal: Journal, clock: ManualClock, tmp_path: Path
) -> None:
    to_waiting(journal)
    stored = approved(journal, clock)
    with closing(sqlite3.connect(tmp_path / "state" / "journal.db")) as raw, raw:
        raw.execute("DROP TRIGGER seals_stay")
    tamper(tmp_path, {"risk": "high"})
    assert refused_as_tampered(journal, clock, stored.digest) == "approval.unsigned"


@pytest.mark.requirement("P2")
def test_an_approval_in_words_without_the_risk_is_never_used(
    journal: Journal, clock: ManualClock, tmp_path: Path
) -> None:
    to_waiting(journal)
    stored = approved(journal, clock)
    said = loads(journal.approvals.get("approval-1").statement or b"", max_bytes=10_000)
    words = canonical({key: said[key] for key in said if key != "risk"} | {"v": 1})
    tamper(tmp_path, {"statement": words, "signature": AGENT.sign(APPROVAL, words)})
    assert refused_as_tampered(journal, clock, stored.digest) == "approval.unsigned"


def test_a_row_made_to_look_approved_is_never_used(
    journal: Journal, clock: ManualClock, tmp_path: Path
) -> None:
    to_waiting(journal)
    stored = as_stored(a_seal(clock, approval_id="approval-1"), approval_id="approval-1")
    journal.approvals.add(stored)
    tamper(tmp_path, {"decided_at": clock.now().wall_ms, "state": "approved"})
    assert refused_as_tampered(journal, clock, stored.digest) == "approval.unsigned"


def refused_as_tampered(journal: Journal, clock: ManualClock, shown: str) -> str:
    """Try to use the approval; return the code, once nothing happened but an audit entry."""
    with pytest.raises(AuthError) as caught:
        consume(journal, clock, shown)
    assert nothing_happened(journal)
    [entry] = [one[2] for one in journal.audit.entries() if b"approval.tampered" in one[2]]
    assert caught.value.code.encode() in entry
    return caught.value.code


SHOP = Path("/home/zhang/项目")


def a_change(path: str, **facts: Any) -> SealedChange:
    what: dict[str, Any] = {
        "op": "modify",
        "path": path,
        "old_path": path,
        "old_sha256": ZEROS,
        "old_mode": "100644",
        "new_sha256": ZEROS,
        "new_mode": "100644",
        "size": 1,
    }
    return SealedChange(**what | facts)


def done(
    journal: Journal,
    clock: ManualClock,
    number: int,
    *changes: SealedChange,
    outcome: str | None = "completed",
    undoes: str | None = None,
    **facts: Any,
) -> Seal:
    """Let task-N apply a change, or undo the one of an approval, and end as told."""
    clock.advance(1)
    task_id, approval_id = f"task-{number}", f"approval-{number}"
    to_waiting(journal, Wish(task_id=task_id, short_id=f"T-7K3{number}"))
    payload = change_payload(ZEROS, changes)
    if undoes:
        payload = undo_payload(ZEROS, changes, approval_id=undoes, short_id="T-7K30")
    what = {"action": "undo" if undoes else "apply_diff", "payload": payload, "undo": "yes"}
    seal = a_seal(clock, approval_id=approval_id, task_id=task_id, **what | facts)
    stored = as_stored(seal)
    journal.approvals.add(stored)
    now = clock.now().wall_ms
    assert decided(journal, stored, now)
    before_operation(
        journal, approval_id, shown=stored.digest, at_ms=now, by=AGENT.public, known=ACTIONS
    )
    if outcome is not None:
        journal.effects.close_effect(approval_id, outcome)
    return seal


def undo_code(
    journal: Journal, task_id: str, workspace: Path = SHOP, *, part: int | None = None
) -> str:
    with pytest.raises(StateError) as caught:
        execute_undo(journal, task_id, workspace=workspace, known=ACTIONS, part=part)
    return caught.value.code


@pytest.mark.requirement("P5")
def test_an_applied_change_can_be_undone(journal: Journal, clock: ManualClock) -> None:
    seal = done(journal, clock, 1, a_change("a.py"), a_change("b.py"))
    assert execute_undo(journal, "task-1", workspace=SHOP, known=ACTIONS) == seal
    assert left_to_undo(journal, seal, ACTIONS) == ("a.py", "b.py")


def test_a_task_that_changed_nothing_leaves_nothing_to_undo(
    journal: Journal, clock: ManualClock
) -> None:
    to_waiting(journal)
    assert undo_code(journal, "task-1") == "undo.nothing"
    approved(journal, clock)
    assert undo_code(journal, "task-1") == "undo.nothing", "approved is not applied"


@pytest.mark.requirement("P5a")
def test_a_command_cannot_be_undone(journal: Journal, clock: ManualClock) -> None:
    done(journal, clock, 1, action="run_command", payload=a_payload(), undo="no")
    assert undo_code(journal, "task-1") == "undo.command"


def test_a_change_that_was_cut_off_can_be_taken_back_as_far_as_it_was_made(
    journal: Journal, clock: ManualClock
) -> None:
    seal = done(journal, clock, 1, a_change("a.py"), outcome="unknown")
    assert execute_undo(journal, "task-1", workspace=SHOP, known=ACTIONS) == seal


@pytest.mark.parametrize("outcome", [None, "failed", "drifted"])
def test_only_what_was_applied_can_be_undone(
    journal: Journal, clock: ManualClock, outcome: str | None
) -> None:
    done(journal, clock, 1, a_change("a.py"), outcome=outcome)
    assert undo_code(journal, "task-1") == "undo.not-applied"


def test_the_change_of_another_workspace_is_not_undone_here(
    journal: Journal, clock: ManualClock
) -> None:
    done(journal, clock, 1, a_change("a.py"))
    assert undo_code(journal, "task-1", SHOP / "sub") == "undo.other-workspace"


def test_a_change_is_undone_once(journal: Journal, clock: ManualClock) -> None:
    done(journal, clock, 1, a_change("a.py"))
    done(journal, clock, 2, a_change("a.py"), undoes="approval-1")
    assert undo_code(journal, "task-1") == "undo.already"


@pytest.mark.parametrize("outcome", [None, "failed", "unknown"])
def test_an_undo_that_was_not_applied_counts_for_nothing(
    journal: Journal, clock: ManualClock, outcome: str | None
) -> None:
    seal = done(journal, clock, 1, a_change("a.py"))
    done(journal, clock, 2, a_change("a.py"), undoes="approval-1", outcome=outcome)
    assert execute_undo(journal, "task-1", workspace=SHOP, known=ACTIONS) == seal


@pytest.mark.requirement("P5")
def test_what_was_undone_by_file_leaves_the_rest(journal: Journal, clock: ManualClock) -> None:
    seal = done(journal, clock, 1, a_change("a.py"), a_change("b.py"), a_change("c.py"))
    done(journal, clock, 2, a_change("b.py"), undoes="approval-1")
    assert execute_undo(journal, "task-1", workspace=SHOP, known=ACTIONS) == seal
    assert left_to_undo(journal, seal, ACTIONS) == ("a.py", "c.py")
    done(journal, clock, 3, a_change("a.py"), a_change("c.py"), undoes="approval-1")
    assert undo_code(journal, "task-1") == "undo.already"


@pytest.mark.requirement("P5")
def test_an_undo_is_undone_like_any_change_and_then_the_change_can_be_undone_again(
    journal: Journal, clock: ManualClock
) -> None:
    change = done(journal, clock, 1, a_change("a.py"), a_change("b.py"))
    undo = done(journal, clock, 2, a_change("a.py"), a_change("b.py"), undoes="approval-1")
    assert execute_undo(journal, "task-2", workspace=SHOP, known=ACTIONS) == undo
    done(journal, clock, 3, a_change("a.py"), undoes="approval-2")
    assert left_to_undo(journal, change, ACTIONS) == ("a.py",), "it is there again, and b.py is not"
    assert left_to_undo(journal, undo, ACTIONS) == ("b.py",)
    done(journal, clock, 4, a_change("a.py"), undoes="approval-1")
    assert undo_code(journal, "task-1") == "undo.already"


def test_a_file_is_the_same_under_its_older_name(journal: Journal, clock: ManualClock) -> None:
    moved = a_change("new.py", op="rename", old_path="old.py")
    copied = a_change("copy.py", op="copy", old_path="kept.py")
    added = a_change("more.py", op="add", old_path=None, old_sha256=None, old_mode=None)
    seal = done(journal, clock, 1, moved, copied, added)
    gone: dict[str, Any] = {"op": "delete", "new_sha256": None, "new_mode": None, "size": 0}
    back = a_change("old.py", op="rename", old_path="new.py")
    done(journal, clock, 2, back, a_change("copy.py", **gone), undoes="approval-1")
    assert left_to_undo(journal, seal, ACTIONS) == ("more.py",)
    done(journal, clock, 3, a_change("more.py", **gone), undoes="approval-1")
    assert undo_code(journal, "task-1") == "undo.already"


def test_another_seal_that_only_mentions_the_approval_undoes_nothing(
    journal: Journal, clock: ManualClock
) -> None:
    seal = done(journal, clock, 1, a_change("a.py"))
    argv = ["echo", '"approval_id":"approval-1"']
    payload = a_payload(argv=argv)
    done(journal, clock, 2, action="run_command", payload=payload, undo="no")
    assert left_to_undo(journal, seal, ACTIONS) == ("a.py",)


def test_a_seal_changed_in_the_file_is_not_taken_back(
    journal: Journal, clock: ManualClock, tmp_path: Path
) -> None:
    done(journal, clock, 1, a_change("a.py"))
    with closing(sqlite3.connect(tmp_path / "state" / "journal.db")) as raw, raw:
        raw.execute("DROP TRIGGER seals_stay")
        raw.execute("UPDATE approvals SET seal = ?", (seal_bytes(a_seal(clock)),))
    with pytest.raises(AuthError) as caught:
        execute_undo(journal, "task-1", workspace=SHOP, known=ACTIONS)
    assert caught.value.code == "approval.changed"


# --- several operations under one approval ---------------------------------------------------


def begin(journal: Journal, clock: ManualClock, shown: str, part: int) -> bytes:
    return before_operation(
        journal,
        "approval-1",
        shown=shown,
        at_ms=clock.now().wall_ms,
        by=AGENT.public,
        known=ACTIONS,
        part=part,
    )


@pytest.fixture
def three(journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> StoredApproval:
    """An approval of three commands, the first of which has completed."""
    register(monkeypatch)
    to_waiting(journal)
    stored = approved(journal, clock, a_seal_of_three(clock, approval_id="approval-1"))
    begin(journal, clock, stored.digest, 0)
    walk(journal, "task-1", TaskState.EXECUTING)
    journal.effects.close_effect("approval-1", "completed")
    return stored


def not_begun(journal: Journal, clock: ManualClock, shown: str, part: int) -> str:
    before = list(journal.effects.of_task("task-1"))
    with pytest.raises((StateError, AuthError)) as caught:
        begin(journal, clock, shown, part)
    assert list(journal.effects.of_task("task-1")) == before
    return caught.value.code


@pytest.mark.requirement("P3")
def test_parts_are_begun_in_order_each_after_the_one_before(
    journal: Journal, clock: ManualClock, three: StoredApproval
) -> None:
    shown = three.digest
    for part in (0, 2, 3, -1):
        assert not_begun(journal, clock, shown, part) == "approval.not-approved"
    assert begin(journal, clock, shown, 1) == three.seal
    assert not_begun(journal, clock, shown, 1) == "approval.not-approved"
    assert not_begun(journal, clock, shown, 2) == "approval.not-approved"
    journal.effects.close_effect("approval-1", "completed", part=1)
    begin(journal, clock, shown, 2)
    journal.effects.close_effect("approval-1", "completed", part=2)
    assert not_begun(journal, clock, shown, COUNT) == "approval.not-approved"


@pytest.mark.parametrize("outcome", ["failed", "unknown", "cancelled", "drifted"])
def test_after_a_part_that_did_not_end_well_none_is_begun(
    journal: Journal, clock: ManualClock, three: StoredApproval, outcome: str
) -> None:
    begin(journal, clock, three.digest, 1)
    journal.effects.close_effect("approval-1", outcome, part=1)
    assert not_begun(journal, clock, three.digest, 2) == "approval.not-approved"


@pytest.mark.requirement("R22")
@pytest.mark.parametrize("seconds", [60.001, -0.001])
def test_a_part_is_too_late_a_minute_after_the_one_before_and_when_the_clock_went_back(
    journal: Journal, clock: ManualClock, three: StoredApproval, seconds: float
) -> None:
    clock.jump_wall(seconds)
    assert not_begun(journal, clock, three.digest, 1) == "approval.not-approved"


def test_the_minute_of_a_part_begins_at_the_end_of_the_one_before(
    journal: Journal, clock: ManualClock, three: StoredApproval
) -> None:
    begin(journal, clock, three.digest, 1)
    clock.advance(3600)
    journal.effects.close_effect("approval-1", "completed", part=1)
    clock.jump_wall(START_WITHIN_MS / 1000)
    assert begin(journal, clock, three.digest, 2)


@pytest.mark.requirement("R23")
def test_another_digest_begins_no_part(
    journal: Journal, clock: ManualClock, three: StoredApproval
) -> None:
    assert not_begun(journal, clock, ZEROS, 1) == "approval.changed"


def test_no_part_of_a_task_that_is_to_be_cancelled_is_begun(
    journal: Journal, clock: ManualClock, three: StoredApproval
) -> None:
    journal.tasks.request_cancel("task-1")
    assert not_begun(journal, clock, three.digest, 1) == "approval.task-over"


@pytest.mark.requirement("R24")
def test_bytes_swapped_between_two_parts_are_never_used(
    journal: Journal, clock: ManualClock, three: StoredApproval, tmp_path: Path
) -> None:
    evil = seal_bytes(a_seal(clock, approval_id="approval-1", payload=a_payload(argv=["evil"])))
    with closing(sqlite3.connect(tmp_path / "state" / "journal.db")) as raw, raw:
        raw.execute("DROP TRIGGER seals_stay")
        raw.execute("UPDATE approvals SET seal = ?, digest = ?", (evil, digest(evil)))
    assert not_begun(journal, clock, three.digest, 1) == "approval.unsigned"
    assert not_begun(journal, clock, digest(evil), 1) == "approval.unsigned"


@pytest.mark.requirement("P5")
def test_each_part_is_taken_back_by_its_index(
    journal: Journal, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch)
    steps = [command("first"), change(a_change("a.py")), change(a_change("b.py"))]
    done(journal, clock, 1, action=WORD, payload={"steps": steps}, outcome="completed")
    walk(journal, "task-1", TaskState.EXECUTING)
    begin(journal, clock, journal.approvals.get("approval-1").digest, 1)
    assert undo_code(journal, "task-1") == "undo.part"
    assert undo_code(journal, "task-1", part=0) == "undo.command"
    assert undo_code(journal, "task-1", part=1) == "undo.not-applied"
    assert undo_code(journal, "task-1", part=2) == "undo.nothing"
    journal.effects.close_effect("approval-1", "completed", part=1)
    begin(journal, clock, journal.approvals.get("approval-1").digest, 2)
    journal.effects.close_effect("approval-1", "completed", part=2)
    second, third = (
        execute_undo(journal, "task-1", workspace=SHOP, known=ACTIONS, part=part) for part in (1, 2)
    )
    assert left_to_undo(journal, third, ACTIONS) == ("b.py",)
    done(journal, clock, 2, a_change("a.py"), undoes=second.approval_id)
    assert undo_code(journal, "task-1", part=1) == "undo.already"
    assert left_to_undo(journal, third, ACTIONS) == ("b.py",)


@pytest.mark.requirement("R29")
def test_several_operations_are_of_the_strictest_class_of_one_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register(monkeypatch)
    steps = [command("pytest"), command("make")]
    known = Circumstances(allowed=[["pytest"], ["make"]])

    def level(*around: Circumstances, **whole: Any) -> str:
        there = Circumstances(parts=around, **whole)
        return classify_operation(WORD, {"steps": steps}, there, known=ACTIONS).level

    assert level(known, known) == "normal"
    assert level(known) == level() == "high", "nothing is known around one of them"
    assert level(known, Circumstances(allowed=[["pytest"]])) == "high"
    assert level(known, known, policy=Policy(refuse_programs=("make",))) == "refused"
    assert level(known, known, policy=Policy(refuse_actions=(WORD,))) == "refused"
    steps.append(change(a_change("a.py")))
    assert level(known, known, known) == "refused", "nobody read its diff"
