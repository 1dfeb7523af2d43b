"""A task as it is told over the control socket: a line of a list, or all of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from common.model.state import Reason, TaskState
from common.text import clip_bytes
from local_agent.store.endings import read_ending
from local_agent.store.tasks import Task
from local_agent.store.turns import StoredTurn
from local_agent.views import Json, Kept
from local_agent.views.task import (
    Ending,
    ListedTask,
    ModelContext,
    ProposedFile,
    ShownTask,
    Speech,
    TaskView,
    Turn,
    WaitingTask,
)

LISTED_BYTES: Final = 600  # of a request in a list; `show` has all of it
DETAILS_BYTES: Final = 200_000  # of what a model says: escaped, it must fit into one answer
SPEECH_BYTES: Final = 100_000  # of its words once more, apart from ours
MAX_FILES: Final = 100
PATH_BYTES: Final = 400
MAX_ROWS: Final = 50  # of edits that were not taken, and of suggested commands
_UNDECIDED: Final = frozenset({TaskState.PROPOSAL_READY, TaskState.WAITING_APPROVAL})


def listed_task(task: Task, *, expires_at: int | None) -> ListedTask:
    """Return a task as one of many."""
    return ListedTask(**_listed(task), expires_at=expires_at)


def waiting_task(task: Task, *, expires_at: int, risk: str) -> WaitingTask:
    """Return a task as one of those that wait for a decision."""
    return WaitingTask(**_listed(task), expires_at=expires_at, risk=risk)


def whole_task(task: Task, turns: Sequence[StoredTurn]) -> TaskView:
    """Return a task with what was proposed and how it ended.

    Args:
        task: As stored.
        turns: Of models that worked on it.
    """
    return TaskView(**_whole(task, turns))


def shown_task(
    task: Task,
    turns: Sequence[StoredTurn],
    *,
    retry_of_short_id: str | None,
    left_to_undo: tuple[str, ...] | None,
) -> ShownTask:
    """Return the same for somebody who looks at it."""
    return ShownTask(
        **_whole(task, turns), retry_of_short_id=retry_of_short_id, left_to_undo=left_to_undo
    )


def _listed(task: Task) -> dict[str, Any]:
    # Whoever asks often and at length must not make the whole list too large to be told.
    row = _row(task) | {"text": clip_bytes(task.text, LISTED_BYTES)}
    # Of what nobody has decided on there are few; all others are told without their diffs read.
    result = _result(task) if task.state in _UNDECIDED else {}
    return row | _standing(task, result) | {"replaced_by": _replaced_by(task)}


def _whole(task: Task, turns: Sequence[StoredTurn]) -> dict[str, Any]:
    result, ending = _result(task), read_ending(task.ending_json)
    proposal: Json = result.get("proposal") or {}
    files = (proposal.get("files") or ()) if proposal.get("type") == "diff" else ()
    needs_nothing = (result.get("requires") or {}).get("mode") == "none"
    return {
        **_row(task),
        **_standing(task, result),
        "replaced_by": ending["replaced_by"],
        "proposed": result.get("summary"),
        "details": clip_bytes(result.get("details") or "", DETAILS_BYTES) or None,
        "own": result.get("own"),
        "speech": _speech(result.get("speech")),
        "answered": needs_nothing and task.reason is not None,
        "proposal": proposal.get("type"),
        "files": tuple(map(_file, files[:MAX_FILES])),
        "files_more": max(len(files) - MAX_FILES, 0),
        "revises": result.get("revises"),
        "turns": tuple(map(_turn, turns)),
        "shown": _shown(task),
        "ending": Kept(Ending, ending),
    }


def _row(task: Task) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "short_id": task.short_id,
        "source": task.source,
        "channel": task.channel,
        "claimed_user": task.claimed_user,
        "text": task.text,
        "workspace": task.workspace,
        "state": task.state.value,
        "reason": task.reason.value if task.reason else None,
        "summary": task.summary,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
        "retry_of": task.retry_of,
    }


def _standing(task: Task, result: Json) -> dict[str, Any]:
    rests = task.state is TaskState.PROPOSAL_READY and result.get("rests") is True
    return {"rests": rests, "version": result.get("version")}


def _result(task: Task) -> Json:
    found: Json = json.loads(task.proposal_json) if task.proposal_json else {}
    return found


def _replaced_by(task: Task) -> str | None:
    """Return the short ID of the version that stands in place of what this task proposed."""
    if task.reason is not Reason.CANCELLED:
        return None
    found: str | None = read_ending(task.ending_json)["replaced_by"]
    return found


def _file(file: Json) -> ProposedFile:
    path = clip_bytes(file["path"], PATH_BYTES)
    return ProposedFile(path, file["additions"], file["deletions"])


def _speech(said: Json | None) -> Speech | None:
    """Return what a model said, apart from our words; None where none spoke."""
    if said is None:
        return None
    return Speech(
        model=said["model"],
        text=clip_bytes(said["text"], SPEECH_BYTES),
        no_edits=said.get("noEdits") is True,
        not_taken=tuple(said.get("notTaken") or ())[:MAX_ROWS],
        commands=tuple(said.get("commands") or ())[:MAX_ROWS],
    )


def _turn(turn: StoredTurn) -> Turn:
    told = asdict(turn)
    del told["task_id"]
    return Turn(**told)


def _shown(task: Task) -> ModelContext | None:
    """Return how much a model was shown; None where nothing was collected."""
    if task.context_json is None:
        return None
    account = json.loads(task.context_json)
    return ModelContext(account["files"], account["bytes"])
