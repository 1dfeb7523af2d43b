"""Proposals of a model that are stopped, applied, revised and cut off at every place they wait."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from common.model.state import FINAL, Reason, TaskState
from local_agent.models.backend import Chosen, Reply
from local_agent.propose.scratch import Scratches
from local_agent.store.tasks import Task
from tests.desk import WITHIN_S, Desk
from tests.scripted_model import ScriptedModel, Step, writes

pytestmark = pytest.mark.heavy

LOGIN = "def login():\n    retry = 3\n    return retry\n"
ASKED = "@dev change the retry in login.py to 5"
HERE: dict[str, Any] = {"source": "local_ui", "channel": "terminal", "gateway_key_id": None}
FIX: list[Step] = [writes("login.py", LOGIN.replace("3", "5")), Reply("Raised the retry.")]
MORE: list[Step] = [writes("login.py", LOGIN.replace("3", "7")), Reply("Raised it more.")]
MOST: list[Step] = [writes("login.py", LOGIN.replace("3", "9")), Reply("Raised it most.")]

Act = Callable[[], Awaitable[object]]
TICKS: Final = 10  # of the event loop, until whoever was told to end has heard of it
PLACES: Final = 15  # that a change waits at, at the least
_is_carried: ContextVar[bool] = ContextVar("is_carried", default=False)  # by the engine


class Places:
    """The places where a task waits: each call of the journal, and each that goes into a thread."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self._at: int | None = None
        self._act: Act | None = None
        self._holds = False
        self.met = 0
        self.reached, self._left = asyncio.Event(), asyncio.Event()
        monkeypatch.setattr(desk.db, "run", self._counted(desk.db.run))
        monkeypatch.setattr(asyncio, "to_thread", self._counted(asyncio.to_thread))
        monkeypatch.setattr(desk.engine, "begin", self._marked(desk.engine.begin))

    @contextmanager
    def acting(self, at: int, act: Act) -> Iterator[None]:
        """Do something just before a place is left, from 0."""
        self._at, self._act, self.met = at, act, 0
        try:
            yield
        finally:
            self._at = None

    @contextmanager
    def holding(self, at: int) -> Iterator[None]:
        """Let whoever comes to a place stay there until `leave`."""
        self.reached.clear()
        self._left.clear()
        with self.acting(at, self._hold):
            yield

    async def leave(self, end: Coroutine[Any, Any, object]) -> None:
        """Begin to end the agent while somebody stays; what cannot be cut off goes on."""
        ending = asyncio.create_task(end)
        for _ in range(TICKS):
            await asyncio.sleep(0)
        self._left.set()
        await ending

    async def _hold(self) -> None:
        self.reached.set()
        await self._left.wait()

    def _marked(self, begin: Callable[[str], None]) -> Callable[[str], None]:
        def marked(task_id: str) -> None:
            token = _is_carried.set(True)
            begin(task_id)
            _is_carried.reset(token)

        return marked

    def _counted(self, real: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(*args: Any, **named: Any) -> Any:
            if _is_carried.get():
                here, self.met = self.met, self.met + 1
                if here == self._at and self._act is not None:
                    await self._act()
            return await real(*args, **named)

        return counted


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "login.py").write_text(LOGIN, encoding="utf-8")
    async with Desk(folder) as desk:
        yield desk


def answers(desk: Desk, *scripts: list[Step]) -> ScriptedModel:
    model = ScriptedModel(*scripts)
    desk.chosen = Chosen(model)
    return model


def result(task: Task) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(task.proposal_json or "{}")
    return found


def left_behind(desk: Desk) -> list[str]:
    """Return the scratch copies that go away after use and have not."""
    return [path.name for path in (desk.places.state / "scratch").glob("once-*")]


async def stands(desk: Desk) -> list[str]:
    """Return the tasks that a person may still approve, by their short IDs."""
    pending = {asked.task_id for asked in await desk.gate.pending()}
    return sorted([(await desk.task(task_id)).short_id for task_id in pending])


async def settled(desk: Desk, task_id: str) -> Task:
    return await desk.until(task_id, TaskState.WAITING_APPROVAL, *FINAL)


# --- at every place of a model's turn ----------------------------------------------------------


@pytest.mark.thorough
async def test_a_cancel_at_any_place_ends_a_proposal_and_leaves_nothing_behind(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(desk, *[FIX] * 100)
    places = Places(desk, monkeypatch)
    for at in count():
        desk.clock.advance(3600)  # the next is not too many
        task_ids: list[str] = []

        async def cancel(known: list[str] = task_ids) -> None:
            await desk.engine.cancel(known[0])

        task_ids.append(await desk.ask(ASKED, claimed_user=f"user{at}"))
        with places.acting(at, cancel):
            task = await settled(desk, task_ids[0])
            if task.state not in FINAL:  # it stands, and the cancel comes while it waits
                await desk.engine.cancel(task.task_id)
                task = await desk.until(task.task_id, *FINAL)
            is_over = places.met <= at
        assert task.reason is Reason.CANCELLED
        assert set(await desk.approval_states(task.task_id)) <= {"superseded"}
        assert left_behind(desk) == []
        if is_over:
            break
    assert at > PLACES
    assert desk.applier.ran == []
    assert desk.failures.events == []


@pytest.mark.thorough
@pytest.mark.requirement("P3")
@pytest.mark.parametrize("how", ["close", "kill"])
async def test_an_agent_that_ends_at_any_place_asks_the_model_again_and_once_for_approval(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    answers(desk, *[FIX] * 100)
    for at in count():
        desk.clock.advance(3600)  # the next is not too many
        with monkeypatch.context() as patch:
            places = Places(desk, patch)
            task_id = await desk.ask(ASKED, claimed_user=f"user{at}")
            with places.holding(at):
                waits = asyncio.create_task(desk.waiting(task_id))
                reached = asyncio.create_task(places.reached.wait())
                await asyncio.wait({waits, reached}, return_when=asyncio.FIRST_COMPLETED)
                is_over = not reached.done()
                for one in (waits, reached):
                    one.cancel()
                await asyncio.gather(waits, reached, return_exceptions=True)
                if how == "close":
                    await places.leave(desk.engine.close())
                await places.leave(desk.restart())
        await Scratches(desk.places).tidy()
        asked = await desk.waiting(task_id)
        states = await desk.approval_states(task_id)
        assert (states.count("pending"), set(states) <= {"pending", "superseded"}) == (1, True)
        assert left_behind(desk) == []
        await desk.decide(asked, "reject")
        await desk.until(task_id, *FINAL)
        if is_over:
            break
    assert at > PLACES
    assert desk.applier.ran == []
    assert (desk.folder / "login.py").read_text(encoding="utf-8") == LOGIN


async def test_the_account_of_what_was_shown_is_that_of_the_turn_that_counts(desk: Desk) -> None:
    model = answers(desk, FIX)
    model.may_answer.clear()
    task_id = await desk.ask(ASKED)
    await asyncio.wait_for(model.asked.wait(), WITHIN_S)
    longer = f"{LOGIN}# more\n"
    (desk.folder / "login.py").write_text(longer, encoding="utf-8")
    again = answers(desk, [writes("login.py", longer.replace("3", "5")), Reply("Raised it.")])
    await desk.restart()
    await desk.waiting(task_id)
    assert "# more" in again.turns[0].prompt
    shown = json.loads((await desk.task(task_id)).context_json or "{}")
    assert [one["bytes"] for one in shown["used"] if one["kind"] == "file"] == [len(longer)]


async def test_what_a_model_was_shown_is_not_kept_in_memory_while_a_person_decides(
    desk: Desk,
) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED)
    await desk.waiting(task_id)
    assert desk.engine._runs[task_id].context is None


# --- resting, and applying ---------------------------------------------------------------------


async def test_an_agent_closes_at_once_while_a_change_rests_and_it_rests_on(desk: Desk) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED, **HERE)
    await desk.until(task_id, TaskState.PROPOSAL_READY)
    async with asyncio.timeout(WITHIN_S):
        await desk.engine.close()
    await desk.restart()
    assert result(await desk.task(task_id))["rests"] is True
    assert await desk.approval_states(task_id) == []
    await desk.engine.apply(task_id)
    await desk.waiting(task_id)


async def test_two_who_want_it_applied_at_once_are_asked_once(desk: Desk) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED, **HERE)
    await desk.until(task_id, TaskState.PROPOSAL_READY)
    await asyncio.gather(desk.engine.apply(task_id), desk.engine.apply(task_id))
    await desk.waiting(task_id)
    assert await desk.approval_states(task_id) == ["pending"]


@pytest.mark.parametrize("first", ["apply", "cancel"])
async def test_what_is_cancelled_while_it_is_wanted_is_not_asked(desk: Desk, first: str) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED, **HERE)
    await desk.until(task_id, TaskState.PROPOSAL_READY)
    both = [desk.engine.apply(task_id), desk.engine.cancel(task_id)]
    await asyncio.gather(*(both if first == "apply" else both[::-1]), return_exceptions=True)
    assert (await desk.until(task_id, *FINAL)).reason is Reason.CANCELLED
    assert set(await desk.approval_states(task_id)) <= {"superseded"}
    assert desk.applier.ran == []


@pytest.mark.requirement("P7")
async def test_a_resting_change_whose_diff_is_gone_ends_with_that(desk: Desk) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED, **HERE)
    task = await desk.until(task_id, TaskState.PROPOSAL_READY)
    name = result(task)["proposal"]["diffId"]
    (desk.folder / "state" / "blobs" / name[:2] / name).unlink()
    await desk.restart()
    await desk.engine.apply(task_id)
    task = await desk.until(task_id, *FINAL)
    assert task.reason is Reason.FAILED
    assert task.summary
    assert await desk.approval_states(task_id) == []
    assert desk.failures.events == []


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("words", ["apply {}", "revise {} make it 7"])
async def test_nothing_is_made_of_a_change_whose_diff_is_gone(desk: Desk, words: str) -> None:
    answers(desk, FIX, MORE)
    task_id = await desk.ask(ASKED)
    await desk.waiting(task_id)
    await desk.engine.cancel(task_id)
    first = await desk.until(task_id, *FINAL)
    name = result(first)["proposal"]["diffId"]
    (desk.folder / "state" / "blobs" / name[:2] / name).unlink()
    told = await desk.done(f"@dev {words.format(first.short_id)}")
    assert told.reason is Reason.FAILED
    assert desk.failures.events == []


@pytest.mark.parametrize("choice", ["approve", "cancel"])
async def test_what_has_ended_is_not_brought_before_anybody(desk: Desk, choice: str) -> None:
    answers(desk, FIX)
    wanted: list[str] = []
    desk.engine.when_wanted(wanted.append)
    task_id = await desk.ask(ASKED)
    asked = await desk.waiting(task_id)
    if choice == "approve":
        await desk.decide(asked)
    else:
        await desk.engine.cancel(task_id)
    await desk.until(task_id, *FINAL)
    await desk.engine.show_again(task_id)
    assert wanted == []
    assert await stands(desk) == []


# --- revising ----------------------------------------------------------------------------------


@pytest.mark.thorough
async def test_a_version_that_is_approved_at_any_moment_is_applied_or_replaced_and_never_both(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = set()
    places = Places(desk, monkeypatch)
    for at in count():
        desk.clock.advance(3600)  # the next is not too many
        model = answers(desk, FIX, MORE)
        user = {"claimed_user": f"user{at}"}
        first_id = await desk.ask(ASKED, **user)
        asked = await desk.waiting(first_id)
        first, ran = await desk.task(first_id), len(desk.applier.ran)
        model.may_answer.clear()
        model.asked.clear()
        second_id = await desk.ask(f"@dev revise {first.short_id} make it 7", **user)
        await asyncio.wait_for(model.asked.wait(), WITHIN_S)

        async def approve(asked: Any = asked) -> None:
            await asyncio.gather(desk.decide(asked), return_exceptions=True)

        with places.acting(at, approve):
            model.may_answer.set()
            await desk.waiting(second_id)
            first = await desk.until(first_id, *FINAL)
            is_over = places.met <= at
        applied = len(desk.applier.ran) - ran
        assert (first.reason, applied) in ((Reason.COMPLETED, 1), (Reason.CANCELLED, 0))
        ends = [one for one in await desk.events(first_id) if one["type"] == "task_end"]
        assert len(ends) == 1
        assert await stands(desk) == [(await desk.task(second_id)).short_id]
        outcomes.add(first.reason)
        await desk.engine.cancel(second_id)
        await desk.until(second_id, *FINAL)
        if is_over:
            break
    assert outcomes == {Reason.COMPLETED, Reason.CANCELLED}


@pytest.mark.parametrize("here", [{}, HERE], ids=["chat", "here"])
@pytest.mark.parametrize("slow", ["earlier", "later"])
async def test_of_two_revisions_at_once_the_one_that_was_asked_last_stands(
    desk: Desk, here: dict[str, Any], slow: str
) -> None:
    answers(desk, FIX)
    rests_or_waits = (TaskState.PROPOSAL_READY, TaskState.WAITING_APPROVAL)
    first = await desk.until(await desk.ask(ASKED, **here), *rests_or_waits)
    held, free = answers(desk, MORE), ScriptedModel(MOST)
    held.may_answer.clear()
    made = []
    for number in (1, 2):
        desk.clock.advance(1)
        is_slow = (slow == "earlier") == (number == 1)
        desk.chosen = Chosen(held if is_slow else free)
        made.append(await desk.ask(f"@dev revise {first.short_id} {number}", **here))
        if is_slow:
            await asyncio.wait_for(held.asked.wait(), WITHIN_S)
        else:
            await desk.until(made[-1], *rests_or_waits)
    held.may_answer.set()
    earlier = await desk.until(made[0], *FINAL)
    later = await desk.until(made[1], *rests_or_waits)
    assert earlier.reason is Reason.CANCELLED
    assert later.short_id in (earlier.summary or "")
    assert (await desk.until(first.task_id, *FINAL)).reason is Reason.CANCELLED
    if here:
        await desk.engine.apply(made[1])
    await desk.waiting(made[1])
    assert await stands(desk) == [later.short_id]


async def test_two_versions_that_a_kill_left_are_one_afterwards(desk: Desk) -> None:
    answers(desk, FIX, MORE)
    first = await desk.until(await desk.ask(ASKED, **HERE), TaskState.PROPOSAL_READY)
    stopped = asyncio.Event()

    async def stay(*_: object) -> None:
        stopped.set()
        await asyncio.Event().wait()

    desk.engine._replace = stay  # type: ignore[assignment,method-assign]  # the kill comes before
    second_id = await desk.ask(f"@dev revise {first.short_id} make it 7", **HERE)
    await asyncio.wait_for(stopped.wait(), WITHIN_S)
    await desk.restart()
    assert (await desk.until(first.task_id, *FINAL)).reason is Reason.CANCELLED
    assert (await desk.task(second_id)).state is TaskState.PROPOSAL_READY


# --- what a gateway can make this machine keep -------------------------------------------------


@pytest.mark.requirement("R53")
async def test_changes_asked_once_more_from_the_chat_are_charged_and_bounded(desk: Desk) -> None:
    daily = 4
    desk.shelf.entries[0] = replace(desk.shelf.entries[0], daily_reads=daily)
    big = "".join(f"line {number} of a long file\n" for number in range(20_000))
    answers(desk, [writes("big.txt", big), Reply("Written.")])
    task_id = await desk.ask("@dev change big.txt", claimed_user="wang")
    await desk.waiting(task_id)
    await desk.engine.cancel(task_id)
    first = await desk.until(task_id, *FINAL)
    sizes = [len(first.proposal_json or "")]
    for _ in range(daily):
        again = await desk.ask(f"@dev apply {first.short_id}", claimed_user="wang")
        task = await settled(desk, again)
        if task.state not in FINAL:
            await desk.engine.cancel(again)
            await desk.until(again, *FINAL)
        sizes.append(len(task.proposal_json or ""))
    assert max(sizes) < 200_000, "the text of a diff is in its blob, once"
    assert sizes[-1] < 2_000, "the last was one too many"
    assert (await desk.until(again, *FINAL)).reason is Reason.REFUSED


@pytest.mark.requirement("R53")
async def test_a_change_asked_once_more_names_no_file_where_answers_wait_to_be_released(
    desk: Desk,
) -> None:
    desk.shelf.entries[0] = replace(desk.shelf.entries[0], disclosure="ask")
    answers(desk, FIX)
    task_id = await desk.ask(ASKED)
    await desk.waiting(task_id)
    await desk.engine.cancel(task_id)
    first = await desk.until(task_id, *FINAL)
    again = await desk.ask(f"@dev apply {first.short_id}")
    await desk.waiting(again)
    assert "login.py" not in json.dumps(await desk.reports())
