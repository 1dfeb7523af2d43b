"""``codexbridge pair``: join this machine to a gateway with the code that its admin made.

The code is read from standard input and from nowhere else: arguments show in process lists and
the environment in its children's.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

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

PAIR: Final = Sentence(
    en="Join this machine to a gateway. The code (CB1-…) is read from standard input, without "
    "echo on a terminal; `codexbridge gateway pair` makes one on the gateway.",
    zh="把本机接入网关。配对码（CB1-…）从标准输入读取，在终端上不回显；在网关上用 "
    "`codexbridge gateway pair` 生成。",
)
PAIR_GATEWAY: Final = Sentence(
    en="address of the gateway, such as https://gateway.example.com",
    zh="网关地址，例如 https://gateway.example.com",
)
PAIR_REPLACE: Final = Sentence(
    en="pair again although this machine is paired; asks on the terminal first",
    zh="本机已配对时重新配对；会先在终端上确认",
)
PAIR_CODE: Final = Sentence(en="Pairing code (not shown): ", zh="配对码（不回显）：")
PAIR_SURE: Final = Sentence(
    en="This machine is paired with {url} as {machine}. Pairing again replaces its key; the old "
    "one stops working. Type yes to go on: ",
    zh="本机已作为 {machine} 与 {url} 配对。重新配对会替换其密钥，旧密钥随即失效。输入 yes 继续：",
)
PAIRED: Final = Sentence(
    en="Paired as {machine} with {url}.\nCheck words, the same on the gateway:  {words}\n"
    "Key kept in: {where}.",
    zh="已作为 {machine} 与 {url} 配对。\n核对词（网关上应相同）：{words}\n密钥保存于：{where}。",
)
PAIRED_NEXT: Final = Sentence(
    en="Next: codexbridge workspace add PATH, then codexbridge agent.",
    zh="下一步：codexbridge workspace add 路径，然后 codexbridge agent。",
)
PAIRED_START: Final = Sentence(en="Next: codexbridge agent.", zh="下一步：codexbridge agent。")
PAIRED_RESTART: Final = Sentence(
    en="The agent that runs here does not know this pairing yet. Stop it, and start it again: "
    "codexbridge agent",
    zh="正在运行的 Agent 还不知道此次配对。请停止它，然后重新启动：codexbridge agent",
)

_MAX_CODE = 256


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments.  The code is none of them."""
    parser = subparsers.add_parser("pair", description=say(PAIR, lang))
    parser.set_defaults(run=run)
    parser.add_argument("--gateway", metavar="URL", required=True, help=say(PAIR_GATEWAY, lang))
    parser.add_argument("--replace", action="store_true", help=say(PAIR_REPLACE, lang))


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
        PAIRED,
        machine=paired.machine,
        url=paired.url,
        words=screen.ink("bold", "  ".join(check_words(key.public, paired.gateway_key))),
        where=screen.say(words.IN_FILE if keys.where == "file" else words.IN_KEYRING),
    )
    screen.tell(_what_next(home, environ))
    return 0


def _what_next(home: Home, environ: Mapping[str, str]) -> Sentence:
    if _agent_runs(home, environ):
        return PAIRED_RESTART
    return PAIRED_START if _has_workspace(home) else PAIRED_NEXT


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
    question = screen.say(PAIR_SURE, url=former.url, machine=former.machine)
    return read_answer(question) in ("yes", "是")


def _read_code(screen: Screen) -> str:
    if at_keyboard():
        import getpass

        return getpass.getpass(screen.say(PAIR_CODE))
    return sys.stdin.readline(_MAX_CODE) if sys.stdin else ""
