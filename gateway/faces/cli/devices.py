"""``codexbridge gateway`` ``devices``, ``pair``, ``revoke``, ``bind``, ``unbind``, ``rotate``.

Machines: how they come in by a single-use code, whom they serve, how they are put out, and how they
follow the gateway to another signing key without being paired again.  Several machines may work for
one member, and one machine for several members.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from common.sentences import Lang, Sentence, say
from gateway.faces.cli import Command, Console, Subparsers, add_json, described, now, now_ms
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse

    from common.clock import Instant
    from gateway.base.identity import KeyRing, Seal
    from gateway.base.messages import Person
    from gateway.flow.withdrawal import Withdrawn
    from gateway.store import Connection
    from gateway.store.agents import Agent
    from gateway.store.pairings import Pairing
    from gateway.store.runner import AdminStore

WORDS_MS: Final = 86_400_000  # after the pairing, in which somebody may compare them
PAIR_POLL_SECONDS: Final = 0.5
TAKE_SECONDS: Final = 10.0  # for connected machines to follow, before --now drops the old keys
ROTATE_POLL_SECONDS: Final = 0.25


def add_parsers(actions: Subparsers, lang: Lang) -> None:
    """Declare the arguments."""
    devices = described(actions, "devices", texts.DEVICES, lang)
    devices.add_argument("--all", action="store_true", help=say(texts.DEVICES_ALL, lang))
    add_json(devices, lang)
    for name, what in (("bind", texts.BIND), ("unbind", texts.UNBIND), ("revoke", texts.REVOKE)):
        change = described(actions, name, what, lang)
        change.add_argument("machine", metavar="MACHINE", help=say(texts.MACHINE_NAME, lang))
        if name != "revoke":
            change.add_argument(
                "users", nargs="+", metavar="USER", help=say(texts.MEMBER_USERS, lang)
            )
    pair = described(actions, "pair", texts.PAIR, lang)
    pair.add_argument(
        "--machine", required=True, metavar="NAME", help=say(texts.PAIR_MACHINE, lang)
    )
    pair.add_argument("--member", required=True, metavar="USER", help=say(texts.PAIR_MEMBER, lang))
    pair.add_argument("--replace", action="store_true", help=say(texts.PAIR_REPLACE, lang))
    pair.add_argument("--wait", action="store_true", help=say(texts.PAIR_WAIT, lang))
    rotate = described(actions, "rotate", texts.ROTATE, lang)
    rotate.add_argument("--now", action="store_true", help=say(texts.ROTATE_NOW, lang))


def run_list(args: argparse.Namespace, console: Console) -> int:
    """List the machines."""
    from gateway.base.identity import open_identity

    with console.open_store() as store:
        found = store.read(_records, open_identity(console.state), revoked_too=args.all)
    if args.json:
        return console.print_json(found)
    if not found:
        return console.tell(texts.NO_DEVICES)
    console.print_table([_row(device, console) for device in found])
    for device in found:
        if device["enrolled_at"] > now_ms() - WORDS_MS and device["revoked_at"] is None:
            words = device["check_words"]
            console.tell(texts.CHECK_WORDS, machine=device["machine"], words=words)
    return 0


def run_revoke(args: argparse.Namespace, console: Console) -> int:
    """Revoke a machine's key.

    Raises:
        InputError: ``machine.unknown``.
    """
    from common.errors import InputError
    from gateway.flow import withdrawal

    with console.open_store() as store:
        done = store.write(withdrawal.revoke, console.seal(), args.machine, at=now())
    if done is None:
        raise InputError("machine.unknown", machine=args.machine[:64])
    counts = (texts.REFUSED_UNSENT, done.ended), (texts.ENDS_UNKNOWN, done.left)
    return console.tell_counts(texts.REVOKED, *counts, machine=args.machine)


def run_bind(args: argparse.Namespace, console: Console) -> int:
    """Let a machine work for members.

    Raises:
        InputError: ``machine.unknown`` or ``member.*``; nothing was changed.
    """
    from gateway.store import members

    def bind(conn: Connection, people: Sequence[Person]) -> list[bool]:
        agent = _named(conn, args.machine)
        return [members.bind(conn, one, agent.agent_id, at_ms=now_ms()) for one in people]

    with console.open_store() as store:
        people = console.people(store, args.users)
        found = store.write(bind, people)
    for person, new in zip(people, found, strict=True):
        sentence = texts.BOUND if new else texts.WAS_BOUND
        console.tell(sentence, machine=args.machine, user=person)
    return 0


def run_unbind(args: argparse.Namespace, console: Console) -> int:
    """Let a machine no longer work for members.

    Raises:
        InputError: ``machine.unknown``, ``machine.not-bound`` or ``member.*``; nothing was changed.
    """
    from common.errors import InputError
    from gateway.flow import withdrawal

    seal, at = console.seal(), now()

    def unbind(conn: Connection, people: Sequence[Person]) -> list[Withdrawn]:
        agent = _named(conn, args.machine)
        found = []
        for person in people:
            done = withdrawal.unbind(conn, seal, person, agent, at=at)
            if done is None:
                raise InputError("machine.not-bound", machine=args.machine, user=str(person))
            found.append(done)
        return found

    with console.open_store() as store:
        people = console.people(store, args.users)
        found = store.write(unbind, people)
    for person, done in zip(people, found, strict=True):
        counts = (texts.TAKEN_BACK, done.ended), (texts.STOPPING, done.left)
        console.tell_counts(texts.UNBOUND, *counts, machine=args.machine, user=person)
    return 0


def run_pair(args: argparse.Namespace, console: Console) -> int:
    """Make a code and show it once.

    Raises:
        StateError: ``machine.claimed``.
        InputError: ``machine.invalid-name`` or ``member.unknown``.
        UnavailableError: ``pairing.over`` while waiting.
    """
    from common.protocol.pairing import pairing_line
    from gateway.base.settings import is_loopback, public_url

    code, until = make_code(console, args.machine, args.member, replace=args.replace)
    settings = console.settings
    at = console.moment(until)
    known = settings.public_url or (is_loopback(settings.listen.host) and settings.listen.port)
    port = settings.listen.port
    url = public_url(settings, port=port) if known else console.say(texts.URL_UNKNOWN)
    console.tell(texts.CODE, machine=args.machine, user=args.member, until=at)
    print(f"\n    {pairing_line(url, code) if known else code}\n")
    console.tell(texts.CODE_NEXT, url=url)
    if not args.wait:
        return 0
    print()
    console.tell(texts.WAITING)
    return await_machine(code, console)


def make_code(
    console: Console, machine: str, user: str, *, replace: bool = False
) -> tuple[str, int]:
    """Make a pairing code; returns it with when it ends, in milliseconds since the epoch.

    Raises:
        StateError: ``machine.claimed``.
        InputError: ``machine.invalid-name`` or ``member.unknown``.
    """
    from common.protocol.pairing import new_code, pairing_id, parse_code

    code = new_code()
    secret = parse_code(code)
    with console.open_store() as store:
        until = store.write(
            _open_code,
            pairing_id(secret),
            secret=secret,
            machine=machine,
            person=console.person(user),
            revoke_with=console.seal() if replace else None,
            at=now(),
        )
    return code, until


def run_rotate(args: argparse.Namespace, console: Console) -> int:
    """Make a new key and tell the machines of it; with ``--now``, drop the old ones too.

    Raises:
        StateError: ``rotation.too-many-keys``.
    """
    from gateway.base.identity import open_identity
    from gateway.flow import rotation

    ring = open_identity(console.state)
    with console.open_store() as store:
        begun = store.write(rotation.begin, ring, now(), at_once=args.now)
        console.tell(texts.ROTATED, key=begun.key_id, count=begun.machines)
        if not args.now:
            return console.tell(texts.ROTATED_NEXT)
        console.tell(texts.ROTATION_WAITS, seconds=round(TAKE_SECONDS))
        _await_connected(store, begun.key_id)
        given_up = store.write(rotation.abandon, ring, begun.key_id, at=now())
    ring.drop(given_up.keys)
    if not given_up.machines:
        return console.tell(texts.OLD_KEYS_DROPPED)
    return console.tell(texts.MACHINES_LOST, machines=given_up.machines)


COMMANDS: Final[Mapping[str, Command]] = {
    "devices": run_list,
    "revoke": run_revoke,
    "bind": run_bind,
    "unbind": run_unbind,
    "pair": run_pair,
    "rotate": run_rotate,
}


def _named(conn: Connection, machine: str) -> Agent:
    from common.errors import InputError
    from gateway.store import agents

    agent = agents.of_machine(conn, machine)
    if agent is None:
        raise InputError("machine.unknown", machine=machine[:64])
    return agent


def _records(conn: Connection, ring: KeyRing, *, revoked_too: bool) -> list[dict[str, Any]]:
    from gateway.store import agents, mailbox, members

    users, waiting = members.by_machine(conn), mailbox.depths(conn)
    return [
        _record(agent, users.get(agent.agent_id, []), waiting.get(agent.agent_id, 0))
        | {"check_words": _words(agent, ring) if agent.revoked_at is None else None}
        for agent in agents.everyone(conn)
        if revoked_too or agent.revoked_at is None
    ]


def _words(agent: Agent, ring: KeyRing) -> str:
    from common.protocol.pairing import check_words
    from common.signing import VerifyKey

    pinned = ring.signing(agent.pinned_key_id)
    return "  ".join(check_words(VerifyKey(agent.public_key), pinned.public))


def _record(agent: Agent, users: Sequence[Person], waiting: int) -> dict[str, Any]:
    import base64

    return {
        "machine": agent.machine,
        "agent_id": agent.agent_id,
        "key_id": agent.key_id,
        "public_key": base64.b64encode(agent.public_key).decode("ascii"),
        "members": [str(person) for person in users],
        "online": agent.online and agent.revoked_at is None,
        "connected_at": agent.connected_at,
        "last_seen_at": agent.last_seen_at,
        "enrolled_at": agent.enrolled_at,
        "revoked_at": agent.revoked_at,
        "waiting": waiting,
    }


def _row(device: Mapping[str, Any], console: Console) -> Sequence[str]:
    sentence, at_ms = _standing(device)
    at = "" if at_ms is None else console.moment(at_ms)
    return (
        device["machine"],
        console.say(sentence, at=at),
        ", ".join(device["members"]) or console.say(texts.NO_MEMBER),
        console.say(texts.MAIL, count=device["waiting"]),
        device["key_id"],
    )


def _standing(device: Mapping[str, Any]) -> tuple[Sentence, int | None]:
    if device["revoked_at"] is not None:
        return texts.REVOKED_AT, device["revoked_at"]
    if device["online"]:
        return texts.ONLINE_SINCE, device["connected_at"]
    if device["last_seen_at"] is None:
        return texts.NEVER_ONLINE, None
    return texts.OFFLINE_SINCE, device["last_seen_at"]


def _open_code(
    conn: Connection,
    name: str,
    *,
    secret: bytes,
    machine: str,
    person: Person,
    revoke_with: Seal | None,
    at: Instant,
) -> int:
    from gateway.flow import withdrawal
    from gateway.store import pairings

    if revoke_with is not None:
        withdrawal.revoke(conn, revoke_with, machine, at=at)
    return pairings.create(
        conn, name, secret=secret, machine=machine, person=person, at_ms=at.wall_ms
    )


def await_machine(
    code: str, console: Console, *, between: Callable[[], None] = lambda: None
) -> int:
    """Wait until a machine has used the code, then show the check words.

    Args:
        code: From `make_code`.
        console: Of the gateway.
        between: Called between two looks; may raise.

    Raises:
        UnavailableError: ``pairing.over``.
    """
    from common.errors import UnavailableError
    from common.protocol.pairing import pairing_id, parse_code
    from gateway.base.identity import open_identity
    from gateway.store import agents

    with console.open_store() as store:
        used = _until_used(store.read, pairing_id(parse_code(code)), between)
        agent = store.read(agents.find, used.agent_id) if used and used.agent_id else None
    if used is None or agent is None:
        raise UnavailableError("pairing.over")
    words = _words(agent, open_identity(console.state))
    print()
    return console.tell(texts.PAIRED, machine=used.machine, words=words)


def _until_used(read: Any, name: str, between: Callable[[], None]) -> Pairing | None:
    from gateway.store import pairings

    while True:
        found: Pairing | None = read(pairings.find, name)
        if found is None or found.used_at is not None:
            return found
        if found.secret is None or found.expires_at <= now_ms():
            return None
        between()
        time.sleep(PAIR_POLL_SECONDS)


def _await_connected(store: AdminStore, key_id: str) -> None:
    """Wait for the machines that can follow: connected ones, and those that just were.

    To follow is to disconnect and come back, so that who is away at this moment may be on its way.
    """
    from gateway.flow import rotation

    began = now()
    lately_ms = began.wall_ms - round(TAKE_SECONDS * 1000)
    while now().mono < began.mono + TAKE_SECONDS:
        behind = store.read(rotation.behind, key_id)
        if not any(agent.online or (agent.last_seen_at or 0) > lately_ms for agent in behind):
            return
        time.sleep(ROTATE_POLL_SECONDS)
