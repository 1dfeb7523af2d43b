"""The main flow: real journal, real gate, real approvals; only the command itself is scripted."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from common.errors import InputError, StateError, StoreError
from common.ids import new_short_id, new_uuid
from common.model.intent import TaskKind
from common.model.proposal import CommandProposal, TaskResult
from common.model.state import FINAL, Reason, TaskState
from common.protocol.bodies import TASK_TEXT_BYTES
from local_agent import app
from local_agent.actions.run_command.perform import Outcome, Progress
from local_agent.faces.control.tasks import Watching
from local_agent.flow import engine as engine_module
from local_agent.flow import parts as parts_module
from local_agent.flow.engine import Engine
from local_agent.flow.steps import Steps
from local_agent.flow.understanding import request_of
from local_agent.flow.words import BLOCKED
from local_agent.propose.base import Asked, Proposed
from local_agent.store.endings import read_ending
from local_agent.store.tasks import Change, NewTask, Task
from local_agent.understand.reader import Reader
from local_agent.understand.reading import Reading
from local_agent.understand.triggers import Triggers
from local_agent.workspace.manifest import Differences
from tests.desk import WITHIN_S, Desk

pytestmark = pytest.mark.heavy

WAITING, EXECUTING = TaskState.WAITING_APPROVAL, TaskState.EXECUTING


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with Desk(tmp_path) as opened:
        yield opened


async def started(desk: Desk) -> None:
    async with asyncio.timeout(WITHIN_S):
        await desk.executor.started.wait()


# --- the happy line ---------------------------------------------------------------------------


async def test_the_words_of_a_task_are_read_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    read = Reader.read

    def counted(self: Reader, text: str, playbooks: Triggers) -> Reading:
        texts.append(text)
        return read(self, text, playbooks)

    monkeypatch.setattr(Reader, "read", counted)
    await desk.until(await desk.ask("@dev where is sign_in called?"), *FINAL)
    assert len(texts) == 1


async def test_what_carries_a_task_is_loaded_once_before_one_comes(desk: Desk) -> None:
    heard: list[str] = []
    desk.engine.when_wanted(heard.append)
    made: list[Steps] = []
    make = desk.engine._make_steps

    def count() -> Steps:
        made.append(make())
        return made[-1]

    desk.engine._make_steps = count
    agent: Any = SimpleNamespace(engine=desk.engine)
    part = asyncio.create_task(app._load_rest(agent))
    await asyncio.sleep(0)  # it has begun
    first, second = await asyncio.gather(desk.engine.load(), desk.engine.load())
    assert [first] == [second] == made
    first.approving.on_wanted("one")
    assert heard == ["one"]
    assert not part.done()  # the end of any part ends the agent
    part.cancel()


@pytest.mark.requirement("P3")
async def test_an_agent_whose_files_are_damaged_ends_no_task(desk: Desk) -> None:
    def damage(engine: Engine) -> None:
        def make() -> Steps:
            raise ImportError

        engine._make_steps = make

    task_id = await desk.ask("@dev test")
    await desk.waiting(task_id)
    whole, desk.wrap = desk.wrap, damage
    with pytest.raises(ImportError):
        await desk.restart()
    await desk.db.close()
    desk.wrap = whole
    await desk.open()
    await desk.until(task_id, WAITING)


@pytest.mark.requirement("P2")
@pytest.mark.requirement("NL-8.2")
async def test_an_approved_test_runs_once_and_its_summary_goes_back(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    asked = await desk.waiting(task_id)
    assert desk.executor.ran == []
    await desk.decide(asked)
    task = await desk.until(task_id, *FINAL)
    assert (task.state, task.reason) == (TaskState.COMPLETED, Reason.COMPLETED)
    assert [grant.digest for grant in desk.executor.ran] == [asked.digest]
    result = (await desk.reports())[-1]
    assert result["task_sha256"] == task.envelope_sha256
    assert result["summary"] == f"✓ {task.summary}"
    assert "pytest -q" in result["summary"]
    assert "3 passed" in result["summary"]


@pytest.mark.requirement("P7")
@pytest.mark.requirement("NL-8.3")
async def test_the_chat_is_told_who_must_decide_where_and_until_when(desk: Desk) -> None:
    asked = await desk.waiting(await desk.ask("@dev test"))
    told = (await desk.reports())[-1]
    assert told["state"] == "WAITING_APPROVAL"
    assert told["waiting"] == {
        "seal_code": asked.code,
        "expires_at": desk.clock.now().wall_ms + 24 * 3_600_000,
        "machine": "dev-machine-1",
    }
    assert "pytest -q" in told["message"]


async def test_what_is_sealed_says_where_it_came_from_and_what_it_discloses(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    seal = (await desk.waiting(task_id)).seal
    task = await desk.task(task_id)
    assert (seal.task_id, seal.short_id, seal.version) == (task_id, task.short_id, 1)
    assert seal.source.claimed_user == task.claimed_user
    assert seal.source.envelope_sha256 == task.envelope_sha256
    assert (seal.undo, seal.discloses) == ("no", ("outcome", "output-tail"))
    local = await desk.waiting(await desk.ask("test", source="local_ui"))
    assert local.seal.discloses == ()


async def test_the_test_command_is_normal_risk_and_any_other_is_high(desk: Desk) -> None:
    assert (await desk.waiting(await desk.ask("@dev test"))).risk == "normal"
    other = await desk.waiting(await desk.ask('@dev test --cmd="pytest -x"'))
    assert (other.risk, other.both_groups) == ("high", True)
    assert other.seal.payload["argv"] == ["pytest", "-x"]
    assert "not-the-test-command" in other.reasons


@pytest.mark.requirement("NL-3.2")
@pytest.mark.requirement("NL-3.3")
@pytest.mark.requirement("NL-7")
async def test_the_five_events_of_the_seed_come_in_order(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    await desk.until(task_id, *FINAL)
    told = [(e["type"], e.get("state")) for e in await desk.events(task_id)]
    assert told == [
        ("task_start", None),
        ("task_state", "ROUTED"),
        ("task_state", "CONTEXT_COLLECTED"),
        ("task_state", "PROPOSING"),
        ("task_proposal", None),
        ("task_state", "PROPOSAL_READY"),
        ("task_state", "WAITING_APPROVAL"),
        ("task_state", "EXECUTING"),
        ("task_state", "COMPLETED"),
        ("task_end", None),
    ]
    events = await desk.events(task_id)
    assert {"kind", "confidence", "summary"} <= events[0]["intent"].keys()
    result = next(event["result"] for event in events if event["type"] == "task_proposal")
    assert {"taskId", "intent", "proposal", "requires", "summary"} <= result.keys()
    assert result["proposal"]["type"] == "command"
    assert result["requires"] == {"mode": "local_approval", "action": "run_command"}
    assert (events[-1]["status"], events[-1]["reason"]) == ("ok", "completed")


async def _followed(
    desk: Desk, text: str, until: frozenset[TaskState]
) -> list[tuple[str, str | None]]:
    """Return what somebody is told who asks, and follows the task to one of the states."""
    watching = Watching(desk.db, desk.bus)
    new = NewTask(
        task_id=new_uuid(),
        short_id=new_short_id("agent"),
        source="local_ui",
        channel="terminal",
        claimed_user="ada",
        thread_id="thread-1",
        text=text,
        lang="en",
    )
    steps = watching.task(new.task_id, until=until, begin=desk.engine.submit(new))
    *events, (last, _) = [step async for step in steps]
    assert last
    told = [value for _, value in events if isinstance(value, Mapping)]
    return [(value["type"], value.get("state")) for value in told]


@pytest.mark.requirement("NL-6")
@pytest.mark.requirement("NL-7")
async def test_who_follows_a_task_is_told_every_state_and_its_end(desk: Desk) -> None:
    asked = await _followed(desk, "@dev test", FINAL | {WAITING})
    begun = [
        ("task_state", "RECEIVED"),
        ("task_start", None),
        ("task_state", "ROUTED"),
        ("task_state", "CONTEXT_COLLECTED"),
        ("task_state", "PROPOSING"),
        ("task_proposal", None),
        ("task_state", "PROPOSAL_READY"),
    ]
    assert asked == [*begun, ("task_state", "WAITING_APPROVAL")]
    answered = await _followed(desk, "@dev help", FINAL)
    assert answered == [*begun, ("task_state", "COMPLETED"), ("task_end", None)]


@pytest.mark.requirement("NL-3.1")
async def test_each_request_is_the_same_value_whatever_way_it_came(desk: Desk) -> None:
    longest = "@dev help " + "x" * (TASK_TEXT_BYTES - 10)
    remote = await desk.done(longest, thread_id="t" * 256)
    request = request_of(remote)
    assert (request.source, request.from_user) == ("wecom", remote.claimed_user)
    assert (request.thread_id, request.text) == ("t" * 256, longest)
    assert request.meta == {"channel": "wecom_app", "lang": "en"}
    here = await desk.done(
        "@dev help",
        source="local_ui",
        channel="terminal",
        workspace="shop",
        around_json='{"file": "a.py", "lines": [1, 2]}',
    )
    request = request_of(here)
    assert request.source == "local_ui"
    assert request.meta is not None
    assert request.meta["workspace"] == "shop"
    assert request.meta["around"] == {"file": "a.py", "lines": [1, 2]}


@pytest.mark.requirement("NL-12.6")
async def test_the_state_of_a_task_that_failed_says_why(desk: Desk) -> None:
    desk.executor.refusal = InputError("command.not-found", program="pytest")
    task = await desk.done("@dev test")
    (changed,) = [e for e in await desk.events(task.task_id) if e.get("state") == "FAILED"]
    assert changed["message"] == task.summary
    assert "“pytest”" in changed["message"]


async def test_a_failing_command_fails_the_task_and_says_how(desk: Desk) -> None:
    desk.executor.outcome = Outcome(
        reason=Reason.FAILED, exit_code=1, duration_ms=9000, tail="1 failed"
    )
    task_id = await desk.ask("@dev test", lang="zh")
    await desk.decide(await desk.waiting(task_id))
    task = await desk.until(task_id, *FINAL)
    assert (task.state, task.reason) == (TaskState.FAILED, Reason.FAILED)
    assert task.summary is not None
    assert "退出码 1" in task.summary


@pytest.mark.requirement("R54")
async def test_no_secret_reaches_the_chat(desk: Desk) -> None:
    secret = "ghp_" + "a1B2" * 9
    desk.executor.outcome = replace(desk.executor.outcome, tail=f"token {secret}")
    task_id = await desk.ask(f'@dev test --cmd="pytest --token {secret}"')
    await desk.decide(await desk.waiting(task_id))
    await desk.until(task_id, *FINAL)
    assert secret not in str(await desk.reports())


async def test_a_bare_test_without_a_command_says_so_and_asks_nobody(tmp_path: Path) -> None:
    async with Desk(tmp_path, test_command=None) as desk:
        task = await desk.done("@dev test")
        assert task.reason is Reason.REFUSED
        assert task.summary is not None
        assert "shop" in task.summary
        assert await desk.gate.pending() == []


async def test_a_safe_question_ends_without_an_approval(desk: Desk) -> None:
    task = await desk.done("@dev help")
    assert task.reason is Reason.COMPLETED
    assert [e["type"] for e in await desk.events(task.task_id)][-1] == "task_end"


# --- a person says no, or nothing -------------------------------------------------------------


@pytest.mark.requirement("P1")
@pytest.mark.requirement("NL-12.4")
async def test_a_rejection_runs_nothing_and_its_reason_reaches_the_chat(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id), "reject", reason="not\u202e now")
    task = await desk.until(task_id, *FINAL)
    assert (task.state, task.reason) == (TaskState.REJECTED, Reason.REJECTED)
    assert desk.executor.ran == []
    assert task.summary is not None
    assert "not⟨U+202E⟩ now" in task.summary


async def test_an_approval_that_nobody_decides_expires(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    await desk.waiting(task_id)
    desk.clock.advance(24 * 3600)
    await desk.gate.tick()
    task = await desk.until(task_id, *FINAL)
    assert (task.state, task.reason) == (TaskState.REJECTED, Reason.EXPIRED)
    assert desk.executor.ran == []


async def test_a_cancelled_question_can_no_longer_be_approved(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    asked = await desk.waiting(task_id)
    assert await desk.engine.cancel(task_id)
    task = await desk.until(task_id, *FINAL)
    assert (task.state, task.reason) == (TaskState.REJECTED, Reason.CANCELLED)
    with pytest.raises(StateError):
        await desk.decide(asked)
    assert desk.executor.ran == []
    assert not await desk.engine.cancel(task_id)


async def test_cancelling_a_running_command_ends_it_and_says_what_was_done(desk: Desk) -> None:
    desk.executor.may_end.clear()
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    await started(desk)
    assert await desk.engine.cancel(task_id)
    task = await desk.until(task_id, *FINAL)
    assert task.reason is Reason.CANCELLED
    assert task.summary is not None
    assert "`pytest -q` was stopped" in task.summary


async def test_cancelling_while_something_is_read_ends_the_reading(desk: Desk) -> None:
    reading, ended = asyncio.Event(), asyncio.Event()

    class Slow:
        async def propose(self, asked: Asked) -> Proposed:
            reading.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            raise AssertionError

    (await proposers(desk.engine))[TaskKind.SEARCH] = Slow()
    task_id = await desk.ask("@dev find x_y")
    async with asyncio.timeout(WITHIN_S):
        await reading.wait()
    await desk.engine.cancel(task_id)
    assert (await desk.until(task_id, *FINAL)).reason is Reason.CANCELLED
    assert ended.is_set()


# --- policy and faults ------------------------------------------------------------------------


async def test_commands_that_are_switched_off_are_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.settings = desk.settings.model_copy(update={"allow_run_terminal": False})
    async with desk:
        task = await desk.done("@dev test")
        assert (task.state, task.reason) == (TaskState.REJECTED, Reason.REFUSED)
        assert task.summary is not None
        assert "allow_run_terminal" in task.summary


@pytest.mark.requirement("R26")
async def test_a_command_that_policy_forbids_is_refused_unasked(desk: Desk) -> None:
    task = await desk.done('@dev test --cmd="echo \u202ex"')
    assert task.reason is Reason.REFUSED
    assert await desk.approval_states(task.task_id) == []


async def test_too_many_questions_are_refused(desk: Desk) -> None:
    for _ in range(10):
        await desk.waiting(await desk.ask("@dev test"))
    assert (await desk.done("@dev test")).reason is Reason.REFUSED


@pytest.mark.requirement("NL-12.6")
async def test_a_command_that_cannot_be_described_fails_with_its_reason(desk: Desk) -> None:
    desk.executor.refusal = InputError("command.not-found", program="pytest")
    task = await desk.done("@dev test")
    assert (task.state, task.reason) == (TaskState.FAILED, Reason.FAILED)
    assert task.summary is not None
    assert "“pytest”" in task.summary
    assert desk.failures.events == []


async def test_a_fault_of_ours_ends_the_task_and_is_logged(desk: Desk) -> None:
    desk.executor.refusal = ZeroDivisionError("secret detail")
    task = await desk.done("@dev test")
    assert task.reason is Reason.FAILED
    assert task.summary is not None
    assert "ZeroDivisionError" in task.summary
    assert "secret detail" not in task.summary
    assert desk.failures.events == ["task.failed"]


@pytest.mark.requirement("P3")
async def test_a_fault_while_a_command_runs_is_unknown_not_failed(desk: Desk) -> None:
    desk.executor.error = ZeroDivisionError()
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    assert (await desk.until(task_id, *FINAL)).reason is Reason.UNKNOWN


async def test_a_store_that_fails_leaves_the_task_for_the_next_start(desk: Desk) -> None:
    left = asyncio.Event()

    async def fail(*args: Any) -> Any:
        left.set()
        raise StoreError("store.failed")

    desk.engine._tasks._store.change = fail  # type: ignore[assignment,method-assign]  # a full disk
    task_id = await desk.ask("@dev help")
    async with asyncio.timeout(WITHIN_S):
        await left.wait()
    await desk.restart()
    assert (await desk.until(task_id, *FINAL)).reason is Reason.COMPLETED
    assert "task.left-open" in desk.failures.events


async def test_an_unknown_workspace_fails_with_its_name(desk: Desk) -> None:
    task = await desk.done("test", source="local_ui", workspace="elsewhere")
    assert task.reason is Reason.FAILED
    assert task.summary is not None
    assert "elsewhere" in task.summary


async def test_drift_runs_nothing_and_says_so(desk: Desk) -> None:
    desk.executor.outcome = Outcome(reason=Reason.DRIFTED, code="command.drifted")
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    task = await desk.until(task_id, *FINAL)
    assert (task.state, task.reason) == (TaskState.FAILED, Reason.DRIFTED)


# --- several at once --------------------------------------------------------------------------


async def test_questions_go_on_beside_a_running_command(desk: Desk) -> None:
    desk.executor.may_end.clear()
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    await started(desk)
    assert (await desk.done("@dev status")).reason is Reason.COMPLETED
    desk.executor.may_end.set()
    await desk.until(task_id, *FINAL)


async def test_commands_of_one_workspace_run_one_at_a_time(desk: Desk) -> None:
    desk.executor.may_end.clear()
    first, second = await desk.ask("@dev test"), await desk.ask("@dev test")
    for task_id in (first, second):
        await desk.decide(await desk.waiting(task_id))
    await started(desk)
    assert len(desk.executor.ran) == 1
    desk.executor.may_end.set()
    for task_id in (first, second):
        assert (await desk.until(task_id, *FINAL)).reason is Reason.COMPLETED
    assert (len(desk.executor.ran), desk.executor.most_at_once) == (2, 1)


async def test_what_cannot_start_in_time_is_asked_again_under_a_new_seal(desk: Desk) -> None:
    (await desk.engine.load()).approving._turn_seconds = 0.01
    desk.executor.may_end.clear()
    first, second = await desk.ask("@dev test"), await desk.ask("@dev test")
    await desk.decide(await desk.waiting(first))
    await started(desk)
    older = await desk.waiting(second)
    given_up = asyncio.Event()
    desk.gate.listen(lambda notice: given_up.set() if notice.kind == "superseded" else None)
    await desk.decide(older)
    async with asyncio.timeout(WITHIN_S):
        await given_up.wait()
    assert await desk.gate.pending() == []
    desk.executor.may_end.set()
    newer = await desk.waiting(second, older=older.approval_id)
    assert newer.seal.version == 2
    assert newer.digest != older.digest
    assert await desk.approval_states(second) == ["superseded", "pending"]
    await desk.decide(newer)
    assert (await desk.until(second, *FINAL)).reason is Reason.COMPLETED
    assert [grant.digest for grant in desk.executor.ran][1:] == [newer.digest]


async def test_an_approval_older_than_a_minute_is_asked_again(desk: Desk) -> None:
    taken = asyncio.Event()
    take = desk.gate.take_grant

    async def late(approval_id: str, digest: str) -> Any:
        if not taken.is_set():
            taken.set()
            desk.clock.advance(61)
        return await take(approval_id, digest)

    desk.gate.take_grant = late  # type: ignore[assignment, method-assign]  # a machine that was suspended
    task_id = await desk.ask("@dev test")
    older = await desk.waiting(task_id)
    await desk.decide(older)
    newer = await desk.waiting(task_id, older=older.approval_id)
    assert (newer.seal.version, desk.executor.ran) == (2, [])


async def test_no_approval_is_taken_while_an_unsandboxed_command_runs(desk: Desk) -> None:
    desk.executor.level = "none"
    desk.executor.may_end.clear()
    desk.executor.outcome = replace(desk.executor.outcome, survivors=1)
    first = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(first))
    await started(desk)
    second = await desk.ask("@dev test")
    asked = await desk.waiting(second)
    with pytest.raises(StateError) as caught:
        await desk.decide(asked)
    assert caught.value.code == "approval.blocked"
    assert caught.value.facts["why"] in BLOCKED
    desk.executor.may_end.set()
    await desk.until(first, *FINAL)
    # A survivor lives, so it stays blocked; rejecting is always possible.
    with pytest.raises(StateError):
        await desk.decide(asked)
    await desk.decide(asked, "reject")
    assert (await desk.until(second, *FINAL)).reason is Reason.REJECTED


async def test_the_progress_of_a_long_command_is_told_ever_more_rarely(desk: Desk) -> None:
    desk.executor.may_end.clear()
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    await started(desk)
    assert desk.executor.on_progress is not None
    with desk.bus.read(task_id=task_id) as told:
        for elapsed in range(10, 90, 10):
            desk.executor.on_progress(Progress(elapsed_s=elapsed, lines=elapsed * 2))
            if elapsed in (10, 20, 40, 80):
                async with asyncio.timeout(WITHIN_S):
                    await anext(told)
    desk.executor.may_end.set()
    await desk.until(task_id, *FINAL)
    messages = [e.get("message") or "" for e in await desk.events(task_id)]
    running = [message for message in messages if message.startswith("still running")]
    assert running[:2] == ["still running · 10 s · 20 lines", "still running · 20 s · 40 lines"]
    assert [int(line.split(" · ")[2].split()[0]) for line in running] == [20, 40, 80, 160]


async def test_this_machine_gets_the_words_in_each_language_and_the_chat_in_its_own(
    desk: Desk,
) -> None:
    desk.executor.may_end.clear()
    task_id = await desk.ask("@dev 测试", lang="zh")
    await desk.decide(await desk.waiting(task_id))
    await started(desk)
    assert desk.executor.on_progress is not None
    with desk.bus.read(task_id=task_id) as told:
        desk.executor.on_progress(Progress(elapsed_s=10, lines=1))
        async with asyncio.timeout(WITHIN_S):
            heard = await anext(told)
    assert heard.said == {
        "en": "still running · 10 s · 1 line",
        "zh": "仍在运行 · 10 秒 · 1 行",
    }
    assert "仍在运行" not in json.dumps(await desk.reports(), ensure_ascii=False)
    desk.executor.may_end.set()
    task = await desk.until(task_id, *FINAL)
    said = read_ending(task.ending_json)["said"]
    assert (task.summary or "").startswith(said["zh"])
    assert said["en"] == "`pytest -q` succeeded (1.5 s)"
    assert "succeeded" not in json.dumps(await desk.reports())


@pytest.mark.requirement("R46")
async def test_the_files_that_a_command_changed_are_kept_here_and_not_told(desk: Desk) -> None:
    found = Differences(1, 0, 0, ("+ secret-plan.md",), (), (), truncated=False)
    desk.executor.outcome = replace(desk.executor.outcome, differences=found)
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    await desk.until(task_id, *FINAL)
    await desk.restart()
    run = read_ending((await desk.task(task_id)).ending_json)["run"]
    assert [file["path"] for file in run["files"]["listed"]] == ["secret-plan.md"]
    told = json.dumps([await desk.reports(), await desk.events(task_id)])
    assert "secret-plan" not in told


# --- beginning and ending ---------------------------------------------------------------------


async def test_a_task_is_carried_once_however_often_it_is_begun(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    desk.engine.begin(task_id)
    await desk.decide(await desk.waiting(task_id))
    await desk.until(task_id, *FINAL)
    desk.engine.begin(task_id)
    assert len(desk.executor.ran) == 1


async def test_closing_ends_what_runs_records_it_and_leaves_what_waits(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.open()
    desk.executor.may_end.clear()
    running, waiting = await desk.ask("@dev test"), await desk.ask("@dev test")
    asked = await desk.waiting(waiting)
    await desk.decide(await desk.waiting(running))
    await started(desk)
    await desk.engine.close()
    desk.engine.begin(waiting)
    task = await desk.task(running)
    assert task.reason is Reason.CANCELLED
    assert task.summary is not None
    assert task.summary.startswith("The agent was stopped")
    assert (await desk.task(waiting)).state is WAITING
    await desk.restart()
    assert (await desk.waiting(waiting)).approval_id == asked.approval_id
    await desk.engine.close()
    await desk.db.close()


async def test_a_local_task_is_written_and_begun(desk: Desk) -> None:
    new = NewTask(
        task_id="t-1",
        short_id="T-XK3F",
        source="local_ui",
        channel="terminal",
        claimed_user="me",
        thread_id="t-1",
        text="@dev help",
        lang="en",
    )
    task = await desk.engine.submit(new)
    assert task.state is TaskState.RECEIVED
    assert (await desk.until("t-1", *FINAL)).reason is Reason.COMPLETED
    assert await desk.reports() == []
    with pytest.raises(StoreError):
        await desk.engine.submit(new)


async def test_what_is_kept_of_a_proposal_is_a_whole_result(desk: Desk) -> None:
    task = await desk.done("@dev help")
    result = TaskResult.model_validate_json(task.proposal_json or "")
    assert (result.task_id, result.requires.mode) == (task.task_id, "none")


async def proposers(engine: Engine) -> dict[TaskKind, Any]:
    found = (await engine.load()).understanding._proposers.of_kind
    assert isinstance(found, dict)
    return found


# --- less common turns ------------------------------------------------------------------------


@pytest.mark.requirement("NL-4.1c")
async def test_without_a_model_a_change_is_answered_with_what_would_be_looked_at(
    desk: Desk, tmp_path: Path
) -> None:
    for name in ("src/login.py", "tests/test_login.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("def sign_in(): ...\n", encoding="utf-8")
    (tmp_path / "tests/test_login.pyc").write_bytes(b"\x0d\x0d\0\0")
    for text in (
        "@dev fix sign_in in login.py",
        "@dev patch fix login.py",
        "@dev plan fix login.py",
        "explain sign_in",
    ):
        task = await desk.done(text)
        # Nothing was done: neither the state nor the words may read as if it had been (P7).
        assert (task.state, task.reason) == (TaskState.REJECTED, Reason.REFUSED)
        assert task.summary is not None
        assert "No model is configured" in task.summary
        assert ".pyc" not in task.summary
        assert re.search(r"src/login\.py \(\d+ B\)", task.summary)
        assert "tests/test_login.py" in task.summary


@pytest.mark.requirement("P7")
async def test_what_is_left_of_a_request_is_said_before_anybody_approves(desk: Desk) -> None:
    task_id = await desk.ask("@dev run the tests and delete everything")
    await desk.waiting(task_id)
    (said,) = [
        event["message"]
        for event in await desk.events(task_id)
        if event["type"] == "task_state" and event["state"] == "WAITING_APPROVAL"
    ]
    first, second = said.splitlines()[:2]
    assert "“delete everything” is NOT done" in first
    assert "`pytest -q`" in second


async def test_tests_of_a_folder_are_proposed_whole_and_that_is_said(desk: Desk) -> None:
    task_id = await desk.ask("@dev 跑一下 tests/unit 里的测试", lang="zh")
    await desk.waiting(task_id)
    result = TaskResult.model_validate_json((await desk.task(task_id)).proposal_json or "")
    assert isinstance(result.proposal, CommandProposal)
    assert result.proposal.cmd == "pytest -q"
    assert "没有考虑“tests/unit”" in result.summary


@pytest.mark.requirement("P7")
async def test_a_search_and_a_review_answer_from_the_real_workspace_and_are_no_deeds(
    desk: Desk, tmp_path: Path
) -> None:
    (tmp_path / "a.py").write_text("needle_here = 1\n", encoding="utf-8")
    found = await desk.done("@dev find needle_here")
    assert found.summary is not None
    assert "a.py (1" in found.summary
    assert (await desk.reports())[-1]["summary"] == found.summary  # without a mark of success
    reviewed = await desk.done("@dev review my changes")
    assert reviewed.summary is not None
    assert "not a git repository" in reviewed.summary


async def test_an_approval_that_was_withdrawn_from_outside_is_asked_again(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    older = await desk.waiting(task_id)
    await desk.gate.withdraw(task_id)
    newer = await desk.waiting(task_id, older=older.approval_id)
    assert newer.seal.version == 2


async def test_a_cancel_just_before_the_start_runs_nothing(desk: Desk) -> None:
    take = desk.gate.take_grant

    async def overtaken(approval_id: str, digest: str) -> Any:
        await desk.db.run(desk.db.journal.tasks.request_cancel, task_id)
        return await take(approval_id, digest)

    desk.gate.take_grant = overtaken  # type: ignore[assignment, method-assign]  # a cancel in between
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, desk.executor.ran) == (Reason.CANCELLED, [])


@pytest.mark.requirement("R24")
async def test_a_tampered_approval_runs_nothing_and_fails_loudly(desk: Desk) -> None:
    async def changed(approval_id: str, digest: str) -> Any:
        raise StateError("approval.changed")

    desk.gate.take_grant = changed  # type: ignore[assignment, method-assign]  # what the gate would find
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    task = await desk.until(task_id, *FINAL)
    assert (task.reason, desk.executor.ran) == (Reason.FAILED, [])
    assert task.summary is not None
    assert "not the one that was shown" in task.summary


class FullDisk:
    """Keeps the journal of a desk from taking any step of a task."""

    def __init__(self, desk: Desk) -> None:
        self.is_full = True
        self._refused = asyncio.Event()
        self._store = desk.engine._tasks._store
        self._change = self._store.change
        self._store.change = self._try  # type: ignore[method-assign]  # the only way in

    async def refuses(self) -> None:
        """Wait until a step was refused."""
        async with asyncio.timeout(WITHIN_S):
            await self._refused.wait()

    async def _try(self, change: Change) -> Task:
        if self.is_full:
            self._refused.set()
            raise StoreError("store.failed")
        return await self._change(change)


async def test_a_store_that_fails_while_ending_leaves_the_task_open_until_it_works_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending = asyncio.Event()

    async def fail(task_id: str) -> None:
        ending.set()
        raise StoreError("store.failed")

    monkeypatch.setattr(engine_module, "AGAIN_SECONDS", 0.01)
    withdraw = desk.gate.withdraw
    desk.gate.withdraw = fail  # type: ignore[method-assign]  # a full disk
    desk.executor.refusal = InputError("command.empty")
    task_id = await desk.ask("@dev test")
    async with asyncio.timeout(WITHIN_S):
        await ending.wait()
    assert (await desk.task(task_id)).state is TaskState.PROPOSAL_READY
    assert set(desk.failures.events) == {"task.left-open"}
    desk.gate.withdraw = withdraw  # type: ignore[method-assign]  # there is room again
    assert (await desk.until(task_id, *FINAL)).reason is Reason.FAILED


@pytest.mark.requirement("P3")
async def test_a_task_goes_on_without_a_restart_once_the_journal_takes_it_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "AGAIN_SECONDS", 0.01)
    disk = FullDisk(desk)
    task_id = await desk.ask("@dev help")
    await disk.refuses()
    assert (await desk.task(task_id)).reason is None
    disk.is_full = False
    assert (await desk.until(task_id, *FINAL)).reason is Reason.COMPLETED


@pytest.mark.requirement("P3")
async def test_what_was_asked_just_before_a_crash_waits_on_under_its_seal(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered = desk.engine._tasks._store.change
    asked = asyncio.Event()

    async def stand_still(change: Change) -> Task:
        if change.state is WAITING:
            asked.set()
            await asyncio.Event().wait()
        return await entered(change)

    monkeypatch.setattr(desk.engine._tasks._store, "change", stand_still)
    task_id = await desk.ask("@dev test")
    async with asyncio.timeout(WITHIN_S):
        await asked.wait()
    (before,) = await desk.gate.pending()
    desk.clock.advance(60)
    await desk.restart()
    after = await desk.waiting(task_id)
    assert (after.approval_id, after.digest) == (before.approval_id, before.digest)
    assert after.expires_at == before.expires_at
    await desk.decide(after)
    assert (await desk.until(task_id, *FINAL)).reason is Reason.COMPLETED


@pytest.mark.requirement("P3")
async def test_how_a_command_ended_is_kept_until_the_journal_takes_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts_module, "AGAIN_SECONDS", 0.01)
    desk.executor.may_end.clear()
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    await desk.until(task_id, EXECUTING)
    disk = FullDisk(desk)
    desk.executor.may_end.set()
    await disk.refuses()
    assert (await desk.task(task_id)).state is EXECUTING
    disk.is_full = False
    assert (await desk.until(task_id, *FINAL)).reason is Reason.COMPLETED
    assert len(desk.executor.ran) == 1


@pytest.mark.requirement("P3")
async def test_an_approval_that_a_full_disk_kept_from_being_used_runs_nothing_by_itself(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "AGAIN_SECONDS", 0.01)
    task_id = await desk.ask("@dev test")
    asked = await desk.waiting(task_id)
    disk = FullDisk(desk)
    await desk.decide(asked)
    await disk.refuses()  # after the intent was written, before EXECUTING
    disk.is_full = False
    assert (await desk.until(task_id, *FINAL)).reason is Reason.UNKNOWN
    assert desk.executor.ran == []
