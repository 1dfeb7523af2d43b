"""``codexbridge gateway member``: the allow-list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.sentences import Lang, say
from gateway.faces.cli import Command, Console, add_json, described, now, now_ms
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse

    from gateway.store.members import Member


def add_parsers(actions: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    member = described(actions, "member", texts.MEMBER, lang)
    changes = member.add_subparsers(dest="change", required=True, metavar="COMMAND")
    add = described(changes, "add", texts.MEMBER_ADD, lang)
    add.add_argument("user", metavar="USER", help=say(texts.MEMBER_USER, lang))
    add.add_argument("--lang", choices=("zh", "en"), help=say(texts.MEMBER_LANG, lang))
    remove = described(changes, "remove", texts.MEMBER_REMOVE, lang)
    remove.add_argument("user", metavar="USER", help=say(texts.MEMBER_USER, lang))
    add_json(described(changes, "list", texts.MEMBER_LIST, lang), lang)


def run(args: argparse.Namespace, console: Console) -> int:
    """Change the list or show it.

    Raises:
        InputError: ``member.invalid`` or ``member.not-listed``.
    """
    match args.change:
        case "add":
            return _add(args, console)
        case "remove":
            return _remove(args, console)
        case _:
            return _list(args, console)


COMMANDS: Final[Mapping[str, Command]] = {"member": run}


def _add(args: argparse.Namespace, console: Console) -> int:
    from gateway.store import members

    with console.open_store() as store:
        new = store.write(members.add, console.person(args.user), lang=args.lang, at_ms=now_ms())
    if not new and args.lang is not None:
        return console.tell(texts.LANG_SET, user=args.user, lang=args.lang)
    return console.tell(texts.ADDED if new else texts.WAS_THERE, user=args.user)


def _remove(args: argparse.Namespace, console: Console) -> int:
    from common.errors import InputError
    from gateway.base.messages import FIRST_APP
    from gateway.flow import withdrawal

    with console.open_store() as store:
        done = store.write(
            withdrawal.remove_member, console.seal(), console.person(args.user), at=now()
        )
    if done is None:
        raise InputError("member.not-listed", user=args.user)
    console.tell(texts.REMOVED, user=args.user, ended=done.ended, left=done.left)
    person, settings = console.person(args.user), console.settings
    alarmed = settings.admins if person.app == FIRST_APP else settings.wecom.apps[person.app].admins
    return console.tell(texts.STILL_ADMIN, user=args.user) if person.user in alarmed else 0


def _list(args: argparse.Namespace, console: Console) -> int:
    from gateway.base.messages import Person
    from gateway.store import members

    with console.open_store() as store:
        everyone = store.read(members.everyone)
    if args.json:
        return console.print_json([_record(member) for member in everyone])
    if not everyone:
        return console.tell(texts.NO_MEMBERS)
    none = console.say(texts.NO_MACHINE)
    return console.print_table(
        (
            str(Person(member.app, member.user_id)),
            member.lang or "-",
            ", ".join(member.machines) or none,
        )
        for member in everyone
    )


def _record(member: Member) -> dict[str, object]:
    return {
        "app": member.app,
        "user": member.user_id,
        "lang": member.lang,
        "machines": list(member.machines),
        "added_at": member.added_at,
    }
