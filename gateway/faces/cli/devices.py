"""``codexbridge gateway devices``, ``revoke``, ``bind``, ``unbind``: machines and whom they serve.

Several machines may work for one member, and one machine for several members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from common.sentences import Lang, Sentence, say
from gateway.faces.cli import sentences as texts
from gateway.faces.cli.console import Command, Console, add_json, described, now, now_ms

if TYPE_CHECKING:
    import argparse

    from gateway.store import Connection
    from gateway.store.agents import Agent


def add_parsers(actions: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    devices = described(actions, "devices", texts.DEVICES, lang)
    devices.add_argument("--all", action="store_true", help=say(texts.DEVICES_ALL, lang))
    add_json(devices, lang)
    for name, what in (("bind", texts.BIND), ("unbind", texts.UNBIND), ("revoke", texts.REVOKE)):
        change = described(actions, name, what, lang)
        change.add_argument("machine", metavar="MACHINE", help=say(texts.MACHINE_NAME, lang))
        if name != "revoke":
            change.add_argument("user", metavar="USER", help=say(texts.MEMBER_USER, lang))


def run_list(args: argparse.Namespace, console: Console) -> int:
    """List the machines."""
    with console.open_store() as store:
        found = store.read(_records, revoked_too=args.all)
    if args.json:
        return console.print_json(found)
    if not found:
        return console.tell(texts.NO_DEVICES)
    return console.print_table([_row(device, console) for device in found])


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
    return console.tell(texts.REVOKED, machine=args.machine, ended=done.ended, left=done.left)


def run_bind(args: argparse.Namespace, console: Console) -> int:
    """Let a machine work for a member.

    Raises:
        InputError: ``machine.unknown`` or ``member.unknown``.
    """
    with console.open_store() as store:
        new = store.write(_bind, args.machine, args.user, at_ms=now_ms())
    sentence = texts.BOUND if new else texts.WAS_BOUND
    return console.tell(sentence, machine=args.machine, user=args.user)


def run_unbind(args: argparse.Namespace, console: Console) -> int:
    """Let a machine no longer work for a member.

    Raises:
        InputError: ``machine.unknown`` or ``machine.not-bound``.
    """
    from common.errors import InputError
    from gateway.flow import withdrawal

    with console.open_store() as store:
        agent = store.read(_named, args.machine)
        done = store.write(withdrawal.unbind, console.seal(), args.user, agent, at=now())
    if done is None:
        raise InputError("machine.not-bound", machine=args.machine, user=args.user)
    facts = {"machine": args.machine, "user": args.user, "ended": done.ended, "left": done.left}
    return console.tell(texts.UNBOUND, **facts)


COMMANDS: Final[Mapping[str, Command]] = {
    "devices": run_list,
    "revoke": run_revoke,
    "bind": run_bind,
    "unbind": run_unbind,
}


def _named(conn: Connection, machine: str) -> Agent:
    from common.errors import InputError
    from gateway.store import agents

    agent = agents.of_machine(conn, machine)
    if agent is None:
        raise InputError("machine.unknown", machine=machine[:64])
    return agent


def _bind(conn: Connection, machine: str, user: str, *, at_ms: int) -> bool:
    from gateway.store import members

    return members.bind(conn, user, _named(conn, machine).agent_id, at_ms=at_ms)


def _records(conn: Connection, *, revoked_too: bool) -> list[dict[str, Any]]:
    from gateway.store import agents, mailbox, members

    users, waiting = members.by_machine(conn), mailbox.depths(conn)
    return [
        _record(agent, users.get(agent.agent_id, []), waiting.get(agent.agent_id, 0))
        for agent in agents.everyone(conn)
        if revoked_too or agent.revoked_at is None
    ]


def _record(agent: Agent, users: Sequence[str], waiting: int) -> dict[str, Any]:
    import base64

    return {
        "machine": agent.machine,
        "agent_id": agent.agent_id,
        "key_id": agent.key_id,
        "public_key": base64.b64encode(agent.public_key).decode("ascii"),
        "members": list(users),
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
