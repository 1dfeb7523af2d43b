"""The one place on the agent that changes the state of a task, and tells everyone who reads.

Each method is one arrow of the state machine: it writes row, events and report in one transaction,
then hands the same events to the bus.  Whatever leaves for the chat is in the task's language,
redacted, revealed and bounded here, at the exit (R54, R26); whoever sits at this machine gets the
same words in the language of their terminal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from common.clock import Clock
from common.errors import StoreError
from common.ids import new_short_id
from common.model.intent import TaskIntent
from common.model.proposal import (
    PlaybookEvent,
    TaskEnd,
    TaskEvent,
    TaskProposed,
    TaskResult,
    TaskStart,
    TaskStateChanged,
    TaskStreamChunk,
)
from common.model.state import Reason, TaskState, final_of
from common.protocol.bodies import EventBody, ResultBody
from common.sentences import LANGS, Words, same
from local_agent.flow.bus import Bus, Told
from local_agent.flow.journal_store import JournalStore
from local_agent.store.endings import ANSWER_BYTES, CHAT_SUMMARY_BYTES, for_chat, write_ending
from local_agent.store.tasks import Change, NewTask, Task
from local_agent.views.task import DOUBT

_SILENT: Final = same("")
# Nobody waits for these steps: a power cut may undo them, and they are taken again.
_ON_ITS_WAY: Final = frozenset(
    {
        TaskState.ROUTED,
        TaskState.CONTEXT_COLLECTED,
        TaskState.PROPOSING,
        TaskState.PROPOSAL_READY,
        TaskState.EXECUTING,
    }
)
ID_LENGTHS: Final = (4, 4, 5, 5)  # of the short IDs tried when one is taken


@dataclass(frozen=True, slots=True)
class Waiting:
    """What the chat is told while a person must decide.

    Attributes:
        seal_code: The fingerprint shown everywhere.
        expires_at: Milliseconds since the epoch.
        machine: Where the decision is made.
    """

    seal_code: str
    expires_at: int
    machine: str

    def to_dict(self) -> dict[str, Any]:
        """Return the record of the event body."""
        return {
            "seal_code": self.seal_code,
            "expires_at": self.expires_at,
            "machine": self.machine,
        }


def may_see(asker: Task, task: Task) -> bool:
    """Tell whether who asked one task may know of another: their own, or all at the machine.

    What was asked at the machine is no member's, whatever channel and name a gateway claims.
    """
    if asker.source == "local_ui":
        return True
    return (asker.source, member_of(asker)) == (task.source, member_of(task))


def member_of(task: Task) -> tuple[str, str, str]:
    """Return whose a task of the chat is: channel, app and id; an id alone is not one person's.

    The gateway's threads are ``channel:app:chat``, where the app may be ``corp/app``.
    """
    channel, _, rest = task.thread_id.partition(":")
    app, _, chat = rest.partition(":")
    return (task.channel, app if channel == task.channel and chat else "", task.claimed_user)


class TaskLog:
    """Writes every step of every task."""

    def __init__(self, store: JournalStore, bus: Bus, clock: Clock) -> None:
        self._store = store
        self._bus = bus
        self._clock = clock

    def received(self, task: Task) -> None:
        """The task is begun, or begun anew: for this machine's faces; the journal has its row."""
        self._bus.publish(Told(_state_changed(task, TaskState.RECEIVED, "")))

    async def routed(self, task: Task, intent: TaskIntent, *, reading: str) -> Task:
        """The task was understood: ROUTED, with the seed's ``task_start``.

        Args:
            intent: What was understood, as it is shown.
            reading: The rest of it, for the steps that follow.
        """
        start = TaskStart(thread_id=task.thread_id, task_id=task.task_id, intent=intent)
        return await self._enter(
            task,
            TaskState.ROUTED,
            events=[start],
            intent_json=intent.to_json(),
            reading_json=reading,
        )

    async def entered(self, task: Task, state: TaskState, message: Words = _SILENT) -> Task:
        """The task is in the next state, and nothing else is to be said."""
        return await self._enter(task, state, message=message)

    async def collected(self, task: Task, shown: Mapping[str, Any]) -> Task:
        """What a model may be shown is found: CONTEXT_COLLECTED, with its names and sizes."""
        return await self._enter(task, TaskState.CONTEXT_COLLECTED, context_json=_compact(shown))

    async def collected_again(self, task: Task, shown: Mapping[str, Any]) -> Task:
        """What a model is shown after a restart, in place of what was found before it."""
        return await self._enter(task, task.state, context_json=_compact(shown))

    async def proposed(self, task: Task, result: TaskResult) -> Task:
        """The proposal stands: PROPOSAL_READY.  The whole result is kept for whoever resumes."""
        told = TaskProposed(thread_id=task.thread_id, task_id=task.task_id, result=result)
        return await self._enter(
            task, TaskState.PROPOSAL_READY, events=[told], proposal_json=result.to_json()
        )

    async def waiting(self, task: Task, message: Words, waiting: Waiting) -> Task:
        """A person must decide: WAITING_APPROVAL, or once more with another seal."""
        return await self._enter(task, TaskState.WAITING_APPROVAL, message=message, waiting=waiting)

    def streamed(self, task: Task, message_id: str, chunk: str) -> None:
        """A model said something more: for this machine's own faces, and in no journal."""
        event = TaskStreamChunk(
            thread_id=task.thread_id, task_id=task.task_id, message_id=message_id, chunk=chunk
        )
        self._bus.publish(Told(event))

    def played(self, task: Task, event: Mapping[str, Any]) -> None:
        """A run of a playbook told something: for this machine's own faces, and in no journal."""
        told = {key: value for key, value in event.items() if not key.startswith("_")}
        said = PlaybookEvent(thread_id=task.thread_id, task_id=task.task_id, event=told)
        self._bus.publish(Told(said))

    async def narrowed(
        self, task: Task, result: TaskResult, message: Words = _SILENT, *, chat: bool = True
    ) -> Task:
        """Another proposal takes its place, as a part of it; the state is as it was.

        Args:
            chat: Whether the gateway hears of it.
        """
        told = TaskProposed(thread_id=task.thread_id, task_id=task.task_id, result=result)
        return await self._enter(
            task,
            task.state,
            message=message,
            events=[told],
            proposal_json=result.to_json(),
            chat=chat,
        )

    async def told(
        self, task: Task, message: Words, *, chat: bool = True, urgent: bool = False
    ) -> Task:
        """The state is as it was; there is something to say about it.

        Args:
            task: Of which.
            message: What.
            chat: Whether the gateway is told as well, or this machine's own faces alone.
            urgent: Whether somebody waits for it; else it may leave a moment later.
        """
        return await self._enter(task, task.state, message=message, chat=chat, urgent=urgent)

    async def ended(
        self,
        task: Task,
        reason: Reason,
        summary: Words,
        *,
        here: Words | None = None,
        did: Mapping[str, Any] | None = None,
        limit: int = CHAT_SUMMARY_BYTES,
    ) -> Task:
        """The task is over; the reason decides the final state (P7).

        Args:
            summary: For the chat.
            here: The words for this machine, where they are others than the chat's.
            did: What it did, for this machine alone.
            limit: Bytes of what the chat is told at most.
        """
        state, status = final_of(reason)
        told = for_chat(summary(task.lang), limit)
        # An answer is no deed, whatever it says was done (P7); a run of a playbook may be one.
        is_deed = limit != ANSWER_BYTES or task.run is not None
        is_done = reason is Reason.COMPLETED and is_deed and told and not told.startswith(DOUBT)
        at_ms = self._clock.now().wall_ms
        events: list[TaskEvent] = [
            _state_changed(task, state, told),
            TaskEnd(thread_id=task.thread_id, task_id=task.task_id, status=status, reason=reason),
        ]
        result = ResultBody(
            task_id=task.task_id,
            task_sha256=task.envelope_sha256 or "",
            state=state,
            reason=reason,
            summary=f"✓ {told}" if is_done else told,
            at=at_ms,
        )
        change = Change(
            task_id=task.task_id,
            expected=task.state,
            state=state,
            at_ms=at_ms,
            reason=reason,
            summary=told,
            ending_json=write_ending(here or summary, did),
            events=[event.to_dict() for event in events],
            reports=[("result", result.to_dict())],
        )
        words = here or summary
        said = {lang: text for lang in LANGS if (text := words(lang))}
        changed, ended = events
        return await self._write(change, [Told(changed, said), Told(ended)])

    async def _enter(
        self,
        task: Task,
        state: TaskState,
        *,
        message: Words = _SILENT,
        waiting: Waiting | None = None,
        events: Sequence[TaskEvent] = (),
        intent_json: str | None = None,
        proposal_json: str | None = None,
        context_json: str | None = None,
        reading_json: str | None = None,
        chat: bool = True,
        urgent: bool = False,
    ) -> Task:
        said = for_chat(message(task.lang), CHAT_SUMMARY_BYTES)
        at_ms = self._clock.now().wall_ms
        body = EventBody(
            task_id=task.task_id,
            state=state,
            message=said,
            waiting=waiting.to_dict() if waiting else None,
            at=at_ms,
        )
        changed = _state_changed(task, state, said)
        here = {lang: text for lang in LANGS if (text := message(lang))}
        change = Change(
            task_id=task.task_id,
            expected=task.state,
            state=state,
            at_ms=at_ms,
            intent_json=intent_json,
            proposal_json=proposal_json,
            context_json=context_json,
            reading_json=reading_json,
            events=[event.to_dict() for event in (*events, changed)],
            reports=[("event", body.to_dict())] if chat else [],
            synced=urgent
            or state not in _ON_ITS_WAY
            or (state is TaskState.PROPOSAL_READY and bool(said)),
        )
        return await self._write(change, [*map(Told, events), Told(changed, here)])

    async def _write(self, change: Change, told: Sequence[Told]) -> Task:
        task = await self._store.change(change)
        for one in told:
            self._bus.publish(one)
        return task


def _compact(shown: Mapping[str, Any]) -> str:
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))


def _state_changed(task: Task, state: TaskState, message: str) -> TaskStateChanged:
    return TaskStateChanged(
        thread_id=task.thread_id, task_id=task.task_id, state=state, message=message or None
    )


async def submit_named(
    submit: Callable[[NewTask], Coroutine[Any, Any, Task]], new: NewTask
) -> Task:
    """Submit a task, under another short ID where its own is taken.

    Raises:
        StoreError: ``store.short-id-taken``: so were all that were tried; ``store.failed``.
    """
    for length in ID_LENGTHS:
        try:
            return await submit(new)
        except StoreError as error:
            if error.code != "store.short-id-taken":
                raise
        new = replace(new, short_id=new_short_id("agent", length=length))
    return await submit(new)
