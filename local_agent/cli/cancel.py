"""``codexbridge cancel``: stop a task, waiting or running."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from common.home import find_home
from common.ids import parse_short_id
from common.sentences import Lang, say
from local_agent.cli import words
from local_agent.cli.screen import screen_for
from local_agent.faces.control.client import call

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("cancel", description=say(words.CANCEL, lang))
    parser.add_argument("task", metavar="T-…", help=say(words.TASK_ID, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Cancel it."""
    short_id = parse_short_id(args.task)
    call(find_home(environ), environ, "cancel", task=short_id)
    screen_for(lang, environ).tell(words.CANCELLED, task=short_id)
    return 0
