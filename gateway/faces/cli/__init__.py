"""``codexbridge gateway …``: the server in the foreground, and an admin's commands beside it.

Only arguments and print-outs are here, one module for each subject.  The server is handed in;
what the commands change and read are store functions, which work on the same file whether or not a
server runs on it.  Errors leave as they are: the launcher tells them in one line and chooses the
exit code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from common.sentences import Lang, say
from gateway.faces.cli import audit, devices, keys, members, pairing, tasks
from gateway.faces.cli import sentences as texts
from gateway.faces.cli.console import Command, Console, add_files

if TYPE_CHECKING:
    import argparse

    from gateway.base.settings import GatewaySettings

Serve: TypeAlias = "Callable[[GatewaySettings, Mapping[str, str], Path | None], int]"
_SUBJECTS: Final = (tasks, members, devices, pairing, keys, audit)
_COMMANDS: Final[Mapping[str, Command]] = {
    name: command for subject in _SUBJECTS for name, command in subject.COMMANDS.items()
}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    gateway = subparsers.add_parser("gateway", description=say(texts.GATEWAY, lang))
    add_files(gateway, lang, inner=False)
    gateway.add_argument("--port-file", type=Path, metavar="FILE", help=say(texts.PORT_FILE, lang))
    actions = gateway.add_subparsers(dest="action", metavar="COMMAND")
    for subject in _SUBJECTS:
        subject.add_parsers(actions, lang)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str], *, serve: Serve) -> int:
    """Do what was asked for: one of the commands, or else to serve.

    Raises:
        CodexBridgeError: told by the launcher.
    """
    from gateway.base.settings import load_settings

    settings = load_settings(file=args.config, environ=environ, secrets_dir=args.secrets_dir)
    if command := _COMMANDS.get(args.action):
        return command(args, Console(lang, environ, settings, args.config))
    return serve(settings, environ, args.port_file)
