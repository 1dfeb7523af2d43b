"""``codexbridge undo``: ask to take back what a task has changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from common.home import find_home
from common.ids import parse_short_id
from common.sentences import Lang, say
from local_agent.cli import change_words, words
from local_agent.cli.follow import follow, follow_as_json
from local_agent.cli.screen import screen_for
from local_agent.faces.control.client import stream

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("undo", description=say(change_words.UNDO, lang))
    parser.add_argument("task", metavar="T-…", help=say(words.TASK_ID, lang))
    parser.add_argument(
        "--only",
        metavar="PATH",
        nargs="+",
        action="extend",
        default=[],
        help=say(change_words.UNDO_ONLY, lang),
    )
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Ask for it, and follow it until it waits for a person or was refused."""
    short_id = parse_short_id(args.task)
    steps = stream(find_home(environ), environ, "undo", task=short_id, only=args.only, lang=lang)
    return follow_as_json(steps) if args.json else follow(steps, screen_for(lang, environ))
