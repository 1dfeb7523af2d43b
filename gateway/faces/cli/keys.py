"""``codexbridge gateway rotate``: another signing key, without pairing the machines again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.sentences import Lang, say
from gateway.faces.cli import sentences as texts
from gateway.faces.cli.console import Command, Console, described, now

if TYPE_CHECKING:
    import argparse

    from gateway.store.runner import AdminStore

TAKE_SECONDS: Final = 10.0  # for connected machines to follow, before --now drops the old keys
POLL_SECONDS: Final = 0.25


def add_parsers(actions: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    rotate = described(actions, "rotate", texts.ROTATE, lang)
    rotate.add_argument("--now", action="store_true", help=say(texts.ROTATE_NOW, lang))


def run(args: argparse.Namespace, console: Console) -> int:
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
    return console.tell(texts.MACHINES_LOST, machines=", ".join(given_up.machines))


COMMANDS: Final[Mapping[str, Command]] = {"rotate": run}


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
        time.sleep(POLL_SECONDS)
