"""A task as it is told over the control socket: a line of a list, or all of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from common.model.state import Reason, TaskState
from common.text import clip_bytes
from local_agent.store.endings import read_ending
from local_agent.store.tasks import Task
from local_agent.store.turns import StoredTurn

LISTED_BYTES: Final = 600  # of a request in a list; `show` has all of it
DETAILS_BYTES: Final = 200_000  # of what a model says: escaped, it must fit into one answer
SPEECH_BYTES: Final = 100_000  # of its words once more, apart from ours
MAX_FILES: Final = 100
PATH_BYTES: Final = 400
MAX_ROWS: Final = 50  # of edits that were not taken, and of suggested commands
_UNDECIDED: Final = frozenset({TaskState.PROPOSAL_READY, TaskState.WAITING_APPROVAL})


def task_row(task: Task) -> dict[str, Any]:
    """Return a task as one of many."""
    # Whoever asks often and at length must not make the whole list too large to be told.
    row = _task_dict(task) | {"text": clip_bytes(task.text, LISTED_BYTES)}
    # Of what nobody has decided on there are few; all others are told without their diffs read.
    result = _result(task) if task.state in _UNDECIDED else {}
    return row | _standing(task, result) | {"replaced_by": _replaced_by(task)}


def whole_task(task: Task, turns: Sequence[StoredTurn]) -> dict[str, Any]:
    """Return a task with what was proposed and how it ended.

    Args:
        task: As stored.
        turns: Of models that worked on it.
    """
    result = _result(task)
    details = clip_bytes(result.get("details") or "", DETAILS_BYTES) or None
    needs_nothing = (result.get("requires") or {}).get("mode") == "none"
    told = {
        "proposed": result.get("summary"),
        "details": details,
        "own": result.get("own"),
        "speech": _speech(result.get("speech")),
        "answered": needs_nothing and task.reason is not None,
        **_proposal(result.get("proposal") or {}),
        "revises": result.get("revises"),
        "turns": [_turn(turn) for turn in turns],
        "shown": _shown(task),
    }
    return _task_dict(task) | _standing(task, result) | told | read_ending(task.ending_json)


def _result(task: Task) -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(task.proposal_json) if task.proposal_json else {}
    return found


def _standing(task: Task, result: Mapping[str, Any]) -> dict[str, Any]:
    rests = task.state is TaskState.PROPOSAL_READY and result.get("rests") is True
    return {"rests": rests, "version": result.get("version")}


def _replaced_by(task: Task) -> str | None:
    """Return the short ID of the version that stands in place of what this task proposed."""
    if task.reason is not Reason.CANCELLED:
        return None
    found: str | None = read_ending(task.ending_json)["replaced_by"]
    return found


def _proposal(proposal: Mapping[str, Any]) -> dict[str, Any]:
    """Return of what kind it is, and the files of a diff; `diff` has all of it."""
    files = (proposal.get("files") or ()) if proposal.get("type") == "diff" else ()
    return {
        "proposal": proposal.get("type"),
        "files": [
            file | {"path": clip_bytes(file["path"], PATH_BYTES)} for file in files[:MAX_FILES]
        ],
        "files_more": max(len(files) - MAX_FILES, 0),
    }


def _speech(said: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what a model said, apart from our words; None where none spoke."""
    if said is None:
        return None
    return {
        "model": said["model"],
        "text": clip_bytes(said["text"], SPEECH_BYTES),
        "no_edits": said.get("noEdits") is True,
        "not_taken": (said.get("notTaken") or [])[:MAX_ROWS],
        "commands": (said.get("commands") or [])[:MAX_ROWS],
    }


def _turn(turn: StoredTurn) -> dict[str, Any]:
    told = asdict(turn)
    del told["task_id"]
    return told


def _shown(task: Task) -> dict[str, int] | None:
    """Return how much a model was shown; None where nothing was collected."""
    if task.context_json is None:
        return None
    account = json.loads(task.context_json)
    return {"files": account["files"], "bytes": account["bytes"]}


def _task_dict(task: Task) -> dict[str, Any]:
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
