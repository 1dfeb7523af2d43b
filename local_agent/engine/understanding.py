"""The safe half of a task: from its words to a proposal.  Nothing here can execute."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from common.errors import InputError
from common.model.intent import TaskIntent, TaskKind
from common.model.proposal import TaskResult
from common.model.state import TaskState
from common.sentences import Lang, say
from common.text import one_line
from local_agent import replies
from local_agent.context.collector import Collected, Collector
from local_agent.engine.ports import Workspaces
from local_agent.engine.run import Run, unless_stopped
from local_agent.engine.task import TaskLog
from local_agent.proposers.base import Asked, Proposer
from local_agent.routing.params import find_identifiers
from local_agent.routing.router import Routed, Router, Topic
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

AT_ONCE: Final = 4  # tasks that read a workspace at the same time
_NEEDS_CONTEXT: Final = frozenset({TaskKind.EXPLAIN, TaskKind.CHANGE, TaskKind.DIAGNOSE})
_QUOTED_BYTES: Final = 120  # of the asker's own words
_NAMED_IN: Final = 2000  # characters of the text in which identifiers are looked for


class Understanding:
    """Routes, collects and proposes.

    Args:
        proposers: One for each kind that can be asked for; other kinds are answered by that of
            EXPLAIN.
        patches: For a diff that a person brought.
        undo: For taking a change back.
    """

    def __init__(
        self,
        *,
        log: TaskLog,
        router: Router,
        collector: Collector,
        proposers: Mapping[TaskKind, Proposer],
        patches: Proposer,
        undo: Proposer,
        workspaces: Workspaces,
    ) -> None:
        self._log = log
        self._router = router
        self._collector = collector
        self._proposers = proposers
        self._patches = patches
        self._undo = undo
        self._workspaces = workspaces
        self._readers = asyncio.Semaphore(AT_ONCE)

    async def route(self, task: Task) -> Task:
        """RECEIVED → ROUTED."""
        return await self._log.routed(task, self._read(task).intent)

    async def collect(self, task: Task, run: Run) -> Task:
        """ROUTED → CONTEXT_COLLECTED.

        Raises:
            StoppedError: the task was cancelled.
        """
        run.context = await self._collected(task, run)
        return await self._log.entered(task, TaskState.CONTEXT_COLLECTED)

    async def begin_proposing(self, task: Task) -> Task:
        """CONTEXT_COLLECTED → PROPOSING."""
        return await self._log.entered(task, TaskState.PROPOSING)

    async def propose(self, task: Task, run: Run) -> Task:
        """PROPOSING → PROPOSAL_READY.

        Raises:
            StoppedError: the task was cancelled.
            RefusedError: policy forbids it.
        """
        # What was collected does not survive a restart, and is as quickly collected again.
        context = run.context or await self._collected(task, run)
        intent = _intent(task)
        # How the words were read follows from the text alone, so it is read again, not stored.
        routed = self._read(task)
        asked = self._asked(task, routed, await self._workspace(task), context)
        proposer = self._proposer(task, routed, intent)
        async with self._readers:
            found = await unless_stopped(run, proposer.propose(asked))
        result = TaskResult(
            task_id=task.task_id,
            intent=intent,
            proposal=found.proposal,
            requires=found.requires,
            summary=_with_left(found.summary, routed, task.lang),
            details=found.details,
            not_done=found.not_done or None,
        )
        return await self._log.proposed(task, result)

    def _read(self, task: Task) -> Routed:
        if task.attachment is None:
            return self._router.route(task.text)
        summary = one_line(task.text, _QUOTED_BYTES)
        # A person at the machine brought a diff: there is nothing to guess about.
        return Routed(TaskIntent(kind=TaskKind.CHANGE, confidence=1.0, summary=summary))

    def _proposer(self, task: Task, routed: Routed, intent: TaskIntent) -> Proposer:
        if task.attachment is not None:
            return self._patches
        if routed.topic is Topic.UNDO:
            return self._undo
        return self._proposers.get(intent.kind) or self._proposers[TaskKind.EXPLAIN]

    async def _collected(self, task: Task, run: Run) -> Collected:
        intent = _intent(task)
        workspace = await self._workspace(task)
        routed = self._read(task)
        needs = intent.kind in _NEEDS_CONTEXT and routed.topic is not Topic.UNDO
        if workspace is None or not needs or task.attachment is not None:
            return Collected()
        subject = routed.subject
        async with self._readers:
            return await unless_stopped(
                run,
                self._collector.collect(
                    workspace,
                    files=intent.params.files or (),
                    names=find_identifiers(subject[:_NAMED_IN]),
                ),
            )

    def _asked(
        self, task: Task, routed: Routed, workspace: Workspace | None, context: Collected
    ) -> Asked:
        return Asked(
            task_id=task.task_id,
            intent=_intent(task),
            text=routed.subject,
            lang=task.lang,
            workspace=workspace,
            context=context,
            wants_tests=routed.topic is Topic.TEST,
            not_understood=routed.subject if routed.topic is Topic.BAD_OPTION else None,
            topic=routed.topic.value,
            about=routed.task_id,
            attachment=task.attachment,
            on_copy=task.checks is not None,
            unsure=routed.unsure,
            beyond=routed.beyond,
            reads_on=routed.reads_on,
            prefix=self._router.prefix,
        )

    async def _workspace(self, task: Task) -> Workspace | None:
        try:
            return await asyncio.to_thread(self._workspaces.find, task.workspace)
        except InputError as error:
            if error.code == "workspace.none":
                return None
            raise


def _with_left(summary: str, routed: Routed, lang: Lang) -> str:
    """Return the summary with what is not taken up before it, where a long list cannot hide it."""
    if not routed.left:
        return summary
    taken, left = (one_line(text, _QUOTED_BYTES) for text in (routed.taken, routed.left))
    return f"{say(replies.LEFT_OVER, lang, taken=taken, left=left)}\n{summary}"


def _intent(task: Task) -> TaskIntent:
    return TaskIntent.model_validate_json(task.intent_json or "")
