"""``codexbridge gateway outbox``: what waits to be sent, why, and what an admin can do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from common.sentences import Lang, say
from gateway.faces.cli import Command, Console, Subparsers, add_json, described, now_ms
from gateway.faces.cli import sentences as texts

if TYPE_CHECKING:
    import argparse

    from gateway.store.outbox_admin import Listed

LISTED: Final = 100


def add_parsers(actions: Subparsers, lang: Lang) -> None:
    """Declare the arguments."""
    outbox = described(actions, "outbox", texts.OUTBOX, lang)
    add_json(outbox, lang)
    changes = outbox.add_subparsers(dest="change", metavar="COMMAND")
    for name, text in (("retry", texts.OUTBOX_RETRY), ("drop", texts.OUTBOX_DROP)):
        change = described(changes, name, text, lang)
        change.add_argument("id", type=int, metavar="ID", help=say(texts.OUTBOX_ID, lang))


def run(args: argparse.Namespace, console: Console) -> int:
    """List what waits and what failed; or try one again, or take it back.

    Raises:
        InputError: ``outbox.unknown`` (id): nothing of that number waits; ``outbox.no-member``.
    """
    from common.errors import InputError
    from gateway.store import outbox_admin

    if args.change is None:
        return _list(args, console)
    change = {"retry": outbox_admin.retry, "drop": outbox_admin.take_back}[args.change]
    with console.open_store() as store:
        done = args.id < _NO_ID and store.write(change, args.id, at_ms=now_ms())
        if not done:
            raise InputError("outbox.unknown", id=args.id)
        hold = store.read(outbox_admin.hold_of, args.id, at_ms=now_ms())
    if args.change == "retry" and hold is not None:
        facts = {**asdict(hold), "id": args.id, "since": console.moment(hold.since_at, "%H:%M")}
        return console.tell(
            texts.OUTBOX_HELD, at=console.moment(hold.until_at, "%H:%M:%S"), **facts
        )
    said = {"retry": texts.OUTBOX_RETRIED, "drop": texts.OUTBOX_DROPPED}[args.change]
    return console.tell(said, id=args.id)


NAME_BYTES: Final = 32
_NO_ID: Final = 2**63  # as many as a store can number
COMMANDS: Final[Mapping[str, Command]] = {"outbox": run}


def _list(args: argparse.Namespace, console: Console) -> int:
    from gateway.store import outbox_admin

    with console.open_store() as store:
        found = store.read(outbox_admin.listed, limit=LISTED + 1)
    if args.json:
        return console.print_json([asdict(message) for message in found])
    if not found:
        return console.tell(texts.OUTBOX_EMPTY)
    console.print_table([_row(message, console) for message in found[:LISTED]])
    return console.tell(texts.OUTBOX_MORE, count=LISTED) if len(found) > LISTED else 0


def _row(message: Listed, console: Console) -> tuple[str, ...]:
    from common.text import one_line
    from gateway.base.messages import Person

    state = texts.OUTBOX_STATES[message.state]
    return (
        str(message.id),
        console.say(texts.OUTBOX_KINDS[message.kind]),
        one_line(str(Person(message.app, message.user_id)), NAME_BYTES),  # a stranger's, too
        console.say(state, at=console.moment(message.due_at, "%m-%d %H:%M")),
        # What failed for all of an app counts as no try of a message.
        console.say(texts.OUTBOX_TRIES, count=message.attempts) if message.attempts else "-",
        " ".join(str(part) for part in (message.errcode, message.errmsg or message.code) if part),
    )
