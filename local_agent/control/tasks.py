"""A task as it is told over the control socket: a line of a list, or all of it."""

from __future__ import annotations

import json
from typing import Any, Final

from common.text import clip_bytes
from local_agent.store.endings import read_ending
from local_agent.store.tasks import Task

LISTED_BYTES: Final = 600  # of a request in a list; `show` has all of it
DETAILS_BYTES: Final = 200_000  # of what a model says: escaped, it must fit into one answer


def task_row(task: Task) -> dict[str, Any]:
    """Return a task as one of many."""
    # Whoever asks often and at length must not make the whole list too large to be told.
    return _task_dict(task) | {"text": clip_bytes(task.text, LISTED_BYTES)}


def whole_task(task: Task) -> dict[str, Any]:
    """Return a task with what was proposed and how it ended."""
    result = json.loads(task.proposal_json) if task.proposal_json else {}
    details = clip_bytes(result.get("details") or "", DETAILS_BYTES) or None
    needs_nothing = (result.get("requires") or {}).get("mode") == "none"
    told = {
        "proposed": result.get("summary"),
        "details": details,
        "answered": needs_nothing and task.reason is not None,
    }
    return _task_dict(task) | told | read_ending(task.ending_json)


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
