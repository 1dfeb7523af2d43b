"""``codexbridge gateway``: the assembly of the server, and how its process serves.

Nothing heavy is imported before it serves: ``--help`` and the commands need none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.faces import cli
from gateway.faces.cli import add_parser

if TYPE_CHECKING:
    import argparse

    from common.sentences import Lang
    from gateway.base.settings import GatewaySettings

__all__ = ["add_parser", "run"]


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Do what was asked for.

    Raises:
        CodexBridgeError: told by the launcher.
    """
    return cli.run(args, lang, environ, serve=_serve)


def _serve(settings: GatewaySettings, environ: Mapping[str, str], port_file: Path | None) -> int:
    from gateway.app.assembly import run_gateway

    return run_gateway(settings, environ, port_file=port_file)
