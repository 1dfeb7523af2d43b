"""What one thread remembers: a few earlier requests of the same person, and proposals made anew."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from common.errors import StateError
from common.model.proposal import Diff, Plan, TaskResult
from common.sentences import say
from local_agent import proposal_replies as words
from local_agent import replies
from local_agent.engine.answers import may_see
from local_agent.engine.ports import Blobs, TaskStore
from local_agent.proposers.base import Asked, Earlier, Proposed, Proposer, Remembered, nothing
from local_agent.store.tasks import Task

MEMORY_MS: Final = 2 * 3_600_000
MEMORY_TASKS: Final = 3
MAX_CHAIN: Final = 8  # versions whose words are told; older ones are forgotten


@dataclass(frozen=True, slots=True)
class Revised:
    """What a request asks to be made anew.

    Attributes:
        first: The task whose proposal it is.
        earlier: That proposal, with all that was asked of it.
    """

    first: Task
    earlier: Earlier


class Conversation:
    """Looks back in the journal; tells nobody of what another asked.

    Args:
        store: The journal of tasks.
        blobs: Where diffs lie.
    """

    def __init__(self, store: TaskStore, blobs: Blobs) -> None:
        self._store = store
        self._blobs = blobs

    async def remembered(self, task: Task) -> tuple[Remembered, ...]:
        """Return the last requests of the same person in the same thread, oldest first."""
        since_ms = task.created_at - MEMORY_MS
        earlier = await self._store.earlier(task, since_ms=since_ms, limit=MEMORY_TASKS)
        return tuple(
            Remembered(one.text, one.summary)
            for one in reversed(earlier)
            if one.summary is not None
        )

    async def revised(self, task_id: str, short_id: str) -> Revised | None:
        """Return what a task asks to be made anew, or None where there is no such proposal.

        Raises:
            StateError: ``task.unknown``: no task of that name is theirs to see.
        """
        asker, first = await self._store.get(task_id), await self._store.named(short_id)
        if not may_see(asker, first):
            raise StateError("task.unknown", name=short_id)
        result = _result(first)
        if result is None or not isinstance(result.proposal, Diff | Plan):
            return None
        request = "\n".join(await self._requests(first))
        version = result.version or 1
        if isinstance(result.proposal, Plan):
            return Revised(first, Earlier(version, request, result.proposal.text))
        diff = await asyncio.to_thread(self._blobs.get, result.proposal.diff_id)
        return Revised(first, Earlier(version, request, result.proposal.unified_diff, diff))

    async def _requests(self, first: Task) -> list[str]:
        """Return what was asked of each version, oldest first."""
        said: list[str] = []
        task: Task | None = first
        while task is not None and len(said) < MAX_CHAIN:
            said.append(task.text)
            result = _result(task)
            before = result.revises if result else None
            task = await self._named(before, first) if before else None
        return said[::-1]

    async def _named(self, short_id: str, asker: Task) -> Task | None:
        try:
            task = await self._store.named(short_id)
        except StateError:
            return None  # it is forgotten by now
        # Whoever was given its name since may be another.
        return task if may_see(asker, task) else None


class ReviseProposer:
    """Makes the next version of a proposal.

    Args:
        conversation: Finds the version before.
        coding: Makes proposals of a model.
    """

    def __init__(self, conversation: Conversation, coding: Proposer) -> None:
        self._conversation = conversation
        self._coding = coding

    async def propose(self, asked: Asked) -> Proposed:
        """Return the next version, or say truthfully why there is none.

        Raises:
            ModelError: as of any proposal of a model.
        """
        if asked.about is None or not asked.text.strip():
            return nothing(words.REVISE_WHICH, asked)
        try:
            revised = await self._conversation.revised(asked.task_id, asked.about)
        except StateError:
            return nothing(replies.NO_SUCH_TASK, asked, short_id=asked.about)
        if revised is None:
            return nothing(words.REVISE_NOT, asked, task=asked.about)
        found = await self._coding.propose(replace(asked, earlier=revised.earlier))
        if found.not_done:
            return found
        version = revised.earlier.version + 1
        summary = say(
            words.VERSION_OF, asked.lang, version=version, task=asked.about, text=found.summary
        )
        return replace(found, summary=summary, revises=asked.about, version=version)


def _result(task: Task) -> TaskResult | None:
    return TaskResult.model_validate_json(task.proposal_json) if task.proposal_json else None
