"""``codexbridge gateway tasks``: what was asked of which machine, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from common.sentences import Lang, say
from gateway.faces.cli import Command, Console, Subparsers, add_json, described
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse

    from gateway.store.tasks import Task

LISTED: Final = 100  # unless another number is asked for
MOST: Final = 10_000


def add_parsers(actions: Subparsers, lang: Lang) -> None:
    """Declare the arguments."""
    tasks = described(actions, "tasks", texts.TASKS, lang)
    tasks.add_argument("--all", action="store_true", help=say(texts.TASKS_ALL, lang))
    tasks.add_argument(
        "--limit", type=int, default=LISTED, metavar="N", help=say(texts.TASKS_LIMIT, lang)
    )
    add_json(tasks, lang)


def run(args: argparse.Namespace, console: Console) -> int:
    """List the tasks.

    Raises:
        InputError: ``tasks.limit``.
    """
    from common.errors import InputError
    from gateway.store import agents, tasks

    if not 1 <= args.limit <= MOST:
        raise InputError("tasks.limit", most=MOST)
    ended_too = args.all or args.json
    with console.open_store() as store:
        # One more than is shown tells whether there are more.
        found = store.read(tasks.newest, limit=args.limit + 1, ended_too=ended_too)
        machines = {agent.agent_id: agent.machine for agent in store.read(agents.everyone)}
        empty = not found and not store.read(tasks.newest, limit=1)
    listed = [_record(task, machines) for task in found[: args.limit]]
    if args.json:
        return console.print_json(listed)
    if not listed:
        return console.tell(texts.NO_TASKS_AT_ALL if empty else texts.NO_TASKS)
    console.print_table([_row(task, console) for task in listed])
    if len(found) > args.limit:
        console.tell(texts.TASKS_MORE, count=args.limit)
    return 0


COMMANDS: Final[Mapping[str, Command]] = {"tasks": run}


def _record(task: Task, machines: Mapping[str, str]) -> dict[str, Any]:
    # What was asked is the member's: it is not in an admin's listing.
    return {
        "task_id": task.task_id,
        "short_id": task.short_id,
        "machine": machines.get(task.agent_id),
        "app": task.app,
        "user": task.user_id,
        "state": task.state.value,
        "reason": task.reason.value if task.reason else None,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
        "expires_at": task.expires_at,
    }


def _row(task: Mapping[str, Any], console: Console) -> Sequence[str]:
    from gateway.base.messages import Person

    return (
        task["short_id"],
        console.say(texts.OUTCOMES.get(task["reason"]) or texts.STATES[task["state"]]),
        console.moment(task["created_at"], "%m-%d %H:%M"),
        task["machine"] or "—",
        str(Person(task["app"], task["user"])),
    )
