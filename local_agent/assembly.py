"""Builds the parts of a running agent and joins them; decides nothing, and starts nothing.

Read from top to bottom it is the picture of the agent: journal ─▶ gate ─▶ engine ─▶ control, relay.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from common.clock import Clock
from common.errors import CodexBridgeError
from common.home import Home
from common.logs import Log
from common.model.intent import TaskKind
from common.signing import SigningKey
from local_agent.approval.gate import Gate
from local_agent.context.collector import Collector
from local_agent.control import wire
from local_agent.control.operations import AgentOperations
from local_agent.control.server import ControlServer
from local_agent.engine.answers import HelpProposer, OpenTasks, StatusProposer
from local_agent.engine.bus import Bus
from local_agent.engine.commands import Commands
from local_agent.engine.engine import Engine
from local_agent.engine.journal_store import JournalStore
from local_agent.engine.sealing import Sealer
from local_agent.engine.task import TaskLog
from local_agent.engine.understanding import Understanding
from local_agent.execution.command import Executor
from local_agent.execution.command_line import read_command_line
from local_agent.execution.description import Surroundings
from local_agent.execution.self_test import SelfTest
from local_agent.proposers.base import Proposer
from local_agent.proposers.none import NoModel
from local_agent.proposers.review import ReviewProposer
from local_agent.proposers.run import RunProposer
from local_agent.proposers.search import SearchProposer
from local_agent.relay.client import GatewayClient
from local_agent.relay.condition import Condition
from local_agent.relay.journal import JournalInbound, JournalOutbound
from local_agent.relay.pairing import Pairing
from local_agent.routing.router import Router
from local_agent.settings import AgentSettings
from local_agent.store.blobs import Blobs
from local_agent.store.runner import JournalThread
from local_agent.workspace.files import list_files, search
from local_agent.workspace.git import local_changes
from local_agent.workspace.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the agent stands on, settled before any part is built.

    Attributes:
        places: Our own folders.
        home: The person's home.
        environ: The process environment.
        machine: The name people know this machine by.
        pairing: None while this machine has no gateway.
        key: This machine's private key; signs decisions, and reports when it is paired.
        key_storage: ``file`` or ``keyring:<backend>``.
        sandbox: What the sandbox proved at the start.
    """

    places: Home
    home: Path
    environ: Mapping[str, str]
    settings: AgentSettings
    machine: str
    pairing: Pairing | None
    key: SigningKey
    key_storage: str
    sandbox: SelfTest
    clock: Clock
    log: Log


@dataclass(frozen=True, slots=True)
class Agent:
    """The parts that live as long as the process.

    Attributes:
        client: None while this machine has no gateway.
    """

    db: JournalThread
    gate: Gate
    engine: Engine
    bus: Bus
    control: ControlServer
    client: GatewayClient | None


def build_agent(ground: Ground, db: JournalThread) -> Agent:
    """Return all parts, joined, none of them started."""
    bus = Bus()
    gate = Gate(db, clock=ground.clock, key=ground.key)
    engine = _build_engine(ground, db, gate, bus)
    client = _build_client(ground, db, engine)
    registry = Registry(ground.places, home=ground.home)
    operations = AgentOperations(
        db=db,
        gate=gate,
        engine=engine,
        bus=bus,
        machine=ground.machine,
        prefix=ground.settings.prefix,
        user=_user_name(),
        surroundings=_surroundings(ground, registry, client),
    )
    path = wire.socket_path(ground.places, ground.environ)
    return Agent(db, gate, engine, bus, ControlServer(path, operations, ground.log), client)


def _build_engine(ground: Ground, db: JournalThread, gate: Gate, bus: Bus) -> Engine:
    settings, clock = ground.settings, ground.clock
    store = JournalStore(db)
    tasks = TaskLog(store, bus, clock)
    registry = Registry(ground.places, home=ground.home)
    understanding = Understanding(
        log=tasks,
        router=Router(
            threshold=settings.nl.confidence_threshold,
            prefix=settings.prefix,
            free_text=settings.nl.enable,
        ),
        collector=Collector(list_files=list_files, search=search, local_changes=local_changes),
        proposers=_proposers(ground, OpenTasks(store, clock)),
        workspaces=registry,
    )
    around = Surroundings(ground.places, ground.home, ground.environ, ground.sandbox.level)
    commands = Commands(
        log=tasks,
        store=store,
        gate=gate,
        executor=Executor(around, blobs=Blobs(ground.places.state / "blobs"), clock=clock),
        workspaces=registry,
        sealer=Sealer(
            clock=clock,
            agent_id=ground.pairing.agent_id if ground.pairing else "",
            approval_hours=settings.approval_hours,
            policy=_policy(ground),
        ),
        read_line=_read_line,
        machine=ground.machine,
        default_test_command=settings.default_test_command,
    )
    return Engine(
        store=store,
        tasks=tasks,
        understanding=understanding,
        commands=commands,
        gate=gate,
        clock=clock,
        log=ground.log,
    )


def _proposers(ground: Ground, open_tasks: OpenTasks) -> Mapping[TaskKind, Proposer]:
    no_model = NoModel()
    return {
        TaskKind.HELP: HelpProposer(open_tasks),
        TaskKind.STATUS: StatusProposer(open_tasks, sandbox=ground.sandbox.level),
        TaskKind.RUN: RunProposer(
            _read_line,
            allowed=ground.settings.allow_run_terminal,
            default_test_command=ground.settings.default_test_command,
        ),
        TaskKind.SEARCH: SearchProposer(search),
        TaskKind.REVIEW: ReviewProposer(local_changes),
        TaskKind.EXPLAIN: no_model,
        TaskKind.CHANGE: no_model,
        TaskKind.DIAGNOSE: no_model,
    }


def _build_client(ground: Ground, db: JournalThread, engine: Engine) -> GatewayClient | None:
    if ground.pairing is None:
        return None
    inbound = JournalInbound(db, engine)
    client = GatewayClient(
        ground.pairing,
        ground.key,
        inbound=inbound,
        outbound=JournalOutbound(db),
        clock=ground.clock,
        log=ground.log,
    )
    inbound.on_report = client.wake
    return client


def _surroundings(
    ground: Ground, registry: Registry, client: GatewayClient | None
) -> Callable[[], Mapping[str, Any]]:
    def look() -> Mapping[str, Any]:
        condition = client.condition if client else Condition("unpaired")
        url = ground.pairing.url if ground.pairing else None
        return {
            "machine": ground.machine,
            "gateway": {"url": url, **asdict(condition)},
            "key_storage": ground.key_storage if ground.pairing else None,
            "workspaces": _workspaces(registry),
            "sandbox": ground.sandbox.level,
            "sandbox_reason": ground.sandbox.reason,
        }

    return look


def _workspaces(registry: Registry) -> list[dict[str, Any]]:
    try:
        found = registry.load()
    except CodexBridgeError:
        return []  # `codexbridge workspace list` tells what is wrong with the file
    return [{"name": item.name, "path": str(item.path), "default": item.default} for item in found]


def _policy(ground: Ground) -> dict[str, Any]:
    # Integers, booleans and text only: it is hashed in its one stored form (R21).
    return {
        "allow_run_terminal": ground.settings.allow_run_terminal,
        "allow_apply_patch": ground.settings.allow_apply_patch,
        "approval_hours": ground.settings.approval_hours,
        "default_test_command": ground.settings.default_test_command,
        "sandbox": ground.sandbox.level,
    }


def _read_line(text: str) -> tuple[str, ...] | None:
    return read_command_line(text).argv


def _user_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
