"""``codexbridge gateway …``: the server in the foreground, and an admin's commands beside it.

Nothing heavy is imported before it serves: ``--help`` and the commands need none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.sentences import Lang, say
from gateway.faces.cli import (
    Command,
    Console,
    add_files,
    audit,
    devices,
    doctor,
    init,
    members,
    outbox,
    service,
    status,
    tasks,
)
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse

_SUBJECTS: Final = (status, tasks, members, devices, outbox, audit)
_COMMANDS: Final[Mapping[str, Command]] = {
    name: command for subject in _SUBJECTS for name, command in subject.COMMANDS.items()
}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    gateway = subparsers.add_parser("gateway", description=say(texts.GATEWAY, lang))
    gateway.set_defaults(run=run)
    add_files(gateway, lang, inner=False)
    gateway.add_argument("--port-file", type=Path, metavar="FILE", help=say(texts.PORT_FILE, lang))
    actions = gateway.add_subparsers(dest="action", metavar="COMMAND")
    for subject in (init, *_SUBJECTS, doctor, service):
        subject.add_parsers(actions, lang)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Do what was asked for: one of the commands, or else to serve.

    Raises:
        CodexBridgeError: told by the launcher.
    """
    # The doctor also looks at settings that cannot be read, and init makes them.
    for subject in (doctor, init, service):
        if args.action == subject.NAME:
            return int(subject.run(args, lang, environ))
    from gateway.base.settings import load_settings

    settings = load_settings(file=args.config, environ=environ, secrets_dir=args.secrets_dir)
    if command := _COMMANDS.get(args.action):
        return command(args, Console(lang, environ, settings, args.config))
    from gateway.app.assembly import run_gateway
    from gateway.doctor.subject import Subject

    served = Subject(environ, file=args.config, secrets_dir=args.secrets_dir, served=settings)
    return run_gateway(served, port_file=args.port_file)
