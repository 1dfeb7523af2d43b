"""``codexbridge ask``: the same request as a chat message, from this terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from common.home import find_home
from common.sentences import Lang, language_of, say
from local_agent.cli import words
from local_agent.cli.follow import follow
from local_agent.cli.screen import print_json, screen_for
from local_agent.control.client import stream

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("ask", description=say(words.ASK, lang))
    parser.add_argument("text", help=say(words.ASK_TEXT, lang))
    parser.add_argument("--workspace", metavar="NAME", help=say(words.ASK_WORKSPACE, lang))
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Put the request and follow it until it has ended or waits for a person."""
    steps = stream(
        find_home(environ),
        environ,
        "ask",
        text=args.text,
        lang=language_of(args.text, lang),
        workspace=args.workspace or "",
    )
    if not args.json:
        return follow(steps, screen_for(lang, environ))
    *_, (_, last) = steps
    print_json(last["task"])
    return 0
