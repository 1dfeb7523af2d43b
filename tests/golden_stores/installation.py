"""An installation in a folder, opened as the agent opens its own; and stores as text and back.

Its parts are the real ones, joined by the real assembly; only the clock stands still, and the
sandbox is not tried.  What it is asked is asked over the control socket, by the command line.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import lzma
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager, closing
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import structlog

import codexbridge
from common.clock import ManualClock
from common.home import Home, find_home
from common.model.state import FINAL
from gateway.base.identity import open_identity
from gateway.store import outbox
from gateway.store.runner import open_store
from local_agent.assembly import Agent, Ground, build_agent
from local_agent.link.journal import gateway_peer
from local_agent.link.keys import AgentKeys
from local_agent.link.pairing import load_pairing, open_keys
from local_agent.sandbox.self_test import SelfTest
from local_agent.settings import AgentSettings
from local_agent.store.journal import JournalThread
from local_agent.workspace.registry import Registry, Workspace
from local_agent.workspace.tree import Tree
from tests.gateway_desk import Desk
from tests.people import DONE
from tests.sealed import AGENT

DATA: Final = Path(__file__).with_name("data")
JOURNAL: Final = "state/journal.db"
GATEWAY: Final = "state/gateway/gateway.db"
SHOP: Final = Path("/tmp/codexbridge-golden/project")  # where the workspace of the stores was
HEARD: Final = 9  # the last message that the machine has acknowledged
WRITTEN: Final = (None, "retry = 3\n", "retry = 6\n")  # what stands in the file that was cut off
STORES: Final = "stores.json.xz"
EXPECTED: Final = "expected.json"


def environ_of(home: Path) -> dict[str, str]:
    """Return the environment of an installation."""
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "CODEXBRIDGE_HOME": str(home)}


def asked(home: Path, *words: str) -> Any:
    """Return the JSON that a command prints."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    environ = patch.dict(os.environ, environ_of(home), clear=True)
    with environ, contextlib.redirect_stdout(out):
        assert codexbridge.main([*words, "--json"]) == 0, out.buffer
    out.seek(0)
    return json.loads(out.read())


# --- stores as text


@cache
def stores(half: str) -> Mapping[str, str]:
    """Return the dumps of one half by their names."""
    found: Mapping[str, str] = json.loads(lzma.decompress((DATA / half / STORES).read_bytes()))
    return found


def number_of(schema: str) -> int:
    """Return the number of a schema of the agent, such as ``v5``."""
    return int(schema[1:])


def restore(half: str, name: str, home: Path) -> Path:
    """Make an installation as it was: its files, private again, and the database of a dump."""
    shutil.copytree(DATA / half / "home", home)
    database = home / (JOURNAL if half == "agent" else GATEWAY)
    with closing(sqlite3.connect(database)) as new:
        new.executescript(stores(half)[name])
    for path in [home, *home.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    return home


def expected(half: str) -> Any:
    """Return what the release that wrote the stores told of them."""
    return json.loads((DATA / half / EXPECTED).read_text("utf-8"))


def as_then(now: Any, then: Any) -> Any:
    """Return of what is told now only what was told then: a later release may tell more."""
    if isinstance(then, dict) and isinstance(now, dict):
        return {key: as_then(now[key], then[key]) for key in then if key in now}
    if isinstance(then, list) and isinstance(now, list) and len(now) == len(then):
        return [as_then(*pair) for pair in zip(now, then, strict=True)]
    return now


# --- the agent


@asynccontextmanager
async def opened(home: Path, clock: ManualClock) -> AsyncIterator[Agent]:
    """Open the agent of an installation and start its gate and its socket; its tasks rest.

    It ends as by kill -9: nothing is closed in an orderly way.
    """
    places = find_home(environ_of(home))
    ground = await asyncio.to_thread(_ground, places, clock, environ_of(home))
    assert ground.pairing is not None
    db = await JournalThread.open(
        home / JOURNAL,
        clock=clock,
        key=ground.keys.present,
        peer=gateway_peer(ground.pairing, ground.keys, clock),
    )
    agent = build_agent(ground, db)
    try:
        await agent.gate.start()
        await agent.control.start()
        yield agent
    finally:
        await agent.control.close()
        carried = list(agent.engine._carried.values())
        for task in carried:
            task.cancel()
        await asyncio.gather(*carried, return_exceptions=True)
        await db.close()


def _ground(places: Home, clock: ManualClock, environ: Mapping[str, str]) -> Ground:
    places.run.mkdir(mode=0o700, exist_ok=True)
    pairing = load_pairing(places)
    assert pairing is not None
    return Ground(
        places=places,
        home=places.config.parent / "person",
        environ=environ,
        settings=AgentSettings(),
        machine=pairing.machine,
        pairing=pairing,
        keys=AgentKeys(open_keys(places), pairing),
        sandbox=SelfTest("bubblewrap", "sandbox.ok"),
        clock=clock,
        log=structlog.wrap_logger(structlog.testing.CapturingLogger(), processors=[]),
        lang="en",
    )


async def told_of_tasks(home: Path) -> dict[str, Any]:
    """Return the list of all tasks, and each of them, as the command line shows them."""
    listed = await asyncio.to_thread(asked, home, "tasks", "--all")
    shown = [await asyncio.to_thread(asked, home, "show", one["short_id"]) for one in listed]
    (changes,) = [
        one["task"]["short_id"]
        for one in shown
        if one["task"]["proposal"] == "diff" and (one["approval"] or {}).get("state") == "pending"
    ]
    diff = await asyncio.to_thread(asked, home, "diff", changes)
    log = await asyncio.to_thread(asked, home, "show", "--log", listed[-1]["short_id"])
    return {"listed": listed, "shown": shown, "diff": diff, "log": log}


def shop_with(place: Path, text: str | None) -> Path | None:
    """Make a workspace whose file that was cut off holds this text; for None there is none."""
    if text is None:
        return None
    place.mkdir()
    (place / "cut.py").write_text(text, encoding="utf-8")
    return place


async def settled(agent: Agent, names: Mapping[str, str], place: Path | None) -> dict[str, Any]:
    """Start the engine, and return how tasks end that a kill cut off, or that had just begun.

    Args:
        agent: Of an installation.
        names: The tasks' short IDs.
        place: A folder that stands in for the workspace of then, as if it were the same; None where
            that is gone.
    """
    tasks = agent.db.journal.tasks
    with ExitStack() as same:
        if place is not None:
            shop = Workspace(name="shop", path=place, test_command="sh check.sh", default=True)
            same.enter_context(patch.object(Registry, "at", lambda _self, _path: shop))
            same.enter_context(patch.object(Tree, "is_at", lambda _self, _place: True))
        await agent.engine.start()
        async with asyncio.timeout(20):
            while True:
                found = {key: await agent.db.run(tasks.named, name) for key, name in names.items()}
                if all(task.state in FINAL for task in found.values()):
                    break
                await asyncio.sleep(0.01)
    return {key: [task.state, task.reason] for key, task in found.items()}


# --- the gateway


@asynccontextmanager
async def opened_desk(home: Path, clock: ManualClock) -> AsyncIterator[Desk]:
    """Open the gateway's store of an installation, with its own keys and those of its machine."""
    database = home / GATEWAY
    ring = await asyncio.to_thread(open_identity, database.parent)
    store = await asyncio.to_thread(open_store, database)
    try:
        yield Desk(store, clock, gateway_key=ring.current, agent_key=AGENT, ring=ring)
    finally:
        await store.close()


def told_of_gateway(home: Path) -> dict[str, Any]:
    """Return what an admin is told of it."""
    commands = (("tasks",), ("member", "list"), ("devices", "--all"), ("audit", "verify"))
    return {command[0]: asked(home, "gateway", *command) for command in commands}


async def told_of_traffic(desk: Desk) -> dict[str, Any]:
    """Return what waits for the machine, and all that people are still told, in order."""
    waits = [[one.header.seq, one.header.typ, one.body] for one in await desk.mail(HEARD)]
    at_ms = desk.clock.advance(3600).wall_ms
    repeated, told = await desk.write(outbox.recover), []
    while messages := (await desk.write(outbox.claim, now_ms=at_ms, limit=8)).messages:
        for message in messages:
            told.append([message.user_id, message.key, message.text, message.repeated])
            await desk.write(outbox.end, message.id, "sent", DONE, at_ms=at_ms)
    return {"waits": waits, "repeated": repeated, "told": sorted(told, key=lambda one: one[0])}
