"""What a proposal looks at: what the request names, what it revises, and the open file."""

from __future__ import annotations

import json
from typing import Final

from common.errors import StateError
from common.model.intent import TaskIntent, TaskKind
from local_agent.context.collector import Around, Collected, Collector
from local_agent.flow.conversation import Conversation, Revised
from local_agent.flow.slots import Slots
from local_agent.store.tasks import Task
from local_agent.understand.params import find_files, find_names
from local_agent.understand.reading import Reading
from local_agent.workspace.registry import Workspace

_KINDS: Final = frozenset({TaskKind.EXPLAIN, TaskKind.CHANGE, TaskKind.DIAGNOSE, TaskKind.REVIEW})
_TOPICS: Final = frozenset({"plain", "plan", "patch", "revise"})
_NAMED_IN: Final = 2000  # characters of the text in which names are looked for


class Looking:
    """Collects, a few tasks at a time."""

    def __init__(self, collector: Collector, conversation: Conversation) -> None:
        self._collector = collector
        self._conversation = conversation
        self._readers = Slots()

    async def into(
        self, workspace: Workspace, task: Task, reading: Reading, intent: TaskIntent
    ) -> Collected:
        """Return what a model may be shown; nothing for the kinds that need no model."""
        if intent.kind not in _KINDS or reading.topic.value not in _TOPICS:
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
        if reading.topic.value != "revise" or reading.task_id is None:
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
