"""The safe half of a task: from its words to a proposal.  Nothing here can execute."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from common.errors import InputError
from common.model.intent import TaskIntent, TaskKind
from common.model.proposal import Diff, TaskResult
from common.model.request import UserRequest
from common.model.state import TaskState
from common.redact import redact
from common.sentences import Lang, say
from common.text import one_line
from local_agent import proposal_replies, replies
from local_agent.context.collector import Collected
from local_agent.engine.conversation import Conversation
from local_agent.engine.following import Following, as_meant
from local_agent.engine.looking import Looking
from local_agent.engine.ports import Disclosure, Workspaces
from local_agent.engine.run import Run, unless_stopped
from local_agent.engine.second_reading import SecondReading
from local_agent.engine.slots import Slots
from local_agent.engine.streaming import Streams
from local_agent.engine.task import TaskLog
from local_agent.proposers.base import Asked, Proposed, Proposer
from local_agent.routing.routed import Routed, Topic
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace

_ROUTER: Final = "local_agent.routing.router"
_ASKS_A_MODEL: Final = frozenset(
    {TaskKind.EXPLAIN, TaskKind.CHANGE, TaskKind.DIAGNOSE, TaskKind.REVIEW}
)
_OF_A_MODEL: Final = frozenset({Topic.PLAIN, Topic.PLAN, Topic.PATCH, Topic.REVISE})
_QUOTED_BYTES: Final = 120  # of the asker's own words


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposers:
    """Who makes proposals, for what.

    Attributes:
        of_kind: One for each kind that can be asked for; other kinds are answered by that of
            EXPLAIN.
        of_topic: For words that need their own answer, whatever their kind.
        patches: For a diff that a person brought.
    """

    of_kind: Mapping[TaskKind, Proposer]
    of_topic: Mapping[str, Proposer]
    patches: Proposer

    def for_task(self, task: Task, topic: Topic, kind: TaskKind) -> Proposer:
        """Return the one that answers a task."""
        if task.attachment is not None:
            return self.patches
        found = self.of_topic.get(topic.value) or self.of_kind.get(kind)
        return found or self.of_kind[TaskKind.EXPLAIN]


def request_of(task: Task) -> UserRequest:
    """Return what was asked as every face and channel asks it (seed 002 §3.1)."""
    meta: dict[str, JsonValue] = {"channel": task.channel, "lang": task.lang}
    if task.workspace is not None:
        meta["workspace"] = task.workspace
    if task.around_json is not None:
        meta["around"] = json.loads(task.around_json)
    return UserRequest(
        source=task.source,
        thread_id=task.thread_id,
        from_user=task.claimed_user or None,
        text=task.text,
        meta=meta,
    )


@dataclass(frozen=True, slots=True)
class LateRouter:
    """The router, whose tables are loaded with the first request: most agents wait for hours.

    Attributes:
        threshold: As `local_agent.routing.router.Router` takes them, these three.
    """

    threshold: float
    prefix: str
    free_text: bool

    async def load(self) -> None:
        """Load the tables beside the event loop; at once when they are there."""
        if _ROUTER not in sys.modules:
            await asyncio.to_thread(importlib.import_module, _ROUTER)

    def route(self, text: str) -> Routed:
        """Read one request, with or without the prefix."""
        from local_agent.routing.router import Router

        router = Router(threshold=self.threshold, prefix=self.prefix, free_text=self.free_text)
        return router.route(text)


class Understanding:
    """Routes, collects and proposes.

    Args:
        following: Finds what a request goes on from, and where it is about.
        second_reading: Asks a model for the kind of what is unclear.
        looking: Collects what a proposal is about.
        disclosure: Bounds what is read for the chat, and what it is told of it (R53).
        streams: Pass on what a model gives off.
    """

    def __init__(
        self,
        *,
        log: TaskLog,
        router: LateRouter,
        following: Following,
        second_reading: SecondReading,
        looking: Looking,
        proposers: Proposers,
        conversation: Conversation,
        disclosure: Disclosure,
        streams: Streams,
        workspaces: Workspaces,
    ) -> None:
        self._log = log
        self._router = router
        self._following = following
        self._second_reading = second_reading
        self._looking = looking
        self._proposers = proposers
        self._conversation = conversation
        self._disclosure = disclosure
        self._streams = streams
        self._workspaces = workspaces
        self._readers = Slots()
        self._turns = Slots()

    async def route(self, task: Task, run: Run) -> Task:
        """RECEIVED → ROUTED.

        Raises:
            StoppedError: the task was cancelled.
        """
        await self._router.load()
        routed = await self._following.meant(task, self._read(task))
        if self._second_reading.is_wanted(routed):
            routed = await unless_stopped(run, self._read_again(task, routed))
        return await self._log.routed(task, routed.intent)

    async def collect(self, task: Task, run: Run) -> Task:
        """ROUTED → CONTEXT_COLLECTED.

        Raises:
            StoppedError: the task was cancelled.
        """
        await self._router.load()
        run.place = await self._following.place(task, self._read(task))
        run.context = await self._collected(task, run, run.place)
        return await self._log.collected(task, run.context.explained())

    async def begin_proposing(self, task: Task) -> Task:
        """CONTEXT_COLLECTED → PROPOSING."""
        return await self._log.entered(task, TaskState.PROPOSING)

    async def propose(self, task: Task, run: Run) -> Task:
        """PROPOSING → PROPOSAL_READY.

        Raises:
            StoppedError: the task was cancelled.
            RefusedError: policy forbids it.
            ModelError: the model gave nothing that can be used.
        """
        await self._router.load()
        # How the words were read follows from the text alone, so it is read again, not stored.
        routed = self._read(task)
        context, workspace = await self._looked_at(task, run, routed)
        asks = _intent(task).kind in _ASKS_A_MODEL and routed.topic in _OF_A_MODEL
        found = await self._disclosure.admit(task, workspace, context, asks=asks)
        if found is None:
            made = self._proposed(task, routed, workspace, context)
            found = await unless_stopped(run, made)
            workspace = await self._as_set_now(task, workspace)
            found = await self._disclosure.release(task, workspace, found, context)
        task = await self._log.proposed(task, _result(task, routed, found, workspace))
        run.context = None  # it may be days until a person decides
        return task

    async def _proposed(
        self, task: Task, routed: Routed, workspace: Workspace | None, context: Collected
    ) -> Proposed:
        kind = _intent(task).kind
        proposer = self._proposers.for_task(task, routed.topic, kind)
        # Whoever asks for the status does not wait for the models of others.
        turn = self._turns if kind in _ASKS_A_MODEL else self._readers
        async with turn.taken(task), self._streams.flowing(task) as emit:
            return await proposer.propose(
                Asked(
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
                    unsure=self._is_unsure(task, routed),
                    beyond=routed.beyond,
                    reads_on=routed.reads_on,
                    prefix=self._router.prefix,
                    remembered=await self._conversation.remembered(task, workspace),
                    emit=emit,
                )
            )

    async def _read_again(self, task: Task, routed: Routed) -> Routed:
        place = await self._following.place(task, routed)
        if not await self._disclosure.charge(task, place):
            return routed
        async with self._turns.taken(task):
            return await self._second_reading.of(task, routed)

    async def _as_set_now(self, task: Task, workspace: Workspace | None) -> Workspace | None:
        """Return a workspace with what may be told of it by now: a model may have worked for long.

        Raises:
            InputError: ``workspace.closed``: it was taken off the list meanwhile.
        """
        if workspace is None:
            return None
        found = await asyncio.to_thread(self._workspaces.at, str(workspace.path))
        if found is None:
            raise InputError("workspace.closed", task=task.short_id)
        return found

    async def _looked_at(
        self, task: Task, run: Run, routed: Routed
    ) -> tuple[Collected, Workspace | None]:
        """Return what was collected and where: the default may be another by now.

        What a restart has lost is collected again from the files of now, and accounted for.
        """
        if run.context is not None:
            return run.context, await self._as_set_now(task, run.place)
        place = await self._following.place(task, routed)
        context = await self._collected(task, run, place)
        await self._log.collected_again(task, context.explained())
        return context, place

    async def _collected(self, task: Task, run: Run, workspace: Workspace | None) -> Collected:
        if workspace is None or task.attachment is not None:
            return Collected()
        routed = self._read(task)
        return await unless_stopped(run, self._looking.into(workspace, task, routed, _intent(task)))

    def _read(self, task: Task) -> Routed:
        request = request_of(task)
        if task.attachment is None:
            routed = self._router.route(request.text)
            return as_meant(routed, _intent(task)) if task.intent_json else routed
        summary = one_line(request.text, _QUOTED_BYTES)
        # A person at the machine brought a diff: there is nothing to guess about.
        return Routed(TaskIntent(kind=TaskKind.CHANGE, confidence=1.0, summary=summary))

    def _is_unsure(self, task: Task, routed: Routed) -> bool:
        # A second reading may have been sure.
        return routed.unsure and _intent(task).confidence < self._router.threshold


def _result(task: Task, routed: Routed, found: Proposed, workspace: Workspace | None) -> TaskResult:
    return TaskResult(
        task_id=task.task_id,
        intent=_intent(task),
        proposal=found.proposal,
        requires=found.requires,
        summary=_with_taken(found.summary, routed, task.lang),
        details=found.details,
        own=None if found.own is None else _with_taken(found.own, routed, task.lang),
        speech=found.speech,
        not_done=found.not_done or None,
        revises=found.revises,
        version=found.version if found.revises else None,
        rests=_rests(task, routed, found) or None,
        workspace=str(workspace.path) if workspace else None,
    )


def _rests(task: Task, routed: Routed, found: Proposed) -> bool:
    """Tell whether a change waits for *Apply*: whoever brings a diff or its ID has said that."""
    asked_here = task.source == "local_ui" and task.attachment is None
    return asked_here and routed.topic is not Topic.APPLY and isinstance(found.proposal, Diff)


def _with_taken(summary: str, routed: Routed, lang: Lang) -> str:
    """Return the summary after what is and is not taken up, where a long list cannot hide it."""
    if meant := routed.intent.params.revises:
        summary = f"{say(proposal_replies.REVISE_TAKEN, lang, task=meant)}\n{summary}".strip()
    if not routed.left:
        return summary
    # Secrets first: the beginning of one is not recognised any more.
    taken, left = (one_line(redact(text), _QUOTED_BYTES) for text in (routed.taken, routed.left))
    return f"{say(replies.LEFT_OVER, lang, taken=taken, left=left)}\n{summary}".strip()


def _intent(task: Task) -> TaskIntent:
    return TaskIntent.model_validate_json(task.intent_json or "")
