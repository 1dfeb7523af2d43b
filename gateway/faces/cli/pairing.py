"""``codexbridge gateway pair``: a single-use code for a machine, and the wait until it is used."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from common.sentences import Lang, say
from gateway.faces.cli import sentences as texts
from gateway.faces.cli.console import Command, Console, described, now, now_ms

if TYPE_CHECKING:
    import argparse

    from common.clock import Instant
    from gateway.base.identity import Seal
    from gateway.store import Connection
    from gateway.store.pairings import Pairing

POLL_SECONDS: Final = 0.5


def add_parsers(actions: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    pair = described(actions, "pair", texts.PAIR, lang)
    pair.add_argument(
        "--machine", required=True, metavar="NAME", help=say(texts.PAIR_MACHINE, lang)
    )
    pair.add_argument("--member", required=True, metavar="USER", help=say(texts.PAIR_MEMBER, lang))
    pair.add_argument("--replace", action="store_true", help=say(texts.PAIR_REPLACE, lang))
    pair.add_argument("--wait", action="store_true", help=say(texts.PAIR_WAIT, lang))


def run(args: argparse.Namespace, console: Console) -> int:
    """Make a code and show it once.

    Raises:
        StateError: ``machine.claimed``.
        InputError: ``machine.invalid-name`` or ``member.unknown``.
        UnavailableError: ``pairing.over`` while waiting.
    """
    from common.protocol.pairing import new_code, pairing_id, parse_code
    from gateway.base.settings import is_loopback, public_url

    code = new_code()
    secret = parse_code(code)
    with console.open_store() as store:
        until = store.write(
            _open_code,
            pairing_id(secret),
            secret=secret,
            machine=args.machine,
            user_id=args.member,
            revoke_with=console.seal() if args.replace else None,
            at=now(),
        )
    settings = console.settings
    at = console.moment(until)
    console.tell(texts.CODE, machine=args.machine, user=args.member, until=at)
    print(f"\n    {code}\n")
    known = settings.public_url or (is_loopback(settings.listen.host) and settings.listen.port)
    port = settings.listen.port
    url = public_url(settings, port=port) if known else console.say(texts.URL_UNKNOWN)
    console.tell(texts.CODE_NEXT, url=url)
    return _await_machine(pairing_id(secret), console) if args.wait else 0


COMMANDS: Final[Mapping[str, Command]] = {"pair": run}


def _open_code(
    conn: Connection,
    name: str,
    *,
    secret: bytes,
    machine: str,
    user_id: str,
    revoke_with: Seal | None,
    at: Instant,
) -> int:
    from gateway.flow import withdrawal
    from gateway.store import pairings

    if revoke_with is not None:
        withdrawal.revoke(conn, revoke_with, machine, at=at)
    return pairings.create(
        conn, name, secret=secret, machine=machine, user_id=user_id, at_ms=at.wall_ms
    )


def _await_machine(name: str, console: Console) -> int:
    from common.errors import UnavailableError
    from common.protocol.pairing import check_words
    from common.signing import VerifyKey
    from gateway.base.identity import open_identity
    from gateway.store import agents

    print()
    console.tell(texts.WAITING)
    with console.open_store() as store:
        used = _until_used(store.read, name)
        agent = store.read(agents.find, used.agent_id) if used and used.agent_id else None
    if used is None or agent is None:
        raise UnavailableError("pairing.over")
    pinned = open_identity(console.state).signing(agent.pinned_key_id)
    words = check_words(VerifyKey(agent.public_key), pinned.public)
    print()
    return console.tell(texts.PAIRED, machine=used.machine, words="  ".join(words))


def _until_used(read: Any, name: str) -> Pairing | None:
    from gateway.store import pairings

    while True:
        found: Pairing | None = read(pairings.find, name)
        if found is None or found.used_at is not None:
            return found
        if found.secret is None or found.expires_at <= now_ms():
            return None
        time.sleep(POLL_SECONDS)
