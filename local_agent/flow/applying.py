"""``apply T-…``: asks for a proposed change at the machine, once more where it was asked before.

It never approves: it brings the question back, or makes a new one where the old one has ended.
A diff that a person here brought is proposed as it is (`PatchProposer`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from common.diff.parse import parse_diff
from common.errors import StateError
from common.model.proposal import Diff, LocalApproval, TaskResult
from common.model.state import FINAL, Reason, TaskState
from common.sentences import Lang, say
from local_agent.errors import RefusedError
from local_agent.flow import words
from local_agent.flow.conversation import result_of
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.run import rests
from local_agent.flow.task import may_see
from local_agent.propose import words as proposal_words
from local_agent.propose.base import Asked, Proposed, Proposer, nothing
from local_agent.propose.diffs import diff_proposal, headline, told
from local_agent.store.blobs import Blobs
from local_agent.store.endings import read_ending
from local_agent.store.tasks import Task


class ApplyProposer:
    """Answers ``apply`` with the ID of a task.

    Args:
        store: The journal of tasks.
        blobs: Where diffs lie.
        show_again: Brings the question of a task before the person once more.
        without_id: Answers where no task is named.
    """

    def __init__(
        self,
        store: JournalStore,
        blobs: Blobs,
        *,
        show_again: Callable[[str], Awaitable[None]],
        without_id: Proposer,
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._show_again = show_again
        self._without_id = without_id

    async def propose(self, asked: Asked) -> Proposed:
        """Return the change as a proposal of its own, or say truthfully what becomes of it."""
        if asked.about is None:
            return await self._without_id.propose(asked)
        asker = await self._store.get(asked.task_id)
        try:
            task = await self._store.named(asked.about)
        except StateError:
            return nothing(words.NO_SUCH_TASK, asked, short_id=asked.about)
        if not may_see(asker, task):
            return nothing(words.NO_SUCH_TASK, asked, short_id=asked.about)
        result = result_of(task)
        if task.state in FINAL:
            return await self._ended(asked, task, result)
        if task.state is not TaskState.WAITING_APPROVAL and not rests(task):
            return nothing(words.NOT_READY, asked, task=task.short_id)
        await self._show_again(task.task_id)
        # "T-7K3F completed" above this would be read as a yes.
        return nothing(words.ASKED_THERE, asked, task=task.short_id)

    async def _ended(self, asked: Asked, task: Task, result: TaskResult | None) -> Proposed:
        if result is None or not isinstance(result.proposal, Diff):
            return nothing(words.NOTHING_IN_IT, asked, task=task.short_id)
        if task.reason is Reason.COMPLETED:
            return nothing(words.APPLIED_ALREADY, asked, task=task.short_id)
        if task.reason is Reason.REJECTED:
            return nothing(words.REJECTED_ALREADY, asked, task=task.short_id)
        if asked.workspace is None:
            return nothing(proposal_words.NO_WORKSPACE, asked)
        await asyncio.to_thread(self._blobs.get, result.proposal.diff_id)  # it is still there
        named = partial(_with_its_place, task, asked.lang)
        return Proposed(
            result.proposal,
            named(told(result.proposal, asked.workspace.name, asked.lang)),
            LocalApproval(action="apply_diff"),
            own=named(headline(result.proposal, asked.workspace.name, asked.lang)),
            speech=result.speech,
        )


def _with_its_place(task: Task, lang: Lang, text: str) -> str:
    """Put in front that a newer version took its place, where one did."""
    newer = read_ending(task.ending_json)["replaced_by"]
    if newer is None:
        return text
    return say(words.BROUGHT_BACK, lang, task=task.short_id, newer=newer, text=text)


class PatchProposer:
    """Reads the diff that came with a request.

    Args:
        blobs: Where it lies.
        allowed: False refuses every change (setting ``allow_apply_patch``).
    """

    def __init__(self, blobs: Blobs, *, allowed: bool) -> None:
        self._blobs = blobs
        self._allowed = allowed

    async def propose(self, asked: Asked) -> Proposed:
        """Return it as a proposal, or say truthfully why there is none.

        Raises:
            RefusedError: changes are switched off on this machine.
            InputError: ``diff.*``: it is no diff that could be applied.
        """
        if not self._allowed:
            raise RefusedError(("apply-off",))
        if asked.workspace is None:
            return nothing(proposal_words.NO_WORKSPACE, asked)
        diff = await asyncio.to_thread(self._blobs.get, asked.attachment or "")
        model = await asyncio.to_thread(parse_diff, diff)
        proposal = diff_proposal(asked.attachment or "", diff, model)
        return Proposed(
            proposal,
            told(proposal, asked.workspace.name, asked.lang),
            LocalApproval(action="apply_diff"),
            own=headline(proposal, asked.workspace.name, asked.lang),
        )
