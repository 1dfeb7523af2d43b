"""What was approved, done part by part: each under a grant of its own, in order.

Most approvals cover one operation, which is its first part and its last.  Of several each is begun
once the one before has completed.  After a restart the one that was cut off is settled, and no
later one is begun (P3).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from common.errors import CodexBridgeError, StateError, StoreError
from common.model.state import Reason
from common.seal import Seal
from common.sentences import Lang, Sentence, Words, say
from local_agent.actions.operation import Ended, Operation, Performing
from local_agent.actions.registry import ACTIONS
from local_agent.actions.steps.action import part_task
from local_agent.flow import summaries
from local_agent.flow.approvals import question
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.ports import Gate
from local_agent.safety.action_facts import parts_of
from local_agent.safety.grant import Grant
from local_agent.store.approvals import StoredApproval
from local_agent.store.effects import Effect
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

AGAIN_SECONDS: Final = 5.0  # after the journal refused to keep how an operation ended
BETWEEN: Final = Sentence(en="It was interrupted between two steps.", zh="在两个步骤之间中断。")
CUT_SHORT: Final = Sentence(
    en="{done} of {count} steps were carried out; the others were not begun.",
    zh="{count} 个步骤中完成了 {done} 个，其余未开始。",
)
CUT_OFF: Final = Sentence(
    en="{done} of {count} steps were carried out; one was begun and did not complete; {left} "
    "{left:was|were} not begun.",
    zh="{count} 个步骤中完成了 {done} 个，1 个已开始但未完成，{left} 个未开始。",
)
ALL_DONE: Final = Sentence(
    en="All {count} steps were carried out.", zh="{count} 个步骤已全部完成。"
)
UNKNOWN: Final = Ended(Reason.UNKNOWN, summaries.of_unknown)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Performed:
    """What came of what was approved.

    Attributes:
        ended: How all of it ended.
        last: The part that was begun last.
        own: How that part ended.
        is_untold: That is to be recorded with the end of the task, and nobody was told of it.
    """

    ended: Ended
    last: int
    own: Ended
    is_untold: bool = True


class Performer:
    """Carries out what was approved, and settles what a crash cut off.

    Args:
        gate: Gives the grants.
        store: Tells what was begun.
        operations: One for each action.
    """

    def __init__(
        self, gate: Gate, store: JournalStore, operations: Mapping[str, Operation]
    ) -> None:
        self._gate = gate
        self._store = store
        self._operations = operations

    async def perform(
        self, task: Task, grant: Grant, workspace: Workspace, around: Performing
    ) -> Performed:
        """Do what a grant covers, and the parts after it as long as each completes.

        How the last one ended is for the caller to record, and to tell after that.
        """
        did: dict[str, Any] = {}
        while True:
            operation = self._operations[grant.seal.action]
            own = await operation.perform(part_task(task, grant.part), grant, workspace, around)
            did = _did_both(did, own)
            ended = replace(own, did=did or None)
            if ended.reason is not Reason.COMPLETED:
                was_begun = ended.reason is not Reason.DRIFTED
                cut = _cut_short(ended, done=grant.part, count=grant.parts, was_begun=was_begun)
                return Performed(cut, grant.part, own)
            if grant.is_last:
                return Performed(_all_done(ended, grant.parts), grant.part, own)
            await recorded(partial(self._gate.end_part, grant))
            await around.ended_part(grant.part, own)
            following = await self._next(grant, around)
            if following is None:
                reason = Reason.CANCELLED if around.stop.is_set() else Reason.FAILED
                left = replace(ended, reason=reason)
                cut = _cut_short(left, done=grant.part + 1, count=grant.parts)
                return Performed(cut, grant.part, own, is_untold=False)
            grant = following

    async def settle(
        self, approval: StoredApproval, find_workspace: Callable[[], Awaitable[Workspace]]
    ) -> Ended:
        """Say what came of an approval that was being used when the agent ended."""
        try:
            parts = parts_of(question(approval).seal, ACTIONS)
        except CodexBridgeError:
            return UNKNOWN
        if len(parts) == 1:
            return await self._settled(parts[0], find_workspace)
        begun = await self._store.begun(approval.approval_id)
        return await self._settled_last(parts, begun, find_workspace)

    async def _next(self, grant: Grant, around: Performing) -> Grant | None:
        """Return the grant for the next part; None where it is not to be begun any more."""
        part = grant.part + 1
        if around.stop.is_set() or not await around.before_part(part) or around.stop.is_set():
            return None
        try:
            return await self._gate.take_grant(grant.approval_id, grant.digest, part=part)
        except StateError:
            return None

    async def _settled_last(
        self,
        parts: Sequence[Seal],
        begun: Sequence[Effect],
        find_workspace: Callable[[], Awaitable[Workspace]],
    ) -> Ended:
        if not begun:
            return UNKNOWN
        last = begun[-1]
        ended = Ended(Reason.FAILED, partial(say, BETWEEN))
        if last.outcome is None:
            ended = await self._settled(parts[last.part], find_workspace)
            if ended.reason is not Reason.COMPLETED:
                return _cut_short(ended, done=last.part, count=len(parts), was_begun=True)
            if last.part + 1 == len(parts):
                return ended
            await self._store.end_part(last, ended.reason)
        failed = replace(ended, reason=Reason.FAILED)
        return _cut_short(failed, done=len(begun), count=len(parts))

    async def _settled(
        self, seal: Seal, find_workspace: Callable[[], Awaitable[Workspace]]
    ) -> Ended:
        try:
            return await self._operations[seal.action].settle(seal, await find_workspace())
        except (CodexBridgeError, OSError):
            return UNKNOWN


async def recorded(record: Callable[[], Awaitable[_T]]) -> _T:
    """Write how something ended, however often the journal refuses.

    Nobody could find it out again: forgotten, it would have to be called unknown.
    """
    while True:
        try:
            return await record()
        except StoreError:
            await asyncio.sleep(AGAIN_SECONDS)


def _did_both(before: Mapping[str, Any], ended: Ended) -> dict[str, Any]:
    """Return what two parts did as what one did: the files of both, and the later one's rest."""
    now = ended.did or {}
    if (first := before.get("change")) and (last := now.get("change")):
        more = last["files"] if ended.reason is Reason.COMPLETED else []
        now = {**now, "change": {**last, "files": [*first["files"], *more]}}
    return {**before, **now}


def _all_done(ended: Ended, count: int) -> Ended:
    return ended if count == 1 else _with_line(ended, partial(say, ALL_DONE, count=count))


def _cut_short(ended: Ended, *, done: int, count: int, was_begun: bool = False) -> Ended:
    """Return how it ended, with how many of several parts were done."""
    if count == 1:
        return ended
    said = CUT_OFF if was_begun else CUT_SHORT
    return _with_line(ended, partial(say, said, done=done, count=count, left=count - done - 1))


def _with_line(ended: Ended, line: Words) -> Ended:
    here = partial(_joined, ended.here, line) if ended.here else None
    return replace(ended, summary=partial(_joined, ended.summary, line), here=here)


def _joined(first: Words, line: Words, lang: Lang) -> str:
    return f"{first(lang)}\n{line(lang)}"
