"""``codexbridge tasks``: the tasks of this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from common.clock import SystemClock
from common.home import find_home
from common.sentences import Lang, say
from common.terminal import clip_cells, table
from common.text import one_line
from local_agent.approval.dialogs.duration import time_left
from local_agent.cli import words
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.control.client import call

if TYPE_CHECKING:
    import argparse

LIMIT = 100


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("tasks", description=say(words.TASKS, lang))
    parser.add_argument("--all", action="store_true", help=say(words.TASKS_ALL, lang))
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """List the tasks."""
    found = call(find_home(environ), environ, "tasks", all=args.all, limit=LIMIT)["tasks"]
    screen = screen_for(lang, environ)
    if args.json:
        print_json(found)
    elif found:
        print_tasks(screen, found)
    else:
        screen.tell(words.NO_TASKS_AT_ALL if args.all else words.NO_TASKS)
    return 0


def print_tasks(screen: Screen, tasks: Sequence[Mapping[str, Any]]) -> None:
    """Print one line a task: ID, where it stands, who asked, what."""
    now_ms = SystemClock().now().wall_ms
    rows = [
        (
            task["short_id"],
            state_of(screen, task),
            time_left(until, now_ms, screen.lang) if (until := task["expires_at"]) else "",
            asker(screen, task),
            one_line(task["text"], 400),
        )
        for task in tasks
    ]
    for row, line in zip(rows, table(rows), strict=True):
        shown = clip_cells(line, screen.width)
        print(shown.replace(row[0], screen.ink("bold", row[0]), 1))


def state_of(screen: Screen, task: Mapping[str, Any]) -> str:
    """Return in words where a task stands: its reason once it has ended."""
    named = words.REASONS.get(task["reason"] or "") or words.STATES.get(task["state"])
    return screen.say(named) if named else str(task["state"])


def asker(screen: Screen, task: Mapping[str, Any]) -> str:
    """Return who is said to have asked."""
    here = task["source"] == "local_ui"
    return screen.say(words.HERE) if here else one_line(task["claimed_user"], 32)
