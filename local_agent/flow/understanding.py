"""The safe half of a task: from its words to a proposal.  Nothing here can execute.

    route ─▶ collect ─▶ begin_proposing ─▶ propose

Its parts: who may work next (`Slots`), what is looked at (`Looking`), `SecondReading` by a model.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakValueDictionary

from pydantic import JsonValue

from common.errors import CodexBridgeError, InputError, StateError
from common.model.intent import TaskIntent, TaskKind, UserRequest
from common.model.proposal import Diff, NoRequirement, TaskResult
from common.model.state import Reason, TaskState
from common.redact import redact
from common.sentences import Lang, same, say
from common.text import one_line
from common.verbs import COMMANDS, Topic
from local_agent.errors import ModelError
from local_agent.flow import words
from local_agent.flow.conversation import Conversation, Revised
from local_agent.flow.disclosing import Disclosure, why_not_done
from local_agent.flow.following import Following, as_meant, as_set_now
from local_agent.flow.ports import Workspaces
from local_agent.flow.run import Run, unless_stopped
from local_agent.flow.streaming import Streams
from local_agent.flow.task import TaskLog, member_of
from local_agent.models.backend import Chosen, ModelEvent, Turn
from local_agent.propose.base import Asked, Proposed, Proposer
from local_agent.propose.context.collected import Around, Collected
from local_agent.propose.context.collector import Collector
from local_agent.propose.prompt import classify_instructions, classify_prompt
from local_agent.store.tasks import Task
from local_agent.understand import triggers
from local_agent.understand.asking_a_model import classification_schema, merged, read_classification
from local_agent.understand.params import find_files, find_names
from local_agent.understand.reader import Reader
from local_agent.understand.reading import Reading, read_kept, write_reading
from local_agent.understand.triggers import Triggers
from local_agent.workspace.registry import Workspace

_ASKS_A_MODEL: Final = frozenset(
    {TaskKind.EXPLAIN, TaskKind.CHANGE, TaskKind.DIAGNOSE, TaskKind.REVIEW}
)
_OF_A_MODEL: Final = frozenset(
    {Topic.PLAIN, *(spec.topic for spec in COMMANDS if spec.needs_model)}
)
_NO_PLAYBOOKS: Final[Mapping[str, Sequence[str]]] = {}
_QUOTED_BYTES: Final = 120  # of the asker's own words
AT_ONCE: Final = 4  # tasks of the chat, and as many of this machine
OF_ONE: Final = 2  # of one member; the others are for the other members
_NAMED_IN: Final = 2000  # characters of the text in which names are looked for
DEADLINE_S: Final = 15.0  # a classification is worth no longer wait
MAX_CHARS: Final = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposers:
    """Who makes proposals, for what.

    Attributes:
        of_kind: One for each kind that can be asked for; other kinds are answered by that of
            EXPLAIN.
        of_topic: For words that need their own answer, whatever their kind.
        patches: For a diff that a person brought.
        questions: For what a run of a playbook asks.
    """

    of_kind: Mapping[TaskKind, Proposer]
    of_topic: Mapping[Topic, Proposer]
    patches: Proposer
    questions: Proposer

    def for_task(self, task: Task, topic: Topic, kind: TaskKind) -> Proposer:
        """Return the one that answers a task."""
        if task.step is not None:
            return self.questions
        if task.attachment is not None:
            return self.patches
        found = self.of_topic.get(topic) or self.of_kind.get(kind)
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


class Understanding:
    """Routes, collects and proposes.

    Args:
        following: Finds what a request goes on from, and where it is about.
        second_reading: Asks a model for the kind of what is unclear.
        looking: Collects what a proposal is about.
        disclosure: Bounds what is read for the chat, and what it is told of it (R53).
        streams: Pass on what a model gives off.
        phrases: Gives the phrases that ask for playbooks, by name: the same object as long as
            nothing has changed; blocks.
    """

    def __init__(
        self,
        *,
        log: TaskLog,
        reader: Reader,
        following: Following,
        second_reading: SecondReading,
        looking: Looking,
        proposers: Proposers,
        conversation: Conversation,
        disclosure: Disclosure,
        streams: Streams,
        workspaces: Workspaces,
        phrases: Callable[[], Mapping[str, Sequence[str]]] = lambda: _NO_PLAYBOOKS,
    ) -> None:
        self._phrases = phrases
        self._playbooks: tuple[object, Triggers] = (None, triggers.NONE)
        self._log = log
        self._reader = reader
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
        self._runs = Slots()
        self._questions = Slots()

    async def route(self, task: Task, run: Run) -> Task:
        """RECEIVED → ROUTED.

        Raises:
            StoppedError: the task was cancelled.
        """
        reading = await self._following.meant(task, await self._read(task))
        if self._second_reading.is_wanted(reading):
            reading = await unless_stopped(run, self._read_again(task, reading))
        return await self._log.routed(task, reading.intent, reading=write_reading(reading))

    async def collect(self, task: Task, run: Run) -> Task:
        """ROUTED → CONTEXT_COLLECTED.

        Raises:
            StoppedError: the task was cancelled.
        """
        reading = await self._reading(task)
        run.place = await self._following.place(task, reading)
        run.context = await self._collected(task, run, reading, run.place)
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
        reading = await self._reading(task)
        context, workspace = await self._looked_at(task, run, reading)
        kind = _intent(task).kind
        asks = kind in _ASKS_A_MODEL and reading.topic in _OF_A_MODEL
        # One of its steps may; the list of playbooks is of no workspace.
        asks = asks or (kind is TaskKind.PLAYBOOK and bool(reading.subject or task.run))
        # What a run asks is shown here alone; its own task has been admitted, and tells the chat.
        is_told = task.step is None
        admit = self._disclosure.admit
        found = await admit(task, workspace, context, asks=asks) if is_told else None
        if found is None:
            made = self._proposed(task, reading, workspace, context)
            found = await unless_stopped(run, made)
            workspace = await self._as_set_now(task, workspace)
            if is_told:
                found = await self._disclosure.release(task, workspace, found, context)
        task = await self._log.proposed(task, _result(task, reading, found, workspace))
        run.context = None  # it may be days until a person decides
        return task

    async def held_back(self, task: Task, error: CodexBridgeError) -> Task:
        """Have a person release why it cannot be done, where the chat is told nothing unreleased.

        Raises:
            CodexBridgeError: the error, which the chat may be told.
        """
        found = why_not_done(task, error)
        if found is None:
            raise error
        reading = await self._reading(task)
        workspace = await self._following.place(task, reading)
        if workspace is None or workspace.disclosure != "ask":
            raise error
        found = await self._disclosure.release(task, workspace, found, Collected())
        result = _result(task, reading, found, workspace)
        if task.state is TaskState.PROPOSING:
            return await self._log.proposed(task, result)
        if isinstance(found.requires, NoRequirement):  # there is nothing left to be released today
            return await self._log.ended(task, Reason.REFUSED, same(found.summary))
        return await self._log.narrowed(task, result, chat=False)

    async def _proposed(
        self, task: Task, reading: Reading, workspace: Workspace | None, context: Collected
    ) -> Proposed:
        kind = _intent(task).kind
        proposer = self._proposers.for_task(task, reading.topic, kind)
        # Whoever asks for the status does not wait for the models of others.
        turn = self._turns if kind in _ASKS_A_MODEL else self._readers
        # It may wait for a person, and others not for it.
        if kind is TaskKind.PLAYBOOK and (reading.subject or task.run):
            turn = self._questions if task.step is not None else self._runs
        is_turn = kind is not TaskKind.PLAYBOOK
        async with turn.taken(task), self._streams.flowing(task, is_turn=is_turn) as emit:
            return await proposer.propose(
                Asked(
                    task_id=task.task_id,
                    intent=_intent(task),
                    text=reading.subject,
                    lang=task.lang,
                    workspace=workspace,
                    context=context,
                    topic=reading.topic,
                    about=reading.task_id,
                    attachment=task.attachment,
                    on_copy=task.checks is not None,
                    remote=task.source == "wecom",
                    unsure=reading.unsure,
                    acts=reading.acts,
                    likeliest=tuple(kind.value for kind in reading.likeliest),
                    beyond=reading.beyond,
                    prefix=self._reader.prefix,
                    remembered=await self._conversation.remembered(task, workspace),
                    emit=emit,
                )
            )

    async def _read_again(self, task: Task, reading: Reading) -> Reading:
        place = await self._following.place(task, reading)
        if not await self._disclosure.charge(task, place):
            return reading
        async with self._turns.taken(task):
            return await self._second_reading.of(task, reading)

    async def _as_set_now(self, task: Task, workspace: Workspace | None) -> Workspace | None:
        """Return a workspace with what may be told of it by now: a model may have worked for long.

        Raises:
            InputError: ``workspace.closed``: it was taken off the list meanwhile.
        """
        if workspace is None:
            return None
        return await asyncio.to_thread(as_set_now, self._workspaces, task, workspace)

    async def _looked_at(
        self, task: Task, run: Run, reading: Reading
    ) -> tuple[Collected, Workspace | None]:
        """Return what was collected and where: the default may be another by now.

        What a restart has lost is collected again from the files of now, and accounted for.
        """
        if run.context is not None:
            return run.context, await self._as_set_now(task, run.place)
        place = await self._following.place(task, reading)
        context = await self._collected(task, run, reading, place)
        await self._log.collected_again(task, context.explained())
        return context, place

    async def _collected(
        self, task: Task, run: Run, reading: Reading, workspace: Workspace | None
    ) -> Collected:
        if workspace is None or task.attachment is not None:
            return Collected()
        return await unless_stopped(
            run, self._looking.into(workspace, task, reading, _intent(task))
        )

    async def _reading(self, task: Task) -> Reading:
        """Return how the words were read; read anew where another release did not keep that."""
        intent = _intent(task)
        kept = read_kept(task.reading_json, intent) if task.reading_json is not None else None
        return kept or await self._read_anew(task, intent)

    async def _read_anew(self, task: Task, intent: TaskIntent) -> Reading:
        read = await self._read(task)
        # Where the kept kind is another one, somebody or a model was sure of it.
        return replace(
            as_meant(read, intent), unsure=read.unsure and intent.kind is read.intent.kind
        )

    async def _read(self, task: Task) -> Reading:
        request = request_of(task)
        summary = one_line(request.text, _QUOTED_BYTES)
        if task.run is not None:  # it was begun by name, and its words are no request any more
            intent = TaskIntent(kind=TaskKind.PLAYBOOK, confidence=1.0, summary=summary)
            return Reading(intent, Topic.PLAYBOOK)
        if task.attachment is None:
            return self._reader.read(request.text, await self._triggers())
        # A person at the machine brought a diff: there is nothing to guess about.
        return Reading(TaskIntent(kind=TaskKind.CHANGE, confidence=1.0, summary=summary))

    async def _triggers(self) -> Triggers:
        """Return the playbooks there are now: they may change at any time."""
        phrases = await asyncio.to_thread(self._phrases)
        if phrases is not self._playbooks[0]:
            self._playbooks = (phrases, await asyncio.to_thread(Triggers, phrases))
        return self._playbooks[1]


def _result(
    task: Task, reading: Reading, found: Proposed, workspace: Workspace | None
) -> TaskResult:
    return TaskResult(
        task_id=task.task_id,
        intent=_intent(task),
        proposal=found.proposal,
        requires=found.requires,
        summary=_with_taken(found.summary, reading, task.lang),
        details=found.details,
        own=None if found.own is None else _with_taken(found.own, reading, task.lang),
        speech=found.speech,
        not_done=found.not_done or None,
        revises=found.revises,
        version=found.version if found.revises else None,
        run=found.run,
        rests=_rests(task, reading, found) or None,
        workspace=str(workspace.path) if workspace else None,
    )


def _rests(task: Task, reading: Reading, found: Proposed) -> bool:
    """Tell whether a change waits for *Apply*: whoever brings a diff or its ID has said that."""
    asked_here = task.source == "local_ui" and task.attachment is None and task.step is None
    return asked_here and reading.topic is not Topic.APPLY and isinstance(found.proposal, Diff)


def _with_taken(summary: str, reading: Reading, lang: Lang) -> str:
    """Return the summary after what is and is not taken up, where a long list cannot hide it."""
    if meant := reading.intent.params.revises:
        summary = f"{say(words.REVISE_TAKEN, lang, task=meant)}\n{summary}".strip()
    if not reading.left:
        return summary
    # Secrets first: the beginning of one is not recognised any more.
    taken, left = (one_line(redact(text), _QUOTED_BYTES) for text in (reading.taken, reading.left))
    return f"{say(words.LEFT_OVER, lang, taken=taken, left=left)}\n{summary}".strip()


def _intent(task: Task) -> TaskIntent:
    return TaskIntent.model_validate_json(task.intent_json or "")


class Slots:
    """Places for work of one sort, so that nobody takes all at once.

    Whoever sits at this machine never waits for the chat, and no member for another one alone.
    """

    def __init__(self) -> None:
        self._here = asyncio.Semaphore(AT_ONCE)
        self._chat = asyncio.Semaphore(AT_ONCE)
        # Forgotten with the last who waits for it: a gateway names whom it likes.
        own: WeakValueDictionary[tuple[str, str, str], asyncio.Semaphore] = WeakValueDictionary()
        self._own = own

    @asynccontextmanager
    async def taken(self, task: Task) -> AsyncIterator[None]:
        """Hold a place for a task within the context, once there is one."""
        if task.source == "local_ui":
            async with self._here:
                yield
            return
        member = member_of(task)
        own = self._own.setdefault(member, asyncio.Semaphore(OF_ONE))
        async with own, self._chat:
            yield


class Looking:
    """Collects what a request names, what it revises, and the open file; a few tasks at a time."""

    def __init__(self, collector: Collector, conversation: Conversation) -> None:
        self._collector = collector
        self._conversation = conversation
        self._readers = Slots()

    async def into(
        self, workspace: Workspace, task: Task, reading: Reading, intent: TaskIntent
    ) -> Collected:
        """Return what a model may be shown; nothing for the kinds that need no model."""
        if intent.kind not in _ASKS_A_MODEL or reading.topic not in _OF_A_MODEL:
            return Collected()
        before = await self._before(task, reading)
        text = reading.subject if before is None else f"{reading.subject}\n{before.earlier.request}"
        named = text[:_NAMED_IN]
        told = (*(intent.params.files or ()), *find_files(named))
        # Last: whoever asks names what they want looked at, and there is room for ten.
        files = dict.fromkeys((*told, *(before.files if before else ())))
        async with self._readers.taken(task):
            return await self._collector.collect(
                workspace,
                files=tuple(files),
                names=find_names(named),
                text=text,
                around=_around(task),
                review=intent.kind is TaskKind.REVIEW,
            )

    async def _before(self, task: Task, reading: Reading) -> Revised | None:
        """Return what is made anew: the files it names and changes are looked at as well."""
        if reading.topic is not Topic.REVISE or reading.task_id is None:
            return None
        try:
            return await self._conversation.revised(task.task_id, reading.task_id)
        except StateError:
            return None


def _around(task: Task) -> Around | None:
    if task.around_json is None:
        return None
    told = json.loads(task.around_json)
    lines = told.get("lines")
    return Around(active_file=told["file"], selection=tuple(lines) if lines else None)


class SecondReading:
    """Asks a model what kind an unclear text is, where it may be asked (seed 002 §4.1, R63).

    Off unless the person turns it on.  It may pick a kind that only answers or proposes a change;
    it has no words for running anything, and what it cannot be asked stays as it was read.

    Args:
        choose: Gives the model, or None.
        enabled: The setting ``nl.use_model_router``.
        threshold: How sure it must be (setting ``nl.confidence_threshold``).
    """

    def __init__(
        self, choose: Callable[[], Chosen | None], *, enabled: bool, threshold: float
    ) -> None:
        self._choose = choose
        self._enabled = enabled
        self._threshold = threshold

    def is_wanted(self, reading: Reading) -> bool:
        """Tell whether a text is unclear, and there is a model that may be asked about it."""
        wanted = self._enabled and reading.unsure and bool(reading.subject)
        return wanted and self._choose() is not None

    async def of(self, task: Task, reading: Reading) -> Reading:
        """Return the better reading, or the one that stands."""
        chosen = self._choose()
        if chosen is None:
            return reading
        nonce = secrets.token_hex(8)
        turn = Turn(
            task_id=task.task_id,
            instructions=classify_instructions(nonce),
            # Secrets first: the beginning of one is not recognised any more.
            prompt=classify_prompt(redact(reading.subject)[:MAX_CHARS], nonce),
            want="json",
            schema=classification_schema(),
        )
        try:
            async with asyncio.timeout(DEADLINE_S):
                reply = await chosen.backend.ask(turn, _unheard)
            return merged(reading, read_classification(reply.text), threshold=self._threshold)
        except (ModelError, InputError, TimeoutError):
            return reading


def _unheard(_event: ModelEvent) -> None:
    pass
