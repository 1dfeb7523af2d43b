"""``codexbridge gateway member``: the allow-list."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from common.sentences import Lang, say
from gateway.faces.cli import Command, Console, Subparsers, add_json, described, now, now_ms
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse

    from gateway.base.messages import Person
    from gateway.flow.withdrawal import Withdrawn
    from gateway.store import Connection
    from gateway.store.members import Member

ROLES: Final = ("member", "approver", "admin")  # those of the store, which no help text loads


def add_parsers(actions: Subparsers, lang: Lang) -> None:
    """Declare the arguments."""
    member = described(actions, "member", texts.MEMBER, lang)
    changes = member.add_subparsers(dest="change", required=True, metavar="COMMAND")
    add = described(changes, "add", texts.MEMBER_ADD, lang)
    change = described(changes, "set", texts.MEMBER_SET, lang)
    remove = described(changes, "remove", texts.MEMBER_REMOVE, lang)
    for command in (add, change, remove):
        command.add_argument("users", nargs="+", metavar="USER", help=say(texts.MEMBER_USERS, lang))
    for command in (add, change):
        command.add_argument("--lang", choices=("zh", "en"), help=say(texts.MEMBER_LANG, lang))
        command.add_argument("--role", choices=ROLES, help=say(texts.MEMBER_ROLE, lang))
        command.add_argument("--group", metavar="NAME", help=say(texts.MEMBER_GROUP, lang))
    add_json(described(changes, "list", texts.MEMBER_LIST, lang), lang)


def run(args: argparse.Namespace, console: Console) -> int:
    """Change the list or show it.

    Raises:
        InputError: ``member.*``; nothing was changed.
    """
    return _CHANGES[args.change](args, console)


COMMANDS: Final[Mapping[str, Command]] = {"member": run}


def _add(args: argparse.Namespace, console: Console) -> int:
    from gateway.store import members

    given = _given(args)

    def add(conn: Connection, people: Sequence[Person]) -> list[bool]:
        return [members.add(conn, person, **given, at_ms=now_ms()) for person in people]

    with console.open_store() as store:
        people = console.people(store, args.users)
        found = store.write(add, people)
    for person, new in zip(people, found, strict=True):
        if new or not any(given.values()):
            console.tell(texts.ADDED if new else texts.WAS_THERE, user=person)
        if not new and args.lang is not None:
            console.tell(texts.LANG_SET, user=person, lang=args.lang)
        _tell_set(args, console, person)
    return 0


def _set(args: argparse.Namespace, console: Console) -> int:
    from common.errors import InputError
    from gateway.store import members

    given = _given(args)
    if not any(given.values()):
        raise InputError("member.nothing-to-set")

    def change(conn: Connection, people: Sequence[Person]) -> None:
        for person in people:
            if not members.change(conn, person, **given, at_ms=now_ms()):
                raise InputError("member.unknown", user=str(person))

    with console.open_store() as store:
        people, before = console.people(store, args.users), store.read(members.admins)
        store.write(change, people)
        after = store.read(members.admins)
    for person in people:
        if args.lang is not None:
            console.tell(texts.LANG_SET, user=person, lang=args.lang)
        _tell_set(args, console, person)
    _tell_no_admin(console, before, after)
    return 0


def _tell_no_admin(console: Console, before: list[Person], after: list[Person]) -> None:
    from gateway.base.settings import admins_of

    if before and not (after or admins_of(console.settings)):
        console.tell(texts.NO_ADMIN)


def _given(args: argparse.Namespace) -> dict[str, Any]:
    return {"lang": args.lang, "role": args.role, "group": args.group}


def _tell_set(args: argparse.Namespace, console: Console, person: Person) -> None:
    from gateway.base.settings import admins_of
    from gateway.flow.people import ROLES as NAMED
    from gateway.store.members import NO_GROUP

    if args.group is not None:
        left = args.group == NO_GROUP
        console.tell(texts.GROUP_LEFT if left else texts.GROUP_SET, user=person, group=args.group)
    if args.role is None:
        return
    console.tell(texts.ROLE_SET, user=person, role=console.say(NAMED[args.role]))
    if args.role != "admin" and person in admins_of(console.settings):
        console.tell(texts.STILL_ADMIN, user=person)


def _remove(args: argparse.Namespace, console: Console) -> int:
    from common.errors import InputError
    from gateway.base.settings import admins_of
    from gateway.flow import withdrawal
    from gateway.store import members

    seal, at = console.seal(), now()

    def remove(conn: Connection, people: Sequence[Person]) -> list[Withdrawn]:
        found = []
        for person in people:
            done = withdrawal.remove_member(conn, seal, person, at=at)
            if done is None:
                raise InputError("member.not-listed", user=str(person))
            found.append(done)
        return found

    with console.open_store() as store:
        people, before = console.people(store, args.users), store.read(members.admins)
        found = store.write(remove, people)
        after = store.read(members.admins)
    for person, done in zip(people, found, strict=True):
        counts = (texts.TAKEN_BACK, done.ended), (texts.STOPPING, done.left)
        console.tell_counts(texts.REMOVED, *counts, user=person)
        if person in admins_of(console.settings):
            console.tell(texts.STILL_ADMIN, user=person)
    _tell_no_admin(console, before, after)
    return 0


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
            f"@{member.group}" if member.group else "",
        )
        for member in everyone
    )
    if outside := set(named) - {member.person for member in everyone}:
        console.tell(texts.ADMINS_OUTSIDE, users=sorted(map(str, outside)))
    return 0


def _record(member: Member, named: Collection[Person]) -> dict[str, object]:
    return {
        "app": member.app,
        "user": member.user_id,
        "role": "admin" if member.person in named else member.role,
        "by_settings": member.person in named,
        "lang": member.lang,
        "machines": list(member.machines),
        "group": member.group,
        "added_at": member.added_at,
    }


_CHANGES: Final = {"add": _add, "set": _set, "remove": _remove, "list": _list}
