"""``codexbridge service``: the agent as a service of a person's login."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.errors import CodexBridgeError, InputError
from common.home import Home, find_home
from common.sentences import Lang, Sentence, say
from local_agent.cli import words
from local_agent.cli.screen import at_keyboard, read_answer

if TYPE_CHECKING:
    import argparse

SERVICE: Final = Sentence(
    en="The agent as a service: it starts when you log in, and again when it fails.",
    zh="把 Agent 作为服务运行：登录时自动启动，失败后自动重启。",
)
# Beside what every service keeps: where programs such as codex are, and where our folders are.
_CARRIED: Final = ("PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    from common.service import add_actions

    parser = subparsers.add_parser("service", description=say(SERVICE, lang))
    parser.set_defaults(run=run)
    install = add_actions(parser, lang)["install"]
    words.add_config(install, lang)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Do what was asked for.

    Raises:
        InputError: ``service.as-root`` (user).
        CodexBridgeError: as `common.service.run`.
    """
    from common import service
    from common.units import Service

    if os.geteuid() == 0 and environ.get("SUDO_USER"):
        raise InputError("service.as-root", user=environ["SUDO_USER"])
    places = find_home(environ)
    named = getattr(args, "config", None) or environ.get("CODEXBRIDGE_CONFIG")
    config = ("--config", str(Path(named).absolute())) if named else ()
    installs = args.care == "install"
    asked = Service(
        name=service.AGENT,
        system=False,
        verb="codexbridge service",
        template=Path(__file__).with_name("agent.service").read_text(encoding="utf-8"),
        marks={},
        command=service.own_command("agent", *config) if installs else (),
        environment=service.carried(environ, lang, (*service.CARRIED, *_CARRIED)),
        home=Path.home(),
        is_ready=lambda: _answers(places, environ),
        lang=lang,
        environ=environ,
        tell=print,
        ask=read_answer if at_keyboard() else None,
    )
    return service.run(asked, args)


def _answers(places: Home, environ: Mapping[str, str]) -> bool:
    from local_agent.faces.control.client import call

    try:
        call(places, environ, "status")
    except (CodexBridgeError, OSError):
        return False
    return True
