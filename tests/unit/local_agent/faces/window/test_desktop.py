"""The desktop approver: one window at a time, and no decision but a person's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from common.clock import ManualClock
from common.diff.parse import parse_diff
from common.errors import AuthError, StateError, StoreError, UnavailableError
from common.ids import new_uuid
from common.logs import open_log
from common.seal import Source
from local_agent.faces.telling import Teller
from local_agent.faces.window import desktop
from local_agent.faces.window.desktop import FAILURES, PAUSE_S, WINDOWS_HOURLY, DesktopApprover
from local_agent.faces.window.wire import Answer, Order, Theme
from local_agent.flow.approvals import PendingApproval
from local_agent.flow.gate import Gate
from local_agent.flow.gate_checks import Limits
from local_agent.safety.risk import Circumstances
from local_agent.store.journal import JournalThread
from tests import windows
from tests.sealed import AGENT, PYTEST, Wish, a_payload, a_seal, to_waiting

pytestmark = pytest.mark.heavy

WITHIN_S = 30.0
Person = Callable[[Order], Answer]


@dataclass
class ScriptedWindow:
    """A window at which a scripted person sits; closed, it tells so."""

    opened: asyncio.Queue[Order] = field(default_factory=asyncio.Queue)
    answers: asyncio.Queue[Person | Exception] = field(default_factory=asyncio.Queue)
    diffs: list[bytes | None] = field(default_factory=list)
    open_now: int = 0
    most_open: int = 0
    closed_early: int = 0

    async def ask(self, order: Order, diff: bytes | None, *, cancel: asyncio.Event) -> Answer:
        """Show the order until the person answers or the window is closed."""
        self.diffs.append(diff)
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        self.opened.put_nowait(order)
        try:
            return await self._answered(order, cancel)
        finally:
            self.open_now -= 1

    async def _answered(self, order: Order, cancel: asyncio.Event) -> Answer:
        closing = asyncio.ensure_future(cancel.wait())
        answering = asyncio.ensure_future(self.answers.get())
        try:
            await asyncio.wait({closing, answering}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                self.closed_early += 1
                raise UnavailableError("window.failed", why="exit 1")
            person = answering.result()
            if isinstance(person, Exception):
                raise person
            return person(order)
        finally:
            closing.cancel()
            answering.cancel()

    async def shown(self) -> Order:
        """Return the next order that is shown."""
        async with asyncio.timeout(WITHIN_S):
            return await self.opened.get()


@dataclass
class RecordingDesk:
    """Notes what is no decision."""

    asked: asyncio.Queue[tuple[str, ...]] = field(default_factory=asyncio.Queue)
    refreshed: list[str] = field(default_factory=list)
    refusal: Exception | None = None
    on_refresh: Callable[[str], Awaitable[None]] | None = None

    async def refresh(self, task_id: str) -> None:
        """Note the task, and ask anew where a test says so."""
        self.refreshed.append(task_id)
        if self.on_refresh is not None:
            await self.on_refresh(task_id)

    async def narrow(self, approval_id: str, digest: str, keep: tuple[str, ...]) -> None:
        """Note the files."""
        self.asked.put_nowait(("narrow", approval_id, digest, *keep))

    async def check(self, approval_id: str, digest: str) -> None:
        """Note the wish."""
        if self.refusal is not None:
            raise self.refusal
        self.asked.put_nowait(("check", approval_id, digest))


@dataclass
class RecordingAlerts:
    """Notes the alerts."""

    told: asyncio.Queue[str] = field(default_factory=asyncio.Queue)

    async def alert(self, title: str, body: str) -> bool:
        """Note one."""
        self.told.put_nowait(title)
        return True


async def light() -> Theme:
    """Return what every window here looks like."""
    return "light"


class Rig:
    """A desktop approver with everything around it."""

    def __init__(self, db: JournalThread, gate: Gate, clock: ManualClock) -> None:
        self.gate = gate
        self.clock = clock
        self.db = db
        self.window = ScriptedWindow()
        self.desk = RecordingDesk()
        self.alerts = RecordingAlerts()
        self.blobs: dict[str, bytes] = {}
        self.approver = DesktopApprover(
            gate,
            Teller(db, gate, machine="dev-machine-1", workspaces=dict),
            self.window,
            entrance=gate.entrance("desktop"),
            desk=self.desk,
            alerts=self.alerts,
            read_diff=self._blob,
            theme=light,
            clock=clock,
            log=open_log("test"),
            lang="en",
        )

    def _blob(self, name: str) -> bytes:
        if name not in self.blobs:
            raise StoreError("blob.missing")
        return self.blobs[name]

    async def ask(self, *, local: bool = False, **changes: object) -> PendingApproval:
        """Ask for a command of a new task; of normal risk, unless its payload says else."""
        task = await self.db.run(
            to_waiting, self.db.journal, Wish(task_id=new_uuid(), short_id=self._name())
        )
        seal = replace(a_seal(self.clock), task_id=task)
        if local:
            seal = replace(seal, source=Source("terminal", "zhang", "", ""))
        seal = replace(seal, **changes)  # type: ignore[arg-type]  # handed through
        return await self.gate.request(seal, around=Circumstances(allowed=[PYTEST]))

    async def ask_change(self) -> PendingApproval:
        """Ask for a change, whose diff lies in the store."""
        sealed, raw = windows.a_change()
        self.blobs[str(sealed.payload["diff_sha256"])] = raw
        task = await self.db.run(
            to_waiting, self.db.journal, Wish(task_id=new_uuid(), short_id=self._name())
        )
        seal = a_seal(
            self.clock, task_id=task, action="apply_diff", payload=sealed.payload, undo="yes"
        )
        return await self.gate.request(seal, around=Circumstances(diff=parse_diff(raw)))

    def answers(self, decision: str, **fields: object) -> None:
        """Let the person at the window do this next."""

        def person(order: Order) -> Answer:
            told = (order.shown.approval_id, order.shown.digest, order.nonce)
            answer = Answer(
                approval_id=told[0],
                digest=told[1],
                nonce=told[2],
                decision=decision,  # type: ignore[arg-type]  # one of the choices
            )
            return replace(answer, **fields)  # type: ignore[arg-type]  # handed through

        self.window.answers.put_nowait(person)

    async def ended(self, asked: PendingApproval) -> str:
        """Return how an approval ended."""
        async with asyncio.timeout(WITHIN_S):
            return (await self.gate.wait(asked.approval_id)).outcome

    async def state(self, asked: PendingApproval) -> str:
        """Return how an approval stands."""
        return (await self.gate.show(asked.approval_id)).state

    async def settled(self) -> None:
        """Return when the approver has nothing left to do; it shows no window."""
        # A local question is always shown next, whatever was put aside before it.
        last = await self.ask(local=True)
        while (order := await self.window.shown()).shown.approval_id != last.approval_id:
            pytest.fail(f"shown again: {order.shown.short_id}")
        self.answers("reject")
        await self.ended(last)

    _names = 0

    def _name(self) -> str:
        self._names += 1
        return f"T-8K{self._names:02}"


@pytest.fixture
async def rig(db: JournalThread, clock: ManualClock) -> Rig:
    limits = Limits(pending=100, hourly_member=100, hourly_gateway=100, repeats=100)
    gate = Gate(db, clock=clock, key=lambda: AGENT, limits=limits)
    await gate.start()
    return Rig(db, gate, clock)


@asynccontextmanager
async def running(rig: Rig) -> AsyncIterator[None]:
    task = asyncio.create_task(rig.approver.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.requirement("P1")
async def test_an_armed_click_approves_what_is_of_normal_risk(rig: Rig) -> None:
    async with running(rig):
        asked = await rig.ask()
        rig.answers("approve")
        assert await rig.ended(asked) == "approved"
    assert (await rig.gate.show(asked.approval_id)).approver == "desktop"


async def test_reject_rejects(rig: Rig) -> None:
    async with running(rig):
        asked = await rig.ask()
        rig.answers("reject")
        assert await rig.ended(asked) == "rejected"


@pytest.mark.requirement("R29")
@pytest.mark.parametrize("typed", ["", "first group", "wrong", "whole"])
async def test_high_risk_needs_the_whole_code_whatever_the_window_says(
    rig: Rig, typed: str
) -> None:
    async with running(rig):
        asked = await rig.ask(payload=a_payload(script="rm -rf build"))
        given = {"first group": asked.code[:4], "wrong": "0000-0000", "whole": asked.code}
        rig.answers("approve", typed=given.get(typed, ""))
        if typed == "whole":
            assert await rig.ended(asked) == "approved"
        else:
            await asyncio.wait_for(rig.alerts.told.get(), WITHIN_S)
            assert await rig.state(asked) == "pending"


@pytest.mark.requirement("R23")
async def test_an_answer_about_other_bytes_decides_nothing(rig: Rig) -> None:
    async with running(rig):
        asked = await rig.ask()
        rig.answers("approve", digest="0" * 64)
        await asyncio.wait_for(rig.alerts.told.get(), WITHIN_S)
    assert await rig.state(asked) == "pending"


@pytest.mark.requirement("R28")
async def test_two_questions_get_one_window_after_the_other_the_older_first(rig: Rig) -> None:
    first, second = await rig.ask(), await rig.ask()
    async with running(rig):
        assert (await rig.window.shown()).shown.approval_id == first.approval_id
        rig.answers("reject")
        assert (await rig.window.shown()).shown.approval_id == second.approval_id
        rig.answers("approve")
        assert await rig.ended(second) == "approved"
    assert rig.window.most_open == 1


@pytest.mark.parametrize("how", ["later", "crash", "forged"])
async def test_what_is_no_answer_decides_nothing_and_does_not_pop_up_again(
    rig: Rig, how: str
) -> None:
    async with running(rig):
        asked = await rig.ask()
        await rig.window.shown()
        if how == "later":
            rig.answers("none")
        elif how == "crash":
            rig.window.answers.put_nowait(UnavailableError("window.failed", why="signal 9"))
        else:
            rig.window.answers.put_nowait(AuthError("window.other"))
        await rig.settled()
        assert await rig.state(asked) == "pending"


async def test_what_was_put_aside_is_shown_when_somebody_asks_for_it(rig: Rig) -> None:
    async with running(rig):
        asked = await rig.ask()
        await rig.window.shown()
        rig.answers("none")
        await rig.settled()
        rig.approver.show(asked.approval_id)
        rig.approver.show(asked.approval_id)
        assert (await rig.window.shown()).shown.approval_id == asked.approval_id
        rig.answers("approve")
        assert await rig.ended(asked) == "approved"


async def test_what_waited_when_the_agent_ended_is_shown_at_its_next_start(rig: Rig) -> None:
    asked = await rig.ask()
    async with running(rig):
        await rig.window.shown()
    assert await rig.state(asked) == "pending"
    again = Rig(rig.db, rig.gate, rig.clock)
    async with running(again):
        assert (await again.window.shown()).shown.approval_id == asked.approval_id


async def test_a_question_that_ends_elsewhere_closes_its_window(rig: Rig) -> None:
    async with running(rig):
        asked = await rig.ask()
        await rig.window.shown()
        await rig.gate.entrance("terminal").decide(
            *(asked.approval_id, asked.digest), decision="reject"
        )
        await rig.settled()
    assert rig.window.closed_early == 1


@pytest.mark.requirement("R28")
async def test_one_gateway_opens_so_many_windows_an_hour_and_no_more(rig: Rig) -> None:
    async with running(rig):
        for _ in range(WINDOWS_HOURLY):
            asked = await rig.ask()
            rig.answers("reject")
            await rig.ended(asked)
            await rig.window.shown()
        one_more = await rig.ask()
        await asyncio.wait_for(rig.alerts.told.get(), WITHIN_S)
        await rig.settled()
        assert await rig.state(one_more) == "pending"
        for _ in range(5):  # "apply T-…" from the chat, over and over
            rig.approver.remind(one_more.approval_id)
            await rig.settled()
        assert rig.alerts.told.empty()
        rig.clock.advance(3601)
        rig.answers("approve")
        assert await rig.ended(await rig.ask()) == "approved"


async def test_windows_that_keep_failing_are_not_opened_for_a_while(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desktop, "_LOOK_S", 0.01)
    async with running(rig):
        for _ in range(FAILURES):
            await rig.ask()
            await rig.window.shown()
            rig.window.answers.put_nowait(UnavailableError("window.failed", why="exit 1"))
        asked = await rig.ask()
        rig.clock.advance(PAUSE_S - 1)
        await rig.db.run(lambda: None)
        assert rig.window.opened.empty()
        rig.clock.advance(2)
        assert (await rig.window.shown()).shown.approval_id == asked.approval_id


@pytest.mark.requirement("P1")
async def test_while_nothing_can_be_approved_no_window_is_opened(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desktop, "_LOOK_S", 0.01)
    with rig.gate.block("T-1234 runs without a sandbox"):
        asked = await rig.ask()
        task = asyncio.create_task(rig.approver.run())
        await rig.gate.show(asked.approval_id)
        assert rig.window.opened.empty()
    assert (await rig.window.shown()).shown.approval_id == asked.approval_id
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.requirement("P1")
async def test_an_approval_that_came_while_nothing_can_be_approved_is_asked_for_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desktop, "_LOOK_S", 0.01)
    async with running(rig):
        asked = await rig.ask()
        await rig.window.shown()
        with rig.gate.block("T-1234 runs without a sandbox"):
            rig.answers("approve")
            await asyncio.wait_for(rig.alerts.told.get(), WITHIN_S)
            assert await rig.state(asked) == "pending"
        assert (await rig.window.shown()).shown.approval_id == asked.approval_id


@pytest.mark.requirement("P1")
async def test_a_click_from_a_window_that_was_exposed_does_not_count(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desktop, "_LOOK_S", 0.01)
    async with running(rig):
        asked = await rig.ask()
        await rig.window.shown()
        with rig.gate.block("T-1234 runs without a sandbox"):
            pass  # it clicks, and is gone before the answer arrives
        rig.answers("approve")
        assert (await rig.window.shown()).shown.approval_id == asked.approval_id
        assert await rig.state(asked) == "pending"


async def test_the_window_gets_the_exact_bytes_of_the_diff(rig: Rig) -> None:
    async with running(rig):
        asked = await rig.ask_change()
        await rig.window.shown()
        rig.answers("narrow", keep=("shop/auth/retry.py",))
        told = await asyncio.wait_for(rig.desk.asked.get(), WITHIN_S)
    assert told == ("narrow", asked.approval_id, asked.digest, "shop/auth/retry.py")
    assert rig.window.diffs == [windows.DIFF.encode()]
    assert await rig.state(asked) == "pending"


async def test_a_check_is_asked_for_and_decides_nothing(rig: Rig) -> None:
    async with running(rig):
        asked = await rig.ask_change()
        rig.answers("check")
        told = await asyncio.wait_for(rig.desk.asked.get(), WITHIN_S)
    assert told == ("check", asked.approval_id, asked.digest)
    assert await rig.state(asked) == "pending"


async def test_without_its_diff_a_change_is_not_shown(rig: Rig) -> None:
    async with running(rig):
        asked = await rig.ask_change()
        rig.blobs.clear()
        await rig.settled()
    assert await rig.state(asked) == "pending"


# --- up to date, and tried out first ------------------------------------------------------------


@pytest.mark.requirement("R24")
async def test_what_is_out_of_date_is_asked_anew_before_it_is_shown(rig: Rig) -> None:
    asked = await rig.ask()
    anew: list[PendingApproval] = []

    async def on_refresh(task_id: str) -> None:
        if not anew:
            await rig.gate.withdraw(task_id)
            seal = replace(asked.seal, approval_id=new_uuid(), version=2)
            anew.append(await rig.gate.request(seal, around=Circumstances(allowed=[PYTEST])))

    rig.desk.on_refresh = on_refresh
    async with running(rig):
        order = await rig.window.shown()
        assert order.shown.approval_id == anew[0].approval_id
        rig.answers("approve")
        assert await rig.ended(anew[0]) == "approved"
    assert await rig.state(asked) == "superseded"


async def test_a_question_that_is_never_up_to_date_is_shown_all_the_same(rig: Rig) -> None:
    asked = await rig.ask()
    latest = [asked]

    async def on_refresh(task_id: str) -> None:
        await rig.gate.withdraw(task_id)
        seal = replace(latest[-1].seal, approval_id=new_uuid(), version=len(latest) + 1)
        latest.append(await rig.gate.request(seal, around=Circumstances(allowed=[PYTEST])))

    rig.desk.on_refresh = on_refresh
    async with running(rig):
        order = await rig.window.shown()
    assert order.shown.approval_id == latest[-1].approval_id
    assert len(rig.desk.refreshed) == 1


async def test_while_a_change_is_tried_out_its_window_keeps_out_of_the_way(rig: Rig) -> None:
    asked = await rig.ask_change()
    check = Wish(task_id=new_uuid(), short_id="T-9999", source="local_ui", checks=asked.approval_id)
    await rig.db.run(rig.db.journal.tasks.create, check, 1)
    async with running(rig):
        await rig.settled()
        rig.approver.show(asked.approval_id)
        order = await rig.window.shown()
    assert order.shown.approval_id == asked.approval_id
    assert order.shown.check is not None
    assert order.shown.check.state == "waiting"


async def test_a_check_that_cannot_begin_is_told_and_the_change_is_shown_again(rig: Rig) -> None:
    rig.desk.refusal = StateError("check.no-command")
    async with running(rig):
        asked = await rig.ask_change()
        await rig.window.shown()
        rig.answers("check")
        await asyncio.wait_for(rig.alerts.told.get(), WITHIN_S)
        assert (await rig.window.shown()).shown.approval_id == asked.approval_id
