"""``codexbridge pair``: join this machine to a gateway with the code that its admin made.

The code is read from standard input and from nowhere else: arguments show in process lists and
the environment in its children's.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from common.clock import SystemClock
from common.errors import CodexBridgeError, InputError
from common.home import Home, find_home, private_dir
from common.keystore import Keystore
from common.protocol.pairing import check_words, parse_code
from common.sentences import Lang, Sentence, say
from common.signing import SigningKey
from local_agent.cli import words
from local_agent.cli.screen import Screen, at_keyboard, read_answer, screen_for
from local_agent.faces.control.client import call
from local_agent.link.pairing import (
    Pairing,
    exchange,
    gateway_origin,
    load_pairing,
    open_keys,
    save_pairing,
)
from local_agent.workspace.registry import Registry

if TYPE_CHECKING:
    import argparse

_MAX_CODE = 256


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments.  The code is none of them."""
    parser = subparsers.add_parser("pair", description=say(words.PAIR, lang))
    parser.add_argument(
        "--gateway", metavar="URL", required=True, help=say(words.PAIR_GATEWAY, lang)
    )
    parser.add_argument("--replace", action="store_true", help=say(words.PAIR_REPLACE, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Pair, keep key and pairing, show the check words."""
    home, screen = find_home(environ), screen_for(lang, environ)
    private_dir(home.config)
    url = gateway_origin(args.gateway)
    former = load_pairing(home)
    if former is not None and not _may_replace(former, screen, asked_to=args.replace):
        screen.tell(words.KEPT)
        return 1
    code = _read_code(screen)
    parse_code(code)  # before a key is made or anything is sent
    keys, key = open_keys(home), SigningKey.generate()
    paired = _pair(home, keys, key, url=url, code=code)
    if former is not None:
        keys.delete(former.key_name)
    screen.tell(
        words.PAIRED,
        machine=paired.machine,
        url=paired.url,
        words=screen.ink("bold", "  ".join(check_words(key.public, paired.gateway_key))),
        where=screen.say(words.IN_FILE if keys.where == "file" else words.IN_KEYRING),
    )
    screen.tell(_what_next(home, environ))
    return 0


def _what_next(home: Home, environ: Mapping[str, str]) -> Sentence:
    if _agent_runs(home, environ):
        return words.PAIRED_RESTART
    return words.PAIRED_START if _has_workspace(home) else words.PAIRED_NEXT


def _has_workspace(home: Home) -> bool:
    try:
        return bool(Registry(home, home=Path.home()).load())
    except CodexBridgeError:
        return True  # `codexbridge agent` tells what is wrong with the file


def _pair(home: Home, keys: Keystore, key: SigningKey, *, url: str, code: str) -> Pairing:
    name = f"agent-{key.public.key_id}"
    # The key first: a gateway must never know a key that a crash has taken from us.
    keys.put(name, key.private_bytes())
    try:
        paired = exchange(code, url, key, at_ms=SystemClock().now().wall_ms)
        save_pairing(home, paired)
    except BaseException:
        keys.delete(name)
        raise
    return paired


def _agent_runs(home: Home, environ: Mapping[str, str]) -> bool:
    """Tell whether an agent answers here: it goes on with the pairing that it was started with."""
    try:
        call(home, environ, "status")
    except CodexBridgeError:
        return False
    return True


def _may_replace(former: Pairing, screen: Screen, *, asked_to: bool) -> bool:
    if not asked_to or not at_keyboard():
        raise InputError("pair.already", url=former.url, machine=former.machine)
    question = screen.say(words.PAIR_SURE, url=former.url, machine=former.machine)
    return read_answer(question) in ("yes", "是")


def _read_code(screen: Screen) -> str:
    if at_keyboard():
        import getpass

        return getpass.getpass(screen.say(words.PAIR_CODE))
    return sys.stdin.readline(_MAX_CODE) if sys.stdin else ""
