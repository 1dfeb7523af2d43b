"""``codexbridge show``: a task, and everything that would run if it were approved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from common.clock import SystemClock
from common.home import find_home
from common.sentences import Lang, say
from common.text import reveal
from local_agent.cli import words
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.cli.tasks import asker, state_of
from local_agent.control.client import call

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("show", description=say(words.SHOW, lang))
    parser.add_argument("task", metavar="T-…", help=say(words.TASK_ID, lang))
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show it."""
    from common.ids import parse_short_id

    found = call(find_home(environ), environ, "show", task=parse_short_id(args.task))
    if args.json:
        print_json(found)
    else:
        _print(found, screen_for(lang, environ))
    return 0


def _print(found: Mapping[str, Any], screen: Screen) -> None:
    if (approval := found["approval"]) and approval["state"] == "pending":
        from local_agent.approval.dialogs.question import read_question
        from local_agent.approval.dialogs.terminal import render

        question = read_question(approval)
        now_ms = SystemClock().now().wall_ms
        page = render(question, lang=screen.lang, width=screen.width, ink=screen.ink, now_ms=now_ms)
        print("\n".join(page))
        screen.tell(words.WAITS, task=question.seal.short_id)
        return
    task = found["task"]
    rows = [
        (words.TASK, [screen.ink("bold", task["short_id"])]),
        (words.STATE, [state_of(screen, task)]),
        (words.ASKED_BY, [asker(screen, task)]),
        (words.REQUEST, screen.quote(task["text"], 12)),
    ]
    if task["workspace"]:
        rows.append((words.WORKSPACE_LABEL, screen.quote(task["workspace"], 12)))
    if task["summary"]:
        rows.append((words.SUMMARY, reveal(task["summary"]).split("\n")))
    screen.fields(rows)
