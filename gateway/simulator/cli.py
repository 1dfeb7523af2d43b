"""``codexbridge sim …`` and ``codexbridge demo``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from common.sentences import Lang, say
from gateway.simulator import sentences as S  # noqa: N812 - a table of constants

if TYPE_CHECKING:
    from gateway.simulator.client import SimulatorClient

PORT_FILE = "simulator.port"
MEMBER = "zhangwei"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Add both subcommands."""
    demo = subparsers.add_parser("demo", description=say(S.DEMO_SUMMARY, lang))
    demo.set_defaults(run=run)
    demo.add_argument("--script", type=Path, metavar="FILE", help=say(S.HELP_SCRIPT, lang))
    demo.add_argument("--keep", type=Path, metavar="DIR", help=say(S.HELP_KEEP, lang))
    sim = subparsers.add_parser("sim", description=say(S.SIM_SUMMARY, lang))
    sim.set_defaults(run=run)
    sim.add_argument("--config", type=Path, metavar="FILE", help=say(S.HELP_CONFIG, lang))
    sim.add_argument("--port-file", type=Path, metavar="FILE", help=say(S.HELP_PORT_FILE, lang))
    actions = sim.add_subparsers(dest="action")
    init = actions.add_parser("init", help=say(S.SIM_INIT, lang), description=say(S.SIM_INIT, lang))
    init.add_argument("--port", type=int, default=8790, help=say(S.HELP_SIM_PORT, lang))
    init.add_argument("--console-only", action="store_true", help=say(S.HELP_CONSOLE, lang))
    init.add_argument("--gateway-port", type=int, default=8787, help=say(S.HELP_GATEWAY_PORT, lang))
    send = actions.add_parser("send", help=say(S.SIM_SEND, lang), description=say(S.SIM_SEND, lang))
    send.add_argument("text", help=say(S.HELP_TEXT, lang))
    send.add_argument("--user", default=MEMBER, help=say(S.HELP_USER, lang))
    send.add_argument("--wait", type=float, default=3.0, help=say(S.HELP_WAIT, lang))
    send.add_argument("--port", type=int, help=say(S.HELP_SIM_PORT, lang))

    for name, value, what in (("save", "url", S.SIM_SAVE), ("trust", "address", S.SIM_TRUST)):
        console = actions.add_parser(name, help=say(what, lang), description=say(what, lang))
        console.add_argument(value, metavar=value.upper())
        console.add_argument("--port", type=int, help=say(S.HELP_SIM_PORT, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Run what was asked for and return the exit code."""
    if args.command == "demo":
        from gateway.simulator.demo import run_demo

        return run_demo(lang, environ, script=args.script, keep=args.keep)
    match args.action:
        case "init":
            return _init(args, lang, environ)
        case "send":
            return _send(args, lang, environ)
        case "save" | "trust":
            return _save(args, lang, environ)
        case _:
            return _serve(args, lang, environ)


def _init(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    from common.home import find_home
    from gateway.simulator.config import write_console, write_installation

    if args.console_only:
        config = write_console(find_home(environ).config, port=args.port)
        facts = {"app": config.app_id, "corp": config.corp_id, "secret": config.corp_secret}
        print(say(S.SIM_CONSOLE, lang, api=f"http://127.0.0.1:{args.port}", **facts))
        return 0
    made = write_installation(
        find_home(environ).config,
        simulator_port=args.port,
        gateway_port=args.gateway_port,
        lang=lang,
    )
    print(
        say(S.SIM_WROTE, lang, simulator=made.simulator, gateway=made.gateway, secrets=made.secrets)
    )
    return 0


def _serve(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    import asyncio

    from common.home import find_home
    from gateway.simulator.config import load
    from gateway.simulator.server import serve

    home = find_home(environ)
    file = args.config or home.config / "simulator.json"
    config = load(file)

    def announce(port: int) -> None:
        print(say(S.SIM_READY, lang, port=port, callback=config.callback_url or "—"), flush=True)

    port_file = args.port_file or home.run / PORT_FILE
    asyncio.run(serve(config, file=file, port_file=port_file, announce=announce))
    return 0


def _save(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    from common.errors import InputError
    from gateway.simulator.client import SimulatorClient

    if args.action == "trust":
        values = {"trusted_ip": args.address}
    else:
        values = {"url": args.url, "token": input("Token: ").strip()}
        values["encoding_aes_key"] = input("EncodingAESKey: ").strip()
    if fault := SimulatorClient(args.port or _running_port(environ)).save(**values):
        raise InputError("sim.not-saved", why=fault)
    print(say(S.SIM_SAVED, lang))
    return 0


def _send(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    from gateway.simulator.client import SimulatorClient

    client = SimulatorClient(args.port or _running_port(environ))
    last = max((bubble["number"] for bubble in client.messages(0)), default=0)
    status = client.say(args.user, args.text)
    if status != 200:
        print(say(S.SIM_SENT_BADLY, lang, status=status))
        return 1
    _print_replies(client, args.user, last, seconds=args.wait)
    return 0


def _running_port(environ: Mapping[str, str]) -> int:
    from common.errors import UnavailableError
    from common.home import find_home, read_private

    try:
        return int(read_private(find_home(environ).run / PORT_FILE, max_bytes=16))
    except (FileNotFoundError, ValueError):
        raise UnavailableError("sim.not-running", port="?") from None


def _print_replies(client: SimulatorClient, user: str, last: int, *, seconds: float) -> None:
    import time

    from common.clock import SystemClock

    clock = SystemClock()
    until = clock.now().mono + seconds
    while clock.now().mono < until:
        for bubble in client.messages(last):
            last = bubble["number"]
            if bubble["sender"] != "member" and bubble["user"] == user:
                print(bubble["text"])
                print()
        time.sleep(0.1)
