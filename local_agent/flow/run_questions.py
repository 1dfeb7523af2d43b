"""What a run of a playbook asks, while the tasks of its questions live.

executor ─ ask ─▶ OpenQuestion ◀─ notices of the gate, parts as they end ─ flow
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from common.errors import CodexBridgeError, StateError
from common.model.proposal import CommandProposal
from common.model.state import Reason
from common.sentences import Lang
from common.text import one_line, reveal

if TYPE_CHECKING:  # only named here: what waits for a task does not load who carries it out
    from local_agent.actions.operation import Ended
    from local_agent.flow.approvals import Notice
    from local_agent.flow.run_changes import Changes
    from local_agent.playbooks.runs import Place, Result
    from local_agent.playbooks.session import Changing, Decision
    from local_agent.playbooks.toolbox import Toolbox, Wanted
    from local_agent.propose.base import Proposed
    from local_agent.store.tasks import NewTask, Task
    from local_agent.workspace.registry import Workspace

PREVIEW_CHARS: Final = 400  # of a content or a command, in a question
BETWEEN_S: Final = 50.0  # after which what was approved is asked anew; the gate allows 60


@dataclass(eq=False)
class OpenQuestion:
    """A question of a run, while its task lives (`local_agent.playbooks.session.Question`).

    What is performed is what was sealed: each part waits here until the run has come to its step.
    """

    task: NewTask
    message: str
    parts: Sequence[tuple[Changing, Wanted]]
    proposed: Proposed
    tools: Toolbox
    workspace: Workspace
    now: Callable[[], float]
    cancel: Callable[[str], Awaitable[object]]
    changes: Changes
    waits_ms: int
    tells: tuple[str, ...] = ()  # what the chat hears of the run: sealed with each question
    decided: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    decision: Decision = "timeout"
    closed: bool = False
    ended_task: Task | None = None
    begun: int = 0  # parts that may be begun
    done: int = 0  # parts that ended
    since: float = 0.0  # when it was approved, or a part ended
    on_asked: Callable[[], None] = lambda: None  # told each time that it is asked
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _unchanged: dict[Place, Result] = field(default_factory=dict)
    _ends: dict[int, Ended] = field(default_factory=dict)

    @property
    def request_id(self) -> str:
        """The task of the question: it is shown, approved and rejected by that."""
        return self.task.task_id

    @property
    def short_id(self) -> str:
        """By which a person shows, approves or rejects it."""
        return self.task.short_id

    @property
    def covers(self) -> Sequence[Mapping[str, Any]]:
        """What is sealed, step by step."""
        return [
            {
                "step": changing.step.name,
                "step_index": changing.place.index,
                "tool": changing.step.tool,
                "what": about(changing, PREVIEW_CHARS),
            }
            for changing, _ in self.parts
        ]

    # --- for the executor --------------------------------------------------------------------

    async def outcome(self) -> Decision:
        """Return what was decided.

        Raises:
            StateError: ``run.not-done``: its task ended undecided, as the files have moved on.
        """
        task = self.ended_task
        if self.decision == "timeout" and task and task.reason is not Reason.EXPIRED:
            raise StateError("run.not-done", why=self.why())
        return self.decision

    async def is_sealed(self, changing: Changing) -> bool:
        """Tell whether exactly this comes next, is approved, and would be the same now.

        What would change nothing needs no approval: the parts to come stay approved.
        """
        if self.over.is_set() or self.closed or self.decision != "approved":
            return False
        if self.done >= len(self.parts) or self.now() - self.since > BETWEEN_S:
            return False
        tool = changing.step.tool or ""
        try:
            now = await self.tools.propose(tool, changing.arguments, self.workspace)
        except CodexBridgeError:
            return False
        if now.result is not None:
            self._unchanged[changing.place] = now.result
            return True
        sealed, wanted = self.parts[self.done]
        same = sealed.place == changing.place and sealed.arguments == changing.arguments
        return same and now.proposal == wanted.proposal

    async def perform(self, changing: Changing) -> Result:
        """Let the next part be done, and return its result.

        Raises:
            StateError: ``run.not-done``: it failed, drifted or was taken back; says why, and
                whether it drifted and was not begun.
        """
        if (unchanged := self._unchanged.pop(changing.place, None)) is not None:
            return unchanged
        number = self.done
        is_last = number + 1 == len(self.parts)
        await self.changes.back_up(self.task.task_id, number)
        self.begun = number + 1
        self._tell()
        # The effect of the last part is on record once its task has ended.
        await self._until(lambda: self.over.is_set() or (number in self._ends and not is_last))
        ended = self._ends.get(number)
        self.done, self.since = number + 1, self.now()
        await self.changes.look()
        if isinstance(self.parts[number][1].proposal, CommandProposal):
            await self.changes.note_left(self.workspace)
        if ended is None or ended.reason is not Reason.COMPLETED:
            how = ended or self.ended_task
            drifted = how is not None and how.reason is Reason.DRIFTED
            raise StateError("run.not-done", why=self.why(ended), drifted=drifted)
        return await self.tools.result(changing.step.tool or "", changing.arguments, ended.did)

    async def close(self) -> None:
        """Take back what was not decided or not begun."""
        open_still = not self.decided.is_set() or self.done < len(self.parts)
        try:
            if open_still and not self.over.is_set():
                await self.cancel(self.task.task_id)
        finally:  # later than that: what waits for its turn ends as cancelled
            self.closed = True
            self._tell()
        await self.over.wait()

    # --- for the flow that carries its task --------------------------------------------------

    async def before_part(self, number: int) -> bool:
        """Wait until the run has come to a part; False where it will not."""
        if not self.parts:
            return True
        await self._until(lambda: self.begun > number or self.closed)
        return self.begun > number

    def ended_part(self, number: int, ended: Ended) -> None:
        """Take how a part ended."""
        self._ends[number] = ended
        self._tell()

    def hear(self, notice: Notice) -> None:
        """Take what happened to its approval; it may be asked anew and decided later."""
        if notice.kind == "requested":
            self.asked.set()
            self.on_asked()
        if notice.kind in _DECIDED and not self.decided.is_set():
            self.decision, self.since = _DECIDED[notice.kind], self.now()
            self.decided.set()

    def end(self, task: Task | None) -> None:
        """Take that its task is over, or that nobody carries it any more: the agent stops."""
        self.ended_task = task
        self.over.set()
        self.asked.set()
        if not self.decided.is_set():
            refused = task is not None and task.reason in (Reason.REJECTED, Reason.CANCELLED)
            self.decision = "denied" if refused else "timeout"
            self.decided.set()
        self._tell()

    def _tell(self) -> None:
        """Let whoever waits look again."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            await self._changed.wait()

    def why(self, ended: Ended | None = None) -> str:
        """Return why a part, or all of it, was not done."""
        lang: Lang = self.task.lang
        if ended is not None:
            # It becomes the reason of the run, which the chat is told.
            here = ended.here if self.task.source == "local_ui" else None
            return (here or ended.summary)(lang)
        task = self.ended_task
        return (task.summary if task else None) or "?"


_DECIDED: Final[dict[str, Decision]] = {
    "approved": "approved",
    "rejected": "denied",
    "expired": "timeout",
}


class Questions:
    """The questions of all runs of this process."""

    def __init__(self) -> None:
        self._open: dict[str, OpenQuestion] = {}

    def of(self, task_id: str) -> OpenQuestion | None:
        """Return the question that a task asks; None for other tasks, and after a restart."""
        return self._open.get(task_id)

    def add(self, question: OpenQuestion) -> None:
        """Take a question before its task begins."""
        self._open[question.request_id] = question

    def hear(self, notice: Notice) -> None:
        """Pass on what happened to an approval."""
        if question := self._open.get(notice.task_id):
            question.hear(notice)

    def waits_ms(self, task: Task) -> int | None:
        """Return how long the question of a task waits; None for other tasks."""
        question = self._open.get(task.task_id)
        return None if question is None else question.waits_ms

    def tells(self, task: Task) -> tuple[str, ...] | None:
        """Return what the chat hears of the run that a task asks for; None for other tasks."""
        question = self._open.get(task.task_id)
        return None if question is None else question.tells

    async def before_part(self, task: Task, number: int) -> bool:
        """Wait until the run has come to a part of what a task asked; False where it will not."""
        question = self._open.get(task.task_id)
        return question is None or await question.before_part(number)

    async def ended_part(self, task: Task, number: int, ended: Ended) -> None:
        """Take how a part of what a task asked ended."""
        if question := self._open.get(task.task_id):
            question.ended_part(number, ended)

    def ended(self, task_id: str, task: Task | None = None) -> None:
        """Forget the question of a task that is over, or that nobody carries any more."""
        if question := self._open.pop(task_id, None):
            question.end(task)


def about(changing: Changing, most: int) -> str:
    """Return what a step is about, in one line: its path and the beginning of the text, or argv."""
    given = changing.arguments
    if argv := given.get("argv"):
        return one_line(shlex.join(argv), most)
    if not given:
        return changing.step.tool or ""
    head = f"{given['path']}: {given['content']}" if "path" in given else str(given.get("diff", ""))
    return one_line(reveal(head[: 4 * most]), most)
