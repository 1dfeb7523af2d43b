"""``codexbridge sim …`` and ``codexbridge demo``."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from common.sentences import Lang, Sentence, say
from common.terminal import cells, wrap
from common.text import reveal
from gateway.simulator import sentences as S  # noqa: N812 - a table of constants

if TYPE_CHECKING:
    from gateway.simulator.client import SimulatorClient
    from gateway.simulator.probe import CallbackKeys

PORT_FILE = "simulator.port"
GATEWAY_PORT = 8787
MEMBER = "zhangwei"
FORBIDDEN = 403
STRANGER = "codexbridge-check"
MAX_SECONDS = 604_800
LEAST_COLUMNS = 40


def port(text: str) -> int:
    """Read a port, for a command line."""
    return int(_within(int(text), 65_535))


def count(text: str) -> int:
    """Read how many, for a command line."""
    return int(_within(int(text), sys.maxsize))


def seconds(text: str) -> float:
    """Read how long, for a command line."""
    return _within(float(text), MAX_SECONDS)


def pause(text: str) -> float:
    """Read how long, or 0, for a command line."""
    return seconds(text) if float(text) else 0.0


def _within(value: float, most: int) -> float:
    if not 0 < value <= most:
        raise ValueError("range")
    return value


def add_parser(subparsers: _Actions, lang: Lang) -> None:
    """Add both subcommands."""
    demo = subparsers.add_parser("demo", description=say(S.DEMO_SUMMARY, lang))
    demo.set_defaults(run=run)
    demo.add_argument("--script", type=Path, metavar="FILE", help=say(S.HELP_SCRIPT, lang))
    demo.add_argument("--keep", type=Path, metavar="DIR", help=say(S.HELP_KEEP, lang))
    sim = subparsers.add_parser("sim", description=say(S.SIM_SUMMARY, lang))
    sim.set_defaults(run=run)
    sim.add_argument("--config", type=Path, metavar="FILE", help=say(S.HELP_CONFIG, lang))
    sim.add_argument("--port-file", type=Path, metavar="FILE", help=say(S.HELP_PORT_FILE, lang))
    sim.add_argument(
        "--deadline", type=seconds, default=5.0, metavar="SECONDS", help=say(S.HELP_DEADLINE, lang)
    )
    sim.add_argument(
        "--pause", type=pause, default=1.0, metavar="SECONDS", help=say(S.HELP_PAUSE, lang)
    )
    sim.add_argument("--renewed-retries", action="store_true", help=say(S.HELP_RENEWED, lang))
    actions = sim.add_subparsers(dest="action", metavar="COMMAND")
    _add_init(actions, lang)
    _add_members(actions, lang)
    _add_check(actions, lang)
    _add_wecom(actions, lang)


# argparse has no public name for it
_Actions: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001


def _add(actions: _Actions, name: str, what: Sentence, lang: Lang) -> argparse.ArgumentParser:
    """Add what talks to a running simulator."""
    parser = actions.add_parser(name, help=say(what, lang), description=say(what, lang))
    parser.add_argument("--port", type=port, help=say(S.HELP_PAGE_PORT, lang))
    parser.add_argument("--app", default="", metavar="NAME", help=say(S.HELP_APP, lang))
    return parser


def _add_init(actions: _Actions, lang: Lang) -> None:
    init = actions.add_parser("init", help=say(S.SIM_INIT, lang), description=say(S.SIM_INIT, lang))
    init.add_argument("--port", type=port, default=8790, help=say(S.HELP_SIM_PORT, lang))
    init.add_argument(
        "--page-port", type=port, default=8791, metavar="PORT", help=say(S.HELP_PAGE_PORT, lang)
    )
    init.add_argument("--console-only", action="store_true", help=say(S.HELP_CONSOLE, lang))
    init.add_argument(
        "--gateway-port",
        type=port,
        default=GATEWAY_PORT,
        metavar="PORT",
        help=say(S.HELP_GATEWAY_PORT, lang),
    )
    further: dict[str, str] = {"action": "append", "default": [], "metavar": "NAME"}  # type: ignore[dict-item]  # argparse
    init.add_argument("--app", help=say(S.HELP_FURTHER_APP, lang), **further)  # type: ignore[arg-type]  # as above
    init.add_argument("--corp", help=say(S.HELP_FURTHER_CORP, lang), **further)  # type: ignore[arg-type]  # as above


def _add_members(actions: _Actions, lang: Lang) -> None:
    send = _add(actions, "send", S.SIM_SEND, lang)
    send.add_argument("text", help=say(S.HELP_TEXT, lang))
    _add_user(send, MEMBER, lang)
    send.add_argument(
        "--wait", type=seconds, default=3.0, metavar="SECONDS", help=say(S.HELP_WAIT, lang)
    )
    repeat = _add(actions, "repeat", S.SIM_REPEAT, lang)
    repeat.add_argument("--renewed", action="store_true", help=say(S.HELP_REPEAT_RENEWED, lang))
    play = _add(actions, "run", S.SIM_RUN, lang)
    play.add_argument("name", nargs="?", help=say(S.HELP_SCENARIO, lang))
    _add_user(play, MEMBER, lang)


def _add_user(parser: argparse.ArgumentParser, user: str, lang: Lang) -> None:
    parser.add_argument(
        "--user", default=user, metavar="NAME", help=say(S.HELP_USER, lang, user=user)
    )


def _add_check(actions: _Actions, lang: Lang) -> None:
    check = actions.add_parser(
        "check", help=say(S.SIM_CHECK, lang), description=say(S.SIM_CHECK, lang)
    )
    check.add_argument("url", nargs="?", metavar="URL", help=say(S.HELP_CHECK_URL, lang))
    check.add_argument("--receive-id", metavar="ID", help=say(S.HELP_RECEIVE_ID, lang))
    check.add_argument(
        "--agent-id", type=int, default=1_000_002, metavar="ID", help=say(S.HELP_AGENT_ID, lang)
    )
    check.add_argument("--app", default="main", metavar="NAME", help=say(S.HELP_APP, lang))
    check.add_argument(
        "--gateway-config", type=Path, metavar="FILE", help=say(S.HELP_GATEWAY_CONFIG, lang)
    )
    check.add_argument("--secrets-dir", type=Path, metavar="DIR", help=say(S.HELP_SECRETS, lang))
    _add_user(check, STRANGER, lang)
    check.add_argument("--json", action="store_true", help=say(S.HELP_JSON, lang))


def _add_wecom(actions: _Actions, lang: Lang) -> None:
    save = _add(actions, "save", S.SIM_SAVE, lang)
    save.add_argument("url", metavar="URL", help=say(S.HELP_SAVED_URL, lang))
    trust = _add(actions, "trust", S.SIM_TRUST, lang)
    trust.add_argument("address", metavar="ADDRESS", help=say(S.HELP_TRUSTED, lang))
    fault = _add(actions, "fault", S.SIM_FAULT, lang)
    fault.add_argument("name", nargs="?", default="", help=say(S.HELP_FAULT, lang))
    fault.add_argument("--off", action="store_true", help=say(S.HELP_OFF, lang))
    fault.add_argument("--seconds", type=seconds, help=say(S.HELP_SECONDS, lang))
    fault.add_argument("--count", type=count, help=say(S.HELP_COUNT, lang))
    fault.add_argument("--address", default="", help=say(S.HELP_ADDRESS, lang))
    tokens = _add(actions, "tokens", S.SIM_TOKENS, lang)
    tokens.add_argument("how", choices=("expire", "forget"), help=say(S.HELP_TOKENS, lang))
    tokens.add_argument("--seconds", type=seconds, help=say(S.HELP_TOKEN_SECONDS, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Run what was asked for and return the exit code."""
    if args.command == "demo":
        from gateway.simulator.demo import run_demo

        return run_demo(lang, environ, script=args.script, keep=args.keep)
    return _ACTIONS[args.action](args, lang, environ)


def _init(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    from common.errors import InputError
    from common.home import find_home
    from gateway.simulator.config import write_console, write_installation

    folder = find_home(environ).config
    if args.console_only:
        if args.app or args.corp:
            raise InputError("sim.console-only")
        made = write_console(folder, port=args.port, page_port=args.page_port)
        app, api = made.first, f"http://127.0.0.1:{made.port}"
        facts = {"app": app.app_id, "corp": app.corp_id, "secret": app.corp_secret}
        other = args.gateway_port != GATEWAY_PORT
        facts["port"] = f" --port {args.gateway_port}" if other else ""
        print(say(S.SIM_CONSOLE, lang, api=api, **facts))
        return 0
    write_installation(
        folder,
        ports=(args.port, args.page_port, args.gateway_port),
        lang=lang,
        apps=[*((name, False) for name in args.app), *((name, True) for name in args.corp)],
    )
    print(say(S.SIM_WROTE, lang, folder=folder))
    return 0


def _serve(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    import asyncio

    from common.errors import ConfigError
    from common.home import find_home
    from gateway.simulator.config import load
    from gateway.simulator.engine import Timing
    from gateway.simulator.server import serve

    home = find_home(environ)
    file = args.config or home.config / "simulator.json"
    if not file.exists():
        raise ConfigError("sim.not-set-up", file=file)
    config = load(file)

    def announce(port: int, api_port: int) -> None:
        unsaved = say(S.SIM_UNSAVED, lang)
        first, *more = (app.callback_url or unsaved for app in config.apps)
        text = say(S.SIM_READY, lang, port=port, api=api_port, callback=first)
        indent = " " * (cells(text.splitlines()[-1]) - cells(first))
        print("\n".join((text, *(indent + one for one in more))), flush=True)

    port_file = args.port_file or home.run / PORT_FILE
    timing = Timing(args.deadline, retry_s=args.pause, renewed=args.renewed_retries)
    asyncio.run(serve(config, file=file, port_file=port_file, announce=announce, timing=timing))
    return 0


def _save(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    from common.errors import InputError

    if args.action == "trust":
        values = {"trusted_ip": args.address}
    else:
        token, key = _asked("Token: "), _asked("EncodingAESKey: ")
        values = {"url": args.url, "token": token, "encoding_aes_key": key}
    if fault := _client(args, environ).save(app=args.app, **values):
        raise InputError("sim.not-saved", why=fault)
    print(say(S.SIM_SAVED, lang))
    return 0


def _send(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    client = _client(args, environ)
    last = max((bubble["number"] for bubble in client.messages(0)), default=0)
    status = client.say(args.user, args.text, app=args.app)
    if status != 200:
        print(say(S.SIM_SENT_BADLY if status else S.SIM_UNANSWERED, lang, status=status))
        return 1
    if not _print_replies(client, args, last, lang):
        on = _switched_on(client.state())
        sentence = S.SIM_NO_REPLY_ON if on else S.SIM_NO_REPLY
        print(say(sentence, lang, seconds=f"{args.wait:g}", faults=on))
    return 0


def _repeat(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    status = _client(args, environ).ask("repeat", renewed=args.renewed)["status"]
    answer = say(S.FOUND_STATUS if status else S.FOUND_SILENCE, lang, status=status)
    print(say(S.SIM_REPEATED, lang, answer=answer))
    if status == FORBIDDEN and not args.renewed:
        print(say(S.SIM_REPEATED_LATE, lang))
    return 0 if status == 200 else 1


def _run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    from common.clock import SystemClock
    from gateway.simulator.scenario import Run, load_scenario, shipped

    if args.name is None:
        for one in shipped():
            print(f"{one.name:20} {one.title[lang]}")
        return 0
    scenario = load_scenario(args.name)
    _print("", scenario.title[lang])
    _print("", scenario.why[lang])
    client = _client(args, environ)
    clock = SystemClock()
    good = True
    played = Run(scenario, client, clock=clock, lang=lang, user=args.user, app=args.app)
    for number, outcome in enumerate(played.outcomes(), 1):
        good = outcome.good
        mark = "✓" if good else "✗"
        told = say(S.RUN_STEP, lang, step=outcome.step, found=outcome.found)
        _print(f"{number:3} {mark} ", told)
    _print("", say(S.RUN_GOOD if good else S.RUN_BAD, lang))
    return 0 if good else 1


def _check(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    from common.clock import SystemClock
    from gateway.simulator import report
    from gateway.simulator.check_accepts import check_keys
    from gateway.simulator.probe import Probe

    clock = SystemClock()
    url, keys = _keys(args, environ)
    probe = Probe(url, keys, clock=clock, user=args.user)
    probe.connect()
    check_keys(probe)
    if not args.json:
        shown = url.partition("?")[0]
        facts = {"url": reveal(shown), "count": len(report.CHECKS), "user": reveal(args.user)}
        _print("", say(S.CHECK_TITLE, lang, **facts))
        if args.user == STRANGER:
            _print("", say(S.CHECK_STRANGER, lang))
    results = []
    for result in report.run_checks(probe):
        results.append(result)
        if not args.json:
            for head, text in report.lines_of(result, lang, columns=_columns()):
                _print(head, text)
    if args.json:
        print(report.json_of(results, at_s=clock.now().wall_s))
    else:
        _print("", report.summary_of(results, lang))
    return 0 if report.is_good(results) else 1


def _keys(args: argparse.Namespace, environ: Mapping[str, str]) -> tuple[str, CallbackKeys]:
    """Return the URL, and what belongs to it: asked for, or from the gateway's settings."""
    from common.errors import ConfigError
    from gateway.simulator.probe import CallbackKeys, place_of

    if args.receive_id is not None:
        place_of(args.url or "")  # before anybody types a key
        token, key = _asked("Token: "), _asked("EncodingAESKey: ")
        return args.url, CallbackKeys(token, key, args.receive_id, args.agent_id)
    # The one place where the simulator's half looks at the gateway's: values alone come of it.
    from gateway.base.settings import load_settings

    settings = load_settings(
        file=args.gateway_config, environ=environ, secrets_dir=args.secrets_dir
    )
    app = settings.wecom.every().get(args.app)
    if app is None:
        raise ConfigError("sim.unknown-app", name=args.app)
    host = f"[{settings.listen.host}]" if ":" in settings.listen.host else settings.listen.host
    url = args.url or f"http://{host}:{settings.listen.port}{app.callback_path}"
    token, key = app.token.get_secret_value(), app.encoding_aes_key.get_secret_value()
    return url, CallbackKeys(token, key, app.corp_id, app.agent_id)


def _asked(prompt: str) -> str:
    """Return what is typed, unseen, or what is piped in."""
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass(prompt).strip()
    print(prompt, end="", file=sys.stderr, flush=True)
    if not (line := sys.stdin.readline()):
        print(file=sys.stderr)
    return line.strip()


def _fault(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    client = _client(args, environ)
    if args.name or args.off:
        options = {"seconds": args.seconds, "count": args.count, "address": args.address}
        asked = {name: value for name, value in options.items() if value}
        state = client.ask("fault", app=args.app, name=args.name, on=not args.off, **asked)
    else:
        state = client.state()
        for name, label in S.FAULTS.items():
            _print(f"{name:14} ", say(label, lang))
    on = _switched_on(state)
    print(say(S.SIM_FAULTS_ON if on else S.SIM_NO_FAULTS, lang, faults=on))
    return 0


def _switched_on(state: Mapping[str, Any]) -> list[str]:
    on = [
        f"{app['name']}: {name}" + (f" × {one['left']}" if one["left"] else "")
        for app in state["apps"]
        for name, one in app["faults"].items()
    ]
    return [*on, *(["unreachable"] if state["unreachable"] else [])]


def _tokens(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    later = {"seconds": args.seconds} if args.seconds else {}
    _client(args, environ).ask("tokens", app=args.app, how=args.how, **later)
    print(say(S.SIM_TOKENS_ENDED, lang))
    return 0


def _client(args: argparse.Namespace, environ: Mapping[str, str]) -> SimulatorClient:
    from gateway.simulator.client import SimulatorClient

    return SimulatorClient(args.port or _running_port(environ))


def _running_port(environ: Mapping[str, str]) -> int:
    from common.errors import UnavailableError
    from common.home import find_home, read_private

    try:
        return int(read_private(find_home(environ).run / PORT_FILE, max_bytes=16))
    except (FileNotFoundError, ValueError):
        raise UnavailableError("sim.not-started") from None


def _columns() -> int:
    """Return how wide a line may be; 0 where lines are for programs."""
    columns = shutil.get_terminal_size().columns
    return max(columns, LEAST_COLUMNS) if sys.stdout.isatty() else 0


def _print(head: str, text: str) -> None:
    """Print a line; on a terminal what does not fit stands below the text, under its head."""
    indent = cells(head)
    pieces = wrap(text, columns - indent) if (columns := _columns()) else [text]
    print(head + f"\n{' ' * indent}".join(pieces), flush=True)


def _print_replies(
    client: SimulatorClient, args: argparse.Namespace, last: int, lang: Lang
) -> bool:
    """Print what comes within the time, and tell whether anything did."""
    import time

    from common.clock import SystemClock
    from gateway.simulator.client import bubble_text

    clock = SystemClock()
    until, came = clock.now().mono + args.wait, False
    while clock.now().mono < until:
        for bubble in client.messages(last):
            last = bubble["number"]
            is_here = not args.app or bubble["app"] == args.app
            if bubble["sender"] != "member" and bubble["user"] == args.user and is_here:
                print(bubble_text(bubble, lang))
                print()
                came = True
        time.sleep(0.1)
    return came


_ACTIONS = {
    None: _serve,
    "init": _init,
    "send": _send,
    "save": _save,
    "trust": _save,
    "repeat": _repeat,
    "check": _check,
    "run": _run,
    "fault": _fault,
    "tokens": _tokens,
}
