"""Builds the parts of a running agent and joins them; decides nothing, and starts nothing.

Read from top to bottom it is the picture of the agent: journal ─▶ gate ─▶ engine ─▶ control, link.
"""

from __future__ import annotations

import asyncio
import base64
import os
import pwd
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from common.clock import Clock
from common.errors import CodexBridgeError, StateError
from common.heads import FORKED
from common.home import Home
from common.logs import Log
from common.receipt import sign_receipt
from common.records import encode_bytes
from common.sentences import Lang
from common.signing import SigningKey
from local_agent.actions.operation import Executors
from local_agent.actions.run_command.copies import Copies
from local_agent.faces.control import wire
from local_agent.faces.control.operations import AgentOperations
from local_agent.faces.control.server import ControlServer
from local_agent.faces.page.door import PageDoor
from local_agent.faces.page.parts import PageParts
from local_agent.faces.page.passkeys import Passkeys
from local_agent.faces.telling import Teller
from local_agent.faces.window.alerts import Notifier, ReadNotice
from local_agent.faces.window.program import Windows
from local_agent.flow.assembly import build_engine
from local_agent.flow.bus import Bus
from local_agent.flow.disclosing import Disclosure
from local_agent.flow.engine import Engine
from local_agent.flow.gate import Gate
from local_agent.flow.ports import Mind, Site
from local_agent.flow.receipts import receipt_facts
from local_agent.link.client import GatewayClient
from local_agent.link.condition import Condition
from local_agent.link.journal import JournalInbound, JournalOutbound
from local_agent.link.keys import AgentKeys
from local_agent.link.pairing import Pairing, open_keys
from local_agent.link.rotation import Rotation
from local_agent.models.keys import ModelKeys
from local_agent.models.registry import Around, Models
from local_agent.propose.scratch import Scratches
from local_agent.safety.policy import load_policy, open_workspaces, stray_policies
from local_agent.sandbox.bubblewrap import Containment
from local_agent.sandbox.self_test import SelfTest
from local_agent.settings import AgentSettings, fingerprint
from local_agent.store.blobs import Blobs
from local_agent.store.journal import JournalThread
from local_agent.store.retention import ForgetFiles, Retention
from local_agent.views.status import (
    Connection,
    Surroundings,
    WindowsStanding,
)
from local_agent.workspace.dry_runs import DryRuns
from local_agent.workspace.registry import Registry, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the agent stands on, settled before any part is built.

    Attributes:
        places: Our own folders.
        home: The person's home.
        environ: The process environment.
        settings_file: Where the settings were read from; None where there is none.
        machine: The name people know this machine by.
        pairing: None while this machine has no gateway.
        keys: This machine's private keys; the present one signs decisions and the audit log, and
            reports when it is paired.
        sandbox: What the sandbox proved at the start.
        lang: Of what this machine says where no request decides it.
    """

    places: Home
    home: Path
    environ: Mapping[str, str]
    settings: AgentSettings
    settings_file: Path | None = None
    machine: str
    pairing: Pairing | None
    keys: AgentKeys
    sandbox: SelfTest
    clock: Clock
    log: Log
    lang: Lang


@dataclass(frozen=True, slots=True)
class Agent:
    """The parts that live as long as the process.

    Attributes:
        client: None while this machine has no gateway.
        forget_closed: Removes what is kept of workspaces that are no longer open.
        windows: Whether questions are shown in windows (`local_agent.windows`).
        page: Opens the local page when somebody asks for it.
        passkeys: Takes approvals by passkey; asks the page for its link.
    """

    db: JournalThread
    gate: Gate
    engine: Engine
    bus: Bus
    control: ControlServer
    client: GatewayClient | None
    retention: Retention
    rotation: Rotation
    teller: Teller
    blobs: Blobs
    models: Models
    scratches: Scratches
    forget_closed: Callable[[], Coroutine[Any, Any, None]]
    windows: Windows
    page: PageDoor
    passkeys: Passkeys


def build_agent(ground: Ground, db: JournalThread) -> Agent:
    """Return all parts, joined, none of them started."""
    bus = Bus()
    dry_runs = DryRuns(ground.places)
    gate = Gate(db, clock=ground.clock, key=ground.keys.present, dry_runs=lambda: dry_runs.folder)
    models, scratches = _models(ground), Scratches(ground.places, clock=ground.clock)
    mind = Mind(choose=models.choose, lend=scratches.lend)
    registry, blobs = Registry(ground.places, home=ground.home), _blobs(ground)
    engine = _build_engine(ground, db, gate, bus, mind, models=models, registry=registry)
    rotation = Rotation(db, ground.keys, clock=ground.clock, log=ground.log)
    client = _build_client(ground, db, engine, rotation)
    windows = Windows()
    forget_closed = partial(_forget_closed, registry, scratches)
    teller = _teller(ground, db, gate, engine, registry)
    page = PageDoor(ground.places, clock=ground.clock, log=ground.log)
    passkeys = Passkeys(db, gate.entrance("passkey"), ground.clock, windows=windows)
    operations = AgentOperations(
        db=db,
        gate=gate,
        entrance=gate.entrance("terminal"),
        engine=engine,
        bus=bus,
        tell=teller.tell,
        prefix=ground.settings.prefix,
        user=_user_name(),
        surroundings=_surroundings(ground, registry, client, windows),
        blobs=blobs,
        models=models,
        places=ground.places,
        workspaces=registry,
        forget_closed=forget_closed,
        page=page,
        rotate=_rotate(rotation, client),
        receipt=_receipt(ground, db),
        passkeys=passkeys,
    )
    path, forget = wire.socket_path(ground.places, ground.environ), _forget_files(ground.places)
    agent = Agent(
        db=db,
        gate=gate,
        engine=engine,
        bus=bus,
        control=ControlServer(path, operations, ground.log),
        client=client,
        retention=Retention(db, blobs, dry_runs, forget, clock=ground.clock, log=ground.log),
        rotation=rotation,
        teller=teller,
        blobs=blobs,
        models=models,
        scratches=scratches,
        forget_closed=forget_closed,
        windows=windows,
        page=page,
        passkeys=passkeys,
    )
    _furnish_page(agent, ground, operations, registry)
    return agent


def _furnish_page(
    agent: Agent, ground: Ground, operations: AgentOperations, registry: Registry
) -> None:
    parts = PageParts(
        operations=operations,
        teller=agent.teller,
        db=agent.db,
        bus=agent.bus,
        gate=agent.gate,
        passkeys=agent.passkeys,
        read_blob=agent.blobs.get,
        workspaces=registry,
        windows=agent.windows,
        models=agent.models,
        settings=ground.settings,
        settings_file=ground.settings_file,
        environ=ground.environ,
        places=ground.places,
        clock=ground.clock,
        log=ground.log,
        lang=ground.lang,
    )
    agent.page.attach(parts)
    agent.passkeys.launch = agent.page.open


def _teller(
    ground: Ground, db: JournalThread, gate: Gate, engine: Engine, registry: Registry
) -> Teller:
    return Teller(
        db,
        gate,
        machine=ground.machine,
        workspaces=lambda: {str(item.path): item.name for item in _opened(registry)},
        can_check=lambda asked: engine.can_check(asked.seal),
    )


def _models(ground: Ground) -> Models:
    roots = _roots(ground)
    sandbox = Containment(ground.places, ground.home, ground.sandbox.level, roots)
    around = Around(
        places=ground.places,
        environ=ground.environ,
        workspaces=roots,
        contain=sandbox.contain,
    )
    return Models(ground.settings, keys=ModelKeys(open_keys(ground.places)), around=around)


def _roots(ground: Ground) -> Callable[[], tuple[Path, ...]]:
    registry = Registry(ground.places, home=ground.home)
    return lambda: tuple(entry.path for entry in registry.load())


def _build_engine(
    ground: Ground,
    db: JournalThread,
    gate: Gate,
    bus: Bus,
    mind: Mind,
    *,
    models: Models,
    registry: Registry,
) -> Engine:
    blobs, notice = _blobs(ground), ReadNotice(Notifier(ground.environ), lang=ground.lang)
    return build_engine(
        db=db,
        gate=gate,
        executors=partial(_hands, ground, models),
        copies=Copies(ground.places, blobs),
        mind=mind,
        disclosure=Disclosure(db, notice=notice, clock=ground.clock),
        blobs=blobs,
        policy_of=lambda workspace: load_policy(ground.places, workspace.listed_name),
        workspaces=registry,
        bus=bus,
        settings=ground.settings,
        clock=ground.clock,
        log=ground.log,
        answering=gate.entrance("dry-run"),
        site=Site(
            machine=ground.machine,
            agent_id=ground.pairing.agent_id if ground.pairing else "",
            sandbox=ground.sandbox.level,
            places=ground.places,
            user=_user_name(),
        ),
    )


def _hands(ground: Ground, models: Models) -> Executors:
    from local_agent.actions.changes.perform import Applier
    from local_agent.actions.git_sync.perform import Syncer
    from local_agent.actions.git_sync.push import Pusher
    from local_agent.actions.run_command.perform import Executor
    from local_agent.actions.run_command.prepare import Surroundings

    around = Surroundings(
        ground.places,
        ground.home,
        ground.environ,
        ground.sandbox.level,
        workspaces=_roots(ground),
    )
    blobs, clock = _blobs(ground), ground.clock

    def secrets() -> list[str]:
        ours = [text for key in ground.keys.held() for text in _spellings(key)]
        return [*ours, *models.secrets()]

    return Executors(
        executor=Executor(around, blobs=blobs, clock=clock, secrets=secrets),
        applier=Applier(blobs=blobs, clock=clock),
        syncer=Syncer(
            scratch=ground.places.state / "push",
            blobs=blobs,
            pusher=Pusher(environ=ground.environ, home=ground.home, secrets=secrets),
            clock=clock,
        ),
    )


def _blobs(ground: Ground) -> Blobs:
    return Blobs(ground.places.state / "blobs")


def _spellings(key: SigningKey) -> tuple[str, ...]:
    """Return the key as its file and as a program would write it: never for the chat (R54)."""
    raw = key.private_bytes()
    return base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode(), raw.hex()


def _receipt(ground: Ground, db: JournalThread) -> Callable[[str], bytes]:
    def receipt(short_id: str) -> bytes:
        facts = receipt_facts(
            db.journal,
            short_id,
            machine=ground.machine,
            agent_id=ground.pairing.agent_id if ground.pairing else "",
            at_ms=ground.clock.now().wall_ms,
        )
        return sign_receipt(ground.keys.present(), facts)

    return receipt


def _rotate(
    rotation: Rotation, client: GatewayClient | None
) -> Callable[[], Coroutine[Any, Any, str]]:
    async def rotate() -> str:
        if client is None:
            raise StateError("rotate.unpaired")
        return await rotation.rotate()

    return rotate


def _build_client(
    ground: Ground, db: JournalThread, engine: Engine, rotation: Rotation
) -> GatewayClient | None:
    if ground.pairing is None:
        return None
    inbound, outbound = JournalInbound(db, engine), JournalOutbound(db, rotation)
    client = GatewayClient(
        ground.pairing,
        rotation.link_keys,
        inbound=inbound,
        outbound=outbound,
        clock=ground.clock,
        log=ground.log,
    )
    db.on_report = client.wake
    inbound.on_fork = lambda: ground.log.error(FORKED)
    return client


def _surroundings(
    ground: Ground, registry: Registry, client: GatewayClient | None, windows: Windows
) -> Callable[[], Surroundings]:
    started_with = fingerprint(ground.settings)

    def look() -> Surroundings:
        condition = client.condition if client else Condition("unpaired")
        url = ground.pairing.url if ground.pairing else None
        workspaces = open_workspaces(ground.places, _opened(registry))
        names = [one.name for one in workspaces]
        return Surroundings(
            machine=ground.machine,
            gateway=Connection(url=url, **asdict(condition)),
            key_storage=ground.keys.where if ground.pairing else None,
            public_key=encode_bytes(ground.keys.present().public.raw),
            workspaces=workspaces,
            stray_policies=stray_policies(ground.places, names),
            sandbox=ground.sandbox.level,
            sandbox_reason=ground.sandbox.reason,
            windows=WindowsStanding(state=windows.state, why=windows.why),
            settings=started_with,
        )

    return look


def _opened(registry: Registry) -> Sequence[Workspace]:
    try:
        return registry.load()
    except CodexBridgeError:
        return ()  # `codexbridge workspace list` tells what is wrong with the file


async def _forget_closed(registry: Registry, scratches: Scratches) -> None:
    try:
        opened = await asyncio.to_thread(registry.load)
    except CodexBridgeError:
        return  # which are open cannot be read; `codexbridge workspace list` tells why
    await scratches.keep_only([one.path for one in opened])


def _user_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _forget_files(places: Home) -> ForgetFiles:
    def forget(runs: Sequence[tuple[str, str]], before_s: float) -> int:
        from local_agent.playbooks.runs import forget_files

        return forget_files(places.state, runs, before_s=before_s)

    return forget
