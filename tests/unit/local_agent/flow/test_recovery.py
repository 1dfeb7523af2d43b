"""kill -9 anywhere: what waits goes on, nothing runs twice, what may have run is unknown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from common.model.state import FINAL, Reason, TaskState
from local_agent.flow.engine import settle_interrupted
from local_agent.understand.reader import Guess, Reader
from local_agent.understand.reading import THRESHOLD, Kind, Reading
from local_agent.understand.triggers import Triggers
from tests.desk import WITHIN_S, Desk
from tests.sealed import PYTEST, to_waiting, walk

pytestmark = pytest.mark.heavy

_T = TypeVar("_T")

# Changes of a run in order: ROUTED, CONTEXT_COLLECTED, PROPOSING, PROPOSAL_READY, WAITING_APPROVAL.
BEFORE_APPROVAL = 5


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with Desk(tmp_path) as opened:
        yield opened


class Boundary:
    """Lets a method return ``after`` times; the next time it does its work and never returns."""

    def __init__(self, after: int = 0) -> None:
        self.reached = asyncio.Event()
        self._left = after

    def around(self, method: Callable[..., Awaitable[_T]]) -> Callable[..., Awaitable[_T]]:
        async def cut(*args: Any, **kwargs: Any) -> _T:
            result = await method(*args, **kwargs)
            if self._left == 0:
                self.reached.set()
                await asyncio.Event().wait()
            self._left -= 1
            return result

        return cut

    async def wait(self) -> None:
        async with asyncio.timeout(WITHIN_S):
            await self.reached.wait()


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("after", range(BEFORE_APPROVAL))
async def test_a_kill_after_any_step_loses_nothing_and_runs_once(desk: Desk, after: int) -> None:
    boundary = Boundary(after)
    store: Any = desk.engine._tasks._store
    store.change = boundary.around(store.change)
    task_id = await desk.ask("@dev test")
    await boundary.wait()
    await desk.restart()
    await desk.decide(await desk.waiting(task_id))
    task = await desk.until(task_id, *FINAL)
    assert task.reason is Reason.COMPLETED
    assert len(desk.executor.ran) == 1
    states = [e["state"] for e in await desk.events(task_id) if e["type"] == "task_state"]
    assert states.count("EXECUTING") == 1


@pytest.mark.requirement("P3")
async def test_a_kill_between_the_question_and_its_state_asks_once(desk: Desk) -> None:
    boundary = Boundary()
    gate: Any = desk.gate
    gate.request = boundary.around(gate.request)
    task_id = await desk.ask("@dev test")
    await boundary.wait()
    await desk.restart()
    await desk.decide(await desk.waiting(task_id))
    await desk.until(task_id, *FINAL)
    assert await desk.approval_states(task_id) == ["consumed"]
    assert len(desk.executor.ran) == 1


@pytest.mark.requirement("P3")
async def test_the_same_approval_is_asked_after_a_kill_with_its_remaining_time(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    before = await desk.waiting(task_id)
    desk.clock.advance(3600)
    await desk.restart()
    after = await desk.waiting(task_id)
    assert (after.approval_id, after.digest, after.expires_at) == (
        before.approval_id,
        before.digest,
        before.expires_at,
    )
    await desk.decide(after)
    await desk.until(task_id, *FINAL)
    assert [grant.digest for grant in desk.executor.ran] == [before.digest]


async def test_what_expired_while_the_agent_was_down_ends_as_expired(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    await desk.waiting(task_id)
    desk.clock.advance(25 * 3600)
    await desk.restart()
    assert (await desk.until(task_id, *FINAL)).reason is Reason.EXPIRED


async def test_a_rejection_before_the_kill_stands_after_it(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    asked = await desk.waiting(task_id)
    for carried in desk.engine._carried.values():
        carried.cancel()
    await desk.decide(asked, "reject", reason="no")
    await desk.restart()
    assert (await desk.until(task_id, *FINAL)).reason is Reason.REJECTED


async def test_a_rejection_before_the_state_was_written_is_not_asked_again(desk: Desk) -> None:
    boundary = Boundary()
    gate: Any = desk.gate
    gate.request = boundary.around(gate.request)
    task_id = await desk.ask("@dev test")
    await boundary.wait()
    (asked,) = await desk.gate.pending()
    await desk.decide(asked, "reject", reason="no")
    await desk.restart()
    assert (await desk.until(task_id, *FINAL)).reason is Reason.REJECTED
    assert await desk.approval_states(task_id) == ["rejected"]


@pytest.mark.requirement("R22")
async def test_what_was_approved_and_not_begun_is_asked_again_with_a_new_version(
    desk: Desk,
) -> None:
    task_id = await desk.ask("@dev test")
    older = await desk.waiting(task_id)
    for carried in desk.engine._carried.values():
        carried.cancel()
    await desk.decide(older)
    await desk.restart()
    newer = await desk.waiting(task_id)
    assert (newer.seal.version, desk.executor.ran) == (2, [])
    told = (await desk.reports())[-1]
    assert told["waiting"]["seal_code"] == newer.code
    assert told["message"].startswith("Asked again")
    assert "Run `pytest -q` in workspace shop" in told["message"], "what it is about"
    await desk.decide(newer)
    assert (await desk.until(task_id, *FINAL)).reason is Reason.COMPLETED


@pytest.mark.requirement("P3")
async def test_a_command_cut_off_by_a_kill_is_unknown_and_never_run_again(desk: Desk) -> None:
    desk.executor.may_end.clear()
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    async with asyncio.timeout(WITHIN_S):
        await desk.executor.started.wait()
    await desk.restart()
    task = await desk.task(task_id)
    assert (task.state, task.reason) == (TaskState.FAILED, Reason.UNKNOWN)
    assert task.summary is not None
    assert "pytest -q" in task.summary
    await desk.restart()
    assert len(desk.executor.ran) == 1
    assert (await desk.reports())[-1]["reason"] == "unknown"


@pytest.mark.requirement("P3")
async def test_a_grant_taken_before_the_kill_is_never_used_after_it(desk: Desk) -> None:
    boundary = Boundary()
    gate: Any = desk.gate
    gate.take_grant = boundary.around(gate.take_grant)
    task_id = await desk.ask("@dev test")
    await desk.decide(await desk.waiting(task_id))
    await boundary.wait()
    await desk.restart()
    assert (await desk.task(task_id)).reason is Reason.UNKNOWN
    assert desk.executor.ran == []
    assert await desk.approval_states(task_id) == ["consumed"]


# --- what was understood ---------------------------------------------------------------------

RUN: Final = "please run the tests"  # no command: what it wants is learnt


@dataclass
class OtherWeights:
    """Takes every free text for small talk, as another model.bin might; counts what it reads."""

    read: list[str] = field(default_factory=list)

    def guess(self, text: str, threshold: float = THRESHOLD) -> Guess:
        """Return small talk."""
        del threshold
        self.read.append(text)
        kind = Kind.CHATTER
        return Guess(kind, 1.0, sure=True, likeliest=(kind,), rule="words", barred=frozenset())


@pytest.mark.requirement("P3")
@pytest.mark.requirement("P7")
@pytest.mark.parametrize("after", range(BEFORE_APPROVAL))
async def test_after_a_kill_it_goes_on_with_what_was_understood_and_shown_first(
    desk: Desk, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    boundary = Boundary(after)
    store: Any = desk.engine._tasks._store
    store.change = boundary.around(store.change)
    task_id = await desk.ask(RUN)
    await boundary.wait()
    shown = (await desk.task(task_id)).intent_json
    weights = OtherWeights()
    monkeypatch.setattr("local_agent.understand.reader.guess", weights.guess)
    await desk.restart()
    asked = await desk.waiting(task_id)
    assert (asked.seal.action, asked.seal.payload["argv"]) == ("run_command", list(PYTEST))
    assert (await desk.task(task_id)).intent_json == shown
    assert RUN not in weights.read


async def test_each_step_goes_on_with_one_reading(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, real = [], Reader.read

    def counting(reader: Reader, text: str, playbooks: Triggers) -> Reading:
        read.append(text)
        return real(reader, text, playbooks)

    monkeypatch.setattr(Reader, "read", counting)
    await desk.waiting(await desk.ask(RUN))
    assert read == [RUN]


@pytest.mark.parametrize("kept", [None, "{}", '{"v":2}', "newer"])
async def test_what_another_release_kept_otherwise_is_read_anew(
    desk: Desk, kept: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    boundary = Boundary()
    store: Any = desk.engine._tasks._store
    store.change = boundary.around(store.change)
    task_id = await desk.ask(RUN)
    await boundary.wait()
    if kept == "newer":
        written = (await desk.task(task_id)).reading_json or ""
        kept = written.replace('"v":1', '"v":1,"mood":"calm"')
    tasks: Any = desk.db.journal.tasks
    change = "UPDATE tasks SET reading_json = ? WHERE task_id = ?"
    await desk.db.run(tasks._db.run, change, kept, task_id)
    read, real = [], Reader.read

    def counting(reader: Reader, text: str, playbooks: Triggers) -> Reading:
        read.append(text)
        return real(reader, text, playbooks)

    monkeypatch.setattr(Reader, "read", counting)
    await desk.restart()
    assert (await desk.waiting(task_id)).seal.action == "run_command"
    assert set(read) == {RUN}


async def test_a_cancel_noted_before_the_kill_is_carried_out_after_it(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    await desk.waiting(task_id)
    await desk.db.run(desk.db.journal.tasks.request_cancel, task_id)
    await desk.restart()
    assert (await desk.until(task_id, *FINAL)).reason is Reason.CANCELLED
    assert await desk.gate.pending() == []


async def test_nothing_is_settled_where_nothing_was_interrupted(desk: Desk) -> None:
    await desk.waiting(await desk.ask("@dev test"))
    settled = await settle_interrupted(desk.engine._store, (await desk.engine.load()).approving)
    assert settled == 0


async def test_a_used_approval_of_a_task_that_still_waits_is_unknown(desk: Desk) -> None:
    task_id = await desk.ask("@dev test")
    asked = await desk.waiting(task_id)
    for carried in desk.engine._carried.values():
        carried.cancel()
    await desk.decide(asked)
    await desk.gate.take_grant(asked.approval_id, asked.digest)
    task = await desk.task(task_id)
    from local_agent.flow.run import Run

    assert (
        await (await desk.engine.load()).approving.decide(task, Run(task_id))
    ).reason is Reason.UNKNOWN


@pytest.mark.requirement("P3")
async def test_a_task_found_executing_is_unknown_whatever_else_is_known(desk: Desk) -> None:
    journal = desk.db.journal
    task_id = await desk.db.run(to_waiting, journal)
    await desk.db.run(walk, journal, task_id, TaskState.EXECUTING)
    await desk.restart()
    assert (await desk.until(task_id, *FINAL)).reason is Reason.UNKNOWN
    assert desk.executor.ran == []
