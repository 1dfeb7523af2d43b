"""``codexbridge agent``: the agent in the foreground."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from common.home import find_home
from common.sentences import Lang, say
from local_agent.cli import words

if TYPE_CHECKING:
    import argparse

    from local_agent.assembly import Agent, Ground


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("agent", description=say(words.AGENT, lang))
    parser.add_argument("--config", type=Path, metavar="FILE", help=say(words.AGENT_CONFIG, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Run until SIGTERM or Ctrl-C."""
    from common.logs import adopt_libraries, open_log
    from local_agent.app import run_agent
    from local_agent.sandbox.process import harden_self
    from local_agent.settings import load_settings

    # Before any key is read: no core files, and no child may look into this process (R43, R61).
    harden_self()
    places = find_home(environ)
    settings = load_settings(places, environ, args.config)
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    log = open_log("agent", level=level, json=settings.log_format == "json")
    adopt_libraries(log)
    speaking = settings.language or lang

    def announce(_agent: Agent, ground: Ground) -> None:
        print(_ready_line(ground, speaking), flush=True)

    running = run_agent(settings, places, environ, log=log, lang=speaking, announce=announce)
    asyncio.run(running)
    print(say(words.STOPPED, speaking), flush=True)
    return 0


def _ready_line(ground: Ground, lang: Lang) -> str:
    from local_agent.workspace.registry import Registry

    level = ground.sandbox.level
    sandbox = words.NOT_SANDBOXED if level == "none" else words.SANDBOXED
    pairing = ground.pairing
    gateway = (
        say(words.READY_PAIRED, lang, url=pairing.url)
        if pairing
        else say(words.READY_UNPAIRED, lang)
    )
    asked = ground.settings.asked_model
    return say(
        words.READY,
        lang,
        machine=ground.machine,
        workspaces=len(Registry(ground.places, home=ground.home).load()),
        sandbox=say(sandbox, lang, level=level),
        model=say(words.READY_MODEL, lang, name=asked)
        if asked
        else say(words.READY_NO_MODEL, lang),
        gateway=gateway,
    )
