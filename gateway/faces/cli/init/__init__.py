"""``codexbridge gateway init``: from nothing to a running gateway, a member and a pairing line.

`draft` is what the files hold so far, `asking` the terminal, `flow` the steps one after another,
`live` what needs the running gateway.  Whatever was answered stands in its file before the next
question is asked, so that a run that was cut off at any point is taken up by the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.sentences import Lang, say
from gateway.faces.cli import Subparsers, add_json, described
from gateway.faces.cli.init import texts

if TYPE_CHECKING:
    import argparse

NAME: Final = "init"


def add_parsers(actions: Subparsers, lang: Lang) -> None:
    """Declare the arguments."""
    parser = described(actions, NAME, texts.INIT, lang)
    for flag, metavar, text in texts.FLAGS:
        kind = int if metavar in ("PORT", "ID") else str
        parser.add_argument(flag, type=kind, metavar=metavar, help=say(text, lang))
    parser.add_argument("--non-interactive", action="store_true", help=say(texts.UNASKED, lang))
    add_json(parser, lang)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Set the gateway up as far as it is not, and stay with it until Ctrl-C.

    Raises:
        InputError: ``init.missing``, ``init.refused``, ``init.no-terminal``.
        ConfigError: what is there cannot be used.
        UnavailableError: ``init.busy``, ``init.gateway-ended``.
    """
    from gateway.faces.cli.init.flow import Setup

    return Setup(args, lang, environ).run()
