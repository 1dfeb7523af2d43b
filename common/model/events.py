"""The five events that every face reads (seed 002 §7)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from common.model.base import SeedModel
from common.model.intent import TaskIntent
from common.model.proposal import TaskResult
from common.model.state import Reason, Status, TaskState


class _OfTask(SeedModel):
    thread_id: str
    task_id: str


class TaskStart(_OfTask):
    """The task was understood."""

    type: Literal["task_start"] = "task_start"
    intent: TaskIntent


class TaskStateChanged(_OfTask):
    """The task is in a state; told again with a message while work goes on."""

    type: Literal["task_state"] = "task_state"
    state: TaskState
    message: str | None = None


class TaskStreamChunk(_OfTask):
    """A piece of a growing text, for this machine's own faces."""

    type: Literal["task_stream_chunk"] = "task_stream_chunk"
    message_id: str
    chunk: str


class TaskProposed(_OfTask):
    """The proposal stands."""

    type: Literal["task_proposal"] = "task_proposal"
    result: TaskResult


class TaskEnd(_OfTask):
    """The task is over.  ``reason`` is our addition beside the seed's three statuses (P7)."""

    type: Literal["task_end"] = "task_end"
    status: Status
    reason: Reason | None = None


TaskEvent = Annotated[
    TaskStart | TaskStateChanged | TaskStreamChunk | TaskProposed | TaskEnd,
    Field(discriminator="type"),
]

_EVENT: TypeAdapter[TaskEvent] = TypeAdapter(TaskEvent)


def parse_event(text: str | bytes) -> TaskEvent:
    """Read one event from its JSON text.

    Raises:
        pydantic.ValidationError: it is none of the five, or has unknown fields.
    """
    return _EVENT.validate_json(text)
