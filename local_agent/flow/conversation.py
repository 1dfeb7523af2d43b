"""What one thread remembers: a few earlier requests of the same person, and proposals made anew."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from common.errors import StateError
from common.model.proposal import Answer, Diff, Plan, TaskResult
from common.model.state import Reason
from common.redact import redact
from common.sentences import Sentence, say
from common.text import one_line
from local_agent.flow import words
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.task import may_see
from local_agent.propose.base import Asked, Earlier, Proposed, Proposer, Remembered, nothing
from local_agent.propose.diffs import encodings_of
from local_agent.store.blobs import Blobs
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

MEMORY_MS: Final = 2 * 3_600_000
MEMORY_TASKS: Final = 3
OFFERED: Final = 20  # proposals that are looked through for the one that is meant
MAX_CHAIN: Final = 8  # versions whose words are told; older ones are forgotten
_WHAT_BYTES: Final = 60


@dataclass(frozen=True, slots=True)
class Revised:
    """What a request asks to be made anew.

    Attributes:
        first: The task whose proposal it is.
        earlier: That proposal, with all that was asked of it.
        files: Paths that it changes.
    """

    first: Task
    earlier: Earlier
    files: tuple[str, ...] = ()


class Conversation:
    """Looks back in the journal; tells nobody of what another asked.

    Args:
        store: The journal of tasks.
        blobs: Where diffs lie.
    """

    def __init__(self, store: JournalStore, blobs: Blobs) -> None:
        self._store = store
        self._blobs = blobs

    async def remembered(self, task: Task, workspace: Workspace | None) -> tuple[Remembered, ...]:
        """Return the last requests of the same person in the same thread, oldest first.

        Of another workspace nothing, also where both were asked of the default one.
        """
        since_ms = task.created_at - MEMORY_MS
        earlier = await self._store.earlier(task, since_ms=since_ms, limit=MEMORY_TASKS)
        return tuple(
            Remembered(one.text, one.summary)
            for one in reversed(earlier)
            if one.summary is not None and _is_about(one, workspace)
        )

    async def revisable(self, task: Task) -> tuple[Task, ...]:
        """Return the recent proposals of the asker in this conversation, newest first.

        Only those that an unnamed one could be: of versions the newest, nothing that was applied or
        dropped.
        """
        since_ms = task.created_at - MEMORY_MS
        found = await self._store.proposals(task, since_ms=since_ms, limit=OFFERED)
        older = {result.revises for one in found if (result := result_of(one))}
        return tuple(one for one in found if one.short_id not in older and _may_be_meant(one))

    async def offered(self, task_id: str) -> tuple[Task, ...]:
        """Return what `revisable` gives for a task, by its id.

        Raises:
            StateError: ``task.unknown``.
        """
        return await self.revisable(await self._store.get(task_id))

    async def revised(self, task_id: str, short_id: str) -> Revised | None:
        """Return what a task asks to be made anew, or None where there is no such proposal.

        Raises:
            StateError: ``task.unknown``: no task of that name is theirs to see.
        """
        asker, first = await self._store.get(task_id), await self._store.named(short_id)
        if not may_see(asker, first):
            raise StateError("task.unknown", name=short_id)
        result = result_of(first)
        if result is None or not isinstance(result.proposal, Diff | Plan):
            return None
        request = "\n".join(await self._requests(first))
        version = result.version or 1
        if isinstance(result.proposal, Plan):
            return Revised(first, Earlier(version, request, result.proposal.text))
        diff = await asyncio.to_thread(self._blobs.get, result.proposal.diff_id)
        earlier = Earlier(
            version,
            request,
            result.proposal.unified_diff,
            diff,
            encodings_of(result.proposal),
        )
        return Revised(first, earlier, tuple(file.path for file in result.proposal.files))

    async def _requests(self, first: Task) -> list[str]:
        """Return what was asked of each version, oldest first."""
        said: list[str] = []
        task: Task | None = first
        while task is not None and len(said) < MAX_CHAIN:
            said.append(task.text)
            result = result_of(task)
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
        if asked.about is None:
            return await self._which(asked)
        if not asked.text.strip():
            return nothing(words.REVISE_WHICH, asked)
        try:
            revised = await self._conversation.revised(asked.task_id, asked.about)
        except StateError:
            return nothing(words.NO_SUCH_TASK, asked, short_id=asked.about)
        if revised is None:
            return nothing(words.REVISE_NOT, asked, task=asked.about)
        found = await self._coding.propose(replace(asked, earlier=revised.earlier))
        if found.not_done:
            return found
        version = revised.earlier.version + 1

        def told(text: str) -> str:
            facts = {"version": version, "task": asked.about, "text": text}
            return say(words.VERSION_OF, asked.lang, **facts).strip()

        own = None if found.own is None else told(found.own)
        summary = told(found.summary)
        return replace(found, summary=summary, own=own, revises=asked.about, version=version)

    async def _which(self, asked: Asked) -> Proposed:
        offered = await self._conversation.offered(asked.task_id)
        if not offered:
            return nothing(words.REVISE_WHICH, asked)
        return offer(words.REVISE_ONE_OF, asked, offered)


def offer(head: Sentence, asked: Asked, tasks: Sequence[Task]) -> Proposed:
    """Return the list of the asker's own tasks of which one has to be named."""
    told = nothing(head, asked, task=tasks[0].short_id)
    rows = [
        # Secrets first: the beginning of one is not recognised any more.
        say(
            words.OFFERED_ROW,
            asked.lang,
            task=one.short_id,
            what=one_line(redact(one.text), _WHAT_BYTES),
        )
        for one in tasks
    ]
    text = "\n".join([told.summary, *rows])
    return replace(told, proposal=Answer(text=text), summary=text)


def _is_about(task: Task, workspace: Workspace | None) -> bool:
    result = result_of(task)
    made_in = result.workspace if result else None
    return made_in is None or (workspace is not None and made_in == str(workspace.path))


def _may_be_meant(task: Task) -> bool:
    result = result_of(task)
    if result is None or task.reason is Reason.CANCELLED:
        return False
    applied = task.reason is Reason.COMPLETED and isinstance(result.proposal, Diff)
    return isinstance(result.proposal, Diff | Plan) and not applied


def result_of(task: Task) -> TaskResult | None:
    """Return what a task proposes, None where nothing yet."""
    return TaskResult.model_validate_json(task.proposal_json) if task.proposal_json else None
