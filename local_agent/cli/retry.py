"""``codexbridge retry``: asks again for what a task that has ended asked for, as a new task.

Nothing is run again by that: the new task is proposed and approved like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from common.errors import InputError
from common.home import find_home
from common.ids import parse_short_id
from common.sentences import Lang, say
from local_agent.cli import words
from local_agent.cli.follow import follow, follow_as_json
from local_agent.cli.screen import Screen, at_keyboard, read_answer, screen_for
from local_agent.faces.control.client import call, stream

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("retry", description=say(words.RETRY, lang))
    parser.add_argument("task", metavar="T-…", help=say(words.TASK_ID, lang))
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Put the request again and follow it until it has ended or waits for a person.

    Raises:
        StateError: ``retry.open``: the task has not ended.
        InputError: ``retry.unknown``: it may have taken effect, and nobody can be asked.
    """
    from local_agent.views.codec import from_json
    from local_agent.views.question import Shown

    home, screen = find_home(environ), screen_for(lang, environ)
    short_id = parse_short_id(args.task)
    first = from_json(Shown, call(home, environ, "show", task=short_id)).task
    may_have_run = first.reason == "unknown"
    if may_have_run and not _sure(screen, short_id, as_json=args.json):
        screen.tell(words.KEPT)
        return 1
    steps = stream(home, environ, "retry", task=short_id, may_have_run=may_have_run)
    return follow_as_json(steps) if args.json else follow(steps, screen)


def _sure(screen: Screen, short_id: str, *, as_json: bool) -> bool:
    if as_json or not at_keyboard():
        raise InputError("retry.unknown", task=short_id)
    return read_answer(screen.say(words.RETRY_SURE, task=short_id)) in ("yes", "是")
