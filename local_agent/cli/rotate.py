"""``codexbridge rotate``: give this machine another key, without pairing it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from common.home import find_home
from common.sentences import Lang, say
from local_agent.cli import words
from local_agent.cli.screen import screen_for
from local_agent.faces.control.client import call

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments: there are none."""
    subparsers.add_parser("rotate", description=say(words.ROTATE, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Have the running agent do it.

    Raises:
        StateError: ``rotate.unpaired``, ``rotate.pending``, ``rotate.too-soon``.
        UnavailableError: ``agent.not-running``.
    """
    made = call(find_home(environ), environ, "rotate")
    screen_for(lang, environ).tell(words.ROTATED, key=made["key_id"])
    return 0
