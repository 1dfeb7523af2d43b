"""``codexbridge init``: from nothing to a first task that a person has approved.

A list of steps, each of which looks first: what is there is kept, what is missing is asked for and
written at once, by whoever writes it elsewhere.  So there is no state of its own, and it can be cut
off and run again at any point.  `_STEPS` is the whole of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.errors import InputError
from common.home import only_one
from common.sentences import Lang, say
from local_agent.cli import init_asking as asking
from local_agent.cli import init_words as texts
from local_agent.cli import workspace_words
from local_agent.cli.init_asking import Setup
from local_agent.cli.pair import PAIRED_RESTART, make_private, tell_paired
from local_agent.cli.screen import at_keyboard
from local_agent.workspace.registry import Registry

if TYPE_CHECKING:
    import argparse

LOCK: Final = "init.lock"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments.  The pairing line is none of them."""
    parser = subparsers.add_parser("init", description=say(texts.INIT, lang))
    parser.set_defaults(run=run)
    parser.add_argument("--non-interactive", action="store_true", help=say(texts.QUIET, lang))
    parser.add_argument("--workspace", type=Path, metavar="PATH", help=say(texts.WORKSPACE, lang))
    parser.add_argument("--test-command", metavar="CMD", help=say(texts.TEST, lang))
    parser.add_argument(
        "--toolchains", metavar="all|none|…", help=say(workspace_words.WORKSPACE_TOOLCHAINS, lang)
    )
    names = ", ".join(("codex", *asking.KEYED))
    parser.add_argument("--model", metavar="NAME", help=say(texts.MODEL, lang, names=names))
    parser.add_argument("--no-window-test", action="store_true", help=say(texts.NO_WINDOW, lang))
    parser.add_argument("--no-first-task", action="store_true", help=say(texts.NO_TASK, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Go through the steps; one that says no ends it.

    Raises:
        UnavailableError: ``init.busy``: another one runs.
        InputError: ``init.no-terminal``; ``init.no-line``, ``init.no-workspace`` or ``init.model``
            when nobody can be asked.
        CodexBridgeError: of any part, when nobody can be asked.
    """
    if not args.non_interactive and not at_keyboard():
        raise InputError("init.no-terminal")
    setup = asking.new_setup(args, lang, environ)
    try:
        make_private(setup.home)
        with only_one(setup.home.state / LOCK):
            if not all(step(setup) for step in _STEPS):
                return 1
        setup.stay()
    except KeyboardInterrupt:
        print()
        setup.screen.tell(texts.LEFT)
        return 130
    finally:
        setup.end_agent()
    return 0


# --- the steps: each returns False to end here ------------------------------------------------


def _machine(setup: Setup) -> bool:
    return setup.needs("program", "home", "settings", "disk", "git", "sandbox")


def _pairing(setup: Setup) -> bool:
    from local_agent.link.pairing import (
        forget_begun,
        load_pairing,
        open_keys,
        unpair,
        words_are_compared,
    )

    home, keys = setup.home, open_keys(setup.home)
    paired = load_pairing(home) or asking.join_gateway(setup)
    if paired and not words_are_compared(home, paired):
        tell_paired(setup.screen, keys, paired)
        if setup.quiet:
            setup.screen.tell(texts.COMPARE_LATER, url=paired.url)
        elif not asking.words_are_same(setup):
            unpair(home, keys, paired)
            setup.screen.tell(texts.DIFFERENT, machine=paired.machine)
            return False
    if paired:
        forget_begun(home, keys)
    return setup.needs("pairing", "key")


def _workspace(setup: Setup) -> bool:
    registry = Registry(setup.home, home=setup.here.home)
    opened = {entry.path for entry in registry.load()}
    named: Path | None = setup.args.workspace
    if named is not None and named.expanduser().resolve() not in opened:
        ask = asking.named_command if setup.quiet else asking.asked_command
        asking.open_workspace(setup, registry, named, ask(setup, registry, named))
    elif not opened and setup.quiet:
        raise InputError("init.no-workspace")
    while not registry.load():
        try:
            folder = asking.asked_folder(setup)
            registry.inspect(folder, setup.environ)  # before more is asked about it
            command = asking.asked_command(setup, registry, folder)
            asking.open_workspace(setup, registry, folder, command)
        except InputError as error:
            setup.complain(error)
    return setup.needs("workspaces")


def _model(setup: Setup) -> bool:
    from local_agent.settings import load_settings

    if setup.here.settings is None or not setup.here.settings.models:
        if name := asking.chosen_model(setup):
            asking.configure(setup, name)
        else:
            asking.forget_keys(setup.home)
            setup.screen.tell(texts.NO_MODEL)
        setup.here.settings = load_settings(setup.home, setup.environ, None)
    setup.here.ask_models = True
    setup.look("models")
    setup.here.ask_models = False
    return True


def _window(setup: Setup) -> bool:
    from local_agent.faces.window.program import WindowProgram, theme_of

    setup.look("desktop")
    if not setup.here.shows_windows:
        setup.screen.tell(texts.BY_TERMINAL)
    elif not (setup.quiet or setup.args.no_window_test) and setup.ask(texts.WINDOW).lower() != "s":
        wanted = setup.here.settings.theme if setup.here.settings else "auto"
        theme = asyncio.run(theme_of(wanted, setup.environ))
        pressed = asyncio.run(WindowProgram(setup.environ).trial(setup.screen.lang, theme))
        setup.screen.tell(texts.WINDOW_WORKS if pressed else texts.WINDOW_FAILED)
    return True


def _agent(setup: Setup) -> bool:
    status, paired = setup.status(), setup.here.pairing
    if status is not None and paired is not None and status.gateway.url != paired.url:
        setup.screen.tell(PAIRED_RESTART)
        setup.screen.tell(texts.LEFT)
        return False
    asking.ensure_agent(setup)
    setup.look("agent", "gateway")
    return True


def _first_task(setup: Setup) -> bool:
    if setup.quiet or setup.args.no_first_task:
        return True
    asking.ensure_agent(setup)
    while not asking.was_proved(setup):
        asking.ensure_agent(setup)  # that of an earlier run may have ended with it, just now
        task = next(iter(setup.waiting()), "") or asking.requested(setup)
        if not task or not asking.is_decided(setup, task):
            setup.screen.tell(texts.SKIPPED)
            break
        if asking.is_proved(setup, task):
            break
    return True


def _ending(setup: Setup) -> bool:
    from common.doctor import Tone, is_well
    from local_agent.cli.doctor import print_lines, print_verdict

    found = setup.examine()
    print()
    if ill := [one for one in found if one.finding.tone in (Tone.BAD, Tone.WARN)]:
        print_lines(ill, setup.screen, names=asking.NAMES)
    print_verdict(found, setup.screen)
    setup.screen.tell(texts.NEXT)
    return is_well(found) or not setup.quiet  # a person has read it, and the agent goes on


_STEPS: Final[tuple[Callable[[Setup], bool], ...]] = (
    _machine,
    _pairing,
    _workspace,
    _model,
    _window,
    _agent,
    _first_task,
    _ending,
)
