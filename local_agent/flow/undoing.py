"""Which applied change an undo means, and who may ask for it."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import Final

from common.errors import InputError, StateError
from common.model.proposal import LocalApproval, Undo
from common.model.state import Reason
from common.sentences import say
from common.text import reveal
from local_agent.actions.registry import ACTIONS
from local_agent.actions.steps.action import steps_of
from local_agent.actions.undo.action import Applied
from local_agent.flow import words
from local_agent.flow.conversation import OFFERED, offer
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.task import may_see
from local_agent.propose import words as proposal_words
from local_agent.propose.base import CHAT_ROWS, Asked, Proposed, answer, nothing
from local_agent.safety.authority import execute_undo, left_to_undo, parts_to_undo
from local_agent.store.endings import read_ending
from local_agent.store.journal import Journal, JournalThread
from local_agent.workspace.registry import Workspace

_LATEST: Final = re.compile(
    r"\b(?:last|latest|recent|previous|just)\b|上一|上[个次]|刚|最[近后新]", re.IGNORECASE
)


class AppliedChanges:
    """Finds what tasks have applied, in the journal."""

    def __init__(self, db: JournalThread) -> None:
        self._db = db

    async def find(self, short_id: str, workspace: Workspace, part: int | None = None) -> Applied:
        """Return the change that a task applied to this workspace.

        Args:
            short_id: The task.
            workspace: The one that is meant.
            part: Which of several operations of that task is meant, from 0.

        Raises:
            StateError: ``task.unknown``, ``undo.*``: there is nothing to take back.
        """
        return await self._db.run(_find, self._db.journal, short_id, workspace, part)

    async def parts(self, short_id: str) -> tuple[int, ...] | None:
        """Return which of several operations of a task can be taken back; None of a single one.

        Raises:
            StateError: ``task.unknown``, ``undo.*``: there is nothing to take back.
        """
        return await self._db.run(_parts, self._db.journal, short_id)


def _find(journal: Journal, short_id: str, workspace: Workspace, part: int | None) -> Applied:
    task = journal.tasks.named(short_id)
    seal = execute_undo(journal, task.task_id, workspace=workspace.path, known=ACTIONS, part=part)
    left = left_to_undo(journal, seal, ACTIONS)
    ended = {one.part: one.outcome for one in journal.effects.of_task(task.task_id)}
    if ended[part or 0] == Reason.COMPLETED:
        return Applied(seal, left)
    change = read_ending(task.ending_json)["change"] or {}
    mixture = change.get("mixture") or {}
    return Applied(seal, left, whole=False, foreign=tuple(mixture.get("foreign", ())))


def _parts(journal: Journal, short_id: str) -> tuple[int, ...] | None:
    return parts_to_undo(journal, journal.tasks.named(short_id).task_id, known=ACTIONS)


class UndoProposer:
    """Proposes to take back what a task applied.

    A member may ask for their own tasks alone; another's is an unknown one.
    """

    def __init__(self, store: JournalStore, applied: AppliedChanges) -> None:
        self._store = store
        self._applied = applied

    async def propose(self, asked: Asked) -> Proposed:
        """Return the undo, or say truthfully why there is none.

        Without an ID, "the last change" is the newest that can be undone; else it is asked which.

        Raises:
            StateError: ``undo.*``: that task has nothing to take back.
            InputError: ``undo.paths``; ``diff.unknown-path``.
        """
        if asked.workspace is None:
            return nothing(proposal_words.NO_WORKSPACE, asked)
        if asked.about is None:
            return await self._which(asked, asked.workspace)
        if not await self._may_ask(asked, asked.about):
            unknown = say(words.NO_SUCH_TASK, asked.lang, short_id=asked.about)
            return replace(answer(unknown), not_done=True)
        only = _split_paths(asked.text) or None
        if parts := await self._applied.parts(asked.about):
            return await self._of_parts(asked, asked.about, asked.workspace, parts, only)
        applied = await self._applied.find(asked.about, asked.workspace)
        return Proposed(
            Undo(task=asked.about, paths=only),
            _told(asked, asked.workspace, only or applied.left)
            if only or applied.whole
            else _told_rest(asked, asked.workspace, applied.foreign),
            LocalApproval(action="undo"),
        )

    async def _of_parts(
        self,
        asked: Asked,
        about: str,
        workspace: Workspace,
        parts: tuple[int, ...],
        only: tuple[str, ...] | None,
    ) -> Proposed:
        """Return the undo of several operations, the last one first; of one where one is left."""
        left = {
            part: (await self._applied.find(about, workspace, part)).left
            for part in reversed(parts)
        }
        wanted = {part: _among(paths, only) for part, paths in left.items()}
        told = tuple(path for paths in wanted.values() for path in paths)
        if unknown := sorted(set(only or ()).difference(told)):
            raise InputError("diff.unknown-path", path=unknown[0])
        undos = {
            part: Undo(task=about, part=part, paths=paths if only else None)
            for part, paths in wanted.items()
            if paths
        }
        summary = _told(asked, workspace, told)
        if len(undos) == 1:
            [undo] = undos.values()
            return Proposed(undo, summary, LocalApproval(action="undo"))
        first = steps_of(await self._store.named(about))
        steps = tuple(
            first.parts[part].model_copy(update={"action": "undo", "proposal": undo})
            for part, undo in undos.items()
        )
        again = first.model_copy(update={"parts": steps, "message": ""})
        return Proposed(again, summary, LocalApproval(action="steps"))

    async def _which(self, asked: Asked, workspace: Workspace) -> Proposed:
        asker = await self._store.get(asked.task_id)
        latest = await self._store.proposals(asker, since_ms=0, limit=OFFERED)
        found = []
        for task in latest:
            try:
                parts = await self._applied.parts(task.short_id)
                await self._applied.find(task.short_id, workspace, parts[-1] if parts else None)
            except StateError:
                continue
            if _LATEST.search(asked.text):
                return await self.propose(replace(asked, about=task.short_id, text=""))
            found.append(task)
        shown = found[:CHAT_ROWS]
        return offer(words.UNDO_ONE_OF, asked, shown) if shown else nothing(words.UNDO_NONE, asked)

    async def _may_ask(self, asked: Asked, short_id: str) -> bool:
        asker = await self._store.get(asked.task_id)
        try:
            task = await self._store.named(short_id)
        except StateError:
            return False
        return may_see(asker, task)


def _among(paths: tuple[str, ...], only: tuple[str, ...] | None) -> tuple[str, ...]:
    return paths if only is None else tuple(path for path in paths if path in only)


def _told(asked: Asked, workspace: Workspace, paths: tuple[str, ...]) -> str:
    head = say(
        words.WOULD_UNDO,
        asked.lang,
        workspace=workspace.name,
        task=asked.about,
        count=len(paths),
    )
    return "\n".join([head, *_rows(paths, asked)])


def _told_rest(asked: Asked, workspace: Workspace, foreign: tuple[str, ...]) -> str:
    head = say(words.WOULD_RESTORE, asked.lang, workspace=workspace.name, task=asked.about)
    if not foreign:
        return head
    left = say(words.LEFT_AS_THEY_ARE, asked.lang, count=len(foreign))
    return "\n".join([head, left, *_rows(foreign, asked)])


def _rows(paths: tuple[str, ...], asked: Asked) -> list[str]:
    rows = [reveal(path) for path in paths[:CHAT_ROWS]]
    if (rest := len(paths) - CHAT_ROWS) > 0:
        rows.append(say(proposal_words.MORE_FILES, asked.lang, count=rest))
    return rows


def _split_paths(text: str) -> tuple[str, ...]:
    """Return paths that stand one after the other, quoted where they hold blanks.

    Raises:
        InputError: ``undo.paths``: a quote is not closed.
    """
    try:
        return tuple(dict.fromkeys(shlex.split(text)))
    except ValueError:
        raise InputError("undo.paths") from None
