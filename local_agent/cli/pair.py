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
from common.errors import AuthError, CodexBridgeError, InputError
from common.home import Home, find_home, private_dir
from common.keystore import Keystore
from common.prose import folded
from common.protocol.pairing import check_words, split_pairing_line
from common.sentences import Lang, Sentence, say
from local_agent.cli import words
from local_agent.cli.screen import Screen, at_keyboard, read_answer, screen_for
from local_agent.faces.control.client import call
from local_agent.link.pairing import (
    Pairing,
    begin,
    exchange,
    forget_begun,
    gateway_origin,
    load_key,
    load_pairing,
    open_keys,
    save_pairing,
)
from local_agent.workspace.registry import Registry

if TYPE_CHECKING:
    import argparse

PAIR: Final = Sentence(
    en="Join this machine to a gateway. The line from your admin (https://…#CB1-…) is read from "
    "standard input, without echo on a terminal; `codexbridge gateway pair` makes one on the "
    "gateway. With --gateway the code alone (CB1-…) will do.",
    zh="把本机接入网关。管理员给你的一行（https://…#CB1-…）从标准输入读取，在终端上不回显；"
    "在网关上用 `codexbridge gateway pair` 生成。给出 --gateway 时只需配对码（CB1-…）。",
)
PAIR_GATEWAY: Final = Sentence(
    en="address of the gateway, such as https://gateway.example.com; the line from your admin "
    "holds it",
    zh="网关地址，例如 https://gateway.example.com；管理员给你的一行中已包含",
)
PAIR_REPLACE: Final = Sentence(
    en="pair again although this machine is paired; asks on the terminal first",
    zh="本机已配对时重新配对；会先在终端上确认",
)
PAIR_CODE: Final = Sentence(en="Pairing code (not shown): ", zh="配对码（不回显）：")
PAIR_LINE: Final = Sentence(
    en="Paste the line from your admin, https://…#CB1-… (not shown): ",
    zh="粘贴管理员给你的一行 https://…#CB1-…（不回显）：",
)
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

MAX_SECRET = 512


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments.  The code is none of them."""
    parser = subparsers.add_parser("pair", description=say(PAIR, lang))
    parser.set_defaults(run=run)
    parser.add_argument("--gateway", metavar="URL", default="", help=say(PAIR_GATEWAY, lang))
    parser.add_argument("--replace", action="store_true", help=say(PAIR_REPLACE, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Pair, keep key and pairing, show the check words.

    Raises:
        InputError: ``pair.no-gateway``, and what `join` raises.
    """
    home, screen = find_home(environ), screen_for(lang, environ)
    make_private(home)
    url = gateway_origin(args.gateway) if args.gateway else ""
    former, keys = load_pairing(home), open_keys(home)
    if former is not None and not _may_replace(former, screen, asked_to=args.replace):
        screen.tell(words.KEPT)
        return 1
    address, code = split_pairing_line(read_secret(screen.say(PAIR_CODE if url else PAIR_LINE)))
    if not (url or address):
        raise InputError("pair.no-gateway")
    url = url or gateway_origin(address)
    paired = join(home, keys, url=url, code=code)
    if former is not None:
        keys.delete(former.key_name)
    tell_paired(screen, keys, paired)
    forget_begun(home, keys)
    screen.tell(_what_next(home, environ))
    return 0


def make_private(home: Home) -> None:
    """Make both folders of the agent, closed to others, before anything is put into them.

    Raises:
        ConfigError: as `private_dir`.
    """
    for folder in (home.config, home.state):
        private_dir(folder)


def join(home: Home, keys: Keystore, *, url: str, code: str) -> Pairing:
    """Pair and keep it.  What a kill cuts off goes on with the same code and the same key.

    Raises:
        InputError: ``input.pairing-code``.
        AuthError: ``pair.refused``; ``pair.interrupted``: an earlier try may have used the code.
        UnavailableError, RemoteProtocolError: as `exchange`.
    """
    # The key first: a gateway must never know a key that a crash has taken from us.
    key, again = begin(home, keys, code)
    try:
        paired = exchange(code, url, key, at_ms=SystemClock().now().wall_ms)
    except AuthError:
        forget_begun(home, keys, code)
        if again:
            raise AuthError("pair.interrupted") from None
        raise
    save_pairing(home, paired)
    return paired


def tell_paired(screen: Screen, keys: Keystore, paired: Pairing) -> None:
    """Say whom this machine is paired with, and the words to compare."""
    key = load_key(paired.key_name, keys)
    screen.tell(
        PAIRED,
        machine=paired.machine,
        url=paired.url,
        words=screen.ink("bold", "  ".join(check_words(key.public, paired.gateway_key))),
        where=screen.say(words.IN_FILE if keys.where == "file" else words.IN_KEYRING),
    )


def _what_next(home: Home, environ: Mapping[str, str]) -> Sentence:
    if _agent_runs(home, environ):
        return PAIRED_RESTART
    return PAIRED_START if _has_workspace(home) else PAIRED_NEXT


def _has_workspace(home: Home) -> bool:
    try:
        return bool(Registry(home, home=Path.home()).load())
    except CodexBridgeError:
        return True  # `codexbridge agent` tells what is wrong with the file


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


def read_secret(question: str) -> str:
    """Return a line that is not shown, or the next one of standard input where that is no person.

    Raises:
        KeyboardInterrupt: the person left, by Ctrl-C or Ctrl-D.
    """
    if at_keyboard():
        import getpass

        try:
            return getpass.getpass(folded(question, sys.stderr))
        except EOFError:
            raise KeyboardInterrupt from None
    return sys.stdin.readline(MAX_SECRET) if sys.stdin else ""
