"""Requests that go on from an earlier proposal: which one is meant, and where that was made.

``revise use longer names`` names no proposal.  Where its asker has one alone in the conversation,
that is meant; what was found is kept with the intent, so that it stays the same to the end.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from dataclasses import replace
from typing import Final

from common.errors import InputError, StateError
from common.model.intent import IntentParams, TaskIntent, TaskKind
from common.verbs import BY_NAME, Topic
from local_agent.flow.conversation import Conversation, result_of
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.ports import Workspaces
from local_agent.flow.task import may_see
from local_agent.store.tasks import Task
from local_agent.understand.folding import fold, seen
from local_agent.understand.reading import Reading
from local_agent.workspace.registry import Workspace, is_copy

_STRICTEST_FIRST: Final = ("ask", "summary", "full")
_GOES_ON: Final = frozenset({Topic.REVISE, Topic.APPLY, Topic.UNDO})
_REVISE: Final = BY_NAME["revise"]
_WORD: Final = "(?:{})".format("|".join(sorted((_REVISE.name, *_REVISE.aliases), reverse=True)))
_SPACED: Final = re.compile(
    rf"\s*{_WORD}[:,;.：，；、。]?\s+(?!nothing\b|none\b)(\S.*)", re.DOTALL | re.IGNORECASE
)
_GLUED: Final = re.compile(rf"\s*{_WORD}([^\x00-\x7f].*)", re.DOTALL)
# "raise" and "find" can be IDs, and mostly are words.
_WORD_AS_ID: Final = re.compile(rf"{_WORD}\W+([a-z]{{4,5}}\b.*)", re.DOTALL | re.IGNORECASE)
# "T-7K3", "T 7K3F", "«7K3FX9»", "task-7K3F": somebody mistyped an ID, and no other proposal may be
# taken for theirs.
_LIKE_AN_ID: Final = re.compile(
    r"\W*(?:t(?:[^\w\s]\S*)?|task[^\w\s]+(?=\S*\d)\S*|(?=\w*\d)[0-9a-z]{2,7}\W*)", re.ASCII
)


class Following:
    """Finds what a request goes on from.

    Args:
        store: The journal of tasks.
        conversation: Which proposals there were.
        workspaces: Where they may have been made.
    """

    def __init__(
        self, store: JournalStore, conversation: Conversation, workspaces: Workspaces
    ) -> None:
        self._store = store
        self._conversation = conversation
        self._workspaces = workspaces

    async def meant(self, task: Task, reading: Reading) -> Reading:
        """Return a revision that names no proposal with the one it means; all else as it is."""
        wish = await self._bare_wish(task, reading)
        if wish is None:
            return reading
        found = await self._conversation.revisable(task)
        if not found and reading.topic is Topic.PLAIN:
            return reading  # "revise the README" asks for something new
        is_clear = len(found) == 1 and wish.strip() and not _begins_like_an_id(wish)
        return _revision(reading, wish, found[0].short_id if is_clear else "")

    async def place(self, task: Task, reading: Reading) -> Workspace | None:
        """Return the workspace that a request is about; None where none has been added.

        Raises:
            InputError: ``workspace.unknown``; ``workspace.closed``: what it goes on from was made
                in one that is no longer open.
        """
        first = await self._first(task, reading)
        try:
            return await asyncio.to_thread(made_in, self._workspaces, first or task)
        except InputError as error:
            if error.code == "workspace.none":
                return None
            raise

    async def _bare_wish(self, task: Task, reading: Reading) -> str | None:
        """Return what is to be otherwise where a revision names no proposal; None for all else."""
        if reading.topic is Topic.PLAIN:
            return _free_wish(reading)
        if reading.topic is not Topic.REVISE:
            return None
        if reading.task_id is None:
            return reading.subject
        found = _WORD_AS_ID.search(task.text)
        return found[1] if found and await self._theirs(task, reading.task_id) is None else None

    async def _first(self, task: Task, reading: Reading) -> Task | None:
        if reading.topic not in _GOES_ON or reading.task_id is None:
            return None
        first = await self._theirs(task, reading.task_id)
        result = result_of(first) if first else None
        return first if result and result.workspace is not None else None

    async def _theirs(self, task: Task, short_id: str) -> Task | None:
        """Return a task by its name; another's is an unknown one."""
        try:
            found = await self._store.named(short_id)
        except StateError:
            return None
        return found if may_see(task, found) else None


def as_meant(reading: Reading, intent: TaskIntent) -> Reading:
    """Return a request as it was taken to mean when its intent was kept."""
    about, wish = intent.params.revises, intent.params.change_request
    return reading if about is None else _revision(reading, wish or "", about)


def made_in(workspaces: Workspaces, task: Task) -> Workspace:
    """Return the workspace that a task is about: that of its proposal, once it has one.  Blocking.

    What a dry run asks is about its copy, and about nothing else.

    Raises:
        InputError: ``workspace.closed`` (task); ``workspace.unknown``, ``workspace.none``;
            ``copy.gone``.
    """
    if task.step is not None and task.workspace is not None and is_copy(task.workspace):
        return workspaces.copy(task.run or "", task.workspace)
    result = result_of(task)
    if result is None or result.workspace is None:
        return workspaces.find(task.workspace)
    found = workspaces.at(result.workspace)
    if found is None:
        raise InputError("workspace.closed", task=task.short_id)
    return found


def as_set_now(workspaces: Workspaces, task: Task, workspace: Workspace) -> Workspace:
    """Return a workspace as the list has it by now.  Blocking.

    A level that was raised meanwhile holds from the next request on: people were shown this one.

    Raises:
        InputError: ``workspace.closed`` (task): it was taken off; ``copy.gone``.
    """
    if is_copy(workspace.name):
        return made_in(workspaces, task)
    found = workspaces.at(str(workspace.path))
    if found is None:
        raise InputError("workspace.closed", task=task.short_id)
    level = min(found.disclosure, workspace.disclosure, key=_STRICTEST_FIRST.index)
    return replace(found, disclosure=level)


def _free_wish(reading: Reading) -> str | None:
    if found := _SPACED.fullmatch(reading.subject):
        return found[1]
    # Chinese is written without blanks, and the word is a noun as well.
    glued = _GLUED.fullmatch(reading.subject)
    return glued[1] if glued and reading.intent.kind is TaskKind.CHANGE else None


def _begins_like_an_id(wish: str) -> bool:
    word = unicodedata.normalize("NFKC", wish.split(maxsplit=1)[0])
    return _LIKE_AN_ID.fullmatch(fold(seen(word))) is not None


def _revision(reading: Reading, wish: str, about: str) -> Reading:
    intent = reading.intent.model_copy(
        update={
            # Which one is meant is asked, and no model for that.
            "kind": TaskKind.CHANGE if about else TaskKind.HELP,
            "confidence": 1.0,
            "params": IntentParams(change_request=wish or None, revises=about),
        }
    )
    return replace(
        reading,
        intent=intent,
        topic=Topic.REVISE,
        unsure=False,
        subject=wish,
        task_id=about or None,
    )
