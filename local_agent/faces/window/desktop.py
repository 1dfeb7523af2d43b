"""The desktop approver: one window at a time, oldest question first (R27, R28).

It listens to the gate, shows what waits, and hands the gate what a person did.  A window that ends
in any other way than with a decision decides nothing: the approval waits on, and its window opens
again only when somebody asks for it, or when the agent starts anew.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

from common.clock import Clock
from common.errors import CodexBridgeError, StateError
from common.logs import Log
from common.sentences import Lang, Sentence, say
from local_agent.cards.question import diff_names, joined
from local_agent.faces.telling import Teller
from local_agent.faces.window.alerts import Alerts
from local_agent.faces.window.wire import Answer, Order, Theme
from local_agent.flow.approvals import Notice, PendingApproval
from local_agent.flow.gate import Entrance, Gate
from local_agent.views.question import ApprovalView

ALERT: Final = Sentence(en="CodexBridge: {task} waits for you", zh="CodexBridge：{task} 等待你确认")
ALERT_HOW: Final = Sentence(
    en="Too many windows were opened for one gateway. Look at it in a terminal: "
    "codexbridge approve {task}",
    zh="同一网关弹出的窗口过多。请在终端中查看：codexbridge approve {task}",
)
NOT_TAKEN: Final = Sentence(
    en="CodexBridge: your answer to {task} was not taken",
    zh="CodexBridge：你对 {task} 的答复未被接受",
)
NOT_TAKEN_WHY: Final = Sentence(
    en="It ended, changed, or cannot be approved right now. Nothing was done; see: "
    "codexbridge show {task}",
    zh="它已结束、已变化，或目前无法批准。没有执行任何操作；请查看：codexbridge show {task}",
)

OPEN_S: Final = 600  # a window lives ten minutes
WINDOWS_HOURLY: Final = 10  # through one gateway; what comes after waits for the terminal
FAILURES: Final = 2  # windows in a row that ended without an answer, before a pause
PAUSE_S: Final = 60.0  # the first pause; each further failure doubles it
MAX_PAUSE_S: Final = 3600.0
REST_S: Final = 5.0  # between two looks at whether a task's question is out of date

_HOUR_S: Final = 3600.0
_LOOK_S: Final = 2.0  # while something keeps the next window from opening


class Window(Protocol):
    """Shows one question; `program.WindowProgram`."""

    async def ask(self, order: Order, diff: bytes | None, *, cancel: asyncio.Event) -> Answer:
        """Return what the person did."""
        ...


class Desk(Protocol):
    """What the window can ask of the engine, besides a decision."""

    async def refresh(self, task_id: str) -> None:
        """Ask anew where what waits is no longer what would be done now."""
        ...

    async def narrow(self, approval_id: str, digest: str, keep: tuple[str, ...]) -> None:
        """Ask anew for these files of the change alone."""
        ...

    async def check(self, approval_id: str, digest: str) -> object:
        """Ask to run the workspace's check on the proposed tree first."""
        ...


class DesktopApprover:
    """Shows what waits for a person, in windows.

    Args:
        gate: Where approvals wait.
        teller: Tells of one approval.
        window: Shows one question.
        entrance: Where decisions in the window enter.
        desk: Takes what is no decision.
        alerts: For what gets no window now.
        read_diff: Gives the exact bytes of a diff by their hash; blocks.
        theme: Light or dark, asked for each window.
        clock: For the limits.
        log: What went wrong; never what was asked.
        lang: Language of the windows.
    """

    def __init__(
        self,
        gate: Gate,
        teller: Teller,
        window: Window,
        *,
        entrance: Entrance,
        desk: Desk,
        alerts: Alerts,
        read_diff: Callable[[str], bytes],
        theme: Callable[[], Coroutine[Any, Any, Theme]],
        clock: Clock,
        log: Log,
        lang: Lang,
    ) -> None:
        self._gate = gate
        self._teller = teller
        self._window = window
        self._entrance = entrance
        self._desk = desk
        self._alerts = alerts
        self._read_diff = read_diff
        self._theme = theme
        self._clock = clock
        self._log = log
        self._lang = lang
        self._stirred = asyncio.Event()
        self._open: tuple[str, asyncio.Event] | None = None
        self._wanted: list[str] = []
        self._aside: set[str] = set()
        self._alerted: set[str] = set()
        self._opened: dict[str, deque[float]] = {}
        self._refreshed: dict[str, float] = {}
        self._look_again = False
        self._failures = 0
        self._paused_until = 0.0
        gate.listen(self._hear)

    async def run(self) -> None:
        """Show what waits, for ever.  One task of the application; cancelled, it closes."""
        while True:
            self._stirred.clear()
            if not await self._show_next():
                await self._wait()

    def show(self, approval_id: str) -> None:
        """Open the window of an approval, also once more: somebody at this machine asks for it."""
        if approval_id not in self._wanted:
            self._wanted.append(approval_id)
        self._paused_until = 0.0
        self._stirred.set()

    def remind(self, approval_id: str) -> None:
        """Let an approval be seen once more, within the limits: somebody elsewhere asks for it."""
        self._aside.discard(approval_id)
        self._stirred.set()

    def _hear(self, notice: Notice) -> None:
        if notice.kind != "requested" and self._open is not None:
            approval_id, cancel = self._open
            if notice.approval_id == approval_id:
                cancel.set()
        self._stirred.set()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(_LOOK_S if self._look_again else None):
                await self._stirred.wait()
        except TimeoutError:
            return

    async def _show_next(self) -> bool:
        """Show the next question to its end; False when there is none to show now."""
        self._look_again = self._clock.now().mono < self._paused_until
        if self._look_again:
            return False
        waiting = {asked.approval_id: asked for asked in await self._gate.pending()}
        self._wanted = [name for name in self._wanted if name in waiting]
        self._aside &= waiting.keys()
        self._alerted &= waiting.keys()
        tasks = {asked.task_id for asked in waiting.values()}
        self._refreshed = {task: at for task, at in self._refreshed.items() if task in tasks}
        unseen = [name for name in waiting if name not in self._aside]
        for name in [*self._wanted, *unseen]:
            if await self._present(waiting[name]):
                return True
        return False

    async def _present(self, asked: PendingApproval) -> bool:
        """Show one question to its end; False when no window was opened."""
        name, cancel = asked.approval_id, asyncio.Event()
        self._open = name, cancel
        try:
            await self._freshen(asked)
            # What is told is as fresh as the window: the gate is asked again, just before.
            told = await self._teller.tell(name)
            if not await self._may_open(asked, told):
                return False
            names = diff_names(asked.seal)
            diffs = [await asyncio.to_thread(self._read_diff, name) for name in names]
            diff = joined(diffs) if diffs else None
            self._wanted = [other for other in self._wanted if other != name]
            self._aside.add(name)  # whatever comes of it, it does not pop up again by itself
            await self._ask(self._order(told, await self._theme()), diff, cancel)
        except CodexBridgeError as error:
            self._aside.add(name)
            self._log.warning("window.not-opened", approval=name, code=error.code)
            return False
        finally:
            self._open = None
        return True

    async def _freshen(self, asked: PendingApproval) -> None:
        """Have it asked anew where it is out of date."""
        # A file that never rests would have one question after the other asked.
        now = self._clock.now().mono
        if now - self._refreshed.get(asked.task_id, -REST_S) >= REST_S:
            self._refreshed[asked.task_id] = now
            await self._desk.refresh(asked.task_id)

    async def _may_open(self, asked: PendingApproval, told: ApprovalView) -> bool:
        if told.state != "pending":
            return False
        if told.blocked:
            self._look_again = True
            return False
        if asked.approval_id in self._wanted:
            return True
        if told.check is not None and told.check.state in ("waiting", "running"):
            self._aside.add(asked.approval_id)  # shown again when the check has ended
            return False
        if self._within_limit(asked):
            return True
        self._aside.add(asked.approval_id)
        if asked.approval_id not in self._alerted:  # once, however often it is asked for
            self._alerted.add(asked.approval_id)
            self._log.warning("window.too-many", approval=asked.approval_id, limit=WINDOWS_HOURLY)
            await self._alert(ALERT, ALERT_HOW, task=asked.short_id)
        return False

    def _within_limit(self, asked: PendingApproval) -> bool:
        """Tell whether a window may pop up by itself, and note that it does."""
        source = asked.seal.source.gateway_key_id
        if not source:
            return True  # asked at this machine
        now = self._clock.now().mono
        opened = self._opened.setdefault(source, deque(maxlen=WINDOWS_HOURLY))
        if len(opened) == WINDOWS_HOURLY and now - opened[0] < _HOUR_S:
            return False
        opened.append(now)
        return True

    def _order(self, told: ApprovalView, theme: Theme) -> Order:
        return Order(
            shown=told,
            nonce=secrets.token_hex(16),
            lang=self._lang,
            theme=theme,
            lasts_s=OPEN_S,
        )

    async def _ask(self, order: Order, diff: bytes | None, cancel: asyncio.Event) -> None:
        blocked_before = self._gate.times_blocked
        try:
            answer = await self._window.ask(order, diff, cancel=cancel)
        except CodexBridgeError as error:
            if not cancel.is_set():
                self._fail(error)
            return
        self._failures = 0
        try:
            if answer.decision == "approve" and self._gate.times_blocked != blocked_before:
                # What ran meanwhile could have clicked, and have ended before it was read here.
                raise StateError("approval.blocked", why="window.exposed")
            await self._act(answer)
        except CodexBridgeError as error:
            self._log.warning("window.not-taken", approval=answer.approval_id, code=error.code)
            if error.code == "approval.blocked" or answer.decision == "check":
                self._aside.discard(answer.approval_id)  # shown again, once it can be approved
            await self._alert(NOT_TAKEN, NOT_TAKEN_WHY, task=order.shown.short_id)

    async def _act(self, answer: Answer) -> None:
        """Hand on what the person did."""
        match answer.decision:
            case "approve" | "reject":
                await self._entrance.decide(
                    answer.approval_id,
                    answer.digest,
                    decision=answer.decision,
                    typed=answer.typed,
                )
            case "narrow":
                await self._desk.narrow(answer.approval_id, answer.digest, answer.keep)
            case "check":
                await self._desk.check(answer.approval_id, answer.digest)
            case "none":
                pass

    def _fail(self, error: CodexBridgeError) -> None:
        """Note that a window ended without an answer; after some in a row, pause."""
        self._failures += 1
        self._log.warning("window.failed", code=error.code, failures=self._failures)
        if self._failures >= FAILURES:
            pause = PAUSE_S * 2.0 ** (self._failures - FAILURES)
            self._paused_until = self._clock.now().mono + min(pause, MAX_PAUSE_S)

    async def _alert(self, title: Sentence, body: Sentence, *, task: str) -> None:
        await self._alerts.alert(
            say(title, self._lang, task=task), say(body, self._lang, task=task)
        )
