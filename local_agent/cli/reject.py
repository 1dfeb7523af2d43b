"""``codexbridge reject``: refuse what waits.  Refusing needs no code: it can do no harm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from common.home import find_home
from common.sentences import Lang, say
from local_agent.cli import words
from local_agent.cli.choose import waiting_approval
from local_agent.cli.screen import screen_for
from local_agent.faces.control.client import call

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("reject", description=say(words.REJECT, lang))
    parser.add_argument("task", metavar="T-…", nargs="?", help=say(words.TASK_ID_OR_ONLY, lang))
    parser.add_argument("--reason", metavar="TEXT", default="", help=say(words.REJECT_REASON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Reject it."""
    home, screen = find_home(environ), screen_for(lang, environ)
    approval = waiting_approval(home, environ, screen, args.task)
    if approval is None:
        screen.tell(words.NONE_WAITS)
        return 1
    call(
        home,
        environ,
        "decide",
        approval_id=approval.approval_id,
        digest=approval.digest,
        decision="reject",
        typed="",
        reason=args.reason,
    )
    screen.tell(words.REJECTED, task=approval.short_id)
    return 0
