"""``codexbridge gateway …``: the server in the foreground, and an admin's commands beside it.

Only arguments and print-outs are here.  The server is `gateway.app`; what the commands change and
read are store functions, which work on the same file whether or not a server runs on it.
Errors leave as they are: the launcher tells them in one line and chooses the exit code.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from common.sentences import Lang, Sentence, say
from gateway import cli_texts as texts

if TYPE_CHECKING:
    import argparse

    from gateway.settings import GatewaySettings
    from gateway.store.pairings import Pairing
    from gateway.store.port import Connection

LISTED: Final = 100
POLL_SECONDS: Final = 0.5


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""

    def described(
        to: argparse._SubParsersAction[argparse.ArgumentParser], name: str, what: Sentence
    ) -> argparse.ArgumentParser:
        return to.add_parser(name, help=say(what, lang), description=say(what, lang))

    gateway = subparsers.add_parser("gateway", description=say(texts.GATEWAY, lang))
    _add_files(gateway, lang, inner=False)
    gateway.add_argument("--port-file", type=Path, metavar="FILE", help=say(texts.PORT_FILE, lang))
    actions = gateway.add_subparsers(dest="action", metavar="COMMAND")

    tasks = described(actions, "tasks", texts.TASKS)
    tasks.add_argument("--all", action="store_true", help=say(texts.TASKS_ALL, lang))
    tasks.add_argument("--json", action="store_true", help=say(texts.JSON, lang))

    member = described(actions, "member", texts.MEMBER)
    changes = member.add_subparsers(dest="change", required=True, metavar="COMMAND")
    add = described(changes, "add", texts.MEMBER_ADD)
    add.add_argument("user", metavar="USER", help=say(texts.MEMBER_USER, lang))
    add.add_argument("--lang", choices=("zh", "en"), help=say(texts.MEMBER_LANG, lang))
    remove = described(changes, "remove", texts.MEMBER_REMOVE)
    remove.add_argument("user", metavar="USER", help=say(texts.MEMBER_USER, lang))
    listing = described(changes, "list", texts.MEMBER_LIST)
    listing.add_argument("--json", action="store_true", help=say(texts.JSON, lang))

    pair = described(actions, "pair", texts.PAIR)
    pair.add_argument(
        "--machine", required=True, metavar="NAME", help=say(texts.PAIR_MACHINE, lang)
    )
    pair.add_argument("--member", required=True, metavar="USER", help=say(texts.PAIR_MEMBER, lang))
    pair.add_argument("--replace", action="store_true", help=say(texts.PAIR_REPLACE, lang))
    pair.add_argument("--wait", action="store_true", help=say(texts.PAIR_WAIT, lang))
    for command in (tasks, member, add, remove, listing, pair):
        _add_files(command, lang)


def _add_files(parser: argparse.ArgumentParser, lang: Lang, *, inner: bool = True) -> None:
    import argparse

    # The same options before and after the command: the later parser must not erase what the
    # earlier one found, so only the outermost has a default.
    default = argparse.SUPPRESS if inner else None
    for name, metavar, text in (
        ("--config", "FILE", texts.CONFIG),
        ("--secrets-dir", "DIR", texts.SECRETS),
    ):
        help_text = say(text, lang)
        parser.add_argument(name, type=Path, metavar=metavar, default=default, help=help_text)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Do what was asked for.

    Raises:
        CodexBridgeError: told by the launcher.
    """
    from gateway.settings import load_settings

    settings = load_settings(file=args.config, environ=environ, secrets_dir=args.secrets_dir)
    match args.action:
        case "tasks":
            return _tasks(args, lang, environ, settings)
        case "member":
            return _member(args, lang, environ, settings)
        case "pair":
            return _pair(args, lang, environ, settings)
        case _:
            from gateway.app import run_gateway

            return run_gateway(settings, environ, port_file=args.port_file)


def _tasks(
    args: argparse.Namespace, lang: Lang, environ: Mapping[str, str], settings: GatewaySettings
) -> int:
    from gateway.store import agents, tasks
    from gateway.store.runner import open_admin

    with open_admin(_store(settings, environ)) as store:
        found = store.read(tasks.newest, limit=LISTED)
        machines = {agent.agent_id: agent.machine for agent in store.read(agents.everyone)}
    listed: list[dict[str, Any]] = [
        {
            "task_id": task.task_id,
            "short_id": task.short_id,
            "machine": machines.get(task.agent_id),
            "user": task.user_id,
            "state": task.state.value,
            "reason": task.reason.value if task.reason else None,
            "created_at": task.created_at,
            "updated_at": task.updated_at,
            "expires_at": task.expires_at,
        }
        for task in found
        if args.all or args.json or task.reason is None
    ]
    if args.json:
        return _print_json(listed)
    if not listed:
        return _tell(texts.NO_TASKS if found else texts.NO_TASKS_AT_ALL, lang)
    return _print_table(
        (
            task["short_id"],
            say(texts.OUTCOMES.get(task["reason"]) or texts.STATES[task["state"]], lang),
            _moment(settings, task["created_at"], "%m-%d %H:%M"),
            task["machine"] or "—",
            task["user"],
        )
        for task in listed
    )


def _member(
    args: argparse.Namespace, lang: Lang, environ: Mapping[str, str], settings: GatewaySettings
) -> int:
    from common.clock import SystemClock
    from common.errors import InputError
    from gateway.store import members
    from gateway.store.runner import open_admin

    at_ms = SystemClock().now().wall_ms
    with open_admin(_store(settings, environ)) as store:
        match args.change:
            case "add":
                new = store.write(members.add, args.user, lang=args.lang, at_ms=at_ms)
                return _tell(texts.ADDED if new else texts.WAS_THERE, lang, user=args.user)
            case "remove":
                if not store.write(members.remove, args.user, at_ms=at_ms):
                    raise InputError("member.not-listed", user=args.user)
                return _tell(texts.REMOVED, lang, user=args.user)
        everyone = store.read(members.everyone)
    if args.json:
        return _print_json(
            [
                {
                    "user": member.user_id,
                    "lang": member.lang,
                    "machines": list(member.machines),
                    "added_at": member.added_at,
                }
                for member in everyone
            ]
        )
    if not everyone:
        return _tell(texts.NO_MEMBERS, lang)
    none = say(texts.NO_MACHINE, lang)
    return _print_table(
        (member.user_id, member.lang or "-", ", ".join(member.machines) or none)
        for member in everyone
    )


def _pair(
    args: argparse.Namespace, lang: Lang, environ: Mapping[str, str], settings: GatewaySettings
) -> int:
    from common.clock import SystemClock
    from common.protocol.pairing import new_code, pairing_id, parse_code
    from gateway.settings import is_loopback, public_url
    from gateway.store.runner import open_admin

    code = new_code()
    secret = parse_code(code)
    with open_admin(_store(settings, environ)) as store:
        until = store.write(
            _open_code,
            pairing_id(secret),
            secret=secret,
            machine=args.machine,
            user_id=args.member,
            replace=args.replace,
            at_ms=SystemClock().now().wall_ms,
        )
    at = _moment(settings, until)
    _tell(texts.CODE, lang, machine=args.machine, user=args.member, until=at)
    print(f"\n    {code}\n")
    known = settings.public_url or (is_loopback(settings.listen.host) and settings.listen.port)
    url = public_url(settings, port=settings.listen.port) if known else say(texts.URL_UNKNOWN, lang)
    _tell(texts.CODE_NEXT, lang, url=url)
    return _await_machine(pairing_id(secret), lang, environ, settings) if args.wait else 0


def _open_code(
    conn: Connection,
    name: str,
    *,
    secret: bytes,
    machine: str,
    user_id: str,
    replace: bool,
    at_ms: int,
) -> int:
    from gateway.store import agents, audit, pairings

    if replace and (revoked := agents.revoke(conn, machine, at_ms=at_ms)):
        audit.append(conn, "agent.revoked", at_ms, agent=revoked, machine=machine)
    return pairings.create(conn, name, secret=secret, machine=machine, user_id=user_id, at_ms=at_ms)


def _await_machine(
    name: str, lang: Lang, environ: Mapping[str, str], settings: GatewaySettings
) -> int:
    from common.errors import UnavailableError
    from common.protocol.pairing import check_words
    from common.signing import VerifyKey
    from gateway.identity import open_identity
    from gateway.settings import state_dir
    from gateway.store import agents
    from gateway.store.runner import open_admin

    print()
    _tell(texts.WAITING, lang)
    with open_admin(_store(settings, environ)) as store:
        used = _until_used(store.read, name)
        agent = store.read(agents.find, used.agent_id) if used and used.agent_id else None
    if used is None or agent is None:
        raise UnavailableError("pairing.over")
    key = open_identity(state_dir(settings, environ))
    words = check_words(VerifyKey(agent.public_key), key.public)
    print()
    return _tell(texts.PAIRED, lang, machine=used.machine, words="  ".join(words))


def _until_used(read: Any, name: str) -> Pairing | None:
    from common.clock import SystemClock
    from gateway.store import pairings

    clock = SystemClock()
    while True:
        found: Pairing | None = read(pairings.find, name)
        if found is None or found.used_at is not None:
            return found
        if found.secret is None or found.expires_at <= clock.now().wall_ms:
            return None
        time.sleep(POLL_SECONDS)


def _store(settings: GatewaySettings, environ: Mapping[str, str]) -> Path:
    from gateway.settings import STORE_FILE, state_dir

    return state_dir(settings, environ) / STORE_FILE


def _moment(settings: GatewaySettings, at_ms: Any, form: str = "%Y-%m-%d %H:%M") -> str:
    from datetime import datetime

    from gateway.settings import zone_of

    return datetime.fromtimestamp(at_ms / 1000, zone_of(settings.time_zone)).strftime(form)


def _tell(sentence: Sentence, lang: Lang, **facts: object) -> int:
    print(say(sentence, lang, **facts), flush=True)
    return 0


def _print_json(value: object) -> int:
    import json

    print(json.dumps(value, ensure_ascii=False, indent=2))
    return 0


def _print_table(rows: Iterable[Sequence[str]]) -> int:
    from shutil import get_terminal_size

    from common.terminal import clip_cells, table
    from common.text import one_line

    width = get_terminal_size().columns
    for line in table([[one_line(value) for value in row] for row in rows]):
        print(clip_cells(line, width))
    return 0
