"""Risk from facts, and what is durable before anything runs."""

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
from common.seal import Seal, digest, seal_bytes
from local_agent import replies
from local_agent.safety.authority import (
    REASONS,
    Risk,
    before_operation,
    classify_operation,
    open_seal,
)
from local_agent.store.approvals import START_WITHIN_MS, StoredApproval
from local_agent.store.journal import Journal
from tests.sealed import (
    PYTEST,
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

ROOT = Path(__file__).parents[4]


def risk_of(**changes: Any) -> Risk:
    return classify_operation("run_command", a_payload(**changes), allowed=[PYTEST])


def test_the_configured_test_command_in_a_sandbox_is_normal() -> None:
    assert risk_of() == Risk("normal", ())


@pytest.mark.requirement("R5")
@pytest.mark.parametrize(
    "argv", [["pytest"], ["pytest", "-q", "-x"], ["pytest -q"], ["/tmp/pytest", "-q"]]
)
def test_a_command_is_compared_whole_and_never_by_prefix(argv: list[str]) -> None:
    assert risk_of(argv=argv).reasons == ("not-the-test-command",)


@pytest.mark.requirement("R29")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"script": "pytest -q"}, "shell"),
        ({"sandbox_level": "none"}, "not-sandboxed"),
        ({"network": True}, "network"),
        ({"argv": ["make"]}, "not-the-test-command"),
        ({"cwd": "sub"}, "other-folder"),
        ({"argv": ["rm", "-rf", "build"]}, "destructive"),
        ({"argv": ["/bin/rm", "x"]}, "destructive"),
        ({"argv": ["sh", "-c", "true;rm x"]}, "destructive"),
        ({"script": "echo $(rm x)"}, "destructive"),
        ({"argv": ["git", "-C", ".", "reset", "--hard"]}, "destructive"),
        ({"argv": ["sudo", "true"]}, "privilege"),
        ({"argv": ["env", "A=1", "sudo", "true"]}, "privilege"),
        ({"argv": ["git", "push"]}, "publishes"),
        ({"argv": ["git", "-c", "a=b", "push", "origin"]}, "publishes"),
        ({"argv": ["echo", "a\u200bb"]}, "hidden-characters"),
        ({"argv": ["рytest", "-q"]}, "look-alike-program"),
    ],
)
def test_a_fact_makes_a_command_high_risk(changes: dict[str, Any], reason: str) -> None:
    risk = risk_of(**changes)
    assert risk.level == "high"
    assert reason in risk.reasons


@pytest.mark.requirement("R26")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"argv": ["a\0"]}, "control-character"),
        ({"argv": ["a\rb"]}, "control-character"),
        ({"argv": ["a\x1b[2J"]}, "control-character"),
        ({"argv": ["a", "\x07"]}, "control-character"),
        ({"argv": ["a", "\u202etxt"]}, "control-character"),
        ({"argv": ["a", "\ud800"]}, "control-character"),
        ({"script": "a\u2066b"}, "control-character"),
        ({"argv": ["a", "x" * 20_000]}, "too-long"),
        ({"script": "张" * 6_700}, "too-long"),
        ({"argv": [""]}, "empty-program"),
        ({"argv": [" ", "x"]}, "empty-program"),
        ({"cwd": "/etc"}, "outside-workspace"),
        ({"cwd": "a/../.."}, "outside-workspace"),
        ({"sandbox_level": "landlock"}, "unknown-sandbox"),
    ],
)
def test_a_fact_refuses_a_command(changes: dict[str, Any], reason: str) -> None:
    assert risk_of(**changes) == Risk("refused", (reason,))


@pytest.mark.parametrize("argv", [["pytest", "-q"], ["python", "-c", "a = 1\n\tb = '张三'\n"]])
def test_line_feeds_tabs_and_chinese_are_ordinary(argv: list[str]) -> None:
    assert "hidden-characters" not in risk_of(argv=argv).reasons
    assert risk_of(argv=argv).level != "refused"


def test_a_folder_named_with_dots_stays_inside() -> None:
    assert risk_of(cwd="..hidden/x").reasons == ("other-folder",)
    assert risk_of(cwd="a/..").reasons == ()


@pytest.mark.requirement("R6")
def test_the_last_byte_within_the_limit_counts_and_the_next_refuses() -> None:
    assert risk_of(argv=["a", "x" * 19_997]).level == "high"
    assert risk_of(argv=["a", "x" * 19_998]).level == "refused"


@pytest.mark.requirement("R4")
def test_an_action_nobody_knows_is_refused() -> None:
    assert classify_operation("apply_everything", {}) == Risk("refused", ("unknown-action",))


@pytest.mark.requirement("R4")
def test_with_no_configured_command_every_command_is_high_risk() -> None:
    assert classify_operation("run_command", a_payload()).level == "high"


def test_every_reason_has_a_sentence_and_a_row_in_the_written_table() -> None:
    table = (ROOT / "docs" / "risk.md").read_text(encoding="utf-8")
    rows = [line for line in table.splitlines() if line.startswith("|") and line.endswith("` |")]
    assert [row.split("`")[-2] for row in rows] == list(REASONS)
    assert set(replies.RISK) == set(REASONS)


def test_the_written_table_gives_each_reason_its_level() -> None:
    table = (ROOT / "docs" / "risk.md").read_text(encoding="utf-8")
    refused = {line.split("`")[-2] for line in table.splitlines() if "| refused | `" in line}
    assert refused == set(REASONS[: REASONS.index("shell")])


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
    return before_operation(journal, "approval-1", shown=shown, at_ms=clock.now().wall_ms)


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
    assert open_seal(raw, digest(raw)).task_id == "task-1"
    with pytest.raises(AuthError):
        open_seal(raw, digest(raw + b" "))
