"""Reading is remote too: what an answer to the chat may tell, and what it costs (R52, R53).

    request ─admit▶ within the member's day, audited ─▶ model or search ─release▶ bounded, audited
       └── level ``ask`` ─▶ sealed, shown at the machine ─approved▶ told (`releasing`)

Who asks at this machine sees everything.  What may leave is decided by `local_agent.safety`; what
may be read at all, by the path guard before.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Final, Protocol

from common import seal as sealing
from common.clock import Clock
from common.errors import CodexBridgeError
from common.model.intent import TaskIntent, TaskKind
from common.model.proposal import (
    Diff,
    LocalApproval,
    NoRequirement,
    Plan,
    ReadFile,
    Release,
    SearchResults,
    TaskResult,
)
from common.model.state import TaskState
from common.sentences import Lang, say
from local_agent.errors import RefusedError
from local_agent.flow import summaries, words
from local_agent.propose import words as proposal_words
from local_agent.propose.base import Proposed, answer
from local_agent.safety.disclosure import bounded, releasable
from local_agent.store.disclosures import FOR_ALL, Exhausted, Reader, Reading
from local_agent.store.endings import ANSWER_BYTES, CHAT_SUMMARY_BYTES
from local_agent.store.journal import JournalThread
from local_agent.store.tasks import Task
from local_agent.words import render_size
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:
    from local_agent.propose.context.collected import Collected

MAX_SEALED_FILES: Final = 200  # that a seal names; the others are counted

# Errors that come of looking at the workspace, by their families, and the states in which they do.
_OF_WORKSPACE: Final = frozenset(
    {"change", "command", "diff", "files", "path", "sandbox", "scratch", "sync", "undo"}
    | {"workspace"}
)
_AT_WORK: Final = frozenset(
    {TaskState.PROPOSING, TaskState.PROPOSAL_READY, TaskState.WAITING_APPROVAL}
)
_READS: Final = frozenset(
    {TaskKind.EXPLAIN, TaskKind.SEARCH, TaskKind.REVIEW, TaskKind.CHANGE, TaskKind.DIAGNOSE}
    | {TaskKind.PLAYBOOK}
)


class Notice(Protocol):
    """Tells whoever sits at this machine (`local_agent.faces.window.alerts`)."""

    def tell(self, *, who: str, workspace: str, files: int, task: str) -> None:
        """Tell of a read; does not block."""
        ...


class Disclosure:
    """Bounds, charges and records what is read for the chat.

    Args:
        db: Where it is counted and audited.
        notice: Told of each read.
        clock: Says which day it is.
    """

    def __init__(self, db: JournalThread, *, notice: Notice, clock: Clock) -> None:
        self._db = db
        self._notice = notice
        self._clock = clock

    async def admit(
        self, task: Task, workspace: Workspace | None, context: Collected, *, asks: bool
    ) -> Proposed | None:
        """Count a read before a model is asked; or return why it is not made today.

        What was collected and is not shown to anybody counts once it is answered from.  Without a
        workspace there is nobody's day to count it in, so no model works for the chat.

        Args:
            asks: A model is asked, whatever it is shown.

        Raises:
            StoreError: it could not be audited, so nothing may be read.
        """
        if not _is_remote_read(task):
            return None
        if workspace is None:
            nowhere = answer(say(proposal_words.NO_WORKSPACE, task.lang))
            return replace(nowhere, not_done=True) if asks else None
        reader, files = self._reader(task, workspace), _files(context)
        book = self._db.journal.disclosures
        if context.pieces or asks:
            over = await self._db.run(book.begin, reader, _reading(task, workspace, files))
        else:
            over = await self._db.run(book.exhausted, reader, task_id=task.task_id)
        return self._refused(over, task, workspace) if over else None

    async def charge(self, task: Task, workspace: Workspace | None) -> bool:
        """Count a request before a model is asked what it is; False when that is too much.

        Raises:
            StoreError: it could not be counted.
        """
        if task.source != "wecom":
            return True
        if workspace is None:
            return False
        book = self._db.journal.disclosures
        return not await self._db.run(book.charge, self._reader(task, workspace), task.task_id)

    async def release(
        self, task: Task, workspace: Workspace | None, found: Proposed, context: Collected
    ) -> Proposed:
        """Return a proposal as it may leave; one that was asked for at this machine, unchanged.

        Raises:
            StoreError: it could not be counted or audited, so nothing of it may leave.
        """
        if workspace is None or task.source != "wecom":
            return found
        asks = workspace.disclosure == "ask"
        is_own = isinstance(found.proposal, Diff) or isinstance(found.requires, NoRequirement)
        if asks and not is_own:
            return _unnamed(found, task.lang)  # it is shown at the machine, and reads nothing anew
        if not (asks or _is_for_chat(task, found)) or not _tells(found, context):
            return found
        if asks and isinstance(found.proposal, Plan) and found.speech is None:
            # There is no model; which files one would be shown is told at the machine alone.
            return replace(found, summary=found.summary.partition("\n")[0])
        files = _files(context, found)
        # Comparing it with all that was shown takes longer than the event loop may wait.
        leaving = await asyncio.to_thread(_leaving, found, task, workspace, context, files)
        reading = _reading(task, workspace, files, told=_told(leaving))
        over = await self._db.run(
            self._db.journal.disclosures.answer, self._reader(task, workspace), reading
        )
        self._notice.tell(
            who=task.claimed_user,
            workspace=workspace.name,
            files=len(files),
            task=task.short_id,
        )
        if over is None:
            return leaving
        kept = found.details or found.summary
        refused = self._refused(over, task, workspace)
        return replace(refused, details=kept, speech=found.speech)

    def _reader(self, task: Task, workspace: Workspace) -> Reader:
        return Reader(
            workspace=str(workspace.path),
            channel=task.channel,
            claimed_user=task.claimed_user,
            day=_local(self._clock).date().isoformat(),
            reads=workspace.daily_reads,
            bytes=workspace.daily_bytes,
        )

    def _refused(self, over: Exhausted, task: Task, workspace: Workspace) -> Proposed:
        many = FOR_ALL if over.endswith("of-all") else 1
        limit: object = many * workspace.daily_reads
        if over.startswith("bytes"):
            limit = render_size(many * workspace.daily_bytes)
        tomorrow = datetime.combine(_local(self._clock).date() + timedelta(days=1), time())
        free = tomorrow.strftime("%Y-%m-%d %H:%M")
        said = say(words.OVER[over], task.lang, limit=limit, workspace=workspace.name, free=free)
        return replace(answer(said), not_done=True)


def why_not_done(task: Task, error: CodexBridgeError) -> Proposed | None:
    """Return as an answer why the chat's wish cannot be done, where that tells of the workspace."""
    if task.source != "wecom" or task.step is not None or task.state not in _AT_WORK:
        return None
    if _is_release(task):  # that one cannot even be asked for: another would fare no better
        return None
    if isinstance(error, RefusedError):
        tells = error.path is not None
    else:
        tells = error.code.partition(".")[0] in _OF_WORKSPACE
    if not tells:
        return None
    why = summaries.of_early_end(error, task)[1](task.lang)
    return replace(answer(why, details=why), not_done=True)


def _is_release(task: Task) -> bool:
    asked = TaskResult.model_validate_json(task.proposal_json) if task.proposal_json else None
    return asked is not None and isinstance(asked.proposal, Release)


def _is_remote_read(task: Task) -> bool:
    if task.source != "wecom" or task.intent_json is None:
        return False
    return TaskIntent.model_validate_json(task.intent_json).kind in _READS


def _is_for_chat(task: Task, found: Proposed) -> bool:
    """Tell whether it answers a read from the chat; a change says what it is about, too.

    One that is asked for once more (``apply T-…``) is not read again, and names its files again.
    """
    return _is_remote_read(task) or (task.source == "wecom" and isinstance(found.proposal, Diff))


def _tells(found: Proposed, context: Collected) -> bool:
    """Tell whether it holds anything of the workspace: what only says why nothing is done has not.

    A model's words, findings and lists have details for this machine, our own short answers none.
    """
    if not isinstance(found.requires, NoRequirement):
        return isinstance(found.proposal, Diff)
    if isinstance(found.proposal, Plan) and found.speech is None:
        return found.details is not None  # there is no model, and it is said where one would look
    looked = isinstance(found.proposal, SearchResults) or bool(context.files or context.pieces)
    return looked or found.details is not None


def _leaving(
    found: Proposed,
    task: Task,
    workspace: Workspace,
    context: Collected,
    files: Sequence[ReadFile],
) -> Proposed:
    level = workspace.disclosure
    if level == "ask":
        return _held(found, task.lang, files)
    sources = [piece.text for piece in (*context.pieces, *found.shown)]
    if isinstance(found.proposal, SearchResults):
        sources.append("\n".join(item.preview or "" for item in found.proposal.items))
    limit = ANSWER_BYTES if level == "full" else CHAT_SUMMARY_BYTES
    released = bounded(found.summary, sources=sources, level=level, lang=task.lang, limit=limit)
    return replace(found, summary=released.text, details=found.details or found.summary)


def _held(found: Proposed, lang: Lang, files: Sequence[ReadFile]) -> Proposed:
    """Return what waits for a release; a change has an approval of its own, and says less."""
    if isinstance(found.proposal, Diff):
        return _unnamed(found, lang)
    text = releasable(found.summary, lang=lang, limit=ANSWER_BYTES).text
    named = tuple(files[:MAX_SEALED_FILES])
    return Proposed(
        Release(text=text, files=named, more=len(files) - len(named)),
        say(words.KEPT_THERE, lang),
        LocalApproval(action="disclose"),
        details=found.details or found.summary,
        speech=found.speech,
    )


def _unnamed(found: Proposed, lang: Lang) -> Proposed:
    """Return what has an approval of its own, without what it would touch."""
    details = found.details or found.summary
    return replace(found, summary=say(words.KEPT_THERE, lang), details=details)


def _told(leaving: Proposed) -> bytes:
    """Return what is told, at once or once it is released."""
    held = leaving.proposal
    return (held.text if isinstance(held, Release) else leaving.summary).encode()


def _files(context: Collected, found: Proposed | None = None) -> list[ReadFile]:
    """Return what was read: by the hash of what was shown of it, or by name alone."""
    read: dict[str, str | None] = {}
    for piece in (*context.pieces, *(found.shown if found is not None else ())):
        if piece.path and read.get(piece.path) is None:
            read[piece.path] = hashlib.sha256(piece.text.encode("utf-8", "replace")).hexdigest()
    named = [look.path for look in context.files]
    if found is not None and isinstance(found.proposal, SearchResults):
        named += (item.path for item in found.proposal.items)
    for path in named:
        read.setdefault(path, None)
    return [ReadFile(path=path, sha256=sha256) for path, sha256 in read.items()]


def _reading(
    task: Task, workspace: Workspace, files: Sequence[ReadFile], *, told: bytes | None = None
) -> Reading:
    return Reading(
        task_id=task.task_id,
        level=workspace.disclosure,
        files=[sealing.ReadFile(file.path, file.sha256) for file in files],
        answer_sha256=None if told is None else hashlib.sha256(told).hexdigest(),
        bytes=len(told or b""),
    )


def _local(clock: Clock) -> datetime:
    return datetime.fromtimestamp(clock.now().wall_ms / 1000).astimezone()
