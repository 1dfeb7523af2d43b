"""Which of the waiting approvals is meant: the one that was named, or the only one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from common.errors import InputError, StateError
from common.home import Home
from common.ids import parse_short_id
from local_agent.cli.ending import headline
from local_agent.cli.screen import Screen
from local_agent.cli.tasks import print_tasks
from local_agent.faces.control.client import call

if TYPE_CHECKING:
    from local_agent.views.codec import Json
    from local_agent.views.question import ApprovalView


def waiting_approval(
    home: Home, environ: Mapping[str, str], screen: Screen, named: str | None, *, op: str = "show"
) -> ApprovalView | None:
    """Return the pending approval that is meant, as the agent shows it.

    Args:
        home: The installation.
        environ: For the socket's place.
        screen: Where several are listed.
        named: The task's ID, when one was given.
        op: ``show``, or ``refresh`` to have it asked anew where it would be out of date.

    Returns:
        None when nothing waits.

    Raises:
        InputError: ``approve.several`` (after listing them) or ``input.task-id``.
        StateError: ``approve.not-waiting``, ``approve.ended``.
    """
    from local_agent.views.codec import from_json
    from local_agent.views.task import TaskList

    if named is None:
        told = from_json(TaskList, call(home, environ, "tasks", all=False, limit=100))
        waiting = [task for task in told.tasks if task.state == "WAITING_APPROVAL"]
        if not waiting:
            return None
        if len(waiting) > 1:
            print_tasks(screen, waiting)
            raise InputError("approve.several", count=len(waiting))
        short_id = waiting[0].short_id
    else:
        short_id = parse_short_id(named)
    return pending_in(call(home, environ, op, task=short_id), screen)


def pending_in(found: Json, screen: Screen) -> ApprovalView:
    """Return the approval that the agent told, when it waits for a decision.

    Raises:
        StateError: ``approve.not-waiting``; ``approve.ended`` with ``how``.
    """
    from local_agent.views.codec import from_json
    from local_agent.views.question import Shown

    shown = from_json(Shown, found)
    approval, task = shown.approval, shown.task
    if approval is not None and approval.state == "pending":
        return approval
    if task.reason:
        how = next(iter(headline(screen, task)), "")  # the rest has `codexbridge show`
        raise StateError("approve.ended", task=task.short_id, how=how)
    raise StateError("approve.not-waiting", task=task.short_id)
