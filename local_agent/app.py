"""The life of the agent: settle the ground, build the parts, run them, end them in order.

The order matters.  The journal's lock comes first: only its holder may touch the socket.  The gate
and the engine take up what was left before anybody can ask for more (P3).  At the end nothing new
is taken in before what runs is ended and recorded.

What waiting takes is imported while the sandbox is tried: the one waits for its children, the other
for the processor.  What carries a task is imported as soon as somebody could ask for one.
"""

from __future__ import annotations

import asyncio
import importlib
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from common.clock import SystemClock
from common.errors import CodexBridgeError, UnavailableError
from common.home import Home, private_dir
from common.logs import Log
from common.sentences import Lang
from local_agent.faces.control import wire
from local_agent.sandbox.self_test import self_test
from local_agent.settings import AgentSettings
from local_agent.store.database import look_through
from local_agent.store.lock import JOURNAL, any_command_lives
from local_agent.windows import run_windows

if TYPE_CHECKING:
    from local_agent.assembly import Agent, Ground
    from local_agent.link.keys import AgentKeys
    from local_agent.link.pairing import Pairing

EARLIER_S: Final = 0.1  # between two looks whether a command of an earlier agent still lives


async def run_agent(
    settings: AgentSettings,
    places: Home,
    environ: Mapping[str, str],
    *,
    file: Path | None,
    log: Log,
    lang: Lang,
    announce: Callable[[Agent, Ground], None],
) -> None:
    """Run until SIGTERM or SIGINT.

    Args:
        settings: As read once at the start.
        places: Our folders; those that are missing are made, private.
        environ: The process environment.
        file: Where the settings were read from; None where there is none.
        log: Where to.
        lang: Of what this machine says where no request decides it.
        announce: Called once everything listens.

    Raises:
        ConfigError: something must be put right by the person first.
        AuthError: ``audit.broken``.
        UnavailableError: ``keystore.keyring-away``, or ``agent.part-failed`` later on.
    """
    stop = _stop_signal()
    # What `wire.socket_path` falls back to is where all sockets go, the self-test's too.
    places = replace(places, run=wire.socket_path(places, environ).parent)
    ground = await _settle(settings, places, environ, file=file, log=log, lang=lang)
    from local_agent.assembly import build_agent
    from local_agent.link.journal import gateway_peer
    from local_agent.store.journal import JournalThread

    async with AsyncExitStack() as closing:
        peer = None
        if ground.pairing is not None:
            peer = gateway_peer(ground.pairing, ground.keys, ground.clock)
        path = places.state / JOURNAL
        db = await JournalThread.open(path, clock=ground.clock, key=ground.keys.present, peer=peer)
        closing.push_async_callback(db.close)
        await db.run(db.journal.heads.catch_up)
        agent = build_agent(ground, db)
        closing.push_async_callback(agent.models.aclose)
        await agent.models.start()
        await agent.scratches.tidy()
        await agent.forget_closed()
        await agent.rotation.settle()
        await agent.gate.start()
        earlier = None
        if await asyncio.to_thread(any_command_lives, places.state):
            earlier = closing.enter_context(ExitStack())
            earlier.enter_context(agent.gate.block("earlier-command"))
        async with _running(agent, ground):
            announce(agent, ground)
            await _until_stopped(agent, ground, stop, path, earlier)


async def _settle(
    settings: AgentSettings,
    places: Home,
    environ: Mapping[str, str],
    *,
    file: Path | None,
    log: Log,
    lang: Lang,
) -> Ground:
    home = Path.home()
    await asyncio.to_thread(_make_folders, places)
    testing = asyncio.create_task(self_test(places, home=home), name="self-test")
    try:
        pairing, keys = await asyncio.to_thread(_identity, places)
        assembly = await asyncio.to_thread(importlib.import_module, "local_agent.assembly")
        ground: Ground = assembly.Ground(
            places=places,
            home=home,
            environ=environ,
            settings=settings,
            settings_file=file,
            machine=pairing.machine if pairing else socket.gethostname(),
            pairing=pairing,
            keys=keys,
            sandbox=await testing,
            clock=SystemClock(),
            log=log,
            lang=lang,
        )
    finally:
        testing.cancel()
        await asyncio.gather(testing, return_exceptions=True)
    return ground


def _make_folders(places: Home) -> None:
    for folder in (places.config, places.state, places.run):
        private_dir(folder)


def _identity(places: Home) -> tuple[Pairing | None, AgentKeys]:
    from local_agent.link.keys import AgentKeys
    from local_agent.link.pairing import load_pairing, open_keys

    pairing = load_pairing(places)
    keys = AgentKeys(open_keys(places), pairing)
    if pairing is None:
        keys.open_local()  # those of a pairing are loaded when the journal says which are in use
    return pairing, keys


@asynccontextmanager
async def _running(agent: Agent, ground: Ground) -> AsyncIterator[None]:
    try:
        await agent.engine.start()
        await agent.control.start()
        ground.log.info("agent.ready", machine=ground.machine, sandbox=ground.sandbox.reason)
        yield
    finally:
        await agent.control.close()
        await agent.engine.close()
        agent.bus.close()
        ground.log.info("agent.stopped")


async def _until_stopped(
    agent: Agent, ground: Ground, stop: asyncio.Event, path: Path, earlier: ExitStack | None
) -> None:
    parts: dict[str, Coroutine[Any, Any, None]] = {
        "gate": agent.gate.run(),
        "control": agent.control.watch(),
        "retention": agent.retention.run(),
        "windows": run_windows(agent, ground),
        "page": agent.page.run(),
        "rest": _load_rest(agent),
        "doctor": _log_what_is_ill(agent, ground),
    }
    if earlier is not None:
        parts["earlier"] = _outlive(earlier, ground.places.state)
    if agent.client is not None:
        parts["relay"] = agent.client.run()
    if not agent.db.journal.is_whole:
        parts["journal"] = _look_through(agent, path)
    running = [asyncio.create_task(part, name=name) for name, part in parts.items()]
    stopping = asyncio.create_task(stop.wait(), name="stop")
    try:
        ended, _ = await asyncio.wait([*running, stopping], return_when=asyncio.FIRST_COMPLETED)
        for part in ended - {stopping}:
            _tell_of(part)
    finally:
        for part in [*running, stopping]:
            part.cancel()
        await asyncio.gather(*running, stopping, return_exceptions=True)


async def _load_rest(agent: Agent) -> None:
    """Load what the first task takes, before it comes and before our files may be replaced."""
    await agent.engine.load()
    await agent.engine.mend_runs()
    await asyncio.Event().wait()


async def _log_what_is_ill(agent: Agent, ground: Ground) -> None:
    """Log what is ill at the start, by the names of ``codexbridge doctor``; the rest goes first."""
    await agent.engine.load()
    checks = await asyncio.to_thread(importlib.import_module, "local_agent.doctor.checks")
    here = checks.Installation(
        places=ground.places,
        home=ground.home,
        environ=ground.environ,
        file=ground.settings_file,
        sandbox=ground.sandbox,
    )
    await checks.log_start(here, ground.log, ground.lang)
    await asyncio.Event().wait()


async def _outlive(earlier: ExitStack, state: Path) -> None:
    """Let nothing be approved, and so nothing run, beside a command of an agent that was killed."""
    while True:
        await asyncio.sleep(EARLIER_S)
        if not await asyncio.to_thread(any_command_lives, state):
            earlier.close()
            await asyncio.Event().wait()


async def _look_through(agent: Agent, path: Path) -> None:
    """Look through what of a large journal was not seen before; nothing is approved meanwhile."""
    is_over = threading.Event()
    try:
        with agent.gate.block("journal-check"):
            await asyncio.to_thread(look_through, path, is_over.is_set)
        await asyncio.Event().wait()
    finally:
        is_over.set()


def _tell_of(part: asyncio.Task[Any]) -> None:
    error = part.exception()
    if isinstance(error, CodexBridgeError):
        raise error
    raise UnavailableError("agent.part-failed", part=part.get_name()) from error


def _stop_signal() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop
