"""Changes, undo and git sync through the main flow: real journal and gate, scripted hands."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from common.diff.model import DiffModel
from common.diff.parse import parse_diff
from common.diff.patching import Hunks
from common.errors import InputError, StateError
from common.model.proposal import Diff, TaskResult
from common.model.state import FINAL, Reason, TaskState
from common.seal import Seal
from common.sentences import say
from local_agent.actions.apply_diff.action import ApplyDiff
from local_agent.actions.changes.settle import ChangeOutcome, Mixture
from local_agent.actions.git_sync.perform import SyncOutcome
from local_agent.flow import words as flow_words
from local_agent.safety.policy import Policy
from local_agent.settings import AgentSettings
from local_agent.store.endings import read_ending
from local_agent.store.tasks import Task
from tests.desk import Desk

pytestmark = pytest.mark.heavy

WAITING, EXECUTING = TaskState.WAITING_APPROVAL, TaskState.EXECUTING

DIFF = b"""\
diff --git a/src/login.py b/src/login.py
--- a/src/login.py
+++ b/src/login.py
@@ -1 +1 @@
-retries = 1
+retries = 3
diff --git a/src/notes.md b/src/notes.md
new file mode 100644
--- /dev/null
+++ b/src/notes.md
@@ -0,0 +1 @@
+Why three.
"""
HUNKS = b"""\
diff --git a/src/login.py b/src/login.py
--- a/src/login.py
+++ b/src/login.py
@@ -1,2 +1,4 @@
 import time
+import random
+
 retries = 1
@@ -11,2 +13,2 @@
 def login():
-    wait(1)
+    wait(2)
@@ -21,2 +23,2 @@
 def logout():
-    wait(1)
\\ No newline at end of file
+    wait(2)
\\ No newline at end of file
diff --git a/src/notes.md b/src/notes.md
new file mode 100644
--- /dev/null
+++ b/src/notes.md
@@ -0,0 +1 @@
+Why three.
diff --git a/src/run.sh b/src/run.sh
old mode 100644
new mode 100755
--- a/src/run.sh
+++ b/src/run.sh
@@ -1 +1 @@
-python login.py
+exec python login.py
"""
HERE: dict[str, Any] = {"source": "local_ui", "channel": "terminal", "gateway_key_id": None}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with Desk(tmp_path) as opened:
        yield opened


async def applied(desk: Desk) -> Task:
    task_id = await desk.apply(DIFF)
    await desk.decide(await desk.waiting(task_id))
    return await desk.until(task_id, *FINAL)


def proposed(task: Task) -> TaskResult:
    return TaskResult.model_validate_json(task.proposal_json or "")


async def sealed_diff(desk: Desk, seal: Seal) -> DiffModel:
    return parse_diff(await asyncio.to_thread(desk.blobs.get, seal.payload["diff_sha256"]))


# --- changes ----------------------------------------------------------------------------------


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P2")
@pytest.mark.requirement("NL-8.1")
async def test_a_diff_is_sealed_approved_and_then_applied_once(desk: Desk) -> None:
    task_id = await desk.apply(DIFF)
    asked = await desk.waiting(task_id)
    assert desk.applier.ran == []
    assert asked.seal.action == "apply_diff"
    assert asked.seal.undo == "yes"
    assert asked.seal.payload["diff_sha256"] == hashlib.sha256(DIFF).hexdigest()
    assert [change["path"] for change in asked.seal.payload["changes"]] == [
        "src/login.py",
        "src/notes.md",
    ]
    await desk.decide(asked)
    task = await desk.until(task_id, *FINAL)
    assert (task.state, task.reason) == (TaskState.COMPLETED, Reason.COMPLETED)
    assert [grant.digest for grant in desk.applier.ran] == [asked.digest]


async def test_what_a_change_did_is_kept_for_this_machine(desk: Desk) -> None:
    task = await applied(desk)
    kept = read_ending(task.ending_json)
    assert kept["run"] is None
    assert [file["path"] for file in kept["change"]["files"]] == ["src/login.py", "src/notes.md"]
    assert f"codexbridge undo {task.short_id}" in (task.summary or "")


async def test_a_proposed_diff_is_counted_by_us(desk: Desk) -> None:
    task_id = await desk.apply(DIFF)
    await desk.waiting(task_id)
    proposal = proposed(await desk.task(task_id)).proposal
    assert isinstance(proposal, Diff)
    assert [(f.path, f.additions, f.deletions) for f in proposal.files] == [
        ("src/login.py", 1, 1),
        ("src/notes.md", 1, 0),
    ]


async def test_a_text_that_is_no_diff_ends_the_task_with_the_reason(desk: Desk) -> None:
    task = await desk.until(await desk.apply(b"not a diff\n"), *FINAL)
    assert task.reason is Reason.REFUSED
    assert await desk.approval_states(task.task_id) == []


async def test_changes_that_are_switched_off_are_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.settings = AgentSettings(allow_apply_patch=False)
    async with desk:
        task = await desk.until(await desk.apply(DIFF), *FINAL)
        assert (task.reason, await desk.approval_states(task.task_id)) == (Reason.REFUSED, [])


@pytest.mark.requirement("P2")
async def test_a_drifted_change_is_told_as_drifted(desk: Desk) -> None:
    desk.applier.outcome = ChangeOutcome(
        reason=Reason.DRIFTED, code="change.drifted", drift=("base",)
    )
    task = await applied(desk)
    assert (task.state, task.reason) == (TaskState.FAILED, Reason.DRIFTED)
    ending = read_ending(task.ending_json)
    assert ending["change"]["drift"] == ["base"]
    assert f"codexbridge retry {task.short_id}" in json.dumps(ending)
    assert "codexbridge retry" not in (task.summary or ""), "the chat has no such command"


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("settled", "state"),
    [
        (ChangeOutcome(reason=Reason.COMPLETED), TaskState.COMPLETED),
        (ChangeOutcome(reason=Reason.FAILED, code="change.restored"), TaskState.FAILED),
        (ChangeOutcome(reason=Reason.UNKNOWN, code="change.unknown"), TaskState.FAILED),
    ],
)
async def test_a_change_that_was_cut_off_is_settled_by_its_files(
    desk: Desk, settled: ChangeOutcome, state: TaskState
) -> None:
    task_id = await desk.apply(DIFF)
    await desk.waiting(task_id)
    desk.applier.settled = settled
    await cut_off(desk, task_id)
    task = await desk.until(task_id, *FINAL)
    assert (task.state, task.reason) == (state, settled.reason)
    assert desk.applier.ran == []


@pytest.mark.requirement("P3", "P5", "P7")
async def test_a_change_that_was_cut_off_and_edited_tells_each_file_and_can_be_put_back(
    desk: Desk,
) -> None:
    task_id = await desk.apply(DIFF)
    mixture = Mixture(
        new=("a.py", "b.py", "c.py", "d.py"), old=("e.py",), foreign=("mine.py",), beside=("x.tmp",)
    )
    desk.applier.settled = ChangeOutcome(
        reason=Reason.UNKNOWN, code="change.unsettled", paths=("mine.py",), mixture=mixture
    )
    await cut_off(desk, task_id)
    task = await desk.until(task_id, *FINAL)
    summary = task.summary or ""
    assert task.reason is Reason.UNKNOWN
    assert "4 files are as the change wrote them: a.py, b.py, c.py, …" in summary
    assert "1 file is as before: e.py" in summary
    assert "mine.py" in summary
    assert "x.tmp" in summary
    assert f"codexbridge undo {task.short_id}" in summary
    assert read_ending(task.ending_json)["change"]["mixture"]["new"] == [*mixture.new]
    asked = await desk.waiting(await desk.ask(f"@dev undo {task.short_id}", **HERE))
    assert asked.seal.action == "undo"
    assert not desk.applier.whole
    undo = await desk.task(asked.seal.task_id)
    assert "mine.py" in (undo.proposal_json or "")


async def cut_off(desk: Desk, task_id: str) -> None:
    """Approve a task, write its intent, and die before anything else."""
    asked = await desk.waiting(task_id)
    carried = [one for one in desk.engine._carried.values() if task_id in one.get_name()]
    for one in carried:
        one.cancel()
    await desk.decide(asked)
    await desk.gate.take_grant(asked.approval_id, asked.digest)
    await desk.kill()
    await desk.open()


# --- narrowing --------------------------------------------------------------------------------


@pytest.mark.requirement("R23")
async def test_some_files_alone_are_asked_for_under_another_seal(desk: Desk) -> None:
    task_id = await desk.apply(DIFF)
    first = await desk.waiting(task_id)
    await desk.engine.narrow(first.approval_id, first.digest, ("src/notes.md",))
    second = await desk.waiting(task_id, older=first.approval_id)
    assert second.digest != first.digest
    assert second.seal.version == 2
    assert [change["path"] for change in second.seal.payload["changes"]] == ["src/notes.md"]
    await desk.decide(second)
    task = await desk.until(task_id, *FINAL)
    assert task.reason is Reason.COMPLETED
    assert [grant.digest for grant in desk.applier.ran] == [second.digest]
    assert await desk.approval_states(task_id) == ["superseded", "consumed"]


@pytest.mark.requirement("R23")
async def test_some_hunks_alone_are_asked_for_under_another_seal(desk: Desk) -> None:
    task_id = await desk.apply(HUNKS)
    first = await desk.waiting(task_id)
    kept = "src/login.py", "src/notes.md"
    await desk.engine.narrow(first.approval_id, first.digest, kept, {"src/login.py": (2, 1)})
    second = await desk.waiting(task_id, older=first.approval_id)
    assert (second.digest != first.digest, second.seal.version) == (True, 2)
    login, notes = (await sealed_diff(desk, second.seal)).files
    assert [(hunk.old_start, hunk.new_start) for hunk in login.hunks] == [(11, 11), (21, 21)]
    assert (login.hunks[1].old_open, login.hunks[1].new_open) == (True, True)
    assert notes == parse_diff(HUNKS).files[1]
    proposal = proposed(await desk.task(task_id)).proposal
    assert isinstance(proposal, Diff)
    assert [(f.path, f.additions, f.deletions) for f in proposal.files] == [
        ("src/login.py", 2, 2),
        ("src/notes.md", 1, 0),
    ]
    assert desk.applier.ran == []
    await desk.decide(second)
    await desk.until(task_id, *FINAL)
    assert [grant.digest for grant in desk.applier.ran] == [second.digest]
    assert await desk.approval_states(task_id) == ["superseded", "consumed"]


async def test_what_was_narrowed_by_hunks_can_be_narrowed_again(desk: Desk) -> None:
    task_id = await desk.apply(HUNKS)
    first = await desk.waiting(task_id)
    kept = ("src/login.py",)
    await desk.engine.narrow(first.approval_id, first.digest, kept, {"src/login.py": (0, 2)})
    second = await desk.waiting(task_id, older=first.approval_id)
    await desk.engine.narrow(second.approval_id, second.digest, kept, {"src/login.py": (1,)})
    third = await desk.waiting(task_id, older=second.approval_id)
    (login,) = (await sealed_diff(desk, third.seal)).files
    assert [hunk.old_start for hunk in login.hunks] == [21]


LOGIN, NOTES, RUN = EVERY = "src/login.py", "src/notes.md", "src/run.sh"


@pytest.mark.parametrize(
    ("keep", "hunks", "facts"),
    [
        (EVERY, {LOGIN: (0, 1, 2)}, {"count": 3}),
        (EVERY, {}, {"count": 3}),
        ((), {}, {"count": 0}),
        ((), {LOGIN: (0,)}, {"count": 0}),
        ((LOGIN,), {LOGIN: ()}, {"why": "hunks", "path": LOGIN}),
        ((LOGIN,), {LOGIN: (3,)}, {"why": "hunks", "path": LOGIN}),
        ((LOGIN,), {LOGIN: (-1,)}, {"why": "hunks", "path": LOGIN}),
        ((LOGIN,), {LOGIN: (1, 1)}, {"why": "hunks", "path": LOGIN}),
        ((NOTES,), {LOGIN: (0,)}, {"why": "hunks", "path": LOGIN}),
        ((NOTES,), {NOTES: (0,)}, {"why": "hunks", "path": NOTES}),
        ((RUN,), {RUN: (0,)}, {"why": "hunks", "path": RUN}),
        ((LOGIN,), {"src/other.py": (0,)}, {"why": "unknown", "paths": "src/other.py"}),
    ],
)
async def test_a_selection_of_hunks_that_is_none_changes_nothing(
    desk: Desk, keep: tuple[str, ...], hunks: Hunks, facts: dict[str, object]
) -> None:
    asked = await desk.waiting(await desk.apply(HUNKS))
    with pytest.raises(InputError) as caught:
        await desk.engine.narrow(asked.approval_id, asked.digest, keep, hunks)
    assert (caught.value.code, caught.value.facts) == ("approval.narrow", facts)
    assert [one.digest for one in await desk.gate.pending()] == [asked.digest]


async def test_of_two_choices_at_once_the_second_is_of_what_nobody_asks_any_more(
    desk: Desk,
) -> None:
    task_id = await desk.apply(HUNKS)
    asked = await desk.waiting(task_id)
    ended = await asyncio.gather(
        *(
            desk.engine.narrow(asked.approval_id, asked.digest, (LOGIN,), {LOGIN: (index,)})
            for index in (1, 2)
        ),
        return_exceptions=True,
    )
    assert [getattr(one, "code", None) for one in ended] == [None, "approval.not-pending"]
    newer = await desk.waiting(task_id, older=asked.approval_id)
    (login,) = (await sealed_diff(desk, newer.seal)).files
    assert [hunk.old_start for hunk in login.hunks] == [11]


@pytest.mark.parametrize(
    "keep", [(), ("src/login.py", "src/notes.md"), ("src/other.py",), ("src/login.py", "x")]
)
async def test_a_selection_that_is_none_changes_nothing(desk: Desk, keep: tuple[str, ...]) -> None:
    asked = await desk.waiting(await desk.apply(DIFF))
    with pytest.raises(InputError) as caught:
        await desk.engine.narrow(asked.approval_id, asked.digest, keep)
    assert caught.value.code == "approval.narrow"
    assert [one.digest for one in await desk.gate.pending()] == [asked.digest]


async def test_another_digest_narrows_nothing(desk: Desk) -> None:
    asked = await desk.waiting(await desk.apply(DIFF))
    with pytest.raises(InputError) as caught:
        await desk.engine.narrow(asked.approval_id, "0" * 64, ("src/notes.md",))
    assert caught.value.code == "approval.digest-mismatch"


async def test_a_command_has_no_parts(desk: Desk) -> None:
    asked = await desk.waiting(await desk.ask("@dev test"))
    with pytest.raises(InputError) as caught:
        await desk.engine.narrow(asked.approval_id, asked.digest, ("a",))
    assert caught.value.code == "approval.narrow"


async def test_what_was_decided_cannot_be_narrowed(desk: Desk) -> None:
    task_id = await desk.apply(DIFF)
    asked = await desk.waiting(task_id)
    await desk.decide(asked, "reject")
    await desk.until(task_id, *FINAL)
    with pytest.raises(StateError) as caught:
        await desk.engine.narrow(asked.approval_id, asked.digest, ("src/notes.md",))
    assert caught.value.code == "approval.not-pending"


# --- refreshing -------------------------------------------------------------------------------


@pytest.mark.requirement("R24b")
async def test_a_question_that_is_still_true_stays_as_it_is(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    asked = await desk.waiting(task_id)
    await desk.engine.refresh(task_id)
    assert [one.digest for one in await desk.gate.pending()] == [asked.digest]


@pytest.mark.requirement("R24b")
async def test_a_question_about_other_files_is_asked_anew_before_a_person_looks(
    desk: Desk,
) -> None:
    task_id = await desk.ask("@dev test")
    first = await desk.waiting(task_id)
    desk.executor.base = {".": "1" * 64}
    await desk.engine.refresh(task_id)
    second = await desk.waiting(task_id, older=first.approval_id)
    assert (second.seal.version, second.seal.base) == (2, {".": "1" * 64})
    told = (await desk.reports())[-1]["message"]
    assert say(flow_words.AGAIN_CHANGED, "en") in told  # nobody had approved anything


async def test_a_change_whose_files_have_moved_on_ends_as_drifted(desk: Desk) -> None:
    task_id = await desk.apply(DIFF)
    await desk.waiting(task_id)
    desk.applier.refusal = InputError("diff.context", path="src/login.py", hunk=1, line=1)
    await desk.engine.refresh(task_id)
    assert (await desk.until(task_id, *FINAL)).reason is Reason.DRIFTED


# --- policy -----------------------------------------------------------------------------------


@pytest.mark.requirement("P2")
async def test_a_policy_that_changed_after_the_question_is_drift(desk: Desk) -> None:
    task_id = await desk.apply(DIFF)
    asked = await desk.waiting(task_id)
    desk.policy = Policy(require_typed=True)
    await desk.decide(asked)
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, desk.applier.ran) == (Reason.DRIFTED, [])


async def test_what_the_policy_refuses_is_not_asked(desk: Desk) -> None:
    desk.policy = Policy(refuse_actions=("apply_diff",))
    task = await desk.until(await desk.apply(DIFF), *FINAL)
    assert (task.reason, await desk.approval_states(task.task_id)) == (Reason.REFUSED, [])


async def test_the_first_file_that_the_policy_keeps_is_named(desk: Desk) -> None:
    desk.policy = Policy(refuse_paths=("notes.*",))
    task = await desk.until(await desk.apply(DIFF), *FINAL)
    assert task.reason is Reason.REFUSED
    assert "src/notes.md" in (task.summary or "")
    assert "src/login.py" not in (task.summary or "")


async def test_a_selection_names_what_the_change_does_not_touch(desk: Desk) -> None:
    asked = await desk.waiting(await desk.apply(DIFF))
    with pytest.raises(InputError) as caught:
        await desk.engine.narrow(asked.approval_id, asked.digest, ("src/login.py", "b", "a"))
    assert caught.value.facts == {"why": "unknown", "paths": "a, b"}


# --- undo -------------------------------------------------------------------------------------


@pytest.mark.requirement("P5")
async def test_an_applied_change_is_taken_back_after_an_approval_of_its_own(desk: Desk) -> None:
    done = await applied(desk)
    task_id = await desk.ask(f"@dev undo {done.short_id}", **HERE)
    asked = await desk.waiting(task_id)
    assert asked.seal.action == "undo"
    assert asked.seal.payload["undoes"]["short_id"] == done.short_id
    await desk.decide(asked)
    task = await desk.until(task_id, *FINAL)
    assert task.reason is Reason.COMPLETED
    assert read_ending(task.ending_json)["change"]["undoes"] == done.short_id


@pytest.mark.requirement("P5")
async def test_an_undo_without_an_id_lists_the_changes_of_the_asker(desk: Desk) -> None:
    done = await applied(desk)
    nothing = await desk.done("@dev undo")  # somebody else's
    told = (await desk.until(await desk.ask("@dev undo", **HERE), *FINAL)).summary or ""
    assert (done.short_id in (nothing.summary or ""), f"\n{done.short_id}: " in told) == (
        False,
        True,
    )
    await desk.decide(await desk.waiting(await desk.ask(f"undo {done.short_id}", **HERE)))
    told = (await desk.until(await desk.ask("@dev undo", **HERE), *FINAL)).summary or ""
    assert f"\n{done.short_id}: " not in told


@pytest.mark.requirement("P1", "P5")
@pytest.mark.parametrize("text", ["@dev undo the last change", "撤销上一个改动", "撤消刚才的修改"])
async def test_the_last_change_needs_no_id_to_be_undone(desk: Desk, text: str) -> None:
    done = await applied(desk)
    asked = await desk.waiting(await desk.ask(text, **HERE))
    assert asked.seal.payload["undoes"]["short_id"] == done.short_id
    assert (await desk.done(text)).reason is Reason.REFUSED  # somebody else's


async def test_an_undo_can_be_of_some_files_alone(desk: Desk) -> None:
    done = await applied(desk)
    asked = await desk.waiting(await desk.ask(f"undo {done.short_id} 'src/notes.md'", **HERE))
    assert [change["path"] for change in asked.seal.payload["changes"]] == ["src/notes.md"]


async def test_an_undo_can_be_narrowed(desk: Desk) -> None:
    done = await applied(desk)
    task_id = await desk.ask(f"undo {done.short_id}", **HERE)
    first = await desk.waiting(task_id)
    await desk.engine.narrow(first.approval_id, first.digest, ("src/login.py",))
    second = await desk.waiting(task_id, older=first.approval_id)
    assert [change["path"] for change in second.seal.payload["changes"]] == ["src/login.py"]


async def test_an_undo_takes_files_back_whole(desk: Desk) -> None:
    done = await applied(desk)
    asked = await desk.waiting(await desk.ask(f"undo {done.short_id}", **HERE))
    with pytest.raises(InputError) as caught:
        await desk.engine.narrow(asked.approval_id, asked.digest, (LOGIN,), {LOGIN: (0,)})
    assert caught.value.facts == {"why": "hunks", "path": LOGIN}


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("keep", [(), ("other.py",), ("src/login.py", "src/notes.md")])
async def test_an_undo_that_is_narrowed_to_nothing_it_lists_goes_on_waiting(
    desk: Desk, keep: tuple[str, ...]
) -> None:
    done = await applied(desk)
    task_id = await desk.ask(f"undo {done.short_id}", **HERE)
    asked = await desk.waiting(task_id)
    with pytest.raises(InputError) as caught:
        await desk.engine.narrow(asked.approval_id, asked.digest, keep)
    assert caught.value.code == "approval.narrow"
    assert await desk.approval_states(task_id) == ["pending"]


@pytest.mark.requirement("P4")
async def test_a_member_cannot_take_back_what_somebody_else_asked_for(desk: Desk) -> None:
    done = await applied(desk)
    task = await desk.done(f"@dev undo {done.short_id}")
    assert (task.reason, await desk.approval_states(task.task_id)) == (Reason.REFUSED, [])


@pytest.mark.parametrize("text", ["@dev undo", "@dev undo T-0000", "@dev 撤销 登录"])
async def test_an_undo_of_nothing_says_so(desk: Desk, text: str) -> None:
    task = await desk.done(text, **HERE)
    assert await desk.approval_states(task.task_id) == []
    assert task.reason is Reason.REFUSED


async def test_a_command_cannot_be_undone(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    ran = await desk.until(task_id, *FINAL)
    task = await desk.done(f"@dev undo {ran.short_id}")
    assert task.state in FINAL
    assert await desk.approval_states(task.task_id) == []


# --- git sync ---------------------------------------------------------------------------------


async def test_a_sync_is_one_card_and_high_risk(desk: Desk) -> None:
    task_id = await syncing(desk)
    asked = await desk.waiting(task_id)
    assert (asked.seal.action, asked.risk, asked.seal.undo) == ("git_sync", "high", "no")
    await desk.decide(asked)
    task = await desk.until(task_id, *FINAL)
    assert task.reason is Reason.COMPLETED
    assert read_ending(task.ending_json)["sync"]["pushed"] is True


@pytest.mark.requirement("P7")
async def test_a_commit_that_was_not_pushed_is_told_as_that(desk: Desk) -> None:
    desk.syncer.outcome = SyncOutcome(
        reason=Reason.FAILED, code="sync.rejected", committed="c" * 40
    )
    task_id = await syncing(desk)
    await desk.decide(await desk.waiting(task_id))
    task = await desk.until(task_id, *FINAL)
    assert task.reason is Reason.FAILED
    assert "c" * 7 in (task.summary or "")


async def syncing(desk: Desk) -> str:
    return await desk.ask("@dev commit and push")


# --- one after the other ----------------------------------------------------------------------


async def test_what_waits_behind_an_operation_is_asked_anew_once_that_is_done(desk: Desk) -> None:
    change, command = await desk.apply(DIFF), await desk.ask("@dev test")
    first = await desk.waiting(command)
    asked = await desk.waiting(change)
    desk.executor.base = {".": "2" * 64}  # as the change leaves it
    await desk.decide(asked)
    await desk.until(change, *FINAL)
    second = await desk.waiting(command, older=first.approval_id)
    assert (second.seal.version, second.seal.base) == (2, {".": "2" * 64})
    await desk.decide(second)
    assert (await desk.until(command, *FINAL)).reason is Reason.COMPLETED


async def test_what_is_still_true_behind_an_operation_keeps_its_code(desk: Desk) -> None:
    change, command = await desk.apply(DIFF), await desk.ask("@dev test")
    first = await desk.waiting(command)
    await desk.decide(await desk.waiting(change))
    await desk.until(change, *FINAL)
    await desk.decide(first)
    assert (await desk.until(command, *FINAL)).reason is Reason.COMPLETED


async def test_a_decision_that_was_faster_than_the_narrowing_stands_whole(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = await desk.apply(DIFF)
    asked = await desk.waiting(task_id)
    narrowed = ApplyDiff.narrowed

    async def slowly(
        self: ApplyDiff, result: TaskResult, seal: Seal, keep: tuple[str, ...], hunks: Hunks
    ) -> TaskResult:
        await desk.decide(asked)
        await desk.until(task_id, *FINAL)
        return await narrowed(self, result, seal, keep, hunks)

    monkeypatch.setattr(ApplyDiff, "narrowed", slowly)
    with pytest.raises(StateError) as caught:
        await desk.engine.narrow(asked.approval_id, asked.digest, ("src/notes.md",))
    assert caught.value.code == "approval.not-pending"
    proposal = proposed(await desk.task(task_id)).proposal
    assert isinstance(proposal, Diff)
    assert len(proposal.files) == 2
