"""``codexbridge ask``: the same request as a chat message, from this terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from common.errors import InputError
from common.home import find_home
from common.sentences import Lang, language_of, say
from local_agent.cli import proposal_words, words
from local_agent.cli.follow import follow, follow_as_json
from local_agent.cli.screen import screen_for
from local_agent.faces.control.client import stream

if TYPE_CHECKING:
    import argparse

_PLACE = re.compile(r"(?P<file>.+?)(?::(?P<first>[0-9]{1,7})(?:-(?P<last>[0-9]{1,7}))?)?")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("ask", description=say(words.ASK, lang))
    parser.add_argument("text", help=say(words.ASK_TEXT, lang))
    parser.add_argument("--workspace", metavar="NAME", help=say(words.ASK_WORKSPACE, lang))
    parser.add_argument("--at", metavar="FILE[:A[-B]]", help=say(proposal_words.ASK_AT, lang))
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Put the request and follow it until it has ended or waits for a person.

    Raises:
        InputError: ``ask.at``: the place cannot be read.
    """
    steps = stream(
        find_home(environ),
        environ,
        "ask",
        text=args.text,
        lang=language_of(args.text, lang),
        workspace=args.workspace or "",
        **(_at(args.at) if args.at else {}),
    )
    return follow_as_json(steps) if args.json else follow(steps, screen_for(lang, environ))


def _at(place: str) -> dict[str, Any]:
    """Return file, first and last line of ``src/app.py:10-20``; 0 where no line is named."""
    found = _PLACE.fullmatch(place)
    first = int((found and found["first"]) or 0)
    last = int((found and found["last"]) or first)
    if found is None or last < first:
        raise InputError("ask.at", place=place)
    return {"file": found["file"], "first": first, "last": last}
