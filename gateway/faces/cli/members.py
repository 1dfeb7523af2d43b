"""``codexbridge gateway member``: the allow-list."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from common.sentences import Lang, say
from gateway.faces.cli import Command, Console, add_json, described, now, now_ms
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse

    from gateway.base.messages import Person
    from gateway.store.members import Member

ROLES: Final = ("member", "approver", "admin")  # those of the store, which no help text loads


def add_parsers(actions: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    member = described(actions, "member", texts.MEMBER, lang)
    changes = member.add_subparsers(dest="change", required=True, metavar="COMMAND")
    add = described(changes, "add", texts.MEMBER_ADD, lang)
    add.add_argument("user", metavar="USER", help=say(texts.MEMBER_USER, lang))
    add.add_argument("--lang", choices=("zh", "en"), help=say(texts.MEMBER_LANG, lang))
    add.add_argument("--role", choices=ROLES, help=say(texts.MEMBER_ROLE, lang))
    change = described(changes, "set", texts.MEMBER_SET, lang)
    change.add_argument("user", metavar="USER", help=say(texts.MEMBER_USER, lang))
    change.add_argument("--role", choices=ROLES, required=True, help=say(texts.MEMBER_ROLE, lang))
    remove = described(changes, "remove", texts.MEMBER_REMOVE, lang)
    remove.add_argument("user", metavar="USER", help=say(texts.MEMBER_USER, lang))
    add_json(described(changes, "list", texts.MEMBER_LIST, lang), lang)


def run(args: argparse.Namespace, console: Console) -> int:
    """Change the list or show it.

    Raises:
        InputError: ``member.invalid`` or ``member.not-listed``.
    """
    if args.change != "list":
        args.user = str(console.person(args.user))
    match args.change:
        case "add":
            return _add(args, console)
        case "set":
            return _set(args, console)
        case "remove":
            return _remove(args, console)
        case _:
            return _list(args, console)


COMMANDS: Final[Mapping[str, Command]] = {"member": run}


def _add(args: argparse.Namespace, console: Console) -> int:
    from gateway.store import members

    given = {"lang": args.lang, "role": args.role}
    with console.open_store() as store:
        new = store.write(members.add, console.person(args.user), **given, at_ms=now_ms())
    if new or not any(given.values()):
        console.tell(texts.ADDED if new else texts.WAS_THERE, user=args.user)
    if not new and args.lang is not None:
        console.tell(texts.LANG_SET, user=args.user, lang=args.lang)
    return _tell_role(args, console) if args.role else 0


def _set(args: argparse.Namespace, console: Console) -> int:
    from common.errors import InputError
    from gateway.store import members

    with console.open_store() as store:
        person = console.person(args.user)
        if not store.write(members.change, person, role=args.role, at_ms=now_ms()):
            raise InputError("member.not-listed", user=args.user)
    return _tell_role(args, console)


def _tell_role(args: argparse.Namespace, console: Console) -> int:
    from gateway.base.settings import admins_of
    from gateway.flow.people import ROLES as NAMED

    console.tell(texts.ROLE_SET, user=args.user, role=console.say(NAMED[args.role]))
    if args.role != "admin" and console.person(args.user) in admins_of(console.settings):
        console.tell(texts.STILL_ADMIN, user=args.user)
    return 0


def _remove(args: argparse.Namespace, console: Console) -> int:
    from common.errors import InputError
    from gateway.base.settings import admins_of
    from gateway.flow import withdrawal

    with console.open_store() as store:
        done = store.write(
            withdrawal.remove_member, console.seal(), console.person(args.user), at=now()
        )
    if done is None:
        raise InputError("member.not-listed", user=args.user)
    counts = (texts.TAKEN_BACK, done.ended), (texts.STOPPING, done.left)
    console.tell_counts(texts.REMOVED, *counts, user=args.user)
    is_admin = console.person(args.user) in admins_of(console.settings)
    return console.tell(texts.STILL_ADMIN, user=args.user) if is_admin else 0


def _list(args: argparse.Namespace, console: Console) -> int:
    from gateway.base.settings import admins_of
    from gateway.flow.people import ROLES as NAMED
    from gateway.store import members

    named = admins_of(console.settings)
    with console.open_store() as store:
        everyone = store.read(members.everyone)
    if args.json:
        return console.print_json([_record(member, named) for member in everyone])
    if not everyone:
        return console.tell(texts.NO_MEMBERS)
    none, by_settings = console.say(texts.NO_MACHINE), console.say(texts.BY_SETTINGS)
    console.print_table(
        (
            str(member.person),
            by_settings if member.person in named else console.say(NAMED[member.role]),
            member.lang or "-",
            ", ".join(member.machines) or none,
        )
        for member in everyone
    )
    if outside := set(named) - {member.person for member in everyone}:
        console.tell(texts.ADMINS_OUTSIDE, users=", ".join(sorted(map(str, outside))))
    return 0


def _record(member: Member, named: Collection[Person]) -> dict[str, object]:
    return {
        "app": member.app,
        "user": member.user_id,
        "role": "admin" if member.person in named else member.role,
        "by_settings": member.person in named,
        "lang": member.lang,
        "machines": list(member.machines),
        "added_at": member.added_at,
    }
